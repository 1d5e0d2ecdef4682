//! Columns of arrays, maps and structs, built row by row.

use std::sync::Arc;

use arrow_array::{ArrayRef, ListArray, MapArray, StructArray};
use arrow_buffer::BooleanBufferBuilder;
use arrow_schema::{ArrowError, DataType, Fields};

use super::kinds::ColumnKind;
use super::store::Store;
use crate::builders::{Offsets, nulls};
use crate::why::Done;

/// A column of arrays, or of maps.
pub struct Collection {
    /// The items of all arrays, or the keys and values of all maps.
    pub items: Vec<Store>,
    count: usize,
    ends: Offsets,
    valid: BooleanBufferBuilder,
    is_there: bool,
}

impl Collection {
    pub fn new(items: Vec<Store>, rows: usize) -> Self {
        let (ends, valid) = (Offsets::new(rows), BooleanBufferBuilder::new(rows));
        Collection { items, count: 0, ends, valid, is_there: false }
    }

    /// Begin the value of a row, which is not NULL then.
    pub fn open(&mut self) {
        self.is_there = true;
    }

    /// End an item of the row.
    pub fn end_item(&mut self) -> Done {
        self.add_item(false)
    }

    fn add_item(&mut self, is_dead: bool) -> Done {
        self.count += 1;
        self.items.iter_mut().try_for_each(|item| item.end(is_dead))
    }

    pub fn end(&mut self, is_dead: bool) -> Done {
        if is_dead && self.is_there {
            // It may have begun an item.
            self.add_item(true)?;
        }
        self.valid.append(self.is_there || is_dead);
        self.is_there = false;
        self.ends.push(self.count)
    }

    pub fn finish(mut self, kind: &DataType) -> Result<ArrayRef, ArrowError> {
        let nulls = nulls(&mut self.valid);
        let offsets = self.ends.finish();
        match kind {
            DataType::Map(entries, is_sorted) => {
                let DataType::Struct(fields) = entries.data_type() else { return Err(other(kind)) };
                let arrays = finished(self.items, fields, self.count)?;
                let pairs = StructArray::try_new(fields.clone(), arrays, None)?;
                Ok(Arc::new(MapArray::try_new(Arc::clone(entries), offsets, pairs, nulls, *is_sorted)?))
            }
            DataType::List(field) => {
                let item = self.items.pop().ok_or_else(|| other(kind))?;
                let values = item.finish(field.data_type(), self.count)?;
                Ok(Arc::new(ListArray::try_new(Arc::clone(field), offsets, values, nulls)?))
            }
            _ => Err(other(kind)),
        }
    }
}

/// A column of structs.
pub struct Struct {
    pub fields: Vec<Store>,
    valid: BooleanBufferBuilder,
    is_there: bool,
}

impl Struct {
    pub fn new(kinds: &[(Vec<u8>, ColumnKind)], rows: usize) -> Self {
        let fields = kinds.iter().map(|(_, kind)| Store::new(kind, rows)).collect();
        Struct { fields, valid: BooleanBufferBuilder::new(rows), is_there: false }
    }

    /// Begin the value of a row, which is not NULL then.
    pub fn open(&mut self) {
        self.is_there = true;
    }

    pub fn end(&mut self, is_dead: bool) -> Done {
        self.valid.append(self.is_there || is_dead);
        self.is_there = false;
        self.fields.iter_mut().try_for_each(|field| field.end(is_dead))
    }

    pub fn finish(mut self, kind: &DataType, rows: usize) -> Result<ArrayRef, ArrowError> {
        let DataType::Struct(fields) = kind else { return Err(other(kind)) };
        let nulls = nulls(&mut self.valid);
        let arrays = finished(self.fields, fields, rows)?;
        Ok(Arc::new(StructArray::try_new_with_length(fields.clone(), arrays, nulls, rows)?))
    }
}

/// Return the columns of some stores.
pub fn finished(stores: Vec<Store>, fields: &Fields, rows: usize) -> Result<Vec<ArrayRef>, ArrowError> {
    let pairs = stores.into_iter().zip(fields);
    pairs.map(|(store, field)| store.finish(field.data_type(), rows)).collect()
}

fn other(kind: &DataType) -> ArrowError {
    ArrowError::SchemaError(format!("{kind} holds no such values"))
}
