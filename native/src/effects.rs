//! What a change does to rows of a table.

use crate::columns::{Columns, Name, Rest};
use crate::json::names::Names;
use crate::json::scan::{Kind, LEVELS, Scan};

/// What a change with a key does to one row, and to another one if it moves it.
pub struct Effect {
    /// The key as JSON text, its columns in the order of their names; none if nothing is done.
    pub key: Option<Vec<u8>>,
    /// The key of the row that is deleted, if the row had another one before.
    pub before_key: Option<Vec<u8>>,
    pub kind: &'static str,
    /// Columns that a patch sets, as they stand in JSON text.
    pub names: Option<Vec<Vec<u8>>>,
}

/// Return the effect of the row that was written to columns; `Some(None)` if it has none.
///
/// Declined are keys of numbers with a fraction, which may be written in several ways.
pub fn effect(columns: &Columns, rest: &Rest, image: &str) -> Option<Option<Effect>> {
    let op = columns.text(Name::Op)?;
    let is_change = matches!(op, b"insert" | b"update" | b"upsert" | b"read" | b"delete");
    let Some(key) = columns.text(Name::Key).filter(|_| is_change) else { return Some(None) };
    if rest.has_decimal_key {
        return None;
    }
    let (before, after) = (columns.text(Name::Before), columns.text(Name::After));
    let members = key_members(key)?;
    let before_key = match columns.text(Name::BeforeKey) {
        Some(text) => Some(written(&key_members(text)?)?),
        None => None,
    };
    let mut effect = Effect { key: Some(written(&members)?), before_key, kind: "delete", names: None };
    // A lone image before an update deletes its row if it is whole, unless it is one of several.
    let is_first = rest.sequence.is_none_or(|(_, minor)| minor == 0);
    let is_unpaired = op == b"update" && after.is_none() && before.is_some() && is_first;
    if is_unpaired && image != "full" {
        effect.key = None;
        return Some(Some(effect));
    }
    if op == b"delete" || is_unpaired {
        return Some(Some(effect));
    }
    if image == "full" && !rest.is_empty_image && after.is_some() {
        effect.kind = "full";
        return Some(Some(effect));
    }
    effect.kind = "patch";
    let after = after.filter(|_| image != "keys" && !rest.is_empty_image);
    let mut names: Vec<Vec<u8>> = Vec::new();
    // Columns that only the image before has are removed.
    for image in [after, after.and(before)].into_iter().flatten() {
        for (name, _) in self::members(image)? {
            let is_known = members.iter().any(|member| member.0 == name);
            if !is_known && !names.iter().any(|other| other == name) {
                names.push(name.to_vec());
            }
        }
    }
    effect.names = Some(names);
    Some(Some(effect))
}

/// Return the members of a key in the order of their names.
fn key_members(text: &[u8]) -> Option<Vec<Member<'_>>> {
    let mut found = members(text)?;
    found.sort();
    Some(found)
}

/// A name without its quotes, and a value.
type Member<'m> = (&'m [u8], &'m [u8]);

/// Return the members of an object as it was written.
fn members(text: &[u8]) -> Option<Vec<Member<'_>>> {
    let (mut found, mut names) = (Vec::new(), Names::default());
    let mut scan = Scan::new(text, false);
    scan.object(|scan, name| {
        let start = scan.at;
        scan.skip(&mut names, LEVELS)?;
        found.push((name.content, text.get(start..scan.at)?));
        Some(())
    })?;
    Some(found)
}

/// Write a key, of texts, integers and truth values.
fn written(members: &[Member]) -> Option<Vec<u8>> {
    let mut key = vec![b'{'];
    for (i, (name, value)) in members.iter().enumerate() {
        let kind = Scan::new(value, false).skip(&mut Names::default(), LEVELS)?;
        if matches!(kind, Kind::Float | Kind::Array | Kind::Object | Kind::Null) {
            return None;
        }
        key.extend_from_slice(if i == 0 { b"\"" } else { b",\"" });
        key.extend_from_slice(name);
        key.extend_from_slice(b"\":");
        key.extend_from_slice(value);
    }
    key.push(b'}');
    Some(key)
}
