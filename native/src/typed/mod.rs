//! Rows as columns of a type: values that fit it exactly, and whatever else is declined.

mod cells;
mod collections;
mod fitting;
mod kinds;
mod store;

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{ArrowError, DataType, Fields, Schema};

use crate::json::writing::named;
use crate::rows::Row;
use crate::why::{Done, Why};
use cells::put;
pub use collections::Nested;
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
        if !fields.iter().all(|field| field.is_nullable()) {
            return None;
        }
        let mut readings = readings.into_iter();
        let kinds = ColumnKind::of_fields(&fields, &mut readings, LEVELS)?;
        let folded = fields.iter().map(|field| field.name().to_lowercase()).collect();
        readings.next().is_none().then_some(RowType { fields, folded, kinds })
    }

    /// Begin a column of such rows.
    fn column(&self, rows: usize) -> Nested {
        Nested::new(self.kinds.iter().map(|kind| Store::new(kind, rows)).collect(), true, rows)
    }

    fn data_type(&self) -> DataType {
        DataType::Struct(self.fields.clone())
    }

    /// Return the index of the column that a name means; one that differs from it in case is declined.
    ///
    /// Rows often have columns in the order of the type, with gaps.
    fn index(&self, name: &[u8], next: usize) -> Done<Option<usize>> {
        let next = next.min(self.fields.len());
        let is_it = |i: &usize| self.fields[*i].name().as_bytes() == name;
        let found = (next..self.fields.len()).chain(0..next).find(is_it);
        let is_other_case = |name: &str| self.folded.contains(&name.to_lowercase());
        if found.is_none() && std::str::from_utf8(name).map_or(true, is_other_case) {
            return Err(Why::Row);
        }
        Ok(found)
    }
}

/// The images of some rows, before and after.
pub struct Images {
    row: Arc<RowType>,
    sides: [Nested; 2],
}

impl Images {
    pub fn new(row: &Arc<RowType>, rows: usize) -> Self {
        Images { row: Arc::clone(row), sides: [row.column(rows), row.column(rows)] }
    }

    /// Fit an image into its columns; `undeclared` gets the members that the type does not name, as
    /// JSON text.
    pub fn put(&mut self, side: usize, row: &Row, data: &[u8], undeclared: &mut Vec<u8>) -> Done {
        let Images { row: kind, sides } = self;
        let stores = sides[side].open();
        let (mut next, start) = (0, undeclared.len());
        for cell in &row.cells {
            let (name, text) = (cell.name(data), cell.value(data));
            if let Some(index) = kind.index(name, next)? {
                next = index + 1;
                put(&kind.kinds[index], cell.means, text, &mut stores[index])?;
            } else {
                if undeclared.len() == start {
                    named(SIDES[side].as_bytes(), undeclared);
                    undeclared.push(b'{');
                }
                named(name, undeclared);
                undeclared.extend_from_slice(text);
            }
        }
        if undeclared.len() > start {
            undeclared.push(b'}');
        }
        Ok(())
    }

    /// End a row; see `Store::end`.
    pub fn end(&mut self, is_dead: bool) {
        self.sides.iter_mut().for_each(|image| image.end(is_dead));
    }

    /// Return the columns before and after.
    pub fn finish(self) -> Result<[ArrayRef; 2], ArrowError> {
        let Images { row, sides: [before, after] } = self;
        let kind = row.data_type();
        Ok([before.finish(&kind)?, after.finish(&kind)?])
    }
}
