//! The messages of one format, one after the other.

use crate::border;
use crate::columns::Columns;
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

/// What counts of declined messages call those on which the kernel panicked.
pub const PANIC: &str = "panic";

/// Reads messages by a table.
pub struct Reader {
    pub table: Table,
    adapter: Box<dyn Adapter>,
    tape: Tape,
    names: Names,
    texts: Texts,
    /// The text of a message in MessagePack.
    text: Vec<u8>,
    uses: Vec<usize>,
    notes: Notes,
    image: String,
    has_effects: bool,
    /// Names that messages of other formats have at the root: with one of them, it is not sure that a
    /// message is of this format.
    pub foreign: Vec<Vec<u8>>,
}

/// Why a message was declined.
#[derive(Clone, Copy)]
pub enum Declined {
    Text,
    Node(usize),
    Meaning,
    Effect,
    Row,
    Format,
    Panic,
}

impl Reader {
    /// Return what reads a format; none if it is not read by this table.
    pub fn new(format: &str, text: &str, options: &Options) -> Option<Self> {
        let table = table(text)?;
        let adapter = adapter(format, &table, options)?;
        Some(Reader {
            table,
            adapter,
            tape: Tape::default(),
            names: Names::default(),
            texts: Texts::default(),
            text: Vec::new(),
            uses: Vec::new(),
            notes: Notes::new(),
            image: options.image.clone(),
            has_effects: options.effects,
            foreign: Vec::new(),
        })
    }

    pub fn needs_keys(&self) -> bool {
        self.adapter.needs_keys()
    }

    /// Return the names that a message has at the root.
    pub fn names(&self) -> &[Vec<u8>] {
        self.table.union(self.table.root).map_or(&[], |root| &root.names)
    }

    /// Return what counts of declined messages call a reason.
    pub fn label(&self, declined: Declined) -> &str {
        match declined {
            // Bytes that are no message of the table's.
            Declined::Text => "text",
            // Valid messages that the adapter declines.
            Declined::Meaning => "meaning",
            // Changes whose effect on tables is left to Python.
            Declined::Effect => "effect",
            // Changes whose rows are of a type, and do not fit it as they are.
            Declined::Row => "row",
            // Messages that may be of another format.
            Declined::Format => "format",
            // Messages on which the kernel panicked.
            Declined::Panic => PANIC,
            Declined::Node(node) => &self.table.nodes[node].label,
        }
    }

    /// Tell whether a message was declined at once, as most of another format are.
    pub fn is_at_once(&self, declined: Declined) -> bool {
        match declined {
            Declined::Text => true,
            Declined::Node(node) => node == self.table.root,
            _ => false,
        }
    }

    /// Write the rows of a message, or of each of a batch, in the encoding of the table.
    pub fn bytes(&mut self, bytes: &[u8], key: Option<&[u8]>, columns: &mut Columns) -> Result<(), Declined> {
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
            is_foreseeing: false,
        };
        let Some(root) = walk.message() else {
            return Err(walk.blamed.map_or(Declined::Text, Declined::Node));
        };
        let name = |(start, end): (usize, usize)| &text[start..end];
        if self.tape.extras.iter().any(|extra| self.foreign.iter().any(|other| other == name(extra.name))) {
            return Err(Declined::Format);
        }
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
