//! Keys and rows, which are JSON text, as columns of a type.

use std::sync::Arc;

use arrow_array::{Array, BinaryArray, BooleanArray, RecordBatch};
use arrow_schema::{ArrowError, Schema};

use super::RowType;
use super::cells::put;
use super::collections::Nested;
use super::kinds::ColumnKind;
use super::store::Store;
use crate::border::panic_on_demand;
use crate::builders::{TextColumn, batch};
use crate::json::names::Names;
use crate::json::number::{is_written_plainly, write_float, write_units};
use crate::json::scan::{LEVELS, Scan};
use crate::json::text::write_string;
use crate::json::times::{write_date, write_time};
use crate::json::writing::named;
use crate::why::{Done, Why};

/// The columns that keys and rows must fit.
pub struct FitType {
    key: RowType,
    row: RowType,
    /// The columns of the key in the order of their names.
    order: Vec<usize>,
}

/// What is known of the text that is read, by the columns of its type.
struct Work {
    names: Names,
    /// Where the value of each column stands; none if the text does not have it.
    places: Vec<Option<(usize, usize)>>,
}

impl FitType {
    /// Take the columns of keys and rows; none if rows are of no such type, or a column of the key is
    /// not a scalar.
    pub fn new(key: &Schema, row: &Schema, of_json: [Vec<bool>; 2]) -> Option<Self> {
        let [of_key, of_row] = of_json;
        let key = RowType::new(key, of_key)?;
        let row = RowType::new(row, of_row)?;
        let is_nested = |kind: &ColumnKind| matches!(Store::new(kind, 0), Store::Nested(_));
        if key.kinds.iter().any(is_nested) {
            return None;
        }
        let mut order: Vec<usize> = (0..key.fields.len()).collect();
        order.sort_unstable_by(|one, two| key.fields[*one].name().cmp(key.fields[*two].name()));
        Some(FitType { key, row, order })
    }

    /// Return the text of each key, written again from its columns, the columns of keys, the columns of
    /// rows, NULL without a row, and which pairs of both are declined: what those have is of no use.
    ///
    /// Without keys, `others` has of each row the members that no column names; else they are passed over.
    pub fn fitted(&self, keys: Option<&BinaryArray>, rows: &BinaryArray) -> Result<RecordBatch, ArrowError> {
        let count = keys.map_or(rows.len(), |keys| keys.len().min(rows.len()));
        let (mut texts, mut others) = (TextColumn::new(count), TextColumn::new(count));
        let (mut named, mut content) = (self.key.column(count), self.row.column(count));
        let mut declined = Vec::with_capacity(count);
        let mut work = Work { names: Names::default(), places: Vec::new() };
        for (i, row) in rows.iter().enumerate().take(count) {
            let mut one = || {
                if let Some(keys) = keys {
                    let key = keys.is_valid(i).then(|| keys.value(i)).ok_or(Why::Null)?;
                    self.key(key, &mut named, &mut texts, &mut work)?;
                }
                let others = keys.is_none().then_some(&mut others);
                row.map_or(Ok(()), |row| self.row(row, &mut content, others, &mut work))
            };
            let is_declined = one().is_err();
            for column in [&mut texts, &mut others] {
                if is_declined {
                    column.take_back();
                }
                column.end();
            }
            named.end(is_declined);
            content.end(is_declined);
            declined.push(is_declined);
        }
        batch([
            ("key", texts.finish(true)?),
            ("named", named.finish(&self.key.data_type())?),
            ("content", content.finish(&self.row.data_type())?),
            ("others", others.finish(true)?),
            ("declined", Arc::new(BooleanArray::from(declined))),
        ])
    }

    /// Put a row; `others` gets the members that no column names, as an object.
    fn row(
        &self,
        text: &[u8],
        image: &mut Nested,
        mut others: Option<&mut TextColumn>,
        work: &mut Work,
    ) -> Done {
        read(&self.row, text, image, work, |name, value| {
            let Some(others) = others.as_deref_mut() else { return Ok(()) };
            if others.text().is_none() {
                others.open().push(b'{');
            }
            named(name, others.open());
            others.put(value);
            Ok(())
        })?;
        if let Some(others) = others.filter(|others| others.text().is_some()) {
            others.open().push(b'}');
        }
        Ok(())
    }

    /// Put a key, which has all columns of its type and no others, and write it again; names that need
    /// escapes are declined before.
    fn key(&self, text: &[u8], image: &mut Nested, texts: &mut TextColumn, work: &mut Work) -> Done {
        read(&self.key, text, image, work, |_, _| Err(Why::Key))?;
        let out = texts.open();
        out.push(b'{');
        for place in &self.order {
            named(self.key.fields[*place].name().as_bytes(), out);
            let (start, end) = work.places[*place].ok_or(Why::Key)?;
            write(&self.key.kinds[*place], &image.items[*place], &text[start..end], out).ok_or(Why::Key)?;
        }
        out.push(b'}');
        Ok(())
    }
}

/// Put the members of an object into the columns of a type; `other` gets name and value of each that no
/// column names.
fn read(
    kind: &RowType,
    text: &[u8],
    image: &mut Nested,
    work: &mut Work,
    mut other: impl FnMut(&[u8], &[u8]) -> Done,
) -> Done {
    panic_on_demand(text);
    let Work { names, places } = work;
    names.clear();
    places.clear();
    places.resize(kind.kinds.len(), None);
    image.open();
    let (mark, mut next) = (names.open(), 0);
    let mut scan = Scan::new(text);
    scan.blanks();
    scan.object(|scan, name| {
        let content = name.plain().ok_or(Why::Name)?;
        let column = kind.index(content, next)?;
        if column.is_none() {
            scan.name(name, mark, names)?;
        }
        let start = scan.at;
        scan.skip(names, LEVELS)?;
        let value = &scan.text[start..scan.at];
        let Some(index) = column else { return other(content, value) };
        if places[index].replace((start, scan.at)).is_some() {
            return Err(Why::Name);
        }
        next = index + 1;
        put(&kind.kinds[index], value, &mut image.items[index])
    })?;
    if scan.is_at_end() { Ok(()) } else { Err(Why::Text) }
}

/// Write a value of a key as `changewire.tables.keys.key_text` does, by its text and by what was put into
/// its column.
fn write(kind: &ColumnKind, store: &Store, text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    match (kind, store) {
        (ColumnKind::Date, Store::Integers(store)) if text != b"null" => {
            out.push(b'"');
            write_date(store.value?, out)?;
            out.push(b'"');
        }
        (ColumnKind::Time(is_clock), Store::Integers(store)) if text != b"null" => {
            out.push(b'"');
            write_time(store.value?, 0, out)?;
            if *is_clock {
                out.pop();
            }
            out.push(b'"');
        }
        (ColumnKind::Text | ColumnKind::Json, Store::Texts(store)) if text != b"null" => {
            write_string(std::str::from_utf8(store.text()?).ok()?, out)?;
        }
        // Text is no number, or else two keys would be one.
        (_, Store::Floats(_)) if text.starts_with(b"\"") => return None,
        // A number has no fraction if it is 0, and zero no sign.
        (_, Store::Floats(store)) if text != b"null" => {
            write_float(Some(store.value? + 0.0).filter(|value| is_written_plainly(*value))?, out);
            out.truncate(out.len() - 2 * usize::from(out.ends_with(b".0")));
        }
        (ColumnKind::Decimal(_, scale), Store::Decimals(store)) if text != b"null" => {
            let (mut units, mut scale) = (store.value?, *scale);
            while scale > 0 && units % 10 == 0 {
                (units, scale) = (units / 10, scale - 1);
            }
            write_units(units, scale, out)?;
        }
        // Truth values, integers and bytes have one text.
        _ => out.extend_from_slice(text),
    }
    Some(())
}
