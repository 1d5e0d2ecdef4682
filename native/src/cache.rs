//! Values by the texts that they were read from, those that were needed last.

use std::collections::HashMap;
use std::sync::Arc;

/// Texts that are compared before any other is looked up, the last one first.
const RECENT: usize = 16;

/// Bytes that are kept of texts of a format, and of what was read of them.
pub const MOST_BYTES: usize = 16 << 20;

/// Values in two generations: what is needed of the old one moves to the young one. If that is full, it
/// becomes the old one, and what was not needed since then goes.
pub struct Cache<V> {
    pub young: HashMap<Arc<[u8]>, Entry<V>>,
    pub old: HashMap<Arc<[u8]>, Entry<V>>,
    /// Bytes of the young generation.
    bytes: usize,
    recent: Vec<(Arc<[u8]>, Arc<V>)>,
    most_bytes: usize,
}

/// A value, and the bytes that it takes with its text.
type Entry<V> = (Arc<V>, usize);

impl<V> Cache<V> {
    /// Begin without texts; at most so many bytes are kept.
    pub fn of(most_bytes: usize) -> Self {
        Cache { young: HashMap::new(), old: HashMap::new(), bytes: 0, recent: Vec::new(), most_bytes }
    }

    /// Return the value, and how long its text is, of a recent text that bytes begin with.
    ///
    /// No text may begin with another one: then there is one such text at most.
    pub fn beginning(&mut self, bytes: &[u8]) -> Option<(Arc<V>, usize)> {
        let place = self.recent.iter().position(|(text, _)| bytes.starts_with(text))?;
        self.recent[..=place].rotate_right(1);
        let (text, value) = &self.recent[0];
        Some((Arc::clone(value), text.len()))
    }

    /// Return the value of a text.
    pub fn get(&mut self, text: &[u8]) -> Option<Arc<V>> {
        let of = [&self.young, &self.old].into_iter().find_map(|of| of.get_key_value(text))?;
        let (text, (value, bytes)) = (Arc::clone(of.0), of.1.clone());
        self.keep(text, &value, bytes);
        Some(value)
    }

    /// Keep the value of a text, which takes so many bytes, if there is room for it.
    pub fn put(&mut self, text: &[u8], value: V, bytes: usize) -> Arc<V> {
        let value = Arc::new(value);
        if bytes <= self.most_bytes / 2 {
            self.keep(Arc::from(text), &value, bytes);
        }
        value
    }

    /// Note that a value is needed.
    fn keep(&mut self, text: Arc<[u8]>, value: &Arc<V>, bytes: usize) {
        if !self.young.contains_key(&text) {
            if self.bytes + bytes > self.most_bytes / 2 {
                self.old = std::mem::take(&mut self.young);
                self.bytes = 0;
            }
            self.bytes += bytes;
            self.young.insert(Arc::clone(&text), (Arc::clone(value), bytes));
        }
        self.recent.retain(|(other, _)| *other != text);
        self.recent.truncate(RECENT - 1);
        self.recent.insert(0, (text, Arc::clone(value)));
    }
}
