//! What a change does to a row of a table.

use crate::columns::{Columns, Name, Rest, RowImage};

/// Return what the change of a row does to a row of a table; None if it is not a change.
pub fn effect(columns: &Columns, rest: &Rest) -> Option<&'static str> {
    let op = columns.text(Name::Op).unwrap_or_default();
    if !matches!(op, b"insert" | b"update" | b"upsert" | b"read" | b"delete") {
        return None;
    }
    if columns.text(Name::Key).is_none() {
        return Some("none");
    }
    let (before, after) = (columns.text(Name::Before), columns.text(Name::After));
    // A lone image before an update deletes its row if it is whole, unless it is one of several.
    let is_first = rest.sequence.is_none_or(|(_, minor)| minor == 0);
    if op == b"update" && after.is_none() && before.is_some() && is_first {
        return Some(if rest.image == RowImage::Full { "before" } else { "none" });
    }
    Some(if op == b"delete" {
        "delete"
    } else if rest.image == RowImage::Keys || rest.is_empty_image || after.is_none() {
        "keys"
    } else if rest.image == RowImage::Full {
        "full"
    } else {
        "patch"
    })
}
