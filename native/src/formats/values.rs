//! Values by the types that schemas within messages declare.

use crate::json::base64::{byte_count, decode};
use crate::json::number::{NOT_FINITE, has_bits, write_integral, write_unscaled};
use crate::json::scan::Kind;
use crate::json::times::{write_date, write_time};
use crate::rows::Means;
use crate::table::Table;
use crate::table::tape::{Message, Slot};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ValueType {
    Boolean,
    /// An integer of so many bits.
    Integer(u32),
    Number,
    Bytes,
    Text,
    /// Days since the Unix epoch.
    Date,
    /// A time, and the microseconds of its unit.
    Time(i64),
    /// A number of any digits: of Kafka Connect an unscaled one in Base64, and its scale.
    Decimal(u32),
}

/// A type as schemas name it.
pub struct NamedType {
    pub word: Vec<u8>,
    /// The word of the type that it is based on.
    pub of: Vec<u8>,
    /// None for one that holds others, or whose values are read by rules that are not known.
    pub kind: Option<ValueType>,
}

/// Return the types that a property can name.
pub fn types(table: &Table, place: &str) -> Option<Vec<NamedType>> {
    let known = table.values(place)?.into_iter().map(|known| {
        let kind = match known.means {
            "boolean" => Some(ValueType::Boolean),
            "integer" if known.bits == 0 => Some(ValueType::Integer(64)),
            "integer" => Some(ValueType::Integer(u32::try_from(known.bits).ok()?)),
            "number" => Some(ValueType::Number),
            "base64" => Some(ValueType::Bytes),
            "text" => Some(ValueType::Text),
            "date-days" => Some(ValueType::Date),
            "timestamp-milliseconds" => Some(ValueType::Time(1000)),
            "timestamp-microseconds" => Some(ValueType::Time(1)),
            "decimal" => Some(ValueType::Decimal(0)),
            _ => None,
        };
        let word = known.value.as_str()?.as_bytes().to_vec();
        Some(NamedType { word, of: known.of.as_bytes().to_vec(), kind })
    });
    known.collect()
}

/// Write a value, which is not null, by its type, and return what it is; `None` if it is not of its type.
pub fn write_value(kind: ValueType, slot: &Slot, message: &Message, out: &mut Vec<u8>) -> Option<Means> {
    let mut means = Means::Json;
    match (kind, slot.kind) {
        (ValueType::Boolean, Kind::True | Kind::False)
        | (ValueType::Number, Kind::Float)
        | (ValueType::Text, Kind::Text | Kind::Escaped) => {}
        (ValueType::Integer(bits), _) => {
            integer(slot, message, bits)?;
        }
        (ValueType::Number, Kind::Text) if NOT_FINITE.contains(&message.content(slot)?) => {}
        (ValueType::Bytes, _) => {
            byte_count(message.content(slot)?)?;
            means = Means::Bytes;
        }
        (ValueType::Number, _) => {
            write_integral(message.integer(slot)?, out)?;
            return Some(means);
        }
        (ValueType::Date, _) => {
            out.push(b'"');
            write_date(integer(slot, message, 32)?, out)?;
            out.push(b'"');
            return Some(Means::Date);
        }
        (ValueType::Time(unit), _) => {
            out.push(b'"');
            write_time(integer(slot, message, 64)?.checked_mul(unit)?, out)?;
            out.push(b'"');
            return Some(Means::Time);
        }
        (ValueType::Decimal(scale), _) => {
            write_unscaled(&decode(message.content(slot)?)?, scale, out)?;
            return Some(Means::Decimal);
        }
        _ => return None,
    }
    message.write(slot, out).ok()?;
    Some(means)
}

/// Return an integer of so many bits.
fn integer(slot: &Slot, message: &Message, bits: u32) -> Option<i64> {
    message.integer(slot).filter(|value| has_bits(*value, bits))
}
