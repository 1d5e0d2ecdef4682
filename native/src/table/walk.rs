//! A walk over JSON text by the nodes of a table: what is valid goes to the tape.

use super::Table;
use super::node::{Arm, RowArm, Rows, Rule, Tags, Union};
use super::tape::{ABSENT, Extra, NONE, Slot, Tape, short};
use crate::json::base64::byte_count;
use crate::json::names::Names;
use crate::json::scan::{Kind, LEVELS, Scan, Text};
use crate::texts::Texts;

/// Values that wait until the arm of their union is known.
type Waiting = Vec<(usize, usize)>;

pub struct Walk<'w, 't> {
    pub table: &'w Table,
    pub scan: Scan<'t>,
    pub tape: &'w mut Tape,
    pub names: &'w mut Names,
    pub texts: &'w mut Texts,
    /// The innermost node with a label that declined.
    pub blamed: Option<usize>,
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

    fn rule(&mut self, node: usize, levels: u32) -> Option<Slot> {
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

    fn list(&mut self, of: usize, levels: u32) -> Option<Slot> {
        let (mut first, mut last) = (NONE, NONE);
        let mut is_more = self.scan.open(b'[', b']')?;
        while is_more {
            let slot = self.value(of, levels)?;
            let place = self.push(slot);
            self.link(&mut first, &mut last, place);
            is_more = self.scan.is_more(b']')?;
        }
        Some(Slot { first, ..of_kind(Kind::Array) })
    }

    fn map(&mut self, of: usize, levels: u32) -> Option<Slot> {
        let (mut first, mut last) = (NONE, NONE);
        let mark = self.names.open();
        let mut is_more = self.scan.open(b'{', b'}')?;
        while is_more {
            let name = self.scan.member()?;
            self.scan.name(name, mark, self.names)?;
            let slot = self.value(of, levels)?;
            let start = name.start - 1;
            let end = name.start + name.content.len() + 1;
            let place = self.push(Slot { start: short(start), end: short(end), ..of_kind(Kind::Text) });
            self.push(slot);
            self.link(&mut first, &mut last, place);
            is_more = self.scan.is_more(b'}')?;
        }
        self.names.close(mark);
        Some(Slot { first, ..of_kind(Kind::Object) })
    }

    fn row(&mut self, items: &[usize], levels: u32) -> Option<Slot> {
        let first = self.reserve(items.len());
        let mut count = 0;
        let mut is_more = self.scan.open(b'[', b']')?;
        while is_more {
            self.tape.slots[first + count] = self.value(*items.get(count)?, levels)?;
            count += 1;
            is_more = self.scan.is_more(b']')?;
        }
        (count == items.len()).then_some(Slot { first: short(first), ..of_kind(Kind::Array) })
    }

    /// Read one of several rows: the first one with its tags that it is.
    fn rows(&mut self, rows: &Rows, levels: u32) -> Option<Slot> {
        let (at, untidy) = (self.scan.at, self.scan.untidy);
        let tags = self.tags(&rows.at, levels)?;
        let has = |arm: &RowArm| arm.tags.contains(&tags);
        let is_known = rows.arms.iter().any(has);
        let (count, mark) = (self.tape.slots.len(), self.names.open());
        for (place, arm) in rows.arms.iter().enumerate() {
            (self.scan.at, self.scan.untidy) = (at, untidy);
            self.tape.slots.truncate(count);
            self.names.close(mark);
            let is_it = if is_known { has(arm) } else { arm.tags.is_empty() };
            if let Some(slot) = is_it.then(|| self.rule(arm.node, levels)).flatten() {
                return Some(Slot { value: i64::try_from(place).ok()?, ..slot });
            }
        }
        None
    }

    /// Return the integers at some positions of the array that the cursor stands on.
    fn tags(&mut self, at: &[usize], levels: u32) -> Option<Tags> {
        let mut tags = Tags::default();
        let mut is_more = self.scan.open(b'[', b']')?;
        let mut found = 0;
        for place in 0.. {
            if found == at.len() || !is_more {
                break;
            }
            if at.contains(&place) {
                tags[found] = self.scan.number()?.integer?;
                found += 1;
            } else {
                self.scan.skip(self.names, levels)?;
            }
            is_more = self.scan.is_more(b']')?;
        }
        (found == at.len()).then_some(tags)
    }

    fn union(&mut self, union: &Union, levels: u32) -> Option<Slot> {
        let first = self.reserve(union.names.len());
        let mut arm = if union.tag.is_none() { Some(0) } else { None };
        let (mut seen, mut next) = (0_u64, 0);
        let mut waiting = Waiting::new();
        let mut is_more = self.scan.open(b'{', b'}')?;
        while is_more {
            let name = self.scan.member()?;
            if let Some(field) = place_of(union, plain(name)?, next) {
                next = field + 1;
                if seen >> field & 1 == 1 {
                    return None;
                }
                seen |= 1 << field;
                if union.tag == Some(field) {
                    arm = Some(arm_of(union, &self.scan)?);
                }
                self.field(union, arm, field, first, &mut waiting, levels)?;
            } else {
                self.unknown(union, name, levels)?;
            }
            is_more = self.scan.is_more(b'}')?;
        }
        let place = arm?;
        let arm = union.arms.get(place)?;
        self.read_waiting(arm, &waiting, first, levels)?;
        if seen & !arm.known != 0 || seen & arm.required != arm.required {
            return None;
        }
        Some(Slot { first: short(first), value: i64::try_from(place).ok()?, ..of_kind(Kind::Object) })
    }

    /// Read a field of an object, or pass over it until its arm is known.
    fn field(
        &mut self,
        union: &Union,
        arm: Option<usize>,
        field: usize,
        first: usize,
        waiting: &mut Waiting,
        levels: u32,
    ) -> Option<()> {
        let node = match arm {
            Some(arm) => Some(union.arms[arm].nodes[field]?),
            None => union.same[field],
        };
        if let Some(node) = node {
            self.tape.slots[first + field] = self.value(node, levels)?;
        } else {
            waiting.push((field, self.scan.at));
            self.scan.skip(self.names, levels)?;
        }
        Some(())
    }

    /// Read the values that stood before the tag of their union.
    fn read_waiting(&mut self, arm: &Arm, waiting: &Waiting, first: usize, levels: u32) -> Option<()> {
        let (end, untidy) = (self.scan.at, self.scan.untidy);
        for (field, at) in waiting {
            self.scan.at = *at;
            self.tape.slots[first + field] = self.value(arm.nodes[*field]?, levels)?;
        }
        (self.scan.at, self.scan.untidy) = (end, untidy);
        Some(())
    }

    /// Read a property that no schema names: it is kept at the root, and passed over in texts.
    fn unknown(&mut self, union: &Union, name: Text, levels: u32) -> Option<()> {
        let is_usual =
            name.content.iter().all(|c| (b' '..0x7f).contains(c)) && !name.content.starts_with(b"@");
        if !(union.is_root || union.is_loose) || !is_usual {
            return None;
        }
        let (start, untidy) = (self.scan.at, self.scan.untidy);
        let kind = self.scan.skip(self.names, levels)?;
        if union.is_loose {
            return Some(());
        }
        let span = (name.start, name.start + name.content.len());
        let is_twice = |other: &Extra| self.scan.text[other.name.0..other.name.1] == *name.content;
        if self.tape.extras.iter().any(is_twice) {
            return None;
        }
        let is_plain = self.scan.untidy == untidy;
        let value = Slot { start: short(start), end: short(self.scan.at), is_plain, ..of_kind(kind) };
        self.tape.extras.push(Extra { name: span, value });
        Some(())
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

    fn push(&mut self, slot: Slot) -> u32 {
        self.tape.slots.push(Slot { next: NONE, ..slot });
        short(self.tape.slots.len() - 1)
    }

    fn reserve(&mut self, count: usize) -> usize {
        let first = self.tape.slots.len();
        self.tape.slots.resize(first + count, ABSENT);
        first
    }

    fn link(&mut self, first: &mut u32, last: &mut u32, place: u32) {
        match self.tape.slots.get_mut(*last as usize) {
            Some(slot) => slot.next = place,
            None => *first = place,
        }
        *last = place;
    }
}

fn of_kind(kind: Kind) -> Slot {
    Slot { kind, ..ABSENT }
}

fn of_text(text: Text) -> Slot {
    of_kind(if text.is_escaped { Kind::Escaped } else { Kind::Text })
}

fn plain(text: Text<'_>) -> Option<&[u8]> {
    (!text.is_escaped).then_some(text.content)
}

/// Return the field of a name; most messages have them in the order of the schema.
fn place_of(union: &Union, name: &[u8], next: usize) -> Option<usize> {
    if union.names.get(next).is_some_and(|other| other == name) {
        return Some(next);
    }
    union.names.iter().position(|other| other == name)
}

/// Return the arm that a tag selects; the cursor stays on it.
fn arm_of(union: &Union, scan: &Scan) -> Option<usize> {
    let mut ahead = Scan::new(scan.text, false);
    ahead.at = scan.at;
    let word = plain(ahead.string()?)?;
    let named = union.arms.iter().position(|arm| arm.word.as_deref() == Some(word));
    named.or_else(|| union.arms.iter().position(|arm| arm.word.is_none()))
}
