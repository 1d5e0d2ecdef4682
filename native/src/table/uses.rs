//! The leniencies that a message needed, in the order in which Python names them.

use std::sync::Arc;

use super::node::Use;
use super::tape::{Message, Slot};
use super::walk::Walk;
use crate::why::{Done, Why};

/// Stands for properties that a schema does not name.
const UNKNOWN: &str = "unknown-property";

/// What was noted of the parts of a value while they were read.
pub struct Noted {
    /// How many leniencies there were before.
    start: usize,
    /// Parts that needed some, and how many there were behind each.
    ends: Vec<(usize, usize)>,
}

impl Walk<'_, '_> {
    pub fn begin_notes(&self) -> Noted {
        Noted { start: self.tape.uses.len(), ends: Vec::new() }
    }

    /// End a part of a value, by its index.
    pub fn end_part(&self, part: usize, noted: &mut Noted) {
        let (end, last) = (self.tape.uses.len(), noted.ends.last().map_or(noted.start, |(_, end)| *end));
        if end > last {
            noted.ends.push((part, end));
        }
    }

    /// End a value: before what its parts noted come leniencies of its own and, before those of each part,
    /// leniencies of the place where the part stands.
    pub fn end_notes<'u>(
        &mut self,
        slot: &Slot,
        uses: &[Use],
        is_unknown: bool,
        parts: impl Iterator<Item = (usize, &'u [Use])>,
        noted: &Noted,
    ) -> Done {
        let within = self.tape.uses.split_off(noted.start);
        self.note(uses, slot)?;
        if is_unknown {
            self.tape.uses.push(Arc::from(UNKNOWN));
        }
        for (part, uses) in parts {
            let value = self.tape.slots[slot.first as usize + part];
            if !value.is_absent() {
                self.note(uses, &value)?;
            }
            let mut start = 0;
            for (of, end) in &noted.ends {
                let end = end - noted.start;
                if *of == part {
                    self.tape.uses.extend_from_slice(&within[start..end]);
                }
                start = end;
            }
        }
        Ok(())
    }

    fn note(&mut self, uses: &[Use], slot: &Slot) -> Done {
        for each in uses {
            let message = Message { text: self.scan.text, tape: self.tape };
            if each.condition.holds(slot, &message).ok_or(Why::Meaning)? {
                self.tape.uses.push(Arc::clone(&each.name));
            }
        }
        Ok(())
    }
}
