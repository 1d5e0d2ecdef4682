//! Cells of HBase tables.

use super::Notes;
use super::rows::{Cell, Row};

/// Column of an HBase table that holds the row key.
pub const ROW_KEY: &[u8] = b"ROW";

/// Write the name of a cell: with its family, if that is known.
pub fn cell_name(
    name: &[u8],
    families: Option<&[Vec<u8>]>,
    row: &mut Row,
    out: &mut Vec<u8>,
    unknown: &mut Notes,
) -> Option<()> {
    let is_of = |family: &&Vec<u8>| {
        name.strip_prefix(family.as_slice()).is_some_and(|rest| rest.first() == Some(&b'_'))
    };
    let Some(families) = families.filter(|_| name != ROW_KEY) else {
        row.name(&[name], out);
        return Some(());
    };
    let family = families.iter().filter(is_of).max_by_key(|family| family.len());
    if let Some(family) = family {
        row.name(&[family, b":", &name[family.len() + 1..]], out);
    } else {
        unknown.push("unknown-family");
        row.name(&[name], out);
    }
    let (last, others) = row.cells.split_last()?;
    let same = |other: &Cell| out[other.name.0..other.name.1] == out[last.name.0..last.name.1];
    if others.iter().any(same) { None } else { Some(()) }
}
