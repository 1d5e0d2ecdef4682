//! Conditions of leniencies, from the schemas of a table, over the slots of a message.

use std::ops::RangeInclusive;

use serde_json::Value;

use super::pattern::Pattern;
use super::tape::{Message, Slot};
use crate::json::scan::Kind;

pub enum Condition {
    All(Vec<Condition>),
    Not(Box<Condition>),
    /// The kinds that it may be of.
    Type(&'static [Kind]),
    /// The texts that it may have.
    Constants(Vec<Vec<u8>>),
    /// Bounds of an integer.
    Within(RangeInclusive<i64>),
    Pattern(Pattern),
    /// A field that is there, if the value is an object.
    Required(usize),
    /// What holds of a field that is there, if the value is an object.
    Field(usize, Box<Condition>),
    /// What holds of a position, if the value is an array.
    Position(usize, Box<Condition>),
}

/// The kinds of values of each type, by its word in JSON Schema.
const TYPES: [(&str, &[Kind]); 7] = [
    ("null", &[Kind::Null]),
    ("boolean", &[Kind::True, Kind::False]),
    ("integer", &[Kind::Integer]),
    ("number", &[Kind::Integer, Kind::Float, Kind::NotFinite]),
    ("string", &[Kind::Text, Kind::Escaped]),
    ("array", &[Kind::Array]),
    ("object", &[Kind::Object]),
];

impl Condition {
    /// Tell whether a value meets the condition; `None` where that is not known.
    pub fn holds(&self, slot: &Slot, message: &Message) -> Option<bool> {
        let looks_inside = !matches!(self, Condition::Constants(_) | Condition::All(_) | Condition::Not(_));
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
            Condition::Not(condition) => !condition.holds(slot, message)?,
            Condition::Type(kinds) => kinds.contains(&slot.kind),
            // Written otherwise it may be the same text.
            Condition::Constants(_) if slot.kind == Kind::Escaped => return None,
            Condition::Constants(texts) => texts.iter().any(|text| text == message.raw(slot)),
            Condition::Within(_) if matches!(slot.kind, Kind::Float | Kind::NotFinite) => return None,
            Condition::Within(bounds) => slot.kind != Kind::Integer || bounds.contains(&slot.value),
            Condition::Pattern(_) if !slot.is_text() => true,
            Condition::Pattern(pattern) => {
                // Of text that is not ASCII Python may think otherwise.
                let text = message.content(slot).filter(|text| text.iter().all(|c| (b' '..0x7f).contains(c)));
                pattern.is_in(std::str::from_utf8(text?).ok()?)
            }
            Condition::Required(field) => {
                slot.kind != Kind::Object || !message.field(slot, *field).is_absent()
            }
            Condition::Field(field, condition) => {
                let found = message.field(slot, *field);
                slot.kind != Kind::Object || found.is_absent() || condition.holds(found, message)?
            }
            Condition::Position(place, condition) => {
                slot.kind != Kind::Array || condition.holds(message.field(slot, *place), message)?
            }
        })
    }
}

/// Return the condition that a schema says; `names` are those of the fields that it may name. None: it
/// has a keyword that the kernel does not know.
pub fn condition_of(given: &Value, names: &[Vec<u8>]) -> Option<Condition> {
    let keywords = given.as_object()?.iter();
    all(keywords.map(|(word, value)| keyword(word, value, names)))
}

fn all(of: impl Iterator<Item = Option<Condition>>) -> Option<Condition> {
    let mut all: Vec<_> = of.collect::<Option<_>>()?;
    if all.len() == 1 { all.pop() } else { Some(Condition::All(all)) }
}

fn keyword(word: &str, given: &Value, names: &[Vec<u8>]) -> Option<Condition> {
    let place = |name: &str| names.iter().position(|other| other == name.as_bytes());
    let of = |given: &Value, names: &[Vec<u8>]| condition_of(given, names).map(Box::new);
    let field = |(name, one): (&String, &Value)| Some(Condition::Field(place(name)?, of(one, &[])?));
    let items = || given.as_array().map(|items| items.iter());
    Some(match word {
        "type" => Condition::Type(TYPES.iter().find(|(name, _)| given == name)?.1),
        "const" => Condition::Constants(vec![given.to_string().into_bytes()]),
        "enum" => Condition::Constants(items()?.map(|one| one.to_string().into_bytes()).collect()),
        "minimum" => Condition::Within(given.as_i64()?..=i64::MAX),
        "maximum" => Condition::Within(i64::MIN..=given.as_i64()?),
        "pattern" => Condition::Pattern(Pattern::new(given.as_str()?)?),
        "not" => Condition::Not(of(given, names)?),
        "anyOf" => {
            let not = |one: &Value| Some(Condition::Not(of(one, names)?));
            Condition::Not(Box::new(all(items()?.map(not))?))
        }
        "required" => all(items()?.map(|name| Some(Condition::Required(place(name.as_str()?)?))))?,
        "properties" => all(given.as_object()?.iter().map(field))?,
        "prefixItems" => {
            all(items()?.enumerate().map(|(i, one)| Some(Condition::Position(i, of(one, &[])?))))?
        }
        _ => return None,
    })
}
