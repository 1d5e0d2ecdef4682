//! The columns of changes, built row by row; a row that is declined is taken back.

pub mod builders;

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int32Array, Int64Array, RecordBatch};
use arrow_schema::{ArrowError, Field, Schema};

use crate::effects::Effect;
use crate::formats::rows::Row;
use crate::formats::writing::named;
use crate::typed::{Form, Images, RowType};
use builders::{Lists, MOST_BYTES, Numbers, Texts, field, nulls, structs, times};

/// Bytes that are reserved for a column at most, whatever rows needed before.
const MOST_RESERVED: usize = 1 << 22;

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
    event_time: Numbers<i64>,
    major: Numbers<i64>,
    minor: Numbers<i64>,
    /// Rows as columns of a type; none if they are JSON text.
    images: Option<Images>,
    undeclared: Vec<u8>,
    leniencies: Lists,
    effect_keys: Texts,
    effect_before_keys: Texts,
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
    pub fn new(messages: usize, per_row: &PerRow, row: Option<&Arc<RowType>>) -> Self {
        Columns {
            texts: std::array::from_fn(|i| {
                Texts::new(messages, messages.saturating_mul(per_row[i]).min(MOST_RESERVED))
            }),
            event_time: Numbers::new(messages),
            major: Numbers::new(messages),
            minor: Numbers::new(messages),
            images: row.map(|row| Images::new(row, messages)),
            undeclared: Vec::new(),
            leniencies: Lists::new(),
            effect_keys: Texts::new(messages, 0),
            effect_before_keys: Texts::new(messages, 0),
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

    /// Fit the images of the row into the columns of its type; `None` declines it.
    pub fn fit(&mut self, rows: &[Row; 2]) -> Option<()> {
        let Some(images) = &mut self.images else { return Some(()) };
        self.undeclared.clear();
        for (side, name) in [Name::Before, Name::After].into_iter().enumerate() {
            let text = &self.texts[name as usize];
            if text.text().is_some() {
                images.put(side, &rows[side], &text.data, &mut self.undeclared)?;
            }
        }
        if !self.undeclared.is_empty() {
            let out = self.texts[Name::Attributes as usize].open();
            out.pop();
            named("undeclared", out);
            out.push(b'{');
            out.extend_from_slice(&self.undeclared);
            out.extend_from_slice(b"}}");
        }
        Some(())
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
        if let Some(images) = &mut self.images {
            images.end();
        }
        self.leniencies.end(Some(leniencies.map(str::as_bytes)));
        if let Some(effect) = effect {
            if let Some(key) = &effect.key {
                self.effect_keys.put(key);
            }
            self.effect_kinds.put(effect.kind.as_bytes());
            if let Some(key) = &effect.before_key {
                self.effect_before_keys.put(key);
            }
        }
        self.effect_keys.end();
        self.effect_before_keys.end();
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
        if let Some(images) = &mut self.images {
            images.truncate(rows);
        }
        for texts in [&mut self.effect_keys, &mut self.effect_before_keys, &mut self.effect_kinds] {
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
        let form = self.images.as_ref().map_or(Form::Text, Images::form);
        let images = self.images.take().map(Images::finish).transpose()?.flatten();
        let [op, system, database, schema, table, key, before_key, before, after, ddl, mark, attributes] =
            self.texts.map(|text| Arc::new(text.finish()) as ArrayRef);
        let (texts, images) = if form == Form::Columns { (images, None) } else { (None, images) };
        let [before, after] = texts.unwrap_or([before, after]);
        let source = [("system", system), ("database", database), ("schema", schema), ("table", table)];
        let nulls = nulls(&mut self.major.valid);
        let integers = |values: Vec<i64>| Arc::new(Int64Array::new(values.into(), nulls.clone())) as ArrayRef;
        let order = [("major", integers(self.major.values)), ("minor", integers(self.minor.values))];
        let mut columns = vec![
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
            ("effect_before_key", Arc::new(self.effect_before_keys.finish())),
            ("effect_kind", Arc::new(self.effect_kinds.finish())),
            ("effect_names", self.effect_names.finish()?),
        ];
        if let Some([before, after]) = images {
            columns.extend([("typed_before", before), ("typed_after", after)]);
        }
        let fields: Vec<Field> = columns.iter().map(|(name, array)| field(name, array.data_type())).collect();
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        Ok((RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?, sizes))
    }
}
