//! Objects whose fields have nodes, and unions of them.

use super::node::Union;
use super::tape::{Message, Slot, short};
use super::walk::{Walk, of_kind, of_text};
use crate::json::names::MOST;
use crate::json::scan::{Kind, Text};
use crate::steps::steps;
use crate::why::{Done, Why};

/// An object that is being read.
struct OpenObject {
    /// Index of the slot of its first field.
    first: usize,
    /// The arm of its union; none until its tag is needed.
    arm: Option<usize>,
    /// A bit for each field that it has.
    seen: u64,
}

impl Walk<'_, '_> {
    /// Read an object by the arm that its tag selects.
    pub fn union(&mut self, union: &Union, levels: u32) -> Done<Slot> {
        let arm = if union.tag.is_none() { Some(0) } else { None };
        let first = self.reserve(union.names.len());
        let mut object = OpenObject { first, arm, seen: 0 };
        let mut next = 0;
        self.elements(b'{', b'}', |walk| {
            let name = walk.scan.member()?;
            let Some(field) = place_of(union, name.plain().ok_or(Why::Name)?, next) else {
                return walk.unknown(union, name, levels);
            };
            next = field + 1;
            walk.field(union, &mut object, field, levels)
        })?;
        let place = object.arm.ok_or(Why::Text)?;
        let arm = &union.arms[place];
        if object.seen & !arm.known != 0 || object.seen & arm.required != arm.required {
            return Err(Why::Text);
        }
        let value = i64::try_from(place).map_err(|_| Why::Size)?;
        Ok(Slot { first: short(object.first)?, value, ..of_kind(Kind::Object) })
    }

    /// Read a field of an object; if arms read it differently, the tag is looked for behind it.
    fn field(&mut self, union: &Union, object: &mut OpenObject, field: usize, levels: u32) -> Done {
        if object.seen >> field & 1 == 1 {
            return Err(Why::Name);
        }
        object.seen |= 1 << field;
        if object.arm.is_none() && (union.tag == Some(field) || union.same[field].is_none()) {
            object.arm = Some(self.arm_ahead(union, field, levels)?);
        }
        let node = object.arm.map_or(union.same[field], |arm| union.arms[arm].nodes[field]);
        self.tape.slots[object.first + field] = self.value(node.ok_or(Why::Text)?, levels)?;
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
