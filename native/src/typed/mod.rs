//! Rows as columns of a type: values that fit it exactly, and whatever else is declined.

mod cells;
mod collections;
mod fitting;
mod kinds;
mod store;

use std::collections::{HashMap, HashSet};

use arrow_schema::{DataType, Fields, Schema};

use crate::why::{Done, Why};
pub use collections::Nested;
pub use fitting::FitType;
use kinds::ColumnKind;
use store::Store;

/// Levels of a type at most; pyarrow takes some more.
const LEVELS: usize = 32;

/// The indices of fields, by their names.
type Places = HashMap<Vec<u8>, usize>;

/// Return the indices of fields; of several with one name, that of the first.
fn places_of(fields: &Fields) -> Places {
    let named = fields.iter().enumerate().map(|(i, field)| (field.name().clone().into_bytes(), i));
    named.rev().collect()
}

/// The type that rows must fit.
struct RowType {
    fields: Fields,
    places: Places,
    /// Names of the columns in lower case.
    folded: HashSet<String>,
    kinds: Vec<ColumnKind>,
}

impl RowType {
    /// Take a type, and which of its columns and of the fields of structs hold any value as JSON text.
    ///
    /// None if a value may not be NULL, or a type is nested so deep that pyarrow does not take it. A
    /// column of a type that the kernel does not know is always NULL: rows with another value are declined.
    fn new(schema: &Schema, of_json: Vec<bool>) -> Option<Self> {
        let fields = schema.fields.clone();
        if !fields.iter().all(|field| field.is_nullable()) {
            return None;
        }
        let mut of_json = of_json.into_iter();
        let kinds = ColumnKind::of_fields(&fields, &mut of_json, LEVELS)?;
        let folded = fields.iter().map(|field| field.name().to_lowercase()).collect();
        let places = places_of(&fields);
        of_json.next().is_none().then_some(RowType { fields, places, folded, kinds })
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
    /// Rows mostly have columns in the order of the type.
    fn index(&self, name: &[u8], next: usize) -> Done<Option<usize>> {
        if self.fields.get(next).is_some_and(|field| field.name().as_bytes() == name) {
            return Ok(Some(next));
        }
        let found = self.places.get(name).copied();
        let is_other_case = |name: &str| self.folded.contains(&name.to_lowercase());
        if found.is_none() && std::str::from_utf8(name).map_or(true, is_other_case) {
            return Err(Why::Row);
        }
        Ok(found)
    }
}
