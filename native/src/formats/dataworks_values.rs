//! Values of DataWorks messages: by the types of their columns, and what orders changes.

use super::Notes;
use super::values::{ValueType, write_value};
use crate::columns::{Columns, Name};
use crate::json::number::{parsed, write_decimal};
use crate::json::text::unescape;
use crate::rows::Means;
use crate::table::tape::{Message, Slot};
use crate::why::{Done, Why};

const MOST_DIGITS: usize = 19;

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

/// Write the value of a column, which is not null, by its type, and return what it is; a time that Python
/// lacks is declined.
pub fn value(
    kind: Option<ValueType>,
    slot: &Slot,
    message: &Message,
    out: &mut Vec<u8>,
    notes: &mut Notes,
) -> Done<Means> {
    match kind {
        None => notes.push("unknown-column-type"),
        Some(ValueType::Decimal(_)) if slot.is_text() => {
            notes.push("numeric-text");
            let content = message.content(slot).ok_or(Why::Value)?;
            return write_decimal(content, out).map(|()| Means::Decimal).ok_or(Why::Number);
        }
        Some(ValueType::Decimal(_)) if slot.is_number() => {}
        Some(ValueType::Decimal(_)) => return Err(Why::Value),
        Some(kind) => return write_value(kind, slot, message, out).ok_or(Why::Value),
    }
    message.write(slot, out).map(|()| Means::Json)
}
