//! Conditions of leniencies, over the slots of a message.

use super::pattern::Pattern;
use super::tape::{Message, Slot};
use crate::json::scan::Kind;

pub enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    Type(JsonType),
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

#[derive(Clone, Copy)]
pub enum JsonType {
    Null,
    Boolean,
    Integer,
    Number,
    Text,
    Array,
    Object,
}

impl JsonType {
    pub fn of(name: &str) -> Option<JsonType> {
        Some(match name {
            "null" => JsonType::Null,
            "boolean" => JsonType::Boolean,
            "integer" => JsonType::Integer,
            "number" => JsonType::Number,
            "string" => JsonType::Text,
            "array" => JsonType::Array,
            "object" => JsonType::Object,
            _ => return None,
        })
    }

    fn is(self, kind: Kind) -> bool {
        match self {
            JsonType::Null => kind == Kind::Null,
            JsonType::Boolean => matches!(kind, Kind::True | Kind::False),
            JsonType::Integer => kind == Kind::Integer,
            JsonType::Number => matches!(kind, Kind::Integer | Kind::Float),
            JsonType::Text => matches!(kind, Kind::Text | Kind::Escaped),
            JsonType::Array => kind == Kind::Array,
            JsonType::Object => kind == Kind::Object,
        }
    }
}

impl Condition {
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
            Condition::Type(kind) => kind.is(slot.kind),
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
