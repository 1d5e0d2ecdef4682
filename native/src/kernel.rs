//! Batches of messages to batches of columns.

use std::collections::HashMap;

use arrow_array::{Array, BinaryArray, Int32Array, RecordBatch};

use crate::border::guarded;
use crate::builders::MOST_BYTES;
use crate::columns::Columns;
use crate::formats::{Key, Options};
use crate::msgpack::begins_array;
use crate::reader::{Declined, Reader, Workspace};
use crate::why::{Done, Why};

/// What a kernel keeps from one batch to the next. All of it is bounded:
///
/// | state | bound |
/// |---|---|
/// | `readers`: tables and adapters | what the generator wrote |
/// | `readers`: `Cache` of schemas that stand in messages | 16 MiB a format, `cache::MOST_BYTES` |
/// | `readers`: the last text of each `Pattern` | 256 bytes a pattern, `pattern::MOST_KEPT` |
/// | `declined` | a count for each node of a table and each reason |
/// | `last`, `messages` | of one size |
///
/// What grows with messages is in `Workspace` and `Columns`, which go with their batch.
pub struct State {
    /// What reads the formats that messages may have.
    pub readers: Vec<Reader>,
    /// The one that read the last message.
    last: usize,
    /// How many messages were declined, by place and reason.
    pub declined: HashMap<String, u64>,
    pub messages: u64,
}

impl State {
    /// Return the state of a kernel; none if it does not read one of the formats by its table.
    ///
    /// `tables` has names and tables of formats. If there are several, each message is of the one that
    /// it says: formats of one encoding need properties at the root that the others do not know.
    pub fn new(tables: &[(String, String)], options: &Options) -> Option<Self> {
        let made = tables.iter().map(|(format, table)| Reader::new(format, table, options));
        let mut readers: Vec<Reader> = made.collect::<Option<_>>()?;
        for i in 0..readers.len() {
            let others = readers.iter().filter(|other| !std::ptr::eq(*other, &raw const readers[i]));
            let foreign = others.flat_map(Reader::names).filter(|name| !readers[i].names().contains(name));
            readers[i].foreign = foreign.cloned().collect();
            readers[i].is_beside_flat = !readers[i].is_flat() && readers.iter().any(Reader::is_flat);
        }
        (!readers.is_empty()).then_some(State { readers, last: 0, declined: HashMap::new(), messages: 0 })
    }

    pub fn needs_keys(&self) -> bool {
        self.readers.iter().any(|reader| reader.adapter.needs_keys())
    }

    /// Return the columns of all messages, and how many rows each has: less than 0 if it is declined,
    /// and then its rows are dead.
    ///
    /// A panic declines its message; one that no message caused declines them all, and so do columns
    /// that have no room.
    pub fn decode(&mut self, values: &BinaryArray, keys: Option<&BinaryArray>) -> (RecordBatch, Int32Array) {
        let declined = self.declined.clone();
        self.messages += values.len() as u64;
        let why = match guarded(|| self.batch(values, keys)) {
            Some(Ok(found)) => return found,
            Some(Err(why)) => why,
            None => Why::Panic,
        };
        let nothing = self.batch(&BinaryArray::new_null(values.len()), None);
        self.declined = declined;
        *self.declined.entry(why.name()).or_default() += values.len() as u64;
        nothing.unwrap_or_else(|_| unreachable!("columns of dead rows are columns"))
    }

    fn batch(
        &mut self,
        values: &BinaryArray,
        keys: Option<&BinaryArray>,
    ) -> Result<(RecordBatch, Int32Array), Why> {
        let mut work = Workspace::new(Columns::new(values.len()));
        for (i, value) in values.iter().enumerate() {
            let key = keys.filter(|keys| keys.is_valid(i)).map(|keys| keys.value(i));
            self.one(value, key, &mut work)?;
        }
        work.columns.finish().map_err(|_| Why::Size)
    }

    /// Write the rows of a message; those of one that is declined are dead, and at least one.
    fn one(&mut self, value: Option<&[u8]>, key: Key, work: &mut Workspace) -> Done {
        let start = work.columns.rows();
        let done = match value {
            None => Err((self.last, Why::Null.into())),
            Some(value) if value.len() >= MOST_BYTES => Err((self.last, Why::Size.into())),
            Some(value) => self.read(value, key, work),
        };
        let columns = &mut work.columns;
        if let Err((reader, declined)) = done {
            columns.end_dead();
            *self.declined.entry(self.readers[reader].label(declined)).or_default() += 1;
        }
        columns.end_message(columns.rows() - start, done.is_err())
    }

    /// Write the rows of a message by the reader of its format: the one that takes it, and mostly the
    /// one that took the last message.
    fn read(&mut self, bytes: &[u8], key: Key, work: &mut Workspace) -> Result<(), (usize, Declined)> {
        let start = work.columns.rows();
        let (is_alone, is_msgpack) = (self.readers.len() == 1, begins_array(bytes));
        let last = self.last;
        let mut blamed: Option<(usize, Declined)> = None;
        for place in std::iter::once(last).chain((0..self.readers.len()).filter(|place| *place != last)) {
            let reader = &mut self.readers[place];
            if !is_alone && reader.table.is_msgpack != is_msgpack {
                continue;
            }
            let done = guarded(|| reader.bytes(bytes, key, work));
            let Err(declined) = done.unwrap_or(Err(Why::Panic.into())) else {
                self.last = place;
                return Ok(());
            };
            if blamed.is_none_or(|(other, before)| self.readers[other].is_at_once(before)) {
                blamed = Some((place, declined));
            }
            // What has begun a row is of this format, and so is a batch of which a row was read.
            if !declined.is_of_bytes() || work.columns.rows() > start {
                break;
            }
        }
        Err(blamed.unwrap_or((last, Why::Text.into())))
    }
}
