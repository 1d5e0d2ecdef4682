//! Objects whose fields have nodes, and unions of them.

use super::node::Union;
use super::tape::{Message, Slot, short};
use super::walk::{Walk, of_kind, of_text, valid};
use crate::json::names::MOST;
use crate::json::scan::{Kind, Text};
use crate::steps::steps;
use crate::why::{Done, Why};

impl Walk<'_, '_> {
    /// Read an object by the arm that its tag selects.
    pub fn union(&mut self, union: &Union, levels: u32) -> Done<Slot> {
        // None until it is needed.
        let mut arm = if union.tag.is_none() { Some(0) } else { None };
        let (first, mut next) = (self.reserve(union.names.len()), 0);
        self.elements(b'{', b'}', |walk| {
            let name = walk.scan.member()?;
            let Some(field) = place_of(union, name.plain().ok_or(Why::Name)?, next) else {
                return walk.unknown(union, name, levels);
            };
            next = field + 1;
            walk.field(union, &mut arm, first, field, levels)
        })?;
        let arm = arm.ok_or(Why::Text)?;
        let mut required = union.arms[arm].required.iter();
        let value = i64::try_from(arm).map_err(|_| Why::Size)?;
        valid(
            required.all(|field| !self.tape.slots[first + field].is_absent()),
            Slot { first: short(first)?, value, ..of_kind(Kind::Object) },
        )
    }

    /// Read a field of an object whose slots begin at the first one; if arms read it differently, the tag is
    /// looked for behind it.
    fn field(
        &mut self,
        union: &Union,
        arm: &mut Option<usize>,
        first: usize,
        field: usize,
        levels: u32,
    ) -> Done {
        if !self.tape.slots[first + field].is_absent() {
            return Err(Why::Name);
        }
        if arm.is_none() && (union.tag == Some(field) || union.same[field].is_none()) {
            *arm = Some(self.arm_ahead(union, field, levels)?);
        }
        let node = arm.map_or(union.same[field], |arm| union.arms[arm].nodes[field]);
        self.tape.slots[first + field] = self.value(node.ok_or(Why::Text)?, levels)?;
        Ok(())
    }

    /// Return the arm of an object by its tag, from the field whose value the cursor stands on.
    fn arm_ahead(&mut self, union: &Union, field: usize, levels: u32) -> Done<usize> {
        let mut scan = self.scan.clone();
        let mut field = Some(field);
        while field != union.tag {
            scan.skip(self.names, levels)?;
            if !scan.is_more(b'}')? {
                return Err(Why::Text);
            }
            field = place_of(union, scan.member()?.plain().ok_or(Why::Name)?, 0);
        }
        let word = scan.string()?.plain().ok_or(Why::Text)?;
        let named = union.arms.iter().position(|arm| arm.word.as_deref() == Some(word));
        named.or_else(|| union.arms.iter().position(|arm| arm.word.is_none())).ok_or(Why::Text)
    }

    /// Read a property that no schema names: it is kept at the root, and passed over in texts.
    fn unknown(&mut self, union: &Union, name: Text, levels: u32) -> Done {
        let is_usual =
            name.content.iter().all(|c| (b' '..0x7f).contains(c)) && !name.content.starts_with(b"@");
        if !(union.is_root || union.is_loose) || !is_usual {
            return Err(Why::Text);
        }
        let value = self.spanned(|walk| walk.scan.skip(walk.names, levels).map(of_kind))?;
        if union.is_loose {
            return Ok(());
        }
        let message = Message { text: self.scan.text, tape: self.tape };
        let is_twice = |other: &(Slot, Slot)| message.content(&other.0) == Some(name.content);
        steps(1 + self.tape.extras.len());
        if self.tape.extras.len() >= MOST || self.tape.extras.iter().any(is_twice) {
            return Err(Why::Name);
        }
        self.tape.extras.push((of_text(name)?, value));
        Ok(())
    }
}

/// Return the field of a name; most messages have them in the order of the schema.
fn place_of(union: &Union, name: &[u8], next: usize) -> Option<usize> {
    if union.names.get(next).is_some_and(|other| other == name) {
        return Some(next);
    }
    union.names.iter().position(|other| other == name)
}
