//! Where each value of a message stands.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use crate::json::number::parsed;
use crate::json::scan::{Kind, Scan};
use crate::why::{Done, Why};

/// A value. The slots of an array of positions and of an object follow one another, in the order of
/// their node; those of lists and maps are linked, in maps each name before its value.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    pub kind: Kind,
    /// Whether msgspec writes it as it stands there.
    pub is_plain: bool,
    pub start: u32,
    pub end: u32,
    /// Index of its first slot; of an element of a list or map, the next one is in `next`.
    pub first: u32,
    pub next: u32,
    /// Value of an integer, arm of a union, index of a text that messages repeat.
    pub value: i64,
}

/// Index of a slot that is not there: behind the last element.
pub const NONE: u32 = u32::MAX;

/// Return an index or an offset as slots have it; one that has no room is declined.
#[inline]
pub fn short(place: usize) -> Done<u32> {
    u32::try_from(place).map_err(|_| Why::Size)
}

pub const ABSENT: Slot =
    Slot { kind: Kind::Absent, is_plain: true, start: 0, end: 0, first: NONE, next: NONE, value: 0 };

impl Slot {
    pub fn is_absent(&self) -> bool {
        self.kind == Kind::Absent
    }

    /// Whether there is a value, and it is not null.
    pub fn is_there(&self) -> bool {
        !matches!(self.kind, Kind::Absent | Kind::Null)
    }

    pub fn is_text(&self) -> bool {
        matches!(self.kind, Kind::Text | Kind::Escaped)
    }
}

#[derive(Default)]
pub struct Tape {
    pub slots: Vec<Slot>,
    /// Properties at the root that no schema names: the name and the value of each.
    pub extras: Vec<(Slot, Slot)>,
    /// What was read of texts that messages repeat.
    pub known: Vec<Arc<Known>>,
    /// Leniencies that were needed.
    pub uses: Vec<Arc<str>>,
}

impl Tape {
    pub fn clear(&mut self) {
        self.slots.clear();
        self.extras.clear();
        self.known.clear();
        self.uses.clear();
    }
}

/// A text that messages repeat, and what was read of it.
pub struct Known {
    pub text: Vec<u8>,
    pub tape: Tape,
    pub slot: Slot,
    /// What an adapter makes of it.
    meaning: OnceLock<Done<Box<dyn Any + Send + Sync>>>,
}

impl Known {
    pub fn new(text: &[u8], tape: Tape, slot: Slot) -> Self {
        Known { text: text.to_vec(), tape, slot, meaning: OnceLock::new() }
    }

    /// Return the text as a message of its own; its numbers are not written.
    pub fn message(&self) -> Message<'_> {
        Message { text: &self.text, tape: &self.tape }
    }

    /// Return what an adapter makes of it, which is made once: it is always of one type.
    pub fn meaning<T: Any + Send + Sync>(&self, make: impl FnOnce(&Self) -> Done<T>) -> Done<&T> {
        let found = self.meaning.get_or_init(|| make(self).map(|made| Box::new(made) as _));
        found.as_ref().map_err(|why| *why)?.downcast_ref().ok_or(Why::Schema)
    }

    /// Return about how many bytes it takes, with what an adapter makes of it.
    pub fn bytes(&self) -> usize {
        4 * self.text.len() + 2 * size_of::<Slot>() * self.tape.slots.len() + 512
    }
}

/// A message and its slots.
#[derive(Clone, Copy)]
pub struct Message<'m> {
    pub text: &'m [u8],
    pub tape: &'m Tape,
}

impl<'m> Message<'m> {
    pub fn raw(&self, slot: &Slot) -> &'m [u8] {
        &self.text[slot.start as usize..slot.end as usize]
    }

    /// Return the content of a string without escapes.
    pub fn content(&self, slot: &Slot) -> Option<&'m [u8]> {
        (slot.kind == Kind::Text).then(|| &self.text[slot.start as usize + 1..slot.end as usize - 1])
    }

    /// Return the value of an integer, wherever it stands.
    pub fn integer(&self, slot: &Slot) -> Option<i64> {
        if slot.kind == Kind::Integer { parsed(self.raw(slot)) } else { None }
    }

    pub fn field(&self, object: &Slot, index: usize) -> &'m Slot {
        self.tape.slots.get(object.first as usize + index).unwrap_or(&ABSENT)
    }

    /// Return what was read of a text that messages repeat.
    pub fn known(&self, slot: &Slot) -> Option<&'m Known> {
        let place = usize::try_from(slot.value).ok().filter(|_| slot.kind == Kind::Repeated)?;
        self.tape.known.get(place).map(Arc::as_ref)
    }

    /// Return the elements of a list.
    pub fn elements(&self, list: &Slot) -> impl Iterator<Item = &'m Slot> + use<'m> {
        self.members(list).map(|(slot, _)| slot)
    }

    /// Return names and values of a map.
    pub fn members(&self, map: &Slot) -> impl Iterator<Item = (&'m Slot, &'m Slot)> + use<'m> {
        let (slots, mut at) = (&self.tape.slots, map.first as usize);
        std::iter::from_fn(move || {
            let found = (slots.get(at)?, slots.get(at + 1).unwrap_or(&ABSENT));
            at = found.0.next as usize;
            Some(found)
        })
    }

    /// Write a value as msgspec writes it.
    #[inline]
    pub fn write(&self, slot: &Slot, out: &mut Vec<u8>) -> Done {
        if slot.is_plain {
            out.extend_from_slice(self.raw(slot));
            return Ok(());
        }
        let mut scan = Scan::new(&self.text[..slot.end as usize]);
        scan.at = slot.start as usize;
        scan.write(out)
    }
}
