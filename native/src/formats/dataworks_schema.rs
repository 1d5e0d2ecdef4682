//! The schemas that stand in DataWorks messages: the types of columns, and the place of the table.

use super::bound::Bound;
use super::change_table::Parts;
use super::declared::{Declared, fingerprint};
use crate::table::Table;
use crate::table::tape::{Known, Slot};
use crate::why::{Done, Why};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    Boolean,
    Bytes,
    Date,
    Double,
    Long,
    Text,
    Unknown,
}

/// What the schema of a message says.
#[derive(Default)]
pub struct TableSchema {
    /// Database, schema and table, where they are named.
    pub source: [Option<Vec<u8>>; 3],
    pub columns: Declared<ColumnType>,
    pub primary_key: Vec<Vec<u8>>,
    pub fingerprint: Vec<u8>,
    /// Members of attributes, behind a brace.
    pub attributes: Vec<u8>,
}

/// Reads schemas.
pub struct TableSchemas {
    schema: Bound<2>,
    column: Bound<2>,
    types: Vec<(Vec<u8>, ColumnType)>,
}

impl TableSchemas {
    pub fn new(table: &Table) -> Option<Self> {
        Some(TableSchemas {
            schema: Bound::named(table, "DataSchema", ["dataColumn", "primaryKey"])?,
            column: Bound::named(table, "ColumnType", ["name", "type"])?,
            types: types(table)?,
        })
    }

    pub fn make(&self, known: &Known, parts: &Parts) -> Done<TableSchema> {
        let message = known.message();
        let content = |slot: &Slot| message.content(slot).ok_or(Why::Name);
        let [columns, primary_key] = self.schema.of(&known.slot, &message);
        let mut made = TableSchema { attributes: vec![b'{'], ..TableSchema::default() };
        made.fingerprint = fingerprint(&known.text);
        for column in message.elements(columns) {
            let [name, kind] = self.column.of(column, &message);
            made.columns.add(content(name)?, self.type_of(content(kind)?))?;
        }
        for name in message.elements(primary_key) {
            let name = content(name)?.to_vec();
            // It may be another one if case is ignored.
            made.columns.get(&name).ok_or(Why::Schema)?;
            if !made.primary_key.contains(&name) {
                made.primary_key.push(name);
            }
        }
        parts.write(&message, &known.slot, &mut made.attributes)?;
        for (place, name) in made.source.iter_mut().zip(parts.names(&message, &known.slot)) {
            if name.is_there() {
                *place = Some(content(&name)?.to_vec()).filter(|name| !name.is_empty());
            }
        }
        Ok(made)
    }

    fn type_of(&self, word: &[u8]) -> ColumnType {
        let known = self.types.iter().find(|(name, _)| name == word);
        known.map_or(ColumnType::Unknown, |(_, kind)| *kind)
    }
}

/// Return the types that have a meaning. `None` if the kernel lacks what one of them means.
fn types(table: &Table) -> Option<Vec<(Vec<u8>, ColumnType)>> {
    let known = table.values("ColumnType.type")?.into_iter().map(|known| {
        let kind = match known.means {
            "boolean" => ColumnType::Boolean,
            "base64" => ColumnType::Bytes,
            "timestamp-milliseconds" => ColumnType::Date,
            "decimal" => ColumnType::Double,
            "integer" => ColumnType::Long,
            "text" => ColumnType::Text,
            _ => return None,
        };
        Some((known.value.as_str()?.as_bytes().to_vec(), kind))
    });
    known.collect()
}
