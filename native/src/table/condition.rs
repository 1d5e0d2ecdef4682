//! Conditions of leniencies, over the slots of a message.

use super::pattern::Pattern;
use super::tape::{Message, Slot};
use crate::json::scan::Kind;

pub enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    /// The kinds that it may be of.
    Type(&'static [Kind]),
    Words(Vec<Vec<u8>>),
    Integers(Vec<i64>),
    Null,
    Minimum(i64),
    Maximum(i64),
    Pattern(Pattern),
    /// Fields that are there, if the value is an object.
    Required(Vec<usize>),
    /// What holds of fields that are there, if the value is an object.
    Fields(Vec<(usize, Condition)>),
    /// What holds of the first positions, if the value is an array.
    Positions(Vec<Condition>),
}

/// The kinds of values of each type, by its word in JSON Schema.
const TYPES: [(&str, &[Kind]); 7] = [
    ("null", &[Kind::Null]),
    ("boolean", &[Kind::True, Kind::False]),
    ("integer", &[Kind::Integer]),
    ("number", &[Kind::Integer, Kind::Float]),
    ("string", &[Kind::Text, Kind::Escaped]),
    ("array", &[Kind::Array]),
    ("object", &[Kind::Object]),
];

impl Condition {
    /// Return the condition that a value is of a type, by its word.
    pub fn of_type(word: &str) -> Option<Self> {
        TYPES.iter().find(|(name, _)| *name == word).map(|(_, kinds)| Condition::Type(kinds))
    }

    /// Tell whether a value meets the condition; `None` where that is not known.
    pub fn holds(&self, slot: &Slot, message: &Message) -> Option<bool> {
        let looks_inside =
            !matches!(self, Condition::Null | Condition::All(_) | Condition::Any(_) | Condition::Not(_));
        if slot.kind == Kind::Repeated && looks_inside {
            return None;
        }
        Some(match self {
            Condition::All(all) => {
                for condition in all {
                    if !condition.holds(slot, message)? {
                        return Some(false);
                    }
                }
                true
            }
            Condition::Any(any) => {
                for condition in any {
                    if condition.holds(slot, message)? {
                        return Some(true);
                    }
                }
                false
            }
            Condition::Not(condition) => !condition.holds(slot, message)?,
            Condition::Type(kinds) => kinds.contains(&slot.kind),
            Condition::Null => slot.kind == Kind::Null,
            Condition::Words(words) => {
                slot.is_text() && words.iter().any(|word| Some(word.as_slice()) == message.content(slot))
            }
            Condition::Integers(found) => slot.kind == Kind::Integer && found.contains(&slot.value),
            Condition::Minimum(_) | Condition::Maximum(_) if slot.kind == Kind::Float => return None,
            Condition::Minimum(bound) => slot.kind != Kind::Integer || slot.value >= *bound,
            Condition::Maximum(bound) => slot.kind != Kind::Integer || slot.value <= *bound,
            Condition::Pattern(pattern) => !slot.is_text() || pattern.is_in(message.content(slot)?)?,
            Condition::Required(fields) => {
                slot.kind != Kind::Object
                    || fields.iter().all(|field| !message.field(slot, *field).is_absent())
            }
            Condition::Fields(fields) => {
                for (field, condition) in fields {
                    let found = message.field(slot, *field);
                    if slot.kind == Kind::Object && !found.is_absent() && !condition.holds(found, message)? {
                        return Some(false);
                    }
                }
                true
            }
            Condition::Positions(positions) => {
                for (i, condition) in positions.iter().enumerate() {
                    if slot.kind == Kind::Array && !condition.holds(message.field(slot, i), message)? {
                        return Some(false);
                    }
                }
                true
            }
        })
    }
}
