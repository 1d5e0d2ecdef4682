//! Objects in which the entries of a map stand, beside one property of any name.

use super::node::Flat;
use super::tape::{NONE, Slot, short};
use super::walk::{Walk, of_kind, of_text};
use crate::json::scan::Kind;
use crate::why::{Done, Why};

impl Walk<'_, '_> {
    /// Read an object: its slots are the property of any name, and the entries as a map.
    ///
    /// It is declined unless exactly one property has what is needed.
    pub fn flat(&mut self, flat: &Flat, levels: u32) -> Done<Slot> {
        let fields = self.reserve(2);
        let (mut first, mut last) = (NONE, NONE);
        let mark = self.names.open();
        let mut is_found = false;
        let mut is_more = self.scan.open(b'{', b'}')?;
        while is_more {
            let name = self.scan.member()?;
            self.scan.name(name, mark, self.names)?;
            if self.scan.peek() == Some(b'{') && self.has_needed(flat, levels)? {
                if std::mem::replace(&mut is_found, true) {
                    return Err(Why::Text);
                }
                self.tape.slots[fields] = self.value(flat.of, levels)?;
            } else {
                let slot = self.value(flat.entries, levels)?;
                let place = self.push(of_text(name)?)?;
                self.push(slot)?;
                self.link(&mut first, &mut last, place);
            }
            is_more = self.scan.is_more(b'}')?;
        }
        self.names.close(mark);
        if !is_found {
            return Err(Why::Text);
        }
        self.tape.slots[fields + 1] = Slot { first, ..of_kind(Kind::Object) };
        Ok(Slot { first: short(fields)?, ..of_kind(Kind::Object) })
    }

    /// Tell whether the object that the cursor stands on has all properties that are needed.
    fn has_needed(&mut self, flat: &Flat, levels: u32) -> Done<bool> {
        let (at, untidy) = (self.scan.at, self.scan.untidy);
        let mut missing: Vec<&[u8]> = flat.needed.iter().map(Vec::as_slice).collect();
        let mut is_more = self.scan.open(b'{', b'}')?;
        while is_more {
            let name = self.scan.member()?.plain().ok_or(Why::Name)?;
            missing.retain(|other| *other != name);
            self.scan.skip(self.names, levels)?;
            is_more = self.scan.is_more(b'}')?;
        }
        (self.scan.at, self.scan.untidy) = (at, untidy);
        Ok(missing.is_empty())
    }
}
