//! The schemas of a table to conditions.

use serde_json::Value;

use super::condition::Condition;
use super::pattern::Pattern;

/// Return the condition that a schema says; `names` are those of the fields that it may name. None: it
/// has a keyword that the kernel does not know.
pub fn condition_of(given: &Value, names: &[Vec<u8>]) -> Option<Condition> {
    let keywords = given.as_object()?.iter();
    let mut all: Vec<_> = keywords.map(|(word, value)| keyword(word, value, names)).collect::<Option<_>>()?;
    if all.len() == 1 { all.pop() } else { Some(Condition::All(all)) }
}

fn keyword(word: &str, given: &Value, names: &[Vec<u8>]) -> Option<Condition> {
    let place = |name: &str| names.iter().position(|other| other == name.as_bytes());
    Some(match word {
        "type" => Condition::of_type(given.as_str()?)?,
        "const" => constants(std::slice::from_ref(given))?,
        "enum" => constants(given.as_array()?)?,
        "minimum" => Condition::Minimum(given.as_i64()?),
        "maximum" => Condition::Maximum(given.as_i64()?),
        "pattern" => Condition::Pattern(Pattern::new(given.as_str()?)?),
        "not" => Condition::Not(Box::new(condition_of(given, names)?)),
        "anyOf" => {
            let any = given.as_array()?.iter();
            Condition::Any(any.map(|one| condition_of(one, names)).collect::<Option<_>>()?)
        }
        "required" => {
            let fields = given.as_array()?.iter();
            Condition::Required(fields.map(|name| place(name.as_str()?)).collect::<Option<_>>()?)
        }
        "properties" => {
            let fields = given.as_object()?.iter();
            let found = fields.map(|(name, one)| Some((place(name)?, condition_of(one, &[])?)));
            Condition::Fields(found.collect::<Option<_>>()?)
        }
        "prefixItems" => {
            let items = given.as_array()?.iter();
            Condition::Positions(items.map(|one| condition_of(one, &[])).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

fn constants(given: &[Value]) -> Option<Condition> {
    if given == [Value::Null] {
        return Some(Condition::Null);
    }
    if let Some(found) = given.iter().map(Value::as_i64).collect() {
        return Some(Condition::Integers(found));
    }
    let words = given.iter().map(|word| Some(word.as_str()?.as_bytes().to_vec()));
    Some(Condition::Words(words.collect::<Option<_>>()?))
}
