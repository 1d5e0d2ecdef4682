//! A walk over JSON text by the nodes of a table: what is valid goes to the tape.

use std::sync::Arc;

use super::Table;
use super::node::Rule;
use super::tape::{ABSENT, Known, Message, Slot, Tape, short};
use crate::cache::Cache;
use crate::json::base64::byte_count;
use crate::json::names::Names;
use crate::json::number::Number;
use crate::json::scan::{Kind, LEVELS, Scan, Text};
use crate::why::{Done, Why};

/// Bytes of a text that messages repeat at most; a longer one is declined.
const MOST_BYTES: usize = 65536;

pub struct Walk<'w, 't> {
    pub table: &'w Table,
    pub scan: Scan<'t>,
    pub tape: &'w mut Tape,
    pub names: &'w mut Names,
    pub cache: &'w mut Cache<Known>,
    /// The innermost node with a label that declined.
    pub blamed: Option<usize>,
}

impl<'w, 't> Walk<'w, 't> {
    pub fn new(
        table: &'w Table,
        text: &'t [u8],
        tape: &'w mut Tape,
        names: &'w mut Names,
        cache: &'w mut Cache<Known>,
    ) -> Self {
        let scan = Scan { is_marked: table.is_msgpack, ..Scan::new(text) };
        Walk { table, scan, tape, names, cache, blamed: None }
    }
}

impl Walk<'_, '_> {
    /// Read one message, and nothing behind it.
    pub fn message(&mut self) -> Done<Slot> {
        self.scan.blanks();
        let slot = self.noted(self.table.root)?;
        if self.scan.is_at_end() { Ok(slot) } else { Err(Why::Text) }
    }

    /// Read a value of a node, and note which leniencies it needed.
    fn noted(&mut self, node: usize) -> Done<Slot> {
        let slot = self.value(node, LEVELS)?;
        let mut uses = std::mem::take(&mut self.tape.uses);
        let message = Message { text: self.scan.text, tape: self.tape };
        let done = self.table.uses(node, &slot, &message, &mut uses);
        self.tape.uses = uses;
        self.blamed = done.is_err().then_some(node);
        done.map(|()| slot)
    }

    /// Read a value of a node; the cursor stands on it.
    pub fn value(&mut self, node: usize, levels: u32) -> Done<Slot> {
        let levels = levels.checked_sub(1).ok_or(Why::Depth)?;
        let found = self.spanned(|walk| walk.rule(node, levels));
        if found.is_err() && self.blamed.is_none_or(|inner| self.table.nodes[inner].label.is_empty()) {
            self.blamed = Some(node);
        }
        found
    }

    /// Return the slot that is read with where it stands.
    #[inline]
    pub fn spanned(&mut self, read: impl FnOnce(&mut Self) -> Done<Slot>) -> Done<Slot> {
        let (start, untidy) = (self.scan.at, self.scan.untidy);
        let found = read(self)?;
        let is_plain = self.scan.untidy == untidy;
        Ok(Slot { start: short(start)?, end: short(self.scan.at)?, is_plain, ..found })
    }

    pub fn rule(&mut self, node: usize, levels: u32) -> Done<Slot> {
        let table = self.table;
        match &table.nodes[node].rule {
            Rule::Any => self.scan.skip(self.names, levels).map(of_kind),
            Rule::Null => valid(self.scan.eat_word(b"null"), of_kind(Kind::Null)),
            Rule::Boolean if self.scan.eat_word(b"true") => Ok(of_kind(Kind::True)),
            Rule::Boolean => valid(self.scan.eat_word(b"false"), of_kind(Kind::False)),
            Rule::Double if self.scan.peek() == Some(b'~') => {
                self.scan.not_finite().map(|_| of_kind(Kind::NotFinite))
            }
            rule @ (Rule::Integer(_) | Rule::Number | Rule::Double) => of_number(rule, &self.scan.number()?),
            Rule::Text => self.scan.string().map(|text| of_kind(text.kind())),
            Rule::Base64(least, most) => {
                let text = self.scan.string()?;
                let count = text.plain().and_then(byte_count).ok_or(Why::Text)?;
                valid((*least..=*most).contains(&count), of_kind(Kind::Text))
            }
            Rule::Bytes(least, most) => {
                let count = byte_count(self.scan.bytes()?.content).ok_or(Why::Text)?;
                valid((*least..=*most).contains(&count), of_kind(Kind::Bytes))
            }
            Rule::Enum(words) => {
                let word = self.scan.string()?.plain().ok_or(Why::Text)?;
                valid(words.iter().any(|other| other == word), of_kind(Kind::Text))
            }
            Rule::Choice(of) => self.choice(of, levels),
            Rule::Nullable(_) if self.scan.eat_word(b"null") => Ok(of_kind(Kind::Null)),
            Rule::Nullable(of) => self.rule(*of, levels),
            Rule::List(of) => self.list(*of, levels),
            Rule::Map(of) => self.map(*of, levels),
            Rule::Pairs if matches!(self.scan.peek(), Some(b'{' | b'(')) => {
                self.scan.skip(self.names, levels).map(of_kind)
            }
            Rule::Row(row) => self.row(row, levels),
            Rule::Rows(rows) => self.rows(rows, levels),
            Rule::Union(union) => self.union(union, levels),
            Rule::Flat(flat) => self.flat(flat, levels),
            Rule::Repeated(of) => self.repeated(*of),
            Rule::Pairs | Rule::Declined => Err(Why::Text),
        }
    }

    /// Read a collection: `each` is called with the cursor on each element.
    #[inline]
    pub fn elements(&mut self, start: u8, end: u8, mut each: impl FnMut(&mut Self) -> Done) -> Done {
        let mut is_more = self.scan.open(start, end)?;
        while is_more {
            each(self)?;
            is_more = self.scan.is_more(end)?;
        }
        Ok(())
    }

    /// Read one of several scalars: the first one that it is. An integer beside a number has no bounds.
    fn choice(&mut self, of: &[usize], levels: u32) -> Done<Slot> {
        let (scan, mut found) = (self.scan.clone(), Err(Why::Text));
        for node in of {
            self.scan = scan.clone();
            found = self.rule(*node, levels);
            if !matches!(found, Err(Why::Text)) {
                break;
            }
        }
        found
    }

    /// Read a value whose text most messages repeat: a text that was met before is not read again.
    fn repeated(&mut self, of: usize) -> Done<Slot> {
        if self.scan.peek() != Some(b'{') {
            return self.value(of, LEVELS);
        }
        let start = self.scan.at;
        let known = if let Some((known, size)) = self.cache.beginning(&self.scan.text[start..]) {
            self.scan.at += size;
            known
        } else {
            self.scan.skip(self.names, LEVELS)?;
            let text = &self.scan.text[start..self.scan.at];
            match self.cache.get(text) {
                Some(known) => known,
                None => self.new_text(text, of)?,
            }
        };
        let value = i64::try_from(self.tape.known.len()).map_err(|_| Why::Size)?;
        self.tape.known.push(known);
        Ok(Slot { value, ..of_kind(Kind::Repeated) })
    }

    /// Read a text of a node that was not met before, and keep it.
    fn new_text(&mut self, text: &[u8], node: usize) -> Done<Arc<Known>> {
        if text.len() > MOST_BYTES {
            return Err(Why::Size);
        }
        let (mut tape, table) = (Tape::default(), self.table);
        let mut names = Names::default();
        let slot = Walk::new(table, text, &mut tape, &mut names, self.cache).noted(node)?;
        let known = Known::new(text, tape, slot);
        let bytes = known.bytes();
        Ok(self.cache.put(text, known, bytes))
    }

    pub fn reserve(&mut self, count: usize) -> usize {
        let first = self.tape.slots.len();
        self.tape.slots.resize(first + count, ABSENT);
        first
    }
}

pub fn of_kind(kind: Kind) -> Slot {
    Slot { kind, ..ABSENT }
}

/// Return the slot of a text that was read.
pub fn of_text(text: Text) -> Done<Slot> {
    let (start, end) = (short(text.start - 1)?, short(text.start + text.content.len() + 1)?);
    Ok(Slot { start, end, ..of_kind(text.kind()) })
}

/// Return the slot of a number that a rule takes.
fn of_number(rule: &Rule, number: &Number) -> Done<Slot> {
    match (rule, number.integer) {
        (Rule::Integer(integers), Some(value)) => {
            valid(integers.has(value), Slot { value, ..of_kind(Kind::Integer) })
        }
        (Rule::Number, _) | (Rule::Double, None) => Ok(of_kind(Kind::Float)),
        _ => Err(Why::Text),
    }
}

pub fn valid(is_valid: bool, slot: Slot) -> Done<Slot> {
    if is_valid { Ok(slot) } else { Err(Why::Text) }
}

/// Return what is known of the arm that a slot says.
pub fn arm_at<'a, T>(arms: &'a [T], slot: &Slot) -> Done<&'a T> {
    usize::try_from(slot.value).ok().and_then(|place| arms.get(place)).ok_or(Why::Meaning)
}
