//! Conditions of leniencies, over the slots of a message.

use super::pattern::Pattern;
use super::tape::{Message, Slot};
use crate::json::scan::Kind;

pub enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    Type(Type),
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
pub enum Type {
    Null,
    Boolean,
    Integer,
    Number,
    Text,
    Array,
    Object,
}

impl Type {
    pub fn of(name: &str) -> Option<Type> {
        Some(match name {
            "null" => Type::Null,
            "boolean" => Type::Boolean,
            "integer" => Type::Integer,
            "number" => Type::Number,
            "string" => Type::Text,
            "array" => Type::Array,
            "object" => Type::Object,
            _ => return None,
        })
    }

    fn is(self, kind: Kind) -> bool {
        match self {
            Type::Null => kind == Kind::Null,
            Type::Boolean => matches!(kind, Kind::True | Kind::False),
            Type::Integer => kind == Kind::Integer,
            Type::Number => matches!(kind, Kind::Integer | Kind::Float),
            Type::Text => matches!(kind, Kind::Text | Kind::Escaped),
            Type::Array => kind == Kind::Array,
            Type::Object => kind == Kind::Object,
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
