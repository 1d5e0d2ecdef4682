//! What a change does to a row of a table, of changes that concern one row only.

use crate::columns::{Columns, Name, Rest};
use crate::json::names::Names;
use crate::json::scan::{Kind, LEVELS, Scan};

/// What a change does to one row.
pub struct Effect {
    /// The key as JSON text, its columns in the order of their names.
    pub key: Vec<u8>,
    pub kind: &'static str,
    /// Columns that a patch sets, as they stand in JSON text.
    pub names: Option<Vec<Vec<u8>>>,
}

/// Return the effect of the row that was written to columns; `Some(None)` if it has none.
///
/// Declined are changes of two rows, patches with an image before, and keys of numbers with a fraction, which may be written in several ways.
pub fn effect(columns: &Columns, rest: &Rest, image: &str) -> Option<Option<Effect>> {
    let op = columns.text(Name::Op)?;
    let is_change = matches!(op, b"insert" | b"update" | b"upsert" | b"read" | b"delete");
    let Some(key) = columns.text(Name::Key).filter(|_| is_change) else { return Some(None) };
    let after = columns.text(Name::After);
    let has_before = columns.text(Name::Before).is_some();
    let is_unpaired = op == b"update" && after.is_none() && has_before;
    if columns.text(Name::BeforeKey).is_some() || rest.has_decimal_key {
        return None;
    }
    // Such an image deletes its row, unless it is one of several of an update.
    let is_first = rest.sequence.is_none_or(|(_, minor)| minor == 0);
    if is_unpaired && !(is_first && image == "full") {
        return None;
    }
    let mut members = members(key)?;
    members.sort();
    let mut effect = Effect { key: written(&members)?, kind: "delete", names: None };
    if op == b"delete" || is_unpaired {
        return Some(Some(effect));
    }
    if image == "full" && !rest.is_empty_image && after.is_some() {
        effect.kind = "full";
        return Some(Some(effect));
    }
    effect.kind = "patch";
    let has_names = image != "keys" && !rest.is_empty_image;
    if has_names && has_before {
        return None;
    }
    let set = after.filter(|_| has_names).map_or(Some(Vec::new()), self::members)?;
    let is_of_key = |name: &[u8]| members.iter().any(|member| member.0 == name);
    let names = set.into_iter().map(|member| member.0.to_vec()).filter(|name| !is_of_key(name));
    effect.names = Some(names.collect());
    Some(Some(effect))
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
