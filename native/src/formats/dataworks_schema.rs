//! The schemas that stand in DataWorks messages, values by the types of their columns, and what orders changes.

use super::Notes;
use super::bound::Bound;
use super::values::{Declared, NamedType, ValueType, fingerprint, types, write_value};
use crate::columns::{Columns, Name};
use crate::json::number::{parsed, write_decimal};
use crate::json::scan::Kind;
use crate::json::text::unescape;
use crate::table::Table;
use crate::table::tape::{Known, Message, Slot};
use crate::why::{Done, Why};

/// Digits of a number that orders changes.
const MOST_DIGITS: usize = 19;

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

/// Write the text of a DDL statement.
pub fn write_ddl(text: &Slot, message: &Message, columns: &mut Columns) -> Done {
    let raw = message.raw(text);
    if text.is_text() && raw.len() > 2 {
        unescape(&raw[1..raw.len() - 1], columns.of(Name::Ddl).open()).ok_or(Why::Text)?;
    }
    Ok(())
}

/// Return the order of a change: a before-image comes before its after-image.
pub fn sequence_of(slot: &Slot, message: &Message, is_before: bool) -> Done<Option<(i64, i64)>> {
    if !slot.is_there() {
        return Ok(None);
    }
    let text = message.content(slot).ok_or(Why::Value)?;
    if text == b"-1" {
        return Ok(Some((-1, 1)));
    }
    let is_plain = !text.is_empty() && text.len() <= MOST_DIGITS && text.iter().all(u8::is_ascii_digit);
    let major = parsed(text).filter(|_| is_plain).ok_or(Why::Number)?;
    Ok(Some((major, i64::from(!is_before))))
}

/// Write the value of a column, which is not null, by its type, and tell whether it is the text of a decimal;
/// a time that Python lacks is declined.
pub fn value(
    kind: Option<ValueType>,
    slot: &Slot,
    message: &Message,
    out: &mut Vec<u8>,
    notes: &mut Notes,
) -> Done<bool> {
    match kind {
        None => notes.push("unknown-column-type"),
        Some(ValueType::Decimal(_)) if slot.is_text() => {
            notes.push("numeric-text");
            let content = message.content(slot).ok_or(Why::Value)?;
            return write_decimal(content, out).map(|()| true).ok_or(Why::Number);
        }
        Some(ValueType::Decimal(_)) if matches!(slot.kind, Kind::Integer | Kind::Float) => {}
        Some(ValueType::Decimal(_)) => return Err(Why::Value),
        Some(kind) => return write_value(kind, slot, message, out).ok_or(Why::Value),
    }
    message.write(slot, out).map(|()| false)
}
