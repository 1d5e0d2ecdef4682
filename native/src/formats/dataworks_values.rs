//! Values of DataWorks messages: by the types of their columns, and what orders changes.

use super::Notes;
use super::dataworks_schema::Type;
use super::rows::Means;
use super::times::write_time;
use crate::columns::{Columns, Name};
use crate::json::base64::byte_count;
use crate::json::number::write_decimal;
use crate::json::scan::Kind;
use crate::json::text::unescape;
use crate::table::tape::{Message, Slot};

const MOST_DIGITS: usize = 19;

/// Write the text of a DDL statement.
pub fn write_ddl(text: &Slot, message: &Message, columns: &mut Columns) -> Option<()> {
    let raw = message.raw(text);
    if text.is_text() && raw.len() > 2 {
        unescape(&raw[1..raw.len() - 1], columns.of(Name::Ddl).open())?;
    }
    Some(())
}

/// Return the order of a change: a before-image comes before its after-image.
pub fn sequence_of(slot: &Slot, message: &Message, is_before: bool) -> Option<Option<(i64, i64)>> {
    if !slot.is_there() {
        return Some(None);
    }
    let text = message.content(slot)?;
    if text == b"-1" {
        return Some(Some((-1, 1)));
    }
    if text.is_empty() || text.len() > MOST_DIGITS || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let major = std::str::from_utf8(text).ok()?.parse().ok()?;
    Some(Some((major, i64::from(!is_before))))
}

/// Write the value of a column, which is not null, by its type, and return what it is.
pub fn value(
    kind: Type,
    slot: &Slot,
    message: &Message,
    out: &mut Vec<u8>,
    notes: &mut Notes,
) -> Option<Means> {
    let fits = match kind {
        Type::Boolean => matches!(slot.kind, Kind::True | Kind::False),
        Type::Bytes => byte_count(message.content(slot)?).is_some(),
        Type::Date => return date(slot, message, out, notes),
        Type::Double if slot.is_text() => {
            notes.push("numeric-text");
            write_decimal(message.content(slot)?, out)?;
            return Some(Means::Decimal);
        }
        Type::Double => slot.is_number(),
        Type::Long => slot.kind == Kind::Integer,
        Type::Text => slot.is_text(),
        Type::Unknown => {
            notes.push("unknown-column-type");
            true
        }
    };
    if !fits {
        return None;
    }
    message.write(slot, out)?;
    Some(if kind == Type::Bytes { Means::Bytes } else { Means::Json })
}

/// Write a time, of milliseconds; one that Python lacks stays a number.
fn date(slot: &Slot, message: &Message, out: &mut Vec<u8>, notes: &mut Notes) -> Option<Means> {
    let start = out.len();
    out.push(b'"');
    let microseconds = message.integer(slot)?.checked_mul(1000);
    if microseconds.and_then(|time| write_time(time, out)).is_some() {
        out.push(b'"');
        return Some(Means::Time);
    }
    out.truncate(start);
    notes.push("time-out-of-range");
    message.write(slot, out)?;
    Some(Means::Json)
}
