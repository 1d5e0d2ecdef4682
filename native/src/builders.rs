//! Columns that are built row by row. A row that turns out to be dead is ended like any other.

use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, RecordBatch, StringArray, StructArray};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::ArrowError;

use crate::why::{Done, Why};

/// Bytes of a column of text from which on messages are declined: its offsets have 31 bits, so that
/// there is room for one more message.
pub const MOST_BYTES: usize = 1 << 30;

/// The ends of rows within what they hold together: they grow, and fit into 31 bits.
pub struct Offsets(Vec<i32>);

impl Offsets {
    pub fn new(rows: usize) -> Self {
        let mut ends = Vec::with_capacity(rows + 1);
        ends.push(0);
        Offsets(ends)
    }

    /// Add an end; one that has no room is declined.
    #[inline]
    pub fn push(&mut self, end: usize) -> Done {
        self.0.push(i32::try_from(end).map_err(|_| Why::Size)?);
        Ok(())
    }

    /// Add rows that hold nothing.
    fn repeat(&mut self, rows: usize) {
        let end = self.0.last().copied().unwrap_or_default();
        self.0.resize(self.0.len() + rows, end);
    }

    /// Return the last end.
    fn last(&self) -> usize {
        self.0.last().and_then(|end| usize::try_from(*end).ok()).unwrap_or_default()
    }

    pub fn finish(self) -> OffsetBuffer<i32> {
        OffsetBuffer::new(ScalarBuffer::from(self.0))
    }
}

/// A column of text or bytes.
pub struct TextColumn {
    data: Vec<u8>,
    offsets: Offsets,
    valid: BooleanBufferBuilder,
    is_there: bool,
    /// Rows at the end that are NULL, and not yet among the others: most columns of most formats are.
    nulls: usize,
}

impl TextColumn {
    pub fn new(rows: usize) -> Self {
        TextColumn {
            data: Vec::new(),
            offsets: Offsets::new(rows),
            valid: BooleanBufferBuilder::new(rows),
            is_there: false,
            nulls: 0,
        }
    }

    /// Return where the text of the row goes, which is not NULL then.
    pub fn open(&mut self) -> &mut Vec<u8> {
        self.is_there = true;
        &mut self.data
    }

    pub fn put(&mut self, text: &[u8]) {
        self.open().extend_from_slice(text);
    }

    /// Return all that was written.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// Return the text of the row so far; none if it is NULL.
    pub fn text(&self) -> Option<&[u8]> {
        self.is_there.then(|| &self.data[self.offsets.last()..])
    }

    /// Make the row NULL, whatever was written.
    pub fn take_back(&mut self) {
        self.data.truncate(self.offsets.last());
        self.is_there = false;
    }

    #[inline]
    pub fn end(&mut self) -> Done {
        if !self.is_there {
            self.nulls += 1;
            return Ok(());
        }
        self.add_nulls();
        self.offsets.push(self.data.len())?;
        self.valid.append(true);
        self.is_there = false;
        Ok(())
    }

    fn add_nulls(&mut self) {
        if self.nulls > 0 {
            self.offsets.repeat(self.nulls);
            self.valid.append_n(self.nulls, false);
            self.nulls = 0;
        }
    }

    /// Return the column; an error if it is to be text, and is not UTF-8.
    pub fn finish(mut self, is_text: bool) -> Result<ArrayRef, ArrowError> {
        self.add_nulls();
        let nulls = nulls(&mut self.valid);
        let (offsets, data) = (self.offsets.finish(), self.data.into());
        Ok(if is_text {
            Arc::new(StringArray::try_new(offsets, data, nulls)?)
        } else {
            Arc::new(BinaryArray::try_new(offsets, data, nulls)?)
        })
    }
}

pub fn nulls(valid: &mut BooleanBufferBuilder) -> Option<NullBuffer> {
    let found = NullBuffer::new(valid.finish());
    (found.null_count() > 0).then_some(found)
}

/// Return the error of a column that has no room for a row.
pub fn no_room(_: Why) -> ArrowError {
    ArrowError::MemoryError("a column is too long".to_owned())
}

/// Return columns, in which values may be NULL.
pub fn batch<const N: usize>(columns: [(&str, ArrayRef); N]) -> Result<RecordBatch, ArrowError> {
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true)))
}

/// Return a column of structs.
pub fn structs<const N: usize>(
    columns: [(&str, ArrayRef); N],
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, ArrowError> {
    let (fields, arrays, _) = StructArray::from(batch(columns)?).into_parts();
    Ok(Arc::new(StructArray::try_new(fields, arrays, nulls)?))
}
