//! A walk over JSON text by the nodes of a table: what is valid goes to the tape.

use super::Table;
use super::node::Rule;
use super::tape::{ABSENT, Slot, Tape, short};
use crate::json::base64::byte_count;
use crate::json::names::Names;
use crate::json::scan::{Kind, LEVELS, Scan, Text};
use crate::texts::Texts;

pub struct Walk<'w, 't> {
    pub table: &'w Table,
    pub scan: Scan<'t>,
    pub tape: &'w mut Tape,
    pub names: &'w mut Names,
    pub texts: &'w mut Texts,
    /// The innermost node with a label that declined.
    pub blamed: Option<usize>,
    /// Whether an object is being read by an arm that is not sure yet.
    pub is_foreseeing: bool,
}

/// A place of a walk, to go back to.
#[derive(Clone, Copy)]
pub struct Mark {
    at: usize,
    untidy: usize,
    slots: usize,
    extras: usize,
    names: usize,
}

impl Walk<'_, '_> {
    /// Read one message, and nothing behind it.
    pub fn message(&mut self) -> Option<Slot> {
        self.scan.blanks();
        let slot = self.value(self.table.root, LEVELS)?;
        self.scan.blanks();
        (self.scan.at == self.scan.text.len()).then_some(slot)
    }

    /// Read a value of a node; the cursor stands on it.
    pub fn value(&mut self, node: usize, levels: u32) -> Option<Slot> {
        let start = self.scan.at;
        let untidy = self.scan.untidy;
        let found = self.rule(node, levels.checked_sub(1)?);
        if found.is_none() && self.blamed.is_none_or(|inner| self.table.nodes[inner].label.is_empty()) {
            self.blamed = Some(node);
        }
        let is_plain = self.scan.untidy == untidy;
        found.map(|slot| Slot { start: short(start), end: short(self.scan.at), is_plain, ..slot })
    }

    pub fn rule(&mut self, node: usize, levels: u32) -> Option<Slot> {
        let table = self.table;
        match &table.nodes.get(node)?.rule {
            Rule::Any => self.scan.skip(self.names, levels).map(of_kind),
            Rule::Null => self.scan.word(b"null").map(|()| of_kind(Kind::Null)),
            Rule::Boolean => self.boolean(),
            Rule::Integer(integers) => {
                let value = self.scan.number()?.integer?;
                integers.has(value).then_some(Slot { value, ..of_kind(Kind::Integer) })
            }
            Rule::Number => self.scan.number().map(|_| of_kind(Kind::Float)),
            Rule::Double if self.scan.peek() == Some(b'~') => self.scan.not_finite().map(of_kind),
            Rule::Double => {
                let number = self.scan.number()?;
                number.integer.is_none().then_some(of_kind(Kind::Float))
            }
            Rule::Text => self.scan.string().map(of_text),
            Rule::Base64(least, most) => {
                let text = self.scan.string()?;
                let count = byte_count(plain(text)?)?;
                (*least..=*most).contains(&count).then_some(of_text(text))
            }
            Rule::Bytes(least, most) => {
                let count = byte_count(self.scan.bytes()?.content)?;
                (*least..=*most).contains(&count).then_some(of_kind(Kind::Bytes))
            }
            Rule::Enum(words) => {
                let text = self.scan.string()?;
                let word = plain(text)?;
                words.iter().any(|other| other == word).then_some(of_text(text))
            }
            Rule::Choice(of) => self.choice(of, levels),
            Rule::Nullable(_) if self.scan.word(b"null").is_some() => Some(of_kind(Kind::Null)),
            Rule::Nullable(of) => self.rule(*of, levels),
            Rule::List(of) => self.list(*of, levels),
            Rule::Map(of) => self.map(*of, levels),
            Rule::Pairs => {
                let is_map = matches!(self.scan.peek()?, b'{' | b'(');
                if is_map { self.scan.skip(self.names, levels).map(of_kind) } else { None }
            }
            Rule::Row(row) => self.row(&row.items, levels),
            Rule::Rows(rows) => self.rows(rows, levels),
            Rule::Union(union) => self.union(union, levels),
            Rule::Repeated(of) => self.repeated(*of),
            Rule::Declined => None,
        }
    }

    fn boolean(&mut self) -> Option<Slot> {
        if self.scan.word(b"true").is_some() {
            return Some(of_kind(Kind::True));
        }
        self.scan.word(b"false").map(|()| of_kind(Kind::False))
    }

    /// Read one of several scalars by how it begins; an integer is a number too.
    fn choice(&mut self, of: &[usize], levels: u32) -> Option<Slot> {
        let first = self.scan.peek()?;
        let table = self.table;
        let rule = |node: &usize| &table.nodes[*node].rule;
        let find = |fits: fn(&Rule) -> bool| of.iter().find(|node| fits(rule(node))).copied();
        if !matches!(first, b'-' | b'0'..=b'9') {
            let fits: fn(&Rule) -> bool = match first {
                b'"' => |rule| matches!(rule, Rule::Text | Rule::Base64(..) | Rule::Enum(_)),
                b'\'' => |rule| matches!(rule, Rule::Bytes(..)),
                b'n' => |rule| matches!(rule, Rule::Null),
                _ => |rule| matches!(rule, Rule::Boolean),
            };
            return self.rule(find(fits)?, levels);
        }
        let integer = find(|rule| matches!(rule, Rule::Integer(..)));
        let Some(number) = find(|rule| matches!(rule, Rule::Number | Rule::Double)) else {
            return self.rule(integer?, levels);
        };
        let rest = &self.scan.text[self.scan.at..];
        let is_integer = crate::json::number::number(rest, self.scan.exact)?.integer.is_some();
        self.rule(integer.filter(|_| is_integer).unwrap_or(number), levels)
    }

    /// Read a value whose text most messages repeat: a text that was met before is not read again.
    fn repeated(&mut self, of: usize) -> Option<Slot> {
        if self.scan.peek()? != b'{' {
            return self.value(of, LEVELS);
        }
        let rest = &self.scan.text[self.scan.at..];
        let number = if let Some((number, size)) = self.texts.met_last(rest) {
            self.scan.at += size;
            number
        } else {
            let start = self.scan.at;
            self.scan.skip(self.names, LEVELS)?;
            let text = &self.scan.text[start..self.scan.at];
            self.texts.number_of(text, of, self.table)?
        };
        Some(Slot { value: number, ..of_kind(Kind::Repeated) })
    }

    pub fn mark(&self) -> Mark {
        let (slots, extras) = (self.tape.slots.len(), self.tape.extras.len());
        Mark { at: self.scan.at, untidy: self.scan.untidy, slots, extras, names: self.names.open() }
    }

    /// Forget all that was read behind a mark.
    pub fn back_to(&mut self, mark: Mark) {
        (self.scan.at, self.scan.untidy) = (mark.at, mark.untidy);
        self.tape.slots.truncate(mark.slots);
        self.tape.extras.truncate(mark.extras);
        self.names.close(mark.names);
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

fn of_text(text: Text) -> Slot {
    of_kind(if text.is_escaped { Kind::Escaped } else { Kind::Text })
}

pub fn plain(text: Text<'_>) -> Option<&[u8]> {
    (!text.is_escaped).then_some(text.content)
}
