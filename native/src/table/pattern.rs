//! Patterns of text.

use std::sync::{Mutex, PoisonError};

use regex_lite::Regex;

/// Bytes of a text whose answer is kept.
const MOST_KEPT: usize = 256;

/// A regular expression, and what it said of the last text: messages mostly repeat it.
pub struct Pattern {
    regex: Regex,
    last: Mutex<(String, bool)>,
}

impl Pattern {
    pub fn new(pattern: &str) -> Option<Self> {
        let regex = Regex::new(pattern).ok()?;
        let last = Mutex::new((String::new(), regex.is_match("")));
        Some(Pattern { regex, last })
    }

    /// Tell whether it is found in a text.
    pub fn is_in(&self, text: &str) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.0 == text {
            return last.1;
        }
        let found = self.regex.is_match(text);
        if text.len() <= MOST_KEPT {
            *last = (text.to_owned(), found);
        }
        found
    }
}
