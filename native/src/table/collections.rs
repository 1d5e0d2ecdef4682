//! Arrays and maps: lists, rows of positions, rows that tags select, and objects in which the entries of a map
//! stand, beside one property of any name.

use super::node::{Flat, RowArm, RowNode, RowsNode, Tags};
use super::tape::{NONE, Slot, short};
use super::walk::{Walk, of_kind, of_text, valid};
use crate::json::scan::{Kind, Text};
use crate::why::{Done, Why};

impl Walk<'_, '_> {
    pub fn list(&mut self, of: usize, levels: u32) -> Done<Slot> {
        let mut list = EMPTY;
        self.elements(b'[', b']', |walk| {
            let slot = walk.value(of, levels)?;
            let place = walk.push(slot)?;
            walk.link(&mut list, place);
            Ok(())
        })?;
        Ok(Slot { first: list.first, ..of_kind(Kind::Array) })
    }

    pub fn map(&mut self, of: usize, levels: u32) -> Done<Slot> {
        let (mark, mut map) = (self.names.open(), EMPTY);
        self.elements(b'{', b'}', |walk| {
            let name = walk.scan.member()?;
            walk.scan.name(name, mark, walk.names)?;
            walk.entry(name, of, levels, &mut map)
        })?;
        self.names.close(mark);
        Ok(Slot { first: map.first, ..of_kind(Kind::Object) })
    }

    /// Read the value of an entry of a map, whose name was read.
    pub fn entry(&mut self, name: Text, of: usize, levels: u32, map: &mut Linked) -> Done {
        let slot = self.value(of, levels)?;
        let place = self.push(of_text(name)?)?;
        self.push(slot)?;
        self.link(map, place);
        Ok(())
    }

    pub fn row(&mut self, row: &RowNode, levels: u32) -> Done<Slot> {
        let first = self.reserve(row.items.len());
        let mut part = 0;
        self.elements(b'[', b']', |walk| {
            let item = *row.items.get(part).ok_or(Why::Text)?;
            walk.tape.slots[first + part] = walk.value(item, levels)?;
            part += 1;
            Ok(())
        })?;
        valid(part == row.items.len(), Slot { first: short(first)?, ..of_kind(Kind::Array) })
    }

    /// Read an object: its slots are the property of any name, and the entries as a map.
    ///
    /// It is declined unless exactly one property has what is needed.
    pub fn flat(&mut self, flat: &Flat, levels: u32) -> Done<Slot> {
        let fields = self.reserve(2);
        let (mark, mut entries) = (self.names.open(), EMPTY);
        let mut is_found = false;
        self.elements(b'{', b'}', |walk| {
            let name = walk.scan.member()?;
            walk.scan.name(name, mark, walk.names)?;
            if walk.scan.peek() != Some(b'{') || !walk.has_needed(flat, levels)? {
                return walk.entry(name, flat.entries, levels, &mut entries);
            }
            if std::mem::replace(&mut is_found, true) {
                return Err(Why::Text);
            }
            walk.tape.slots[fields] = walk.value(flat.of, levels)?;
            Ok(())
        })?;
        self.names.close(mark);
        self.tape.slots[fields + 1] = Slot { first: entries.first, ..of_kind(Kind::Object) };
        valid(is_found, Slot { first: short(fields)?, ..of_kind(Kind::Object) })
    }

    /// Tell whether the object that the cursor stands on has all properties that are needed.
    fn has_needed(&mut self, flat: &Flat, levels: u32) -> Done<bool> {
        let mut missing: Vec<&[u8]> = flat.needed.iter().map(Vec::as_slice).collect();
        self.scan.clone().object(|scan, name| {
            let name = name.plain().ok_or(Why::Name)?;
            missing.retain(|other| *other != name);
            scan.skip(self.names, levels).map(|_| ())
        })?;
        Ok(missing.is_empty())
    }

    /// Read one of several rows: the first one with its tags that it is.
    pub fn rows(&mut self, rows: &RowsNode, levels: u32) -> Done<Slot> {
        let tags = self.tags(&rows.at, levels)?;
        let has = |arm: &RowArm| arm.tags.contains(&tags);
        let is_known = rows.arms.iter().any(has);
        let (scan, mark) = (self.scan.clone(), self.names.open());
        let slots = self.tape.slots.len();
        let mut found = Err(Why::Text);
        for (place, arm) in (0..).zip(&rows.arms) {
            let is_it = if is_known { has(arm) } else { arm.tags.is_empty() };
            if !is_it {
                continue;
            }
            self.scan = scan.clone();
            self.names.close(mark);
            self.tape.slots.truncate(slots);
            found = self.rule(arm.node, levels).map(|slot| Slot { value: place, ..slot });
            if found.is_ok() {
                break;
            }
        }
        found
    }

    /// Return the integers at some positions of the array that the cursor stands on.
    fn tags(&mut self, at: &[usize], levels: u32) -> Done<Tags> {
        let (mut tags, mut found, mut scan) = (Tags::default(), 0, self.scan.clone());
        let mut is_more = scan.open(b'[', b']')?;
        for place in 0.. {
            if found == at.len() || !is_more {
                break;
            }
            if at.contains(&place) {
                tags[found] = scan.number()?.integer.ok_or(Why::Text)?;
                found += 1;
            } else {
                scan.skip(self.names, levels)?;
            }
            is_more = scan.is_more(b']')?;
        }
        if found == at.len() { Ok(tags) } else { Err(Why::Text) }
    }

    fn push(&mut self, slot: Slot) -> Done<u32> {
        self.tape.slots.push(Slot { next: NONE, ..slot });
        short(self.tape.slots.len() - 1)
    }

    fn link(&mut self, of: &mut Linked, place: u32) {
        match self.tape.slots.get_mut(of.last as usize) {
            Some(slot) => slot.next = place,
            None => of.first = place,
        }
        of.last = place;
    }
}

/// Slots that are linked, of a list or a map.
pub struct Linked {
    pub first: u32,
    last: u32,
}

/// A list or a map without slots.
const EMPTY: Linked = Linked { first: NONE, last: NONE };
