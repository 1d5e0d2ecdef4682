//! Values by the texts that they were read from, those that were needed last.

use std::sync::Arc;

use hashlink::LinkedHashMap;

/// Texts that are compared before any other is looked up, the last one first.
const RECENT: usize = 16;

/// Bytes that are kept of texts of a format, and of what was read of them.
pub const MOST_BYTES: usize = 16 << 20;

pub struct Cache<V> {
    /// Values, each with the bytes that it takes with its text; the one that was needed last comes last.
    pub entries: LinkedHashMap<Arc<[u8]>, (Arc<V>, usize)>,
    bytes: usize,
    most_bytes: usize,
}

impl<V> Cache<V> {
    /// Begin without texts; at most so many bytes are kept.
    pub fn of(most_bytes: usize) -> Self {
        Cache { entries: LinkedHashMap::new(), bytes: 0, most_bytes }
    }

    /// Return the value, and how long its text is, of a recent text that bytes begin with.
    ///
    /// No text may begin with another one: then there is one such text at most.
    pub fn beginning(&mut self, bytes: &[u8]) -> Option<(Arc<V>, usize)> {
        let mut recent = self.entries.iter().rev().take(RECENT).enumerate();
        let (place, (text, (value, _))) = recent.find(|(_, (text, _))| bytes.starts_with(text))?;
        let (text, value) = (Arc::clone(text), Arc::clone(value));
        if place > 0 {
            self.entries.to_back(&text);
        }
        Some((value, text.len()))
    }

    /// Return the value of a text.
    pub fn get(&mut self, text: &[u8]) -> Option<Arc<V>> {
        self.entries.to_back(text).map(|(value, _)| Arc::clone(value))
    }

    /// Keep the value of a text that is not there, and that takes so many bytes, if there is room for it.
    pub fn put(&mut self, text: &[u8], value: V, bytes: usize) -> Arc<V> {
        let value = Arc::new(value);
        if bytes <= self.most_bytes {
            self.bytes += bytes;
            self.entries.insert(Arc::from(text), (Arc::clone(&value), bytes));
        }
        while self.bytes > self.most_bytes {
            self.bytes -= self.entries.pop_front().map_or(self.bytes, |(_, (_, oldest))| oldest);
        }
        value
    }
}
