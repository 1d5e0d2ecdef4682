//! The columns of changes, built row by row; a row that is declined is taken back.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, Int32Array, Int64Array, ListArray, RecordBatch, StringArray, StructArray,
    TimestampMicrosecondArray,
};
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema};

use crate::effects::Effect;

/// Bytes of a column of text at most: its offsets have 32 bits.
pub const MOST_BYTES: usize = 1 << 30;

/// Bytes that are reserved for a column at most, whatever rows needed before.
const MOST_RESERVED: usize = 1 << 22;

/// A column of text.
pub struct Texts {
    pub data: Vec<u8>,
    offsets: Vec<i32>,
    valid: BooleanBufferBuilder,
    is_there: bool,
}

impl Texts {
    fn new(rows: usize, bytes: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Texts {
            data: Vec::with_capacity(bytes),
            offsets,
            valid: BooleanBufferBuilder::new(rows),
            is_there: false,
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
    fn truncate(&mut self, rows: usize) {
        self.offsets.truncate(rows + 1);
        self.valid.truncate(rows);
        self.take_back();
    }

    fn end(&mut self) {
        self.valid.append(self.is_there);
        self.is_there = false;
        self.offsets.push(i32::try_from(self.data.len()).unwrap_or(i32::MAX));
    }

    fn finish(mut self) -> StringArray {
        let nulls = nulls(&mut self.valid);
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.offsets));
        let data = Buffer::from_vec(self.data);
        // SAFETY: what is written is parts of messages, which were checked to be UTF-8 and are cut
        // at quotes only, and ASCII text; the offsets are those of `end`, which grow with the data.
        unsafe { StringArray::new_unchecked(offsets, data, nulls) }
    }
}

/// A column of lists of texts.
struct Lists {
    items: Texts,
    ends: Vec<i32>,
    valid: BooleanBufferBuilder,
}

impl Lists {
    fn new() -> Self {
        Lists { items: Texts::new(0, 0), ends: vec![0], valid: BooleanBufferBuilder::new(0) }
    }

    /// End a row that has a list, or NULL.
    fn end<'t>(&mut self, items: Option<impl Iterator<Item = &'t [u8]>>) {
        self.valid.append(items.is_some());
        for item in items.into_iter().flatten() {
            self.items.put(item);
            self.items.end();
        }
        let end = self.items.offsets.len() - 1;
        self.ends.push(i32::try_from(end).unwrap_or(i32::MAX));
    }

    fn truncate(&mut self, rows: usize) {
        self.ends.truncate(rows + 1);
        self.valid.truncate(rows);
        let items = self.ends.last().and_then(|end| usize::try_from(*end).ok());
        self.items.truncate(items.unwrap_or_default());
    }

    fn finish(mut self) -> Result<ArrayRef, ArrowError> {
        let item = Arc::new(field("item", &DataType::Utf8));
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.ends));
        let nulls = nulls(&mut self.valid);
        Ok(Arc::new(ListArray::try_new(item, offsets, Arc::new(self.items.finish()), nulls)?))
    }
}

/// A column of integers.
struct Numbers {
    values: Vec<i64>,
    valid: BooleanBufferBuilder,
}

impl Numbers {
    fn new(rows: usize) -> Self {
        Numbers { values: Vec::with_capacity(rows), valid: BooleanBufferBuilder::new(rows) }
    }

    fn push(&mut self, value: Option<i64>) {
        self.valid.append(value.is_some());
        self.values.push(value.unwrap_or_default());
    }
}

impl Numbers {
    fn truncate(&mut self, rows: usize) {
        self.values.truncate(rows);
        self.valid.truncate(rows);
    }
}

/// What is no text of a change.
#[derive(Default)]
pub struct Rest {
    /// Microseconds since the Unix epoch.
    pub event_time: Option<i64>,
    pub sequence: Option<(i64, i64)>,
    /// Whether a column of the key is, or may be, a decimal, which is text in JSON.
    pub has_decimal_key: bool,
    /// Whether it says nothing about columns, whatever the image is said to be.
    pub is_empty_image: bool,
}

/// Names of the columns of text, in their order.
#[derive(Clone, Copy)]
pub enum Name {
    Op,
    System,
    Database,
    Schema,
    Table,
    Key,
    BeforeKey,
    Before,
    After,
    Ddl,
    Fingerprint,
    Attributes,
}

const COUNT: usize = Name::Attributes as usize + 1;

/// Bytes for each column of text.
pub type PerRow = [usize; COUNT];

pub struct Columns {
    texts: [Texts; COUNT],
    event_time: Numbers,
    major: Numbers,
    minor: Numbers,
    leniencies: Lists,
    effect_keys: Texts,
    effect_kinds: Texts,
    effect_names: Lists,
    /// How many rows each message has; 0 if it was declined.
    sizes: Vec<i32>,
    rows: usize,
}

impl Columns {
    /// Begin without rows.
    ///
    /// `per_row` is how many bytes of each column a row may need, estimated by `bytes_per_row`.
    pub fn new(messages: usize, per_row: &PerRow) -> Self {
        Columns {
            texts: std::array::from_fn(|i| {
                Texts::new(messages, messages.saturating_mul(per_row[i]).min(MOST_RESERVED))
            }),
            event_time: Numbers::new(messages),
            major: Numbers::new(messages),
            minor: Numbers::new(messages),
            leniencies: Lists::new(),
            effect_keys: Texts::new(messages, 0),
            effect_kinds: Texts::new(messages, 0),
            effect_names: Lists::new(),
            sizes: Vec::with_capacity(messages),
            rows: 0,
        }
    }

    pub fn of(&mut self, name: Name) -> &mut Texts {
        &mut self.texts[name as usize]
    }

    /// Return all that was written to a column.
    pub fn data(&self, name: Name) -> &[u8] {
        &self.texts[name as usize].data
    }

    /// Return what was written to a column of this row; none if it is NULL.
    pub fn text(&self, name: Name) -> Option<&[u8]> {
        self.texts[name as usize].text()
    }

    /// Whether there is room for more; without, messages are declined.
    pub fn has_room(&self) -> bool {
        self.texts.iter().all(|text| text.data.len() < MOST_BYTES)
    }

    /// End a row.
    pub fn end<'n>(
        &mut self,
        rest: &Rest,
        leniencies: impl Iterator<Item = &'n str>,
        effect: Option<&Effect>,
    ) {
        self.texts.iter_mut().for_each(Texts::end);
        self.event_time.push(rest.event_time);
        self.major.push(rest.sequence.map(|sequence| sequence.0));
        self.minor.push(rest.sequence.map(|sequence| sequence.1));
        self.leniencies.end(Some(leniencies.map(str::as_bytes)));
        if let Some(effect) = effect {
            self.effect_keys.put(&effect.key);
            self.effect_kinds.put(effect.kind.as_bytes());
        }
        self.effect_keys.end();
        self.effect_kinds.end();
        let names = effect.and_then(|effect| effect.names.as_ref());
        self.effect_names.end(names.map(|names| names.iter().map(Vec::as_slice)));
        self.rows += 1;
    }

    /// Return how many bytes of each column its rows needed, and some more.
    pub fn bytes_per_row(&self) -> PerRow {
        let rows = self.rows.max(1);
        std::array::from_fn(|i| match self.texts[i].data.len() {
            0 => 0,
            bytes => bytes / rows + bytes / rows / 16 + 1,
        })
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Forget all but the first rows, and what was written of the one behind them.
    pub fn truncate(&mut self, rows: usize) {
        self.texts.iter_mut().for_each(|text| text.truncate(rows));
        for numbers in [&mut self.event_time, &mut self.major, &mut self.minor] {
            numbers.truncate(rows);
        }
        for texts in [&mut self.effect_keys, &mut self.effect_kinds] {
            texts.truncate(rows);
        }
        for lists in [&mut self.leniencies, &mut self.effect_names] {
            lists.truncate(rows);
        }
        self.rows = rows;
    }

    /// End a message of so many rows.
    pub fn end_message(&mut self, rows: usize) {
        self.sizes.push(i32::try_from(rows).unwrap_or_default());
    }

    /// Return the columns, and how many rows each message has.
    pub fn finish(mut self) -> Result<(RecordBatch, Int32Array), ArrowError> {
        let sizes = Int32Array::from(std::mem::take(&mut self.sizes));
        let [op, system, database, schema, table, key, before_key, before, after, ddl, mark, attributes] =
            self.texts.map(|text| Arc::new(text.finish()) as ArrayRef);
        let source = [("system", system), ("database", database), ("schema", schema), ("table", table)];
        let nulls = nulls(&mut self.major.valid);
        let integers = |values: Vec<i64>| Arc::new(Int64Array::new(values.into(), nulls.clone())) as ArrayRef;
        let order = [("major", integers(self.major.values)), ("minor", integers(self.minor.values))];
        let columns = [
            ("op", op),
            ("source", structs(source, None)?),
            ("key", key),
            ("before_key", before_key),
            ("before", before),
            ("after", after),
            ("event_time", times(self.event_time)),
            ("sequence", structs(order, nulls)?),
            ("ddl", ddl),
            ("schema_fingerprint", mark),
            ("attributes", attributes),
            ("leniencies", self.leniencies.finish()?),
            ("effect_key", Arc::new(self.effect_keys.finish())),
            ("effect_kind", Arc::new(self.effect_kinds.finish())),
            ("effect_names", self.effect_names.finish()?),
        ];
        let fields: Vec<Field> = columns.iter().map(|(name, array)| field(name, array.data_type())).collect();
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        Ok((RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?, sizes))
    }
}

fn field(name: &str, kind: &DataType) -> Field {
    Field::new(name, kind.clone(), true)
}

fn nulls(valid: &mut BooleanBufferBuilder) -> Option<NullBuffer> {
    let found = NullBuffer::new(valid.finish());
    (found.null_count() > 0).then_some(found)
}

fn times(mut numbers: Numbers) -> ArrayRef {
    let nulls = nulls(&mut numbers.valid);
    Arc::new(TimestampMicrosecondArray::new(numbers.values.into(), nulls).with_timezone("UTC"))
}

fn structs<const N: usize>(
    columns: [(&str, ArrayRef); N],
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, ArrowError> {
    let fields: Fields = columns.iter().map(|(name, array)| field(name, array.data_type())).collect();
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    Ok(Arc::new(StructArray::try_new(fields, arrays, nulls)?))
}
