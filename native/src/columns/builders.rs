//! Columns that are built row by row, and of which rows are taken back.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, ListArray, StringArray, StructArray, TimestampMicrosecondArray};
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Fields};

/// Bytes of a column of text at most: its offsets have 32 bits.
pub const MOST_BYTES: usize = 1 << 30;

/// A column of text.
pub struct Texts {
    pub data: Vec<u8>,
    offsets: Vec<i32>,
    valid: BooleanBufferBuilder,
    is_there: bool,
    /// Rows at the end that are NULL, and not yet among the others: most columns of most formats are.
    nulls: usize,
}

impl Texts {
    pub fn new(rows: usize, bytes: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Texts {
            data: Vec::with_capacity(bytes),
            offsets,
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

    /// Return the text of the row so far; none if it is NULL.
    pub fn text(&self) -> Option<&[u8]> {
        self.is_there.then(|| &self.data[self.start()..])
    }

    /// Make the text of the row NULL again.
    pub fn take_back(&mut self) {
        self.data.truncate(self.start());
        self.is_there = false;
    }

    fn start(&self) -> usize {
        self.offsets.last().and_then(|end| usize::try_from(*end).ok()).unwrap_or_default()
    }

    /// Forget all but the first rows.
    pub fn truncate(&mut self, rows: usize) {
        self.add_nulls();
        self.offsets.truncate(rows + 1);
        self.valid.truncate(rows);
        self.take_back();
    }

    #[inline]
    pub fn end(&mut self) {
        if !self.is_there {
            self.nulls += 1;
            return;
        }
        self.add_nulls();
        self.valid.append(true);
        self.is_there = false;
        self.offsets.push(i32::try_from(self.data.len()).unwrap_or(i32::MAX));
    }

    fn add_nulls(&mut self) {
        if self.nulls > 0 {
            let end = self.offsets.last().copied().unwrap_or_default();
            self.offsets.resize(self.offsets.len() + self.nulls, end);
            self.valid.append_n(self.nulls, false);
            self.nulls = 0;
        }
    }

    /// Return the offsets of rows, their bytes, and which are NULL.
    pub fn parts(mut self) -> (OffsetBuffer<i32>, Buffer, Option<NullBuffer>) {
        self.add_nulls();
        let nulls = nulls(&mut self.valid);
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.offsets));
        (offsets, Buffer::from_vec(self.data), nulls)
    }

    pub fn finish(self) -> StringArray {
        let (offsets, data, nulls) = self.parts();
        // SAFETY: what is written is parts of messages, which were checked to be UTF-8 and are cut
        // at quotes only, and ASCII text; the offsets are those of `end`, which grow with the data.
        unsafe { StringArray::new_unchecked(offsets, data, nulls) }
    }
}

/// A column of lists of texts.
pub struct Lists {
    items: Texts,
    ends: Vec<i32>,
    valid: BooleanBufferBuilder,
}

impl Lists {
    pub fn new() -> Self {
        Lists { items: Texts::new(0, 0), ends: vec![0], valid: BooleanBufferBuilder::new(0) }
    }

    /// End a row that has a list, or NULL.
    pub fn end<'t>(&mut self, items: Option<impl Iterator<Item = &'t [u8]>>) {
        self.valid.append(items.is_some());
        for item in items.into_iter().flatten() {
            self.items.put(item);
            self.items.end();
        }
        let end = self.items.offsets.len() - 1;
        self.ends.push(i32::try_from(end).unwrap_or(i32::MAX));
    }

    pub fn truncate(&mut self, rows: usize) {
        self.ends.truncate(rows + 1);
        self.valid.truncate(rows);
        let items = self.ends.last().and_then(|end| usize::try_from(*end).ok());
        self.items.truncate(items.unwrap_or_default());
    }

    pub fn finish(mut self) -> Result<ArrayRef, ArrowError> {
        let item = Arc::new(field("item", &DataType::Utf8));
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.ends));
        let nulls = nulls(&mut self.valid);
        Ok(Arc::new(ListArray::try_new(item, offsets, Arc::new(self.items.finish()), nulls)?))
    }
}

/// A column of numbers.
pub struct Numbers<T> {
    pub values: Vec<T>,
    pub valid: BooleanBufferBuilder,
}

impl<T: Copy + Default> Numbers<T> {
    pub fn new(rows: usize) -> Self {
        Numbers { values: Vec::with_capacity(rows), valid: BooleanBufferBuilder::new(rows) }
    }

    pub fn push(&mut self, value: Option<T>) {
        self.valid.append(value.is_some());
        self.values.push(value.unwrap_or_default());
    }

    pub fn truncate(&mut self, rows: usize) {
        self.values.truncate(rows);
        self.valid.truncate(rows);
    }
}

pub fn field(name: &str, kind: &DataType) -> Field {
    Field::new(name, kind.clone(), true)
}

pub fn nulls(valid: &mut BooleanBufferBuilder) -> Option<NullBuffer> {
    let found = NullBuffer::new(valid.finish());
    (found.null_count() > 0).then_some(found)
}

/// Return a column of times, of microseconds since the Unix epoch.
pub fn times(mut numbers: Numbers<i64>) -> ArrayRef {
    let nulls = nulls(&mut numbers.valid);
    Arc::new(TimestampMicrosecondArray::new(numbers.values.into(), nulls).with_timezone("UTC"))
}

/// Return a column of structs.
pub fn structs<const N: usize>(
    columns: [(&str, ArrayRef); N],
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, ArrowError> {
    let fields: Fields = columns.iter().map(|(name, array)| field(name, array.data_type())).collect();
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    Ok(Arc::new(StructArray::try_new(fields, arrays, nulls)?))
}
