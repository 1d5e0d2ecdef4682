//! Rows as columns of a type: values that fit it exactly, and whatever else is declined.

mod cells;
mod collections;
mod fitting;
mod kinds;
mod nested;
mod store;

use std::sync::Arc;

use arrow_array::{ArrayRef, StructArray};
use arrow_buffer::BooleanBufferBuilder;
use arrow_schema::{ArrowError, DataType, FieldRef, Fields, Schema};

use crate::builders::nulls;
use crate::json::writing::named;
use crate::rows::Row;
use crate::why::{Done, Why};
use cells::fit;
use collections::finished;
pub use fitting::FitType;
use kinds::ColumnKind;
use store::Store;

/// Names of the images, as attributes have them.
const SIDES: [&str; 2] = ["before", "after"];

/// Levels of a type at most; pyarrow takes some more.
const LEVELS: usize = 32;

/// The type that rows must fit.
#[derive(Clone)]
pub struct RowType {
    fields: Fields,
    /// Names of the columns in lower case.
    folded: Vec<String>,
    kinds: Vec<ColumnKind>,
}

impl RowType {
    /// Take a type, and which schema gave each column and each field of a struct its type, as Python
    /// names it.
    ///
    /// None if a value may not be NULL, or a type is nested so deep that pyarrow does not take it. A
    /// column of a type that the kernel does not know is always NULL: rows with another value are declined.
    pub fn new(schema: &Schema, readings: Vec<String>) -> Option<Self> {
        let fields = schema.fields.clone();
        let is_usual = |field: &FieldRef| field.is_nullable() && depth(field.data_type()) <= LEVELS;
        if !fields.iter().all(is_usual) {
            return None;
        }
        let mut readings = readings.into_iter();
        let kinds = ColumnKind::of_fields(&fields, &mut readings)?;
        let folded = fields.iter().map(|field| field.name().to_lowercase()).collect();
        readings.next().is_none().then_some(RowType { fields, folded, kinds })
    }

    /// Return the index of the only column that a name means, whatever its case.
    ///
    /// Declined are names beyond ASCII that differ in case: Python may know other cases.
    fn column(&self, name: &[u8], next: usize) -> Done<Option<usize>> {
        let found = self.index(name, next);
        if found.is_some() || !self.is_other_case(name) {
            return Ok(found);
        }
        let mut places =
            (0..self.fields.len()).filter(|i| self.folded[*i].as_bytes().eq_ignore_ascii_case(name));
        match (places.next(), places.next()) {
            (Some(place), None) if name.is_ascii() => Ok(Some(place)),
            (Some(_), Some(_)) if name.is_ascii() => Ok(None),
            _ => Err(Why::Row),
        }
    }

    /// Tell whether a name differs from that of a column in case only.
    fn is_other_case(&self, name: &[u8]) -> bool {
        std::str::from_utf8(name).map_or(true, |name| self.folded.contains(&name.to_lowercase()))
    }

    /// Return the index of a column; rows often have them in the order of the type, with gaps.
    fn index(&self, name: &[u8], next: usize) -> Option<usize> {
        let next = next.min(self.fields.len());
        let is_it = |i: &usize| self.fields[*i].name().as_bytes() == name;
        (next..self.fields.len()).chain(0..next).find(is_it)
    }
}

/// The images of some rows, before and after.
pub struct Images {
    row: Arc<RowType>,
    sides: [Image; 2],
}

struct Image {
    stores: Vec<Store>,
    valid: BooleanBufferBuilder,
    is_there: bool,
}

impl Images {
    pub fn new(row: &Arc<RowType>, rows: usize) -> Self {
        Images { row: Arc::clone(row), sides: [Image::new(row, rows), Image::new(row, rows)] }
    }

    /// Fit an image into its columns; `undeclared` gets the members that the type does not name, as
    /// JSON text.
    pub fn put(&mut self, side: usize, row: &Row, data: &[u8], undeclared: &mut Vec<u8>) -> Done {
        let Images { row: kind, sides } = self;
        let image = &mut sides[side];
        image.is_there = true;
        let (mut next, mut is_whole) = (0, true);
        for cell in &row.cells {
            let (name, text) = (cell.name(data), cell.value(data));
            if let Some(index) = kind.index(name, next) {
                next = index + 1;
                if text != b"null" {
                    fit(&kind.kinds[index], cell.means, text, &mut image.stores[index])?;
                }
            } else if kind.is_other_case(name) {
                return Err(Why::Row);
            } else {
                if is_whole {
                    named(SIDES[side].as_bytes(), undeclared);
                    undeclared.push(b'{');
                }
                is_whole = false;
                named(name, undeclared);
                undeclared.extend_from_slice(text);
            }
        }
        if !is_whole {
            undeclared.push(b'}');
        }
        Ok(())
    }

    /// End a row; see `Store::end`.
    pub fn end(&mut self, is_dead: bool) -> Done {
        self.sides.iter_mut().try_for_each(|image| image.end(is_dead))
    }

    /// Return the columns before and after.
    pub fn finish(self) -> Result<[ArrayRef; 2], ArrowError> {
        let Images { row, sides: [before, after] } = self;
        Ok([before.finish(&row)?, after.finish(&row)?])
    }
}

impl Image {
    fn new(row: &RowType, rows: usize) -> Self {
        let stores = row.kinds.iter().map(|kind| Store::new(kind, rows)).collect();
        Image { stores, valid: BooleanBufferBuilder::new(rows), is_there: false }
    }

    fn end(&mut self, is_dead: bool) -> Done {
        self.valid.append(std::mem::take(&mut self.is_there));
        self.stores.iter_mut().try_for_each(|store| store.end(is_dead))
    }

    fn finish(mut self, row: &RowType) -> Result<ArrayRef, ArrowError> {
        let rows = self.valid.len();
        let nulls = nulls(&mut self.valid);
        let arrays = finished(self.stores, &row.fields, rows)?;
        Ok(Arc::new(StructArray::try_new_with_length(row.fields.clone(), arrays, nulls, rows)?))
    }
}

/// Return how many types a type is nested in, with itself.
fn depth(kind: &DataType) -> usize {
    let below = match kind {
        DataType::List(field) | DataType::LargeList(field) | DataType::Map(field, _) => {
            depth(field.data_type())
        }
        DataType::Struct(fields) => {
            fields.iter().map(|field| depth(field.data_type())).max().unwrap_or_default()
        }
        _ => 0,
    };
    below + 1
}
