//! The messages of one format, one after the other.

use crate::border;
use crate::builders::MOST_BYTES;
use crate::cache::{self, Cache};
use crate::columns::Columns;
use crate::effects::effect;
use crate::formats::{Adapter, Input, Key, Options, Scratch, adapter};
use crate::json::names::Names;
use crate::json::scan::{Kind, LEVELS, Scan};
use crate::msgpack::transcode;
use crate::table::Table;
use crate::table::node::Rule;
use crate::table::parse::table;
use crate::table::tape::{Known, Message, Slot, Tape};
use crate::table::walk::Walk;
use crate::why::Why;

/// Reads messages by a table.
pub struct Reader {
    pub table: Table,
    pub adapter: Box<dyn Adapter>,
    cache: Cache<Known>,
    /// Names that messages of other formats have at the root: with one of them, it is not sure that a
    /// message is of this format.
    pub foreign: Vec<Vec<u8>>,
    /// Whether a message of another format may have any names at the root, and is known by an object.
    pub is_beside_flat: bool,
}

/// What is written of a batch: its columns, and anew for each message what they are made of.
pub struct Workspace {
    pub columns: Columns,
    tape: Tape,
    names: Names,
    /// The text of a message in MessagePack.
    text: Vec<u8>,
    scratch: Scratch,
}

/// Why a message was declined, and the node of the table at which its bytes were.
#[derive(Clone, Copy)]
pub struct Declined {
    pub why: Why,
    node: Option<usize>,
}

impl Declined {
    /// Whether the table does not accept the bytes; then nothing was written.
    pub fn is_of_bytes(self) -> bool {
        self.node.is_some() || self.why == Why::Text
    }
}

impl Workspace {
    pub fn new(columns: Columns) -> Self {
        let (tape, names, scratch) = (Tape::default(), Names::default(), Scratch::default());
        Workspace { columns, tape, names, text: Vec::new(), scratch }
    }
}

impl From<Why> for Declined {
    fn from(why: Why) -> Self {
        Declined { why, node: None }
    }
}

impl Reader {
    /// Return what reads a format; none if it is not read by this table.
    pub fn new(format: &str, text: &str, options: &Options) -> Option<Self> {
        let table = table(text)?;
        let (adapter, cache) = (adapter(format, &table, options)?, Cache::of(cache::MOST_BYTES));
        Some(Reader { table, adapter, cache, foreign: Vec::new(), is_beside_flat: false })
    }

    /// Return the names that a message has at the root.
    pub fn names(&self) -> &[Vec<u8>] {
        self.table.union(self.table.root).map_or(&[], |root| &root.names)
    }

    /// Tell whether the entries of a map stand in messages.
    pub fn is_flat(&self) -> bool {
        matches!(self.table.nodes.get(self.table.root).map(|node| &node.rule), Some(Rule::Flat(_)))
    }

    /// Return what counts of declined messages call a reason: the place of the schema, and what was
    /// wrong there unless it is that the schema says otherwise.
    pub fn label(&self, declined: Declined) -> String {
        let why = declined.why.name();
        match declined.node.map(|node| &self.table.nodes[node].label) {
            Some(place) if declined.why == Why::Text => place.clone(),
            Some(place) => format!("{place}: {why}"),
            None => why,
        }
    }

    /// Tell whether the bytes were declined at once, as most of another format are.
    pub fn is_at_once(&self, declined: Declined) -> bool {
        declined.why == Why::Text && declined.node.is_none_or(|node| node == self.table.root)
    }

    /// Write the rows of a message, or of each of a batch, in the encoding of the table.
    pub fn bytes(&mut self, bytes: &[u8], key: Key, work: &mut Workspace) -> Result<(), Declined> {
        border::panic_on_demand(bytes);
        if !self.table.is_msgpack {
            std::str::from_utf8(bytes).map_err(|_| Why::Text)?;
            return self.elements(bytes, key, work);
        }
        let mut text = std::mem::take(&mut work.text);
        text.clear();
        let read = transcode(bytes, LEVELS, MOST_BYTES, &mut text).map_err(Declined::from);
        let done = read.and_then(|()| self.elements(&text, key, work));
        work.text = text;
        done
    }

    /// Write the rows of a message, or of each of a batch.
    fn elements(&mut self, text: &[u8], key: Key, work: &mut Workspace) -> Result<(), Declined> {
        let mut scan = Scan { is_marked: self.table.is_msgpack, ..Scan::new(text) };
        scan.blanks();
        let start = if self.table.is_msgpack { b"[[".as_slice() } else { b"[" };
        if !self.table.has_batches || !text[scan.at..].starts_with(start) {
            return self.message(text, key, work);
        }
        let mut found = Vec::new();
        work.names.clear();
        scan.array(|scan| {
            let start = scan.at;
            scan.skip(&mut work.names, LEVELS)?;
            found.push(start..scan.at);
            Ok(())
        })?;
        if !scan.is_at_end() || found.is_empty() {
            return Err(Why::Text.into());
        }
        found.into_iter().try_for_each(|element| self.message(&text[element], key, work))
    }

    /// Write the row of one message.
    fn message(&mut self, text: &[u8], key: Key, work: &mut Workspace) -> Result<(), Declined> {
        work.tape.clear();
        work.names.clear();
        let mut walk = Walk::new(&self.table, text, &mut work.tape, &mut work.names, &mut self.cache);
        let root = walk.message().map_err(|why| Declined { why, node: walk.blamed })?;
        let message = Message { text, tape: &work.tape };
        let is_foreign = |name| self.foreign.iter().any(|other| Some(other.as_slice()) == name);
        let is_other = |(name, value): &(Slot, Slot)| {
            is_foreign(message.content(name)) || (self.is_beside_flat && value.kind == Kind::Object)
        };
        if message.tape.extras.iter().any(is_other) {
            return Err(Why::Format.into());
        }
        let scratch = &mut work.scratch;
        scratch.notes.clear();
        let columns = &mut work.columns;
        let rest = self.adapter.row(&Input { message, root, key }, scratch, columns)?;
        let effect = effect(columns, &rest);
        let names = work.tape.uses.iter().map(AsRef::as_ref);
        columns.end(&rest, names.chain(scratch.notes.iter().copied()), effect);
        Ok(())
    }
}
