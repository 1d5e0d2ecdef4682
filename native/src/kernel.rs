//! Batches of messages to batches of columns.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{Array, BinaryArray, Int32Array, RecordBatch};

use crate::border::{self, guarded};
use crate::columns::builders::MOST_BYTES;
use crate::columns::{Columns, PerRow, Rest};
use crate::effects::effect;
use crate::formats::{Adapter, Input, Notes, Options, adapter};
use crate::json::names::Names;
use crate::json::scan::{LEVELS, Scan};
use crate::msgpack::transcode;
use crate::table::Table;
use crate::table::parse::table;
use crate::table::tape::{Message, Tape};
use crate::table::uses::Uses;
use crate::table::walk::Walk;
use crate::texts::Texts;
use crate::typed::RowType;

/// What counts of declined messages call those that are no message of the table's.
const TEXT: &str = "text";

/// What they call valid messages that the adapter declines.
const MEANING: &str = "meaning";

/// What they call changes whose effect on tables is left to Python.
const EFFECT: &str = "effect";

/// What they call changes whose rows are of a type, and do not fit it as they are.
const ROW: &str = "row";

/// What they call messages on which the kernel panicked.
const PANIC: &str = "panic";

pub struct State {
    pub table: Table,
    adapter: Box<dyn Adapter>,
    tape: Tape,
    names: Names,
    texts: Texts,
    /// The text of a message in MessagePack.
    text: Vec<u8>,
    uses: Vec<usize>,
    notes: Notes,
    /// How many messages were declined, by the label of a node.
    pub declined: HashMap<String, u64>,
    pub messages: u64,
    /// Bytes that rows of the last batch needed.
    per_row: PerRow,
    image: String,
    has_effects: bool,
    /// The type that rows must fit; none if they are JSON text.
    row: Option<Arc<RowType>>,
}

impl State {
    /// Return the state of a kernel; none if it does not read the format by this table.
    pub fn new(format: &str, text: &str, mut options: Options) -> Option<Self> {
        let table = table(text)?;
        let row = options.row.take().map(Arc::new);
        let (image, has_effects) = (options.image.clone(), options.effects);
        let adapter = adapter(format, &table, options)?;
        Some(State {
            table,
            adapter,
            tape: Tape::default(),
            names: Names::default(),
            texts: Texts::default(),
            text: Vec::new(),
            uses: Vec::new(),
            notes: Notes::new(),
            declined: HashMap::new(),
            messages: 0,
            per_row: PerRow::default(),
            image,
            has_effects,
            row,
        })
    }

    pub fn needs_keys(&self) -> bool {
        self.adapter.needs_keys()
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
        let done = fits
            .ok_or(Declined::Text)
            .and_then(|value| guarded(|| self.bytes(value, key, columns)).unwrap_or(Err(Declined::Panic)));
        if let Err(declined) = &done {
            columns.truncate(start);
            columns.end(&Rest::default(), std::iter::empty(), None);
            self.count(declined);
        }
        columns.end_message(done.map_or(0, |()| columns.rows() - start));
    }

    /// Write the rows of a message, or of each of a batch, in the encoding of the table.
    fn bytes(&mut self, bytes: &[u8], key: Option<&[u8]>, columns: &mut Columns) -> Result<(), Declined> {
        border::panic_on_demand(bytes);
        if !self.table.is_msgpack {
            std::str::from_utf8(bytes).map_err(|_| Declined::Text)?;
            return self.elements(bytes, key, columns);
        }
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        let read = transcode(bytes, LEVELS, &mut text).ok_or(Declined::Text);
        let done = read.and_then(|()| self.elements(&text, key, columns));
        self.text = text;
        done
    }

    /// Write the rows of a message, or of each of a batch.
    fn elements(&mut self, text: &[u8], key: Option<&[u8]>, columns: &mut Columns) -> Result<(), Declined> {
        let mut scan = self.scan(text);
        scan.blanks();
        let start = if self.table.is_msgpack { b"[[".as_slice() } else { b"[" };
        if !self.table.has_batches || !text[scan.at..].starts_with(start) {
            return self.message(text, key, columns);
        }
        let mut found = Vec::new();
        self.names.clear();
        let names = &mut self.names;
        let done = scan.array(|scan| {
            let start = scan.at;
            scan.skip(names, LEVELS)?;
            found.push(start..scan.at);
            Some(())
        });
        scan.blanks();
        if done.is_none() || scan.at < text.len() || found.is_empty() {
            return Err(Declined::Text);
        }
        found.into_iter().try_for_each(|element| self.message(&text[element], key, columns))
    }

    fn scan<'t>(&self, text: &'t [u8]) -> Scan<'t> {
        Scan { is_marked: self.table.is_msgpack, ..Scan::new(text, self.table.is_exact) }
    }

    fn count(&mut self, declined: &Declined) {
        let label = match declined {
            Declined::Text => TEXT,
            Declined::Meaning => MEANING,
            Declined::Effect => EFFECT,
            Declined::Row => ROW,
            Declined::Panic => PANIC,
            Declined::Node(node) => &self.table.nodes[*node].label,
        };
        if let Some(count) = self.declined.get_mut(label) {
            *count += 1;
        } else {
            self.declined.insert(label.to_owned(), 1);
        }
    }

    /// Write the row of one message.
    fn message(&mut self, text: &[u8], key: Option<&[u8]>, columns: &mut Columns) -> Result<(), Declined> {
        self.tape.slots.clear();
        self.tape.extras.clear();
        self.names.clear();
        let exact = self.table.is_exact;
        let scan = self.scan(text);
        let mut walk = Walk {
            table: &self.table,
            scan,
            tape: &mut self.tape,
            names: &mut self.names,
            texts: &mut self.texts,
            blamed: None,
        };
        let Some(root) = walk.message() else {
            return Err(walk.blamed.map_or(Declined::Text, Declined::Node));
        };
        let message = Message { text, tape: &self.tape, exact };
        self.uses.clear();
        self.notes.clear();
        let mut uses = Uses { table: &self.table, texts: &self.texts, found: &mut self.uses };
        uses.of(self.table.root, &root, &message).ok_or(Declined::Meaning)?;
        let input = Input { message, root, key, texts: &self.texts };
        let rest = self.adapter.row(&input, columns, &mut self.notes).ok_or(Declined::Meaning)?;
        columns.fit(self.adapter.rows()).ok_or(Declined::Row)?;
        let effect = if self.has_effects {
            effect(columns, &rest, &self.image).ok_or(Declined::Effect)?
        } else {
            None
        };
        let names = self.uses.iter().map(|name| self.table.leniencies[*name].as_str());
        columns.end(&rest, names.chain(self.notes.iter().copied()), effect.as_ref());
        Ok(())
    }
}

/// Why a message was declined.
enum Declined {
    Text,
    Node(usize),
    Meaning,
    Effect,
    Row,
    Panic,
}
