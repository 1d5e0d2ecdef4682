//! Values by the texts that they were read from, those that were needed last.

use std::collections::HashMap;
use std::sync::Arc;

/// Texts that are compared before any other is looked up, the last one first.
const RECENT: usize = 16;

/// Bytes that are kept of texts and of what was read of them, by default.
const MOST_BYTES: usize = 16 << 20;

pub struct Cache<V> {
    by_text: HashMap<Arc<[u8]>, Entry<V>>,
    recent: Vec<(Arc<[u8]>, Arc<V>)>,
    bytes: usize,
    most_bytes: usize,
    clock: u64,
}

struct Entry<V> {
    value: Arc<V>,
    bytes: usize,
    used: u64,
}

impl<V> Default for Cache<V> {
    fn default() -> Self {
        Self::of(MOST_BYTES)
    }
}

impl<V> Cache<V> {
    /// Begin without texts; at most so many bytes are kept.
    pub fn of(most_bytes: usize) -> Self {
        Cache { by_text: HashMap::new(), recent: Vec::new(), bytes: 0, most_bytes, clock: 0 }
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
        self.clock += 1;
        let (key, _) = self.by_text.get_key_value(text)?;
        let key = Arc::clone(key);
        let entry = self.by_text.get_mut(text)?;
        entry.used = self.clock;
        let value = Arc::clone(&entry.value);
        self.remember(key, &value);
        Some(value)
    }

    /// Keep the value of a text, which takes so many bytes; those that were not needed for longest go.
    pub fn put(&mut self, text: &[u8], value: V, bytes: usize) -> Arc<V> {
        let (text, value): (Arc<[u8]>, _) = (Arc::from(text), Arc::new(value));
        self.clock += 1;
        let entry = Entry { value: Arc::clone(&value), bytes, used: self.clock };
        self.bytes += bytes;
        self.bytes -= self.by_text.insert(Arc::clone(&text), entry).map_or(0, |before| before.bytes);
        self.remember(text, &value);
        if self.bytes > self.most_bytes {
            self.forget();
        }
        value
    }

    fn remember(&mut self, text: Arc<[u8]>, value: &Arc<V>) {
        self.recent.retain(|(other, _)| *other != text);
        self.recent.truncate(RECENT - 1);
        self.recent.insert(0, (text, Arc::clone(value)));
    }

    /// Forget the quarter that was not needed for longest, and more if the rest is too much.
    fn forget(&mut self) {
        for (text, _) in &self.recent {
            // What is recent was needed since: `beginning` does not note it.
            if let Some(entry) = self.by_text.get_mut(text) {
                entry.used = self.clock;
            }
        }
        let mut all: Vec<(u64, usize)> =
            self.by_text.values().map(|entry| (entry.used, entry.bytes)).collect();
        all.sort_unstable();
        let (mut bytes, mut bound) = (self.bytes, 0);
        for (used, size) in all {
            if bytes <= self.most_bytes / 4 * 3 {
                break;
            }
            bytes -= size;
            bound = used;
        }
        self.by_text.retain(|_, entry| entry.used > bound);
        self.bytes = self.by_text.values().map(|entry| entry.bytes).sum();
        let by_text = &self.by_text;
        self.recent.retain(|(text, _)| by_text.contains_key(text));
    }

    /// How many bytes are kept.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    #[cfg(test)]
    pub fn has(&self, text: &[u8]) -> bool {
        self.by_text.contains_key(text)
    }
}
