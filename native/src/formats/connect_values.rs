//! Values by schemas of Kafka Connect.

use super::connect::{Column, Type};
use super::rows::Means;
use super::times::{write_date, write_time};
use crate::json::base64::{byte_count, decode};
use crate::json::number::{write_integral, write_unscaled};
use crate::json::scan::Kind;
use crate::table::tape::{Message, Slot};

/// Texts that stand for numbers that JSON lacks.
const NOT_FINITE: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];

const UNDECLARED: &str = "undeclared-field";

/// Write the value of a column that the schema may declare, and return what it is; notes get what is
/// accepted beyond the schema.
pub fn write_value(
    column: Option<&Column>,
    slot: &Slot,
    message: &Message,
    out: &mut Vec<u8>,
    notes: &mut Vec<&'static str>,
) -> Option<Means> {
    let Some(column) = column else {
        notes.push(UNDECLARED);
        message.write(slot, out)?;
        return Some(Means::Json);
    };
    if slot.kind == Kind::Null {
        message.write(slot, out)?;
        return column.optional.then_some(Means::Json);
    }
    match column.kind {
        Type::Boolean if matches!(slot.kind, Kind::True | Kind::False) => message.write(slot, out)?,
        Type::Integer(bits) => {
            integer(slot, message, bits)?;
            message.write(slot, out)?;
        }
        Type::Number => number(slot, message, out)?,
        Type::Bytes => {
            byte_count(message.content(slot)?)?;
            message.write(slot, out)?;
            return Some(Means::Bytes);
        }
        Type::Text if slot.is_text() => message.write(slot, out)?,
        Type::Date => {
            out.push(b'"');
            write_date(integer(slot, message, 32)?, out)?;
            out.push(b'"');
            return Some(Means::Date);
        }
        Type::Time(unit) => {
            out.push(b'"');
            write_time(integer(slot, message, 64)?.checked_mul(unit)?, out)?;
            out.push(b'"');
            return Some(Means::Time);
        }
        Type::Decimal(scale) => {
            write_unscaled(&decode(message.content(slot)?)?, scale, out)?;
            return Some(Means::Decimal);
        }
        Type::Boolean | Type::Text => return None,
    }
    Some(Means::Json)
}

/// Return an integer of so many bits.
fn integer(slot: &Slot, message: &Message, bits: u32) -> Option<i64> {
    let value = message.integer(slot)?;
    let beyond = value >> (bits - 1);
    (beyond == 0 || beyond == -1).then_some(value)
}

/// Write a floating-point number, which may be written as an integer.
fn number(slot: &Slot, message: &Message, out: &mut Vec<u8>) -> Option<()> {
    match slot.kind {
        Kind::Float => message.write(slot, out),
        Kind::Integer => write_integral(message.integer(slot)?, out),
        Kind::Text if NOT_FINITE.contains(&message.content(slot)?) => message.write(slot, out),
        _ => None,
    }
}
