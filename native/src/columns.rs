//! The columns of changes, built row by row; the rows of a message that is declined are dead.

use std::sync::Arc;

use arrow_array::builder::{Int64Builder, TimestampMicrosecondBuilder};
use arrow_array::{Array, ArrayRef, Int32Array, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field};

use crate::builders::{TextColumn, batch, structs};
use crate::typed::Nested;
use crate::why::{Done, Why};

/// What is no text of a change.
#[derive(Default)]
pub struct Rest {
    /// Microseconds since the Unix epoch.
    pub event_time: Option<i64>,
    pub sequence: Option<(i64, i64)>,
    /// The part of a row that its writes have.
    pub image: RowImage,
    /// Whether it says nothing about columns, whatever the image is said to be.
    pub is_empty_image: bool,
}

/// Part of a row that a write has.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum RowImage {
    #[default]
    Full,
    Patch,
    Keys,
}

impl RowImage {
    /// Return the part with a name; None for any other name.
    pub fn named(name: &str) -> Option<Self> {
        [RowImage::Full, RowImage::Patch, RowImage::Keys].into_iter().find(|image| image.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            RowImage::Full => "full",
            RowImage::Patch => "patch",
            RowImage::Keys => "keys",
        }
    }
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
    Effect,
}

const COUNT: usize = Name::Effect as usize + 1;

pub struct Columns {
    texts: [TextColumn; COUNT],
    event_time: TimestampMicrosecondBuilder,
    major: Int64Builder,
    minor: Int64Builder,
    leniencies: Nested,
    /// How many rows each message has; less than 0 if they are dead.
    sizes: Vec<i32>,
    rows: usize,
}

impl Columns {
    /// Begin without rows.
    pub fn new(messages: usize) -> Self {
        Columns {
            texts: std::array::from_fn(|_| TextColumn::new(messages)),
            event_time: TimestampMicrosecondBuilder::with_capacity(messages),
            major: Int64Builder::with_capacity(messages),
            minor: Int64Builder::with_capacity(messages),
            leniencies: Nested::texts(messages),
            sizes: Vec::with_capacity(messages),
            rows: 0,
        }
    }

    pub fn of(&mut self, name: Name) -> &mut TextColumn {
        &mut self.texts[name as usize]
    }

    /// Write the text of a column, if there is one.
    pub fn put(&mut self, name: Name, text: Option<&[u8]>) {
        if let Some(text) = text {
            self.of(name).put(text);
        }
    }

    /// Return all that was written to a column.
    pub fn data(&self, name: Name) -> &[u8] {
        self.texts[name as usize].data()
    }

    /// Return what was written to a column of this row; none if it is NULL.
    pub fn text(&self, name: Name) -> Option<&[u8]> {
        self.texts[name as usize].text()
    }

    /// End a row.
    pub fn end<'n>(&mut self, rest: &Rest, leniencies: impl Iterator<Item = &'n str>, effect: Option<&str>) {
        self.put(Name::Effect, effect.map(str::as_bytes));
        self.leniencies.open();
        leniencies.for_each(|name| self.leniencies.put_text(name.as_bytes()));
        self.end_all(rest, false);
    }

    /// End a row that is dead, whatever was written of it.
    pub fn end_dead(&mut self) {
        self.texts.iter_mut().for_each(TextColumn::take_back);
        self.end_all(&Rest::default(), true);
    }

    fn end_all(&mut self, rest: &Rest, is_dead: bool) {
        self.texts.iter_mut().for_each(TextColumn::end);
        self.leniencies.end(is_dead);
        self.event_time.append_option(rest.event_time);
        self.major.append_option(rest.sequence.map(|sequence| sequence.0));
        self.minor.append_option(rest.sequence.map(|sequence| sequence.1));
        self.rows += 1;
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// End a message of so many rows, alive or dead.
    pub fn end_message(&mut self, rows: usize, is_dead: bool) -> Done {
        let rows = i32::try_from(rows).map_err(|_| Why::Size)?;
        self.sizes.push(if is_dead { -rows } else { rows });
        Ok(())
    }

    /// Return the columns, and how many rows each message has.
    pub fn finish(mut self) -> Result<(RecordBatch, Int32Array), ArrowError> {
        let sizes = Int32Array::from(std::mem::take(&mut self.sizes));
        let texts = self.texts.into_iter().map(|text| text.finish(true)).collect::<Result<Vec<_>, _>>()?;
        let text = |name: Name| Arc::clone(&texts[name as usize]);
        let places = [Name::System, Name::Database, Name::Schema, Name::Table].map(text);
        let [system, database, schema, table] = places;
        let source = [("system", system), ("database", database), ("schema", schema), ("table", table)];
        let order: [(&str, ArrayRef); 2] =
            [("major", Arc::new(self.major.finish())), ("minor", Arc::new(self.minor.finish()))];
        let nulls = order[0].1.nulls().cloned();
        let times = self.event_time.finish().with_timezone("UTC");
        let names = DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true)));
        let columns = batch([
            ("op", text(Name::Op)),
            ("source", structs(source, None)?),
            ("key", text(Name::Key)),
            ("before_key", text(Name::BeforeKey)),
            ("before", text(Name::Before)),
            ("after", text(Name::After)),
            ("event_time", Arc::new(times)),
            ("sequence", structs(order, nulls)?),
            ("ddl", text(Name::Ddl)),
            ("schema_fingerprint", text(Name::Fingerprint)),
            ("attributes", text(Name::Attributes)),
            ("leniencies", self.leniencies.finish(&names)?),
            ("effect", text(Name::Effect)),
        ])?;
        Ok((columns, sizes))
    }
}
