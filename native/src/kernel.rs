//! Batches of messages to batches of columns.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{Array, BinaryArray, Int32Array, RecordBatch};

use crate::border::guarded;
use crate::columns::builders::MOST_BYTES;
use crate::columns::{Columns, PerRow, Rest};
use crate::formats::Options;
use crate::msgpack::begins_array;
use crate::reader::{Declined, PANIC, Reader};
use crate::typed::RowType;

pub struct State {
    /// What reads the formats that messages may have.
    pub readers: Vec<Reader>,
    /// The one that read the last message.
    last: usize,
    /// How many messages were declined, by the label of a node.
    pub declined: HashMap<String, u64>,
    pub messages: u64,
    /// Bytes that rows of the last batch needed.
    per_row: PerRow,
    /// The type that rows must fit; none if they are JSON text.
    row: Option<Arc<RowType>>,
}

impl State {
    /// Return the state of a kernel; none if it does not read one of the formats by its table.
    ///
    /// `tables` has names and tables of formats. If there are several, each message is of the one that
    /// it says: formats of one encoding need properties at the root that the others do not know.
    pub fn new(tables: &[(String, String)], mut options: Options) -> Option<Self> {
        let row = options.row.take().map(Arc::new);
        let made = tables.iter().map(|(format, table)| Reader::new(format, table, &options));
        let mut readers: Vec<Reader> = made.collect::<Option<_>>()?;
        for i in 0..readers.len() {
            let others = readers.iter().filter(|other| !std::ptr::eq(*other, &raw const readers[i]));
            let foreign = others.flat_map(Reader::names).filter(|name| !readers[i].names().contains(name));
            readers[i].foreign = foreign.cloned().collect();
        }
        let (declined, per_row) = (HashMap::new(), PerRow::default());
        (!readers.is_empty()).then_some(State { readers, last: 0, declined, messages: 0, per_row, row })
    }

    pub fn needs_keys(&self) -> bool {
        self.readers.iter().any(Reader::needs_keys)
    }

    /// Return the columns of all messages, and how many rows each has: 0 if it is declined, which is
    /// one row of NULL.
    ///
    /// A panic declines its message; one that no message caused declines them all.
    pub fn decode(&mut self, values: &BinaryArray, keys: Option<&BinaryArray>) -> (RecordBatch, Int32Array) {
        let count = values.len();
        let declined = self.declined.clone();
        self.messages += count as u64;
        let found = guarded(|| {
            let mut columns = Columns::new(count, &self.per_row, self.row.as_ref());
            for i in 0..count {
                let value = values.is_valid(i).then(|| values.value(i));
                let key = keys.filter(|keys| keys.is_valid(i)).map(|keys| keys.value(i));
                self.one(value, key, &mut columns);
            }
            self.per_row = columns.bytes_per_row();
            columns.finish().ok()
        });
        found.flatten().unwrap_or_else(|| {
            self.declined = declined;
            *self.declined.entry(PANIC.to_owned()).or_default() += count as u64;
            self.nothing(count)
        })
    }

    /// Return the columns of messages that are all declined.
    fn nothing(&self, count: usize) -> (RecordBatch, Int32Array) {
        let mut columns = Columns::new(count, &PerRow::default(), self.row.as_ref());
        for _ in 0..count {
            columns.end(&Rest::default(), std::iter::empty(), None);
            columns.end_message(0);
        }
        columns.finish().unwrap_or_else(|_| unreachable!("columns of NULL are columns"))
    }

    fn one(&mut self, value: Option<&[u8]>, key: Option<&[u8]>, columns: &mut Columns) {
        let fits = value.filter(|value| columns.has_room() && value.len() < MOST_BYTES);
        let start = columns.rows();
        let done = fits.ok_or((self.last, Declined::Text)).and_then(|value| self.read(value, key, columns));
        if let Err((reader, declined)) = done {
            columns.end(&Rest::default(), std::iter::empty(), None);
            self.count(reader, declined);
        }
        columns.end_message(done.map_or(0, |()| columns.rows() - start));
    }

    /// Write the rows of a message by the reader of its format: the one that takes it, and mostly the
    /// one that took the last message.
    fn read(
        &mut self,
        bytes: &[u8],
        key: Option<&[u8]>,
        columns: &mut Columns,
    ) -> Result<(), (usize, Declined)> {
        let start = columns.rows();
        let (is_alone, is_msgpack) = (self.readers.len() == 1, begins_array(bytes));
        let last = self.last;
        let mut blamed: Option<(usize, Declined)> = None;
        for place in std::iter::once(last).chain((0..self.readers.len()).filter(|place| *place != last)) {
            let reader = &mut self.readers[place];
            if !is_alone && reader.table.is_msgpack != is_msgpack {
                continue;
            }
            let done = guarded(|| reader.bytes(bytes, key, columns)).unwrap_or(Err(Declined::Panic));
            let Err(declined) = done else {
                self.last = place;
                return Ok(());
            };
            columns.truncate(start);
            if blamed.is_none_or(|(other, before)| self.readers[other].is_at_once(before)) {
                blamed = Some((place, declined));
            }
            if !matches!(declined, Declined::Text | Declined::Node(_)) {
                break;
            }
        }
        Err(blamed.unwrap_or((last, Declined::Text)))
    }

    fn count(&mut self, reader: usize, declined: Declined) {
        let label = self.readers[reader].label(declined);
        if let Some(count) = self.declined.get_mut(label) {
            *count += 1;
        } else {
            self.declined.insert(label.to_owned(), 1);
        }
    }
}
