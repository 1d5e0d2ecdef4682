//! Columns that are built row by row. A row that turns out to be dead is ended like any other.

use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, RecordBatch, StringArray, StructArray};
use arrow_buffer::{NullBuffer, NullBufferBuilder, OffsetBuffer, OffsetBufferBuilder};
use arrow_schema::ArrowError;

/// Bytes of a message, or of the text that it becomes, from which on it is declined.
pub const MOST_BYTES: usize = 1 << 30;

/// A column of text or bytes.
pub struct TextColumn {
    data: Vec<u8>,
    /// Where the text of the row begins.
    start: usize,
    offsets: OffsetBufferBuilder<i32>,
    valid: NullBufferBuilder,
    is_there: bool,
}

impl TextColumn {
    pub fn new(rows: usize) -> Self {
        let (offsets, valid) = (OffsetBufferBuilder::new(rows), NullBufferBuilder::new(rows));
        TextColumn { data: Vec::new(), start: 0, offsets, valid, is_there: false }
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
        self.is_there.then(|| &self.data[self.start..])
    }

    /// Make the row NULL, whatever was written.
    pub fn take_back(&mut self) {
        self.data.truncate(self.start);
        self.is_there = false;
    }

    #[inline]
    pub fn end(&mut self) {
        self.offsets.push_length(self.data.len() - self.start);
        self.valid.append(self.is_there);
        (self.start, self.is_there) = (self.data.len(), false);
    }

    /// Return the column; an error if it has no room for its text, or is to be text, and is not UTF-8.
    pub fn finish(self, is_text: bool) -> Result<ArrayRef, ArrowError> {
        let (nulls, offsets, data) = (self.valid.build(), ends(self.offsets)?, self.data.into());
        Ok(if is_text {
            Arc::new(StringArray::try_new(offsets, data, nulls)?)
        } else {
            Arc::new(BinaryArray::try_new(offsets, data, nulls)?)
        })
    }
}

/// Return the ends of rows within what they hold together; an error if they do not fit into 31 bits.
pub fn ends(offsets: OffsetBufferBuilder<i32>) -> Result<OffsetBuffer<i32>, ArrowError> {
    offsets.try_finish().map_err(|_| ArrowError::MemoryError("a column is too long".to_owned()))
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
