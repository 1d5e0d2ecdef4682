//! Arrays and maps: lists, rows of positions, and rows that tags select.

use super::node::{RowArm, RowsNode, Tags};
use super::tape::{NONE, Slot, short};
use super::walk::{Walk, of_kind, of_text};
use crate::json::scan::Kind;
use crate::why::{Done, Why};

impl Walk<'_, '_> {
    pub fn list(&mut self, of: usize, levels: u32) -> Done<Slot> {
        let (mut first, mut last) = (NONE, NONE);
        let mut is_more = self.scan.open(b'[', b']')?;
        while is_more {
            let slot = self.value(of, levels)?;
            let place = self.push(slot)?;
            self.link(&mut first, &mut last, place);
            is_more = self.scan.is_more(b']')?;
        }
        Ok(Slot { first, ..of_kind(Kind::Array) })
    }

    pub fn map(&mut self, of: usize, levels: u32) -> Done<Slot> {
        let (mut first, mut last) = (NONE, NONE);
        let mark = self.names.open();
        let mut is_more = self.scan.open(b'{', b'}')?;
        while is_more {
            let name = self.scan.member()?;
            self.scan.name(name, mark, self.names)?;
            let slot = self.value(of, levels)?;
            let place = self.push(of_text(name)?)?;
            self.push(slot)?;
            self.link(&mut first, &mut last, place);
            is_more = self.scan.is_more(b'}')?;
        }
        self.names.close(mark);
        Ok(Slot { first, ..of_kind(Kind::Object) })
    }

    pub fn row(&mut self, items: &[usize], levels: u32) -> Done<Slot> {
        let first = self.reserve(items.len());
        let mut count = 0;
        let mut is_more = self.scan.open(b'[', b']')?;
        while is_more {
            self.tape.slots[first + count] = self.value(*items.get(count).ok_or(Why::Text)?, levels)?;
            count += 1;
            is_more = self.scan.is_more(b']')?;
        }
        if count < items.len() {
            return Err(Why::Text);
        }
        Ok(Slot { first: short(first)?, ..of_kind(Kind::Array) })
    }

    /// Read one of several rows: the first one with its tags that it is.
    pub fn rows(&mut self, rows: &RowsNode, levels: u32) -> Done<Slot> {
        let mark = self.mark();
        let tags = self.tags(&rows.at, levels)?;
        let has = |arm: &RowArm| arm.tags.contains(&tags);
        let is_known = rows.arms.iter().any(has);
        let mut found = Err(Why::Text);
        for (place, arm) in (0..).zip(&rows.arms) {
            self.back_to(mark);
            let is_it = if is_known { has(arm) } else { arm.tags.is_empty() };
            if is_it {
                found = self.rule(arm.node, levels).map(|slot| Slot { value: place, ..slot });
                if found.is_ok() {
                    break;
                }
            }
        }
        found
    }

    /// Return the integers at some positions of the array that the cursor stands on.
    fn tags(&mut self, at: &[usize], levels: u32) -> Done<Tags> {
        let mut tags = Tags::default();
        let mut is_more = self.scan.open(b'[', b']')?;
        let mut found = 0;
        for place in 0.. {
            if found == at.len() || !is_more {
                break;
            }
            if at.contains(&place) {
                tags[found] = self.scan.number()?.integer.ok_or(Why::Text)?;
                found += 1;
            } else {
                self.scan.skip(self.names, levels)?;
            }
            is_more = self.scan.is_more(b']')?;
        }
        if found == at.len() { Ok(tags) } else { Err(Why::Text) }
    }

    pub fn push(&mut self, slot: Slot) -> Done<u32> {
        self.tape.slots.push(Slot { next: NONE, ..slot });
        short(self.tape.slots.len() - 1)
    }

    pub fn link(&mut self, first: &mut u32, last: &mut u32, place: u32) {
        match self.tape.slots.get_mut(*last as usize) {
            Some(slot) => slot.next = place,
            None => *first = place,
        }
        *last = place;
    }
}
