//! What a change does to rows of a table.

use crate::columns::{Columns, Effect, Name, Rest};
use crate::json::names::Names;
use crate::json::scan::{Kind, LEVELS, Scan};
use crate::json::writing::named;
use crate::why::{Done, Why};

/// Return the effect of the row that was written to columns; none if it has none.
///
/// Declined are keys of numbers with a fraction, which may be written in several ways.
pub fn effect(columns: &Columns, rest: &Rest, image: &str) -> Done<Option<Effect>> {
    let op = columns.text(Name::Op).ok_or(Why::Effect)?;
    let is_change = matches!(op, b"insert" | b"update" | b"upsert" | b"read" | b"delete");
    let Some(key) = columns.text(Name::Key).filter(|_| is_change) else { return Ok(None) };
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
        return Ok(Some(effect));
    }
    if op == b"delete" || is_unpaired {
        return Ok(Some(effect));
    }
    if image == "full" && !rest.is_empty_image && after.is_some() {
        effect.kind = "full";
        return Ok(Some(effect));
    }
    effect.kind = "patch";
    let after = after.filter(|_| image != "keys" && !rest.is_empty_image);
    let mut names: Vec<Vec<u8>> = Vec::new();
    // Columns that only the image before has are removed.
    for image in [after, after.and(before)].into_iter().flatten() {
        for (name, ..) in self::members(image)? {
            let is_known = members.iter().any(|member| member.0 == name);
            if !is_known && !names.iter().any(|other| other == name) {
                names.push(name.to_vec());
            }
        }
    }
    effect.names = Some(names);
    Ok(Some(effect))
}

/// Return the members of a key in the order of their names.
fn key_members(text: &[u8]) -> Done<Vec<Member<'_>>> {
    let mut found = members(text)?;
    found.sort_unstable_by_key(|(name, ..)| *name);
    Ok(found)
}

/// A name without its quotes, a value, and its kind.
type Member<'m> = (&'m [u8], &'m [u8], Kind);

/// Return the members of an object as it was written.
fn members(text: &[u8]) -> Done<Vec<Member<'_>>> {
    let (mut found, mut names) = (Vec::new(), Names::default());
    Scan::new(text, false).object(|scan, name| {
        let start = scan.at;
        let kind = scan.skip(&mut names, LEVELS)?;
        found.push((name.content, &scan.text[start..scan.at], kind));
        Ok(())
    })?;
    Ok(found)
}

/// Write a key, of texts, integers and truth values.
fn written(members: &[Member]) -> Done<Vec<u8>> {
    let mut key = vec![b'{'];
    for (name, value, kind) in members {
        if matches!(kind, Kind::Float | Kind::Array | Kind::Object | Kind::Null) {
            return Err(Why::Effect);
        }
        named(name, &mut key);
        key.extend_from_slice(value);
    }
    key.push(b'}');
    Ok(key)
}
