//! The schemas that stand in DataWorks messages: the types of columns, and the place of the table.

use super::bound::Bound;
use super::declared::{Declared, fingerprint};
use super::values::{NamedType, ValueType, types};
use crate::table::Table;
use crate::table::tape::{Known, Slot};
use crate::why::{Done, Why};

/// What the schema of a message says.
#[derive(Default)]
pub struct TableSchema {
    /// The types of columns; none of one whose type is unknown.
    pub columns: Declared<Option<ValueType>>,
    /// In the order of their names.
    pub primary_key: Vec<Vec<u8>>,
    pub fingerprint: Vec<u8>,
}

/// Reads schemas.
pub struct TableSchemas {
    schema: Bound<2>,
    column: Bound<2>,
    types: Vec<NamedType>,
}

impl TableSchemas {
    pub fn new(table: &Table) -> Option<Self> {
        Some(TableSchemas {
            schema: Bound::named(table, "DataSchema", ["dataColumn", "primaryKey"])?,
            column: Bound::named(table, "ColumnType", ["name", "type"])?,
            types: types(table, "ColumnType.type")?,
        })
    }

    pub fn make(&self, known: &Known) -> Done<TableSchema> {
        let message = known.message();
        let content = |slot: &Slot| message.content(slot).ok_or(Why::Name);
        let [columns, primary_key] = self.schema.of(&known.slot, &message);
        let mut made = TableSchema { fingerprint: fingerprint(&known.text), ..TableSchema::default() };
        for column in message.elements(columns) {
            let [name, kind] = self.column.of(column, &message);
            made.columns.add(content(name)?, self.type_of(content(kind)?)?)?;
        }
        for name in message.elements(primary_key) {
            let name = content(name)?.to_vec();
            // It may be another one if case is ignored.
            made.columns.get(&name).ok_or(Why::Schema)?;
            made.primary_key.push(name);
        }
        made.primary_key.sort_unstable();
        made.primary_key.dedup();
        Ok(made)
    }

    fn type_of(&self, word: &[u8]) -> Done<Option<ValueType>> {
        let Some(known) = self.types.iter().find(|known| known.word == word) else { return Ok(None) };
        known.kind.map(Some).ok_or(Why::Schema)
    }
}
