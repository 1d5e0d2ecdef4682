//! Values by schemas of Kafka Connect.

use super::Notes;
use super::connect::{Column, ConnectType};
use crate::json::base64::{byte_count, decode};
use crate::json::number::{write_integral, write_unscaled};
use crate::json::scan::Kind;
use crate::json::times::{write_date, write_time};
use crate::rows::Means;
use crate::table::tape::{Message, Slot};
use crate::why::{Done, Why};

/// Texts that stand for numbers that JSON lacks.
const NOT_FINITE: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];

/// Write the value of a column that the schema may declare, and return what it is; notes get what is
/// accepted beyond the schema.
pub fn write_value(
    column: Option<&Column>,
    slot: &Slot,
    message: &Message,
    out: &mut Vec<u8>,
    notes: &mut Notes,
) -> Done<Means> {
    match column {
        None => notes.push("undeclared-field"),
        Some(column) if slot.kind == Kind::Null && !column.optional => return Err(Why::Value),
        Some(column) if slot.kind != Kind::Null => {
            return match made(column.kind, slot, message, out).ok_or(Why::Value)? {
                Some(means) => Ok(means),
                None => message.write(slot, out).map(|()| Means::Json),
            };
        }
        Some(_) => {}
    }
    message.write(slot, out)?;
    Ok(Means::Json)
}

/// Write a value that is not written as the message has it, and return what it is; none if it is
/// written so. `None` if it is not of its type.
fn made(kind: ConnectType, slot: &Slot, message: &Message, out: &mut Vec<u8>) -> Option<Option<Means>> {
    let means = match kind {
        ConnectType::Boolean => {
            return matches!(slot.kind, Kind::True | Kind::False).then_some(None);
        }
        ConnectType::Integer(bits) => return integer(slot, message, bits).map(|_| None),
        ConnectType::Text => return slot.is_text().then_some(None),
        ConnectType::Number => match slot.kind {
            Kind::Float => return Some(None),
            Kind::Text => return NOT_FINITE.contains(&message.content(slot)?).then_some(None),
            _ => {
                write_integral(message.integer(slot)?, out)?;
                Means::Json
            }
        },
        ConnectType::Bytes => {
            byte_count(message.content(slot)?)?;
            out.extend_from_slice(message.raw(slot));
            Means::Bytes
        }
        ConnectType::Date => {
            out.push(b'"');
            write_date(integer(slot, message, 32)?, out)?;
            out.push(b'"');
            Means::Date
        }
        ConnectType::Time(unit) => {
            out.push(b'"');
            write_time(integer(slot, message, 64)?.checked_mul(unit)?, out)?;
            out.push(b'"');
            Means::Time
        }
        ConnectType::Decimal(scale) => {
            write_unscaled(&decode(message.content(slot)?)?, scale, out)?;
            Means::Decimal
        }
    };
    Some(Some(means))
}

/// Return an integer of so many bits.
fn integer(slot: &Slot, message: &Message, bits: u32) -> Option<i64> {
    let value = message.integer(slot)?;
    let beyond = value >> (bits - 1);
    (beyond == 0 || beyond == -1).then_some(value)
}
