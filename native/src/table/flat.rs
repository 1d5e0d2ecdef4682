//! Objects in which the entries of a map stand, beside one property of any name.

use super::collections::Linked;
use super::node::Flat;
use super::tape::{Slot, short};
use super::walk::{Walk, of_kind, valid};
use crate::json::scan::Kind;
use crate::why::{Done, Why};

impl Walk<'_, '_> {
    /// Read an object: its slots are the property of any name, and the entries as a map.
    ///
    /// It is declined unless exactly one property has what is needed.
    pub fn flat(&mut self, flat: &Flat, levels: u32) -> Done<Slot> {
        let fields = self.reserve(2);
        let (mark, mut entries) = (self.names.open(), Linked::default());
        let (mut is_found, mut noted) = (false, self.begin_notes());
        self.elements(b'{', b'}', |walk| {
            let name = walk.scan.member()?;
            walk.scan.name(name, mark, walk.names)?;
            if walk.scan.peek() != Some(b'{') || !walk.has_needed(flat, levels)? {
                walk.entry(name, flat.entries, levels, &mut entries)?;
                walk.end_part(1, &mut noted);
                return Ok(());
            }
            if std::mem::replace(&mut is_found, true) {
                return Err(Why::Text);
            }
            walk.tape.slots[fields] = walk.value(flat.of, levels)?;
            walk.end_part(0, &mut noted);
            Ok(())
        })?;
        self.names.close(mark);
        self.tape.slots[fields + 1] = Slot { first: entries.first, ..of_kind(Kind::Object) };
        let slot = valid(is_found, Slot { first: short(fields)?, ..of_kind(Kind::Object) })?;
        self.end_notes(&slot, &[], false, [(0, [].as_slice()), (1, &[])].into_iter(), &noted)?;
        Ok(slot)
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
}
