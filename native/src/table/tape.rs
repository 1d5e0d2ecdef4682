//! Where each value of a message stands.

use crate::json::scan::{Kind, Scan};

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
    /// Value of an integer, arm of a union, number of a repeated text.
    pub value: i64,
}

/// Index of a slot that is not there: behind the last element.
pub const NONE: u32 = u32::MAX;

/// Return an index or an offset as slots have it; a message is shorter than 1 GB.
#[allow(clippy::cast_possible_truncation)]
pub fn short(place: usize) -> u32 {
    place as u32
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

    pub fn is_number(&self) -> bool {
        matches!(self.kind, Kind::Integer | Kind::Float)
    }
}

/// A property at the root that no schema names.
#[derive(Clone, Copy)]
pub struct Extra {
    pub name: (usize, usize),
    pub value: Slot,
}

#[derive(Default)]
pub struct Tape {
    pub slots: Vec<Slot>,
    pub extras: Vec<Extra>,
}

/// A message and its slots.
#[derive(Clone, Copy)]
pub struct Message<'m> {
    pub text: &'m [u8],
    pub tape: &'m Tape,
    pub exact: bool,
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
        let is_integer = slot.kind == Kind::Integer;
        is_integer.then(|| std::str::from_utf8(self.raw(slot)).ok()?.parse().ok())?
    }

    pub fn field(&self, object: &Slot, index: usize) -> &'m Slot {
        self.tape.slots.get(object.first as usize + index).unwrap_or(&ABSENT)
    }

    /// Return the elements of a list, or the names of a map: the value of each is behind it.
    pub fn elements(&self, of: &Slot) -> impl Iterator<Item = (usize, &'m Slot)> + use<'m> {
        let slots = &self.tape.slots;
        let mut at = of.first as usize;
        std::iter::from_fn(move || {
            let found = slots.get(at)?;
            let here = std::mem::replace(&mut at, found.next as usize);
            Some((here, found))
        })
    }

    /// Write a value as msgspec writes it.
    #[inline]
    pub fn write(&self, slot: &Slot, out: &mut Vec<u8>) -> Option<()> {
        if slot.is_plain {
            out.extend_from_slice(self.raw(slot));
            return Some(());
        }
        let mut scan = Scan::new(&self.text[..slot.end as usize], self.exact);
        scan.at = slot.start as usize;
        scan.write(out)
    }
}
