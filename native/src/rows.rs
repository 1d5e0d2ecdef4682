//! Rows as JSON text: their columns, and the keys that are made of them.

use std::ops::Range;

use crate::json::number::{Number, number};
use crate::json::writing::named;
use crate::table::tape::{Message, Slot};
use crate::why::{Done, Why};

/// A column of a row that was written: where its name and its value are in the row's text; of a decimal,
/// which is text there, the number.
struct Cell {
    name: Range<usize>,
    value: Range<usize>,
}

impl Cell {
    fn name<'d>(&self, data: &'d [u8]) -> &'d [u8] {
        &data[self.name.clone()]
    }
}

/// A row that was written to a buffer.
#[derive(Default)]
pub struct Row {
    pub is_there: bool,
    cells: Vec<Cell>,
}

/// A row, with where it was written.
#[derive(Clone, Copy)]
pub struct Written<'w> {
    pub row: &'w Row,
    pub data: &'w [u8],
}

impl<'w> Written<'w> {
    /// Return the JSON text of a column as keys have it, where decimals are numbers; none if there is
    /// no such column.
    pub fn value(&self, name: &[u8]) -> Option<&'w [u8]> {
        let cell = self.row.cells.iter().find(|cell| cell.name(self.data) == name)?;
        Some(&self.data[cell.value.clone()])
    }

    pub fn has_columns(&self) -> bool {
        self.row.is_there && !self.row.cells.is_empty()
    }

    pub fn names(&self) -> impl Iterator<Item = &'w [u8]> + use<'w> {
        let data = self.data;
        self.row.cells.iter().map(move |cell| cell.name(data))
    }
}

/// Write the members of a map as a row; `value` writes one, by the content of its name, and tells
/// whether it is the text of a decimal.
pub fn write_row(
    map: &Slot,
    message: &Message,
    row: &mut Row,
    out: &mut Vec<u8>,
    mut value: impl FnMut(&[u8], &Slot, &mut Vec<u8>) -> Done<bool>,
) -> Done {
    row.begin(out);
    for (name, slot) in message.members(map) {
        let name = message.content(name).ok_or(Why::Name)?;
        row.name(&[name], out);
        let is_decimal = value(name, slot, out)?;
        row.end_value(is_decimal, out);
    }
    out.push(b'}');
    Ok(())
}

impl Row {
    /// Begin anew, without columns; whether there is a row.
    pub fn reset(&mut self, is_there: bool) -> bool {
        self.cells.clear();
        self.is_there = is_there;
        is_there
    }

    pub fn begin(&mut self, out: &mut Vec<u8>) {
        self.reset(true);
        out.push(b'{');
    }

    /// Write the name of a column, in parts that need no escapes.
    pub fn name(&mut self, parts: &[&[u8]], out: &mut Vec<u8>) {
        if !self.cells.is_empty() {
            out.push(b',');
        }
        out.push(b'"');
        let start = out.len();
        for part in parts {
            out.extend_from_slice(part);
        }
        let end = out.len();
        out.extend_from_slice(b"\":");
        self.cells.push(Cell { name: start..end, value: out.len()..out.len() });
    }

    /// Tell whether the name that was written last is that of another column as well.
    pub fn is_last_twice(&self, data: &[u8]) -> bool {
        let Some((last, others)) = self.cells.split_last() else { return false };
        others.iter().any(|other| other.name(data) == last.name(data))
    }

    /// End the value of the column whose name was written last.
    pub fn end_value(&mut self, is_decimal: bool, out: &[u8]) {
        if let Some(cell) = self.cells.last_mut() {
            let quote = usize::from(is_decimal);
            cell.value = cell.value.start + quote..out.len() - quote;
        }
    }
}

/// Return names in their order, each once.
pub fn distinct(names: &[String]) -> Vec<Vec<u8>> {
    let mut found: Vec<Vec<u8>> = names.iter().map(|name| name.clone().into_bytes()).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Return the key of the columns that name a row, which are in order, from where each is found; none if
/// one is absent or null.
///
/// Declined is one that has numbers with a fraction, which may be written in several ways, or arrays.
pub fn key_of<'k>(names: &[&[u8]], value: impl Fn(&[u8]) -> Option<&'k [u8]>) -> Done<Option<Vec<u8>>> {
    let parts = names.iter().map(|name| value(name).filter(|text| *text != b"null"));
    let Some(parts) = parts.collect::<Option<Vec<_>>>().filter(|parts| !parts.is_empty()) else {
        return Ok(None);
    };
    let mut key = vec![b'{'];
    for (name, part) in names.iter().zip(parts) {
        if !is_simple(part) && !matches!(part, b"true" | b"false") {
            return Err(Why::Effect);
        }
        named(name, &mut key);
        key.extend_from_slice(part);
    }
    key.push(b'}');
    Ok(Some(key))
}

/// Return the key that a row had before, if this differs from its key now.
///
/// `may_equal` tells whether values of a column may be equal in Python and look different.
pub fn old_key<'k>(
    names: &[&[u8]],
    before: Written<'k>,
    value: impl Fn(&[u8]) -> Option<&'k [u8]>,
    may_equal: impl Fn(&[u8]) -> bool,
    key: &[u8],
) -> Done<Option<Vec<u8>>> {
    let old = key_of(names, |name| before.value(name))?.filter(|old| old != key);
    if old.is_none() {
        return Ok(None);
    }
    for name in names {
        let (Some(was), Some(now)) = (before.value(name), value(name)) else { return Err(Why::Key) };
        if was != now && (may_equal(name) || !(is_simple(was) && is_simple(now))) {
            return Err(Why::Key);
        }
    }
    Ok(old)
}

/// Tell whether a value is text or an integer: those that look different are not equal.
fn is_simple(value: &[u8]) -> bool {
    let is_integer = |found: Number| found.integer.is_some() && found.text.len() == value.len();
    value.first() == Some(&b'"') || number(value).is_some_and(is_integer)
}
