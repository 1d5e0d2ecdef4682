//! Texts that many messages repeat: each is read once.

use std::collections::HashMap;

use crate::json::names::Names;
use crate::json::scan::Scan;
use crate::table::Table;
use crate::table::tape::{Message, Slot, Tape};
use crate::table::uses::Uses;
use crate::table::walk::Walk;

/// Texts that are kept; then all are forgotten.
const MOST: usize = 256;

/// Bytes of a text that is kept; a longer one is declined.
const MOST_BYTES: usize = 65536;

/// A text that was met, and what was read of it.
pub struct Known {
    pub text: Vec<u8>,
    pub tape: Tape,
    pub slot: Slot,
    /// Leniencies that it needed.
    pub uses: Vec<usize>,
}

#[derive(Default)]
pub struct Texts {
    known: Vec<Known>,
    by_text: HashMap<Vec<u8>, usize>,
    last: usize,
    /// Number of the first one that is kept; a number is given once.
    base: i64,
}

impl Texts {
    pub fn get(&self, number: i64) -> Option<&Known> {
        self.known.get(usize::try_from(number - self.base).ok()?)
    }

    /// Return number and size of the text that was met last, if bytes begin with it.
    pub fn met_last(&self, bytes: &[u8]) -> Option<(i64, usize)> {
        let known = self.known.get(self.last)?;
        bytes.starts_with(&known.text).then(|| (self.number(self.last), known.text.len()))
    }

    /// Return the number of a text of a node, which is read if it is new.
    pub fn number_of(&mut self, text: &[u8], node: usize, table: &Table) -> Option<i64> {
        if let Some(place) = self.by_text.get(text) {
            self.last = *place;
            return Some(self.number(*place));
        }
        if text.len() > MOST_BYTES {
            return None;
        }
        let known = read(text, node, table)?;
        if self.known.len() >= MOST {
            self.base += i64::try_from(MOST).ok()?;
            self.known.clear();
            self.by_text.clear();
        }
        self.last = self.known.len();
        self.known.push(known);
        self.by_text.insert(text.to_vec(), self.last);
        Some(self.number(self.last))
    }

    fn number(&self, place: usize) -> i64 {
        self.base + i64::try_from(place).unwrap_or_default()
    }
}

/// Read a text by a node of a table.
fn read(text: &[u8], node: usize, table: &Table) -> Option<Known> {
    let (mut tape, mut texts) = (Tape::default(), Texts::default());
    let mut walk = Walk {
        table,
        scan: Scan::new(text, table.is_exact),
        tape: &mut tape,
        names: &mut Names::default(),
        texts: &mut texts,
        blamed: None,
        is_foreseeing: false,
    };
    let slot = walk.value(node, crate::json::scan::LEVELS)?;
    let mut uses = Vec::new();
    let message = Message { text, tape: &tape, exact: table.is_exact };
    Uses { table, texts: &texts, found: &mut uses }.of(node, &slot, &message)?;
    Some(Known { text: text.to_vec(), tape, slot, uses })
}
