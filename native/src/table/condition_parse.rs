//! The schemas of a table to conditions.

use serde_json::Value;

use super::condition::Condition;
use super::pattern::Pattern;

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
        "type" => Condition::of_type(given.as_str()?)?,
        "const" => Condition::Constants(vec![given.to_string().into_bytes()]),
        "enum" => Condition::Constants(items()?.map(|one| one.to_string().into_bytes()).collect()),
        "minimum" => Condition::Within(given.as_i64()?..=i64::MAX),
        "maximum" => Condition::Within(i64::MIN..=given.as_i64()?),
        "pattern" => Condition::Pattern(Pattern::new(given.as_str()?)?),
        "not" => Condition::Not(of(given, names)?),
        "anyOf" => Condition::any(items()?.map(|one| condition_of(one, names)).collect::<Option<_>>()?),
        "required" => all(items()?.map(|name| Some(Condition::Required(place(name.as_str()?)?))))?,
        "properties" => all(given.as_object()?.iter().map(field))?,
        "prefixItems" => {
            all(items()?.enumerate().map(|(i, one)| Some(Condition::Position(i, of(one, &[])?))))?
        }
        _ => return None,
    })
}
