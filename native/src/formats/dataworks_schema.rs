//! The schemas that stand in DataWorks messages: the types of columns, and the place of the table.

use std::collections::HashMap;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::bound::Bound;
use super::writing::member;
use crate::table::Table;
use crate::table::parse::hex;
use crate::table::tape::{Message, Slot};
use crate::texts::{Known, Texts};

/// Schemas that are kept; then all are forgotten.
const MOST: usize = 256;

/// Hex digits of a fingerprint.
const DIGITS: usize = 32;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Type {
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
    pub columns: Vec<(Vec<u8>, Type)>,
    pub primary_key: Vec<Vec<u8>>,
    pub fingerprint: Vec<u8>,
    /// Members of attributes, behind a brace.
    pub attributes: Vec<u8>,
}

impl TableSchema {
    /// Return the type of a column; rows mostly have them in the order of the schema.
    pub fn type_of(&self, name: &[u8], next: &mut usize) -> Option<Type> {
        let expected = self.columns.get(*next).filter(|column| column.0 == name);
        if expected.is_none() {
            *next = self.columns.iter().position(|column| column.0 == name)?;
        }
        *next += 1;
        self.columns.get(*next - 1).map(|column| column.1)
    }
}

/// Schemas by the number of their text; none for one that is declined.
pub struct Schemas {
    schema: Bound<3>,
    column: Bound<2>,
    source: Bound<5>,
    made: HashMap<i64, Option<Arc<TableSchema>>>,
}

impl Schemas {
    pub fn new(table: &Table) -> Option<Self> {
        let places = ["dbType", "dbVersion", "dbName", "schemaName", "tableName"];
        Some(Schemas {
            schema: Bound::named(table, "DataSchema", ["dataColumn", "primaryKey", "source"])?,
            column: Bound::named(table, "ColumnType", ["name", "type"])?,
            source: Bound::named(table, "Source", places)?,
            made: HashMap::new(),
        })
    }

    pub fn get(&mut self, number: i64, texts: &Texts) -> Option<Arc<TableSchema>> {
        if let Some(found) = self.made.get(&number) {
            return found.clone();
        }
        let made = self.make(texts.get(number)?).map(Arc::new);
        if self.made.len() >= MOST {
            self.made.clear();
        }
        self.made.insert(number, made.clone());
        made
    }

    fn make(&self, known: &Known) -> Option<TableSchema> {
        let message = Message { text: &known.text, tape: &known.tape, exact: true };
        let [columns, primary_key, source] = self.schema.of(&known.slot, &message)?;
        let mut made = TableSchema { attributes: vec![b'{'], ..TableSchema::default() };
        made.fingerprint = hex(&Sha256::digest(&known.text)).into_bytes();
        made.fingerprint.truncate(DIGITS);
        for (_, column) in message.elements(columns) {
            let [name, kind] = self.column.of(column, &message)?;
            let name = message.content(name)?.to_vec();
            if made.columns.iter().any(|other| other.0 == name) {
                return None;
            }
            made.columns.push((name, type_of(message.content(kind)?)));
        }
        for (_, name) in message.elements(primary_key) {
            let name = message.content(name)?.to_vec();
            // It may be another one if case is ignored.
            made.columns.iter().find(|column| column.0 == name)?;
            if !made.primary_key.contains(&name) {
                made.primary_key.push(name);
            }
        }
        if source.is_there() {
            let [db_type, db_version, names @ ..] = self.source.of(source, &message)?;
            member("db_type", db_type, &message, &mut made.attributes)?;
            member("db_version", db_version, &message, &mut made.attributes)?;
            for (place, name) in made.source.iter_mut().zip(names) {
                *place = name_of(name, &message)?;
            }
        }
        Some(made)
    }
}

/// Return a name that is there and not empty; `None` declines one with escapes.
fn name_of(slot: &Slot, message: &Message) -> Option<Option<Vec<u8>>> {
    if !slot.is_there() {
        return Some(None);
    }
    let name = message.content(slot)?;
    Some((!name.is_empty()).then(|| name.to_vec()))
}

fn type_of(word: &[u8]) -> Type {
    match word {
        b"BOOLEAN" => Type::Boolean,
        b"BYTES" => Type::Bytes,
        b"DATE" => Type::Date,
        b"DOUBLE" => Type::Double,
        b"LONG" => Type::Long,
        b"STRING" => Type::Text,
        _ => Type::Unknown,
    }
}
