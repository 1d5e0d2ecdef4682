//! The names of open objects, to find one that occurs twice.

use crate::steps::steps;
use crate::why::{Done, Why};

/// Names that an object may have before it is declined: each is compared with all before it.
pub const MOST: usize = 512;

#[derive(Default)]
pub struct Names {
    found: Vec<Place>,
}

/// Where a name stands in its text.
#[derive(Clone, Copy)]
struct Place {
    hash: u64,
    start: usize,
    end: usize,
}

impl Names {
    pub fn clear(&mut self) {
        self.found.clear();
    }

    /// Begin an object; what is returned closes it.
    pub fn open(&self) -> usize {
        self.found.len()
    }

    pub fn close(&mut self, mark: usize) {
        self.found.truncate(mark);
    }

    /// Add the name that stands at a place of the text to the object that began at `mark`.
    pub fn add(&mut self, mark: usize, text: &[u8], start: usize, end: usize) -> Done {
        let name = &text[start..end];
        let hash = hash(name);
        let open = &self.found[mark..];
        steps(1 + open.len());
        let twice = |other: &Place| other.hash == hash && &text[other.start..other.end] == name;
        if open.len() >= MOST || open.iter().any(twice) {
            return Err(Why::Name);
        }
        self.found.push(Place { hash, start, end });
        Ok(())
    }
}

/// Return a hash of the ends of a name and its length, which most names of an object differ in.
fn hash(name: &[u8]) -> u64 {
    let ends = match (name.first_chunk(), name.last_chunk()) {
        (Some(first), Some(last)) => u64::from_le_bytes(*first) ^ u64::from_le_bytes(*last).rotate_left(29),
        _ => name.iter().fold(0, |word, c| word << 8 | u64::from(*c)),
    };
    (ends ^ name.len() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}
