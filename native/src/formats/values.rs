//! What both kinds of schemas within messages have in common: columns, and values by the types of these.

use crate::json::base64::{byte_count, decode};
use crate::json::number::{NOT_FINITE, has_bits, write_integral, write_unscaled};
use crate::json::scan::Kind;
use crate::json::times::{write_date, write_time};
use crate::table::Table;
use crate::table::parse::hex;
use crate::table::tape::{Message, Slot};
use crate::why::{Done, Why};

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
    let known = table.values.get(place)?.iter().map(|known| {
        let kind = match known.means.as_str() {
            "boolean" => Some(ValueType::Boolean),
            "integer" if known.bits == 0 => Some(ValueType::Integer(64)),
            "integer" => Some(ValueType::Integer(known.bits)),
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

/// Write a value, which is not null, by its type, and tell whether it is the text of a decimal; `None` if it
/// is not of its type.
pub fn write_value(kind: ValueType, slot: &Slot, message: &Message, out: &mut Vec<u8>) -> Option<bool> {
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
        }
        (ValueType::Number, _) => return write_integral(message.integer(slot)?, out).map(|()| false),
        (ValueType::Date, _) => {
            out.push(b'"');
            write_date(integer(slot, message, 32)?, out)?;
            out.push(b'"');
            return Some(false);
        }
        (ValueType::Time(unit), _) => {
            out.push(b'"');
            write_time(integer(slot, message, 64)?.checked_mul(unit)?, 0, out)?;
            out.push(b'"');
            return Some(false);
        }
        (ValueType::Decimal(scale), _) => {
            return write_unscaled(&decode(message.content(slot)?)?, scale, out).map(|()| true);
        }
        _ => return None,
    }
    message.write(slot, out).ok()?;
    Some(false)
}

/// Return an integer of so many bits.
fn integer(slot: &Slot, message: &Message, bits: u32) -> Option<i64> {
    message.integer(slot).filter(|value| has_bits(*value, bits))
}

/// Hex digits of a fingerprint.
const DIGITS: usize = 32;

/// Columns and what is declared of each, in the order of their schema.
pub struct Declared<T>(Vec<(Vec<u8>, T)>);

impl<T> Default for Declared<T> {
    fn default() -> Self {
        Declared(Vec::new())
    }
}

impl<T> Declared<T> {
    /// Add a column; one that was declared before is declined.
    pub fn add(&mut self, name: &[u8], what: T) -> Done {
        if self.get(name).is_some() {
            return Err(Why::Schema);
        }
        self.0.push((name.to_vec(), what));
        Ok(())
    }

    pub fn get(&self, name: &[u8]) -> Option<&T> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, what)| what)
    }

    /// Return what is declared of a column; rows mostly have them in the order of the schema.
    pub fn next(&self, name: &[u8], next: &mut usize) -> Option<&T> {
        if self.0.get(*next).is_none_or(|(other, _)| other != name) {
            *next = self.0.iter().position(|(other, _)| other == name)?;
        }
        *next += 1;
        self.0.get(*next - 1).map(|(_, what)| what)
    }
}

/// Return the fingerprint of the text of a schema.
pub fn fingerprint(text: &[u8]) -> Vec<u8> {
    let mut digits = hex(text).into_bytes();
    digits.truncate(DIGITS);
    digits
}
