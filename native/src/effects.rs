//! What a change does to a row of a table, and the texts of its keys.

use crate::columns::{Columns, Name, Rest, RowImage};
use crate::json::names::Names;
use crate::json::scan::{Kind, LEVELS, Scan};
use crate::json::writing::named;
use crate::why::{Done, Why};

/// Write the keys of the row as all keys are written, and return what it does to a row of a table; None
/// if it is not a change.
///
/// Declined are keys of numbers with a fraction, which may be written in several ways.
pub fn effect(columns: &mut Columns, rest: &Rest) -> Done<Option<&'static str>> {
    for name in [Name::Key, Name::BeforeKey] {
        if let Some(text) = columns.text(name) {
            let key = written(&key_members(text)?)?;
            if key != text {
                columns.of(name).take_back();
                columns.of(name).put(&key);
            }
        }
    }
    let op = columns.text(Name::Op).ok_or(Why::Effect)?;
    if !matches!(op, b"insert" | b"update" | b"upsert" | b"read" | b"delete") {
        return Ok(None);
    }
    if columns.text(Name::Key).is_none() {
        return Ok(Some("none"));
    }
    let (before, after) = (columns.text(Name::Before), columns.text(Name::After));
    // A lone image before an update deletes its row if it is whole, unless it is one of several.
    let is_first = rest.sequence.is_none_or(|(_, minor)| minor == 0);
    if op == b"update" && after.is_none() && before.is_some() && is_first {
        return Ok(Some(if rest.image == RowImage::Full { "before" } else { "none" }));
    }
    Ok(Some(if op == b"delete" {
        "delete"
    } else if rest.image == RowImage::Keys || rest.is_empty_image || after.is_none() {
        "keys"
    } else if rest.image == RowImage::Full {
        "full"
    } else {
        "patch"
    }))
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
