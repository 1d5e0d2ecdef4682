//! Patterns of text.

use std::sync::Mutex;

use regex_lite::Regex;

/// Bytes of a text whose answer is kept.
const MOST_KEPT: usize = 256;

/// A regular expression, and what it said of the last text: messages mostly repeat it.
pub struct Pattern {
    regex: Regex,
    last: Mutex<(Vec<u8>, bool)>,
}

impl Pattern {
    pub fn new(pattern: &str) -> Option<Self> {
        let regex = Regex::new(pattern).ok()?;
        let last = Mutex::new((Vec::new(), regex.is_match("")));
        Some(Pattern { regex, last })
    }

    /// Tell whether it is found in ASCII text: of other text Python may think otherwise.
    pub fn is_in(&self, text: &[u8]) -> Option<bool> {
        let mut last = self.last.lock().ok()?;
        if last.0 == text {
            return Some(last.1);
        }
        let is_usual = text.iter().all(|c| (b' '..0x7f).contains(c));
        let found = is_usual.then(|| self.regex.is_match(std::str::from_utf8(text).unwrap_or_default()))?;
        if text.len() <= MOST_KEPT {
            last.0.clear();
            last.0.extend_from_slice(text);
            last.1 = found;
        }
        Some(found)
    }
}
