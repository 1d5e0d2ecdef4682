//! A column of any type that rows have, built row by row.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int8Array, Int16Array,
    Int32Array, Int64Array, TimestampMicrosecondArray, new_null_array,
};
use arrow_schema::{ArrowError, DataType};

use super::collections::Nested;
use super::kinds::ColumnKind;
use crate::builders::TextColumn;

pub enum Store {
    /// Integers, truth values, days and microseconds.
    Integers(Fixed<i64>),
    Floats(Fixed<f64>),
    Decimals(Fixed<i128>),
    Texts(TextColumn),
    Nested(Nested),
    /// A column that is always NULL.
    Nothing,
}

/// A column of values of one size.
pub struct Fixed<T> {
    values: Vec<Option<T>>,
    /// The value of the row so far; none if it is NULL.
    pub value: Option<T>,
}

impl<T: Default> Fixed<T> {
    fn new(rows: usize) -> Self {
        Fixed { values: Vec::with_capacity(rows), value: None }
    }

    /// End a row. One that is dead has a value: a key of a map must not be NULL.
    fn end(&mut self, is_dead: bool) {
        let value = self.value.take();
        self.values.push(value.or_else(|| is_dead.then(T::default)));
    }

    /// Return the values as another type holds them.
    fn finish<U, A: FromIterator<Option<U>>>(self, each: impl Fn(T) -> U) -> A {
        self.values.into_iter().map(|value| value.map(&each)).collect()
    }
}

impl Store {
    pub fn new(kind: &ColumnKind, rows: usize) -> Self {
        let item = |kind: &ColumnKind| Store::new(kind, 0);
        let nested = |items| Store::Nested(Nested::new(items, false, rows));
        match kind {
            ColumnKind::Boolean | ColumnKind::Integer(_) | ColumnKind::Date | ColumnKind::Time(_) => {
                Store::Integers(Fixed::new(rows))
            }
            ColumnKind::Double | ColumnKind::Single => Store::Floats(Fixed::new(rows)),
            ColumnKind::Decimal(..) => Store::Decimals(Fixed::new(rows)),
            ColumnKind::Text | ColumnKind::Bytes | ColumnKind::Json => Store::Texts(TextColumn::new(rows)),
            ColumnKind::List(kind) => nested(vec![item(kind)]),
            ColumnKind::Map(kind) => nested(vec![Store::Texts(TextColumn::new(0)), item(kind)]),
            ColumnKind::Struct(_, kinds) => {
                let fields = kinds.iter().map(|kind| Store::new(kind, rows));
                Store::Nested(Nested::new(fields.collect(), true, rows))
            }
            ColumnKind::Unknown => Store::Nothing,
        }
    }

    /// End a row; one that is dead holds whatever was written, and is not NULL.
    pub fn end(&mut self, is_dead: bool) {
        match self {
            Store::Integers(fixed) => fixed.end(is_dead),
            Store::Floats(fixed) => fixed.end(is_dead),
            Store::Decimals(fixed) => fixed.end(is_dead),
            Store::Texts(texts) => {
                if is_dead {
                    texts.open();
                }
                texts.end();
            }
            Store::Nested(nested) => nested.end(is_dead),
            Store::Nothing => {}
        }
    }

    /// Return the column, whose values have been seen to fit its type.
    #[allow(clippy::cast_possible_truncation)]
    pub fn finish(self, kind: &DataType, rows: usize) -> Result<ArrayRef, ArrowError> {
        Ok(match self {
            Store::Integers(fixed) => match kind {
                DataType::Boolean => Arc::new(fixed.finish::<_, BooleanArray>(|value| value != 0)),
                DataType::Int8 => Arc::new(fixed.finish::<_, Int8Array>(|value| value as i8)),
                DataType::Int16 => Arc::new(fixed.finish::<_, Int16Array>(|value| value as i16)),
                DataType::Int32 => Arc::new(fixed.finish::<_, Int32Array>(|value| value as i32)),
                DataType::Int64 => Arc::new(fixed.finish::<_, Int64Array>(|value| value)),
                DataType::Date32 => Arc::new(fixed.finish::<_, Date32Array>(|value| value as i32)),
                DataType::Timestamp(_, zone) => {
                    let times: TimestampMicrosecondArray = fixed.finish(|value| value);
                    Arc::new(times.with_timezone_opt(zone.clone()))
                }
                other => return Err(ArrowError::SchemaError(format!("{other} holds no integers"))),
            },
            Store::Floats(fixed) if *kind == DataType::Float32 => {
                Arc::new(fixed.finish::<_, Float32Array>(|value| value as f32))
            }
            Store::Floats(fixed) => Arc::new(fixed.finish::<_, Float64Array>(|value| value)),
            Store::Decimals(fixed) => {
                let array: Decimal128Array = fixed.finish(|value| value);
                Arc::new(array.with_data_type(kind.clone()))
            }
            Store::Texts(texts) => texts.finish(*kind != DataType::Binary)?,
            Store::Nested(nested) => nested.finish(kind)?,
            Store::Nothing => new_null_array(kind, rows),
        })
    }
}
