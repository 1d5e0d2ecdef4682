//! The types that the values of rows show, which are JSON text.

use std::sync::Arc;

use arrow_array::{Array, BinaryArray, BooleanArray, RecordBatch};
use arrow_schema::ArrowError;
use memchr::memmem::Finder;

use crate::border::panic_on_demand;
use crate::builders::{TextColumn, batch};
use crate::json::names::Names;
use crate::json::number::NOT_FINITE;
use crate::json::scan::{Kind, LEVELS, Scan};
use crate::json::writing::{named, quoted};
use crate::why::{Done, Why};

/// What attributes say of a bin whose value does not show its type.
const TYPE: &[u8] = b"\"type\":";

/// Return the texts of the columns of rows, NULL without a row and without a type, and which rows are
/// declined.
pub fn carried(afters: &BinaryArray, attributes: &BinaryArray) -> Result<RecordBatch, ArrowError> {
    let count = afters.len().min(attributes.len());
    let (mut texts, mut declined) = (TextColumn::new(count), Vec::with_capacity(count));
    let (mut names, finder) = (Names::default(), Finder::new(TYPE));
    for (after, notes) in afters.iter().zip(attributes) {
        let is_noted = notes.is_some_and(|notes| has_bytes(notes, &finder));
        let done = match after {
            None => Ok(()),
            Some(_) if is_noted => Err(Why::Row),
            Some(after) => one(after, &mut names, &mut texts),
        };
        if done.is_err() {
            texts.take_back();
        }
        texts.end();
        declined.push(done.is_err());
    }
    batch([("columns", texts.finish(true)?), ("declined", Arc::new(BooleanArray::from(declined)))])
}

/// Tell whether attributes say that the text of a bin represents bytes; Python says of which.
fn has_bytes(notes: &[u8], finder: &Finder) -> bool {
    let is_of_bytes = |at| matches!(&notes[at + TYPE.len()..], [b'0'..=b'9', ..] | [b'"', b'b', ..]);
    finder.find_iter(notes).any(is_of_bytes)
}

/// Write the columns of a row.
fn one(after: &[u8], names: &mut Names, texts: &mut TextColumn) -> Done {
    panic_on_demand(after);
    names.clear();
    let mark = names.open();
    let out = texts.open();
    out.push(b'{');
    let mut scan = Scan::new(after);
    scan.object(|scan, name| {
        scan.name(name, mark, names)?;
        let at = scan.at;
        if let Some(kind) = shown(scan.skip(names, LEVELS)?, &after[at..scan.at])? {
            named(name.content, out);
            quoted(kind.as_bytes(), out);
        }
        Ok(())
    })?;
    out.push(b'}');
    if scan.is_at_end() { Ok(()) } else { Err(Why::Text) }
}

/// Return the name of the type that a value shows; none of null.
fn shown(kind: Kind, text: &[u8]) -> Done<Option<&'static str>> {
    Ok(match kind {
        Kind::Null => None,
        Kind::True | Kind::False => Some("boolean"),
        Kind::Integer => Some("long"),
        Kind::Float => Some("double"),
        Kind::Text | Kind::Escaped => {
            let content = &text[1..text.len() - 1];
            Some(if NOT_FINITE.contains(&content) { "void" } else { "string" })
        }
        Kind::Array | Kind::Object => Some("application/json"),
        _ => return Err(Why::Row),
    })
}
