//! Rows as JSON text: their columns, and the keys that are made of them.

use crate::table::tape::{Message, Slot};

/// The Python type of a value, if its JSON text does not show it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Means {
    /// The type of the JSON value.
    Json,
    Decimal,
    Date,
    Time,
    Bytes,
    /// The kernel does not know it.
    Unknown,
}

/// A column of a row that was written: its name and its value in the row's text.
#[derive(Clone, Copy)]
pub struct Cell {
    pub name: (usize, usize),
    pub value: (usize, usize),
    pub means: Means,
}

/// A row that was written to a buffer.
#[derive(Default)]
pub struct Row {
    pub is_there: bool,
    pub cells: Vec<Cell>,
}

/// A row, with where it was written.
#[derive(Clone, Copy)]
pub struct Written<'w> {
    pub row: &'w Row,
    pub data: &'w [u8],
}

impl<'w> Written<'w> {
    /// Return the JSON text of a column; none if there is no such column.
    pub fn value(&self, name: &[u8]) -> Option<&'w [u8]> {
        let same = |cell: &&Cell| &self.data[cell.name.0..cell.name.1] == name;
        self.row.cells.iter().find(same).map(|cell| &self.data[cell.value.0..cell.value.1])
    }

    pub fn has_columns(&self) -> bool {
        self.row.is_there && !self.row.cells.is_empty()
    }

    pub fn names(&self) -> impl Iterator<Item = &'w [u8]> + use<'w> {
        let data = self.data;
        self.row.cells.iter().map(move |cell| &data[cell.name.0..cell.name.1])
    }
}

/// Write the members of a map as a row; `value` writes one, by the content of its name, and returns
/// what it is.
pub fn write_row(
    map: &Slot,
    message: &Message,
    row: &mut Row,
    out: &mut Vec<u8>,
    mut value: impl FnMut(&[u8], &Slot, &mut Vec<u8>) -> Option<Means>,
) -> Option<()> {
    row.begin(out);
    for (place, slot) in message.elements(map) {
        let name = message.content(slot)?;
        row.name(&[name], out);
        let means = value(name, message.tape.slots.get(place + 1)?, out)?;
        row.end_value(means, out);
    }
    out.push(b'}');
    Some(())
}

impl Row {
    pub fn begin(&mut self, out: &mut Vec<u8>) {
        self.cells.clear();
        self.is_there = true;
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
        self.cells.push(Cell { name: (start, end), value: (out.len(), out.len()), means: Means::Json });
    }

    /// End the value of the column whose name was written last.
    pub fn end_value(&mut self, means: Means, out: &[u8]) {
        if let Some(cell) = self.cells.last_mut() {
            cell.value.1 = out.len();
            cell.means = means;
        }
    }
}

/// Return names without those that come a second time.
pub fn distinct(names: &[String]) -> Vec<Vec<u8>> {
    let mut found: Vec<Vec<u8>> = Vec::new();
    for name in names {
        if !found.iter().any(|other| other == name.as_bytes()) {
            found.push(name.clone().into_bytes());
        }
    }
    found
}

/// Write the columns that name a row, from where each is found. Nothing is written, and false
/// returned, if one is absent or null.
pub fn write_key<'k>(
    names: impl Iterator<Item = &'k [u8]> + Clone,
    value: impl Fn(&[u8]) -> Option<&'k [u8]>,
    out: &mut Vec<u8>,
) -> bool {
    let mut known = names.clone().peekable();
    let is_whole =
        known.peek().is_some() && known.all(|name| value(name).is_some_and(|text| text != b"null"));
    if !is_whole {
        return false;
    }
    out.push(b'{');
    for (i, name) in names.enumerate() {
        out.extend_from_slice(if i == 0 { b"\"" } else { b",\"" });
        out.extend_from_slice(name);
        out.extend_from_slice(b"\":");
        out.extend_from_slice(value(name).unwrap_or_default());
    }
    out.push(b'}');
    true
}

/// Tell whether two values are equal in Python, by their texts; `None` where that is not seen.
pub fn is_same(one: &[u8], other: &[u8]) -> Option<bool> {
    if one == other {
        return Some(true);
    }
    let is_text = |value: &[u8]| value.first() == Some(&b'"');
    let is_integer = |value: &[u8]| value.iter().all(|c| matches!(c, b'-' | b'0'..=b'9'));
    let is_told = (is_text(one) || is_integer(one)) && (is_text(other) || is_integer(other));
    is_told.then_some(false)
}
