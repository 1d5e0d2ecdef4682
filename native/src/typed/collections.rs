//! Columns of arrays, maps and structs, built row by row.

use std::sync::Arc;

use arrow_array::{ArrayRef, ListArray, MapArray, StructArray};
use arrow_buffer::{NullBufferBuilder, OffsetBufferBuilder};
use arrow_schema::{ArrowError, DataType, Fields};

use super::store::Store;
use crate::builders::{TextColumn, ends};

/// A column of arrays, of maps, or of structs.
pub struct Nested {
    /// The items of all arrays, the keys and values of all maps, or the fields of structs.
    pub items: Vec<Store>,
    /// Whether it is of structs: each row has one item then.
    is_struct: bool,
    /// How many items the row has, and all rows have together.
    of_row: usize,
    count: usize,
    ends: OffsetBufferBuilder<i32>,
    valid: NullBufferBuilder,
    is_there: bool,
}

impl Nested {
    pub fn new(items: Vec<Store>, is_struct: bool, rows: usize) -> Self {
        let (ends, valid) = (OffsetBufferBuilder::new(rows), NullBufferBuilder::new(rows));
        Nested { items, is_struct, of_row: 0, count: 0, ends, valid, is_there: false }
    }

    /// Begin a column of arrays of texts.
    pub fn texts(rows: usize) -> Self {
        Nested::new(vec![Store::Texts(TextColumn::new(0))], false, rows)
    }

    /// Add a text to the array of the row.
    pub fn put_text(&mut self, text: &[u8]) {
        if let [Store::Texts(texts)] = self.items.as_mut_slice() {
            texts.put(text);
        }
        self.end_item(false);
    }

    /// Begin the value of a row, which is not NULL then.
    pub fn open(&mut self) -> &mut [Store] {
        self.is_there = true;
        &mut self.items
    }

    /// End an item of the row.
    pub fn end_item(&mut self, is_dead: bool) {
        self.of_row += 1;
        self.items.iter_mut().for_each(|item| item.end(is_dead));
    }

    /// End a row; see `Store::end`.
    pub fn end(&mut self, is_dead: bool) {
        // One that is dead may have begun an item.
        if self.is_struct || (is_dead && self.is_there) {
            self.end_item(is_dead);
        }
        self.valid.append(self.is_there || is_dead);
        self.ends.push_length(self.of_row);
        self.count += self.of_row;
        (self.of_row, self.is_there) = (0, false);
    }

    pub fn finish(self, kind: &DataType) -> Result<ArrayRef, ArrowError> {
        let (nulls, offsets, count) = (self.valid.build(), ends(self.ends)?, self.count);
        let finished = |fields: &Fields| {
            let pairs = self.items.into_iter().zip(fields);
            pairs.map(|(store, field)| store.finish(field.data_type(), count)).collect::<Result<Vec<_>, _>>()
        };
        Ok(match kind {
            DataType::Struct(fields) => {
                Arc::new(StructArray::try_new_with_length(fields.clone(), finished(fields)?, nulls, count)?)
            }
            DataType::Map(entries, is_sorted) => {
                let DataType::Struct(fields) = entries.data_type() else { return Err(other(kind)) };
                let pairs = StructArray::try_new(fields.clone(), finished(fields)?, None)?;
                Arc::new(MapArray::try_new(Arc::clone(entries), offsets, pairs, nulls, *is_sorted)?)
            }
            DataType::List(field) => {
                let fields = Fields::from(vec![Arc::clone(field)]);
                let values = finished(&fields)?.pop().ok_or_else(|| other(kind))?;
                Arc::new(ListArray::try_new(Arc::clone(field), offsets, values, nulls)?)
            }
            _ => return Err(other(kind)),
        })
    }
}

fn other(kind: &DataType) -> ArrowError {
    ArrowError::SchemaError(format!("{kind} holds no such values"))
}
