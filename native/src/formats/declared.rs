//! What both kinds of schemas that stand in messages have in common.

use sha2::{Digest, Sha256};

use crate::table::parse::hex;
use crate::why::{Done, Why};

/// Hex digits of a fingerprint.
const DIGITS: usize = 32;

/// Columns and what is declared of each, in the order of their schema.
pub struct Declared<T>(Vec<(Vec<u8>, T)>);

impl<T> Default for Declared<T> {
    fn default() -> Self {
        Declared(Vec::new())
    }
}

impl<T> Declared<T> {
    /// Add a column; one that was declared before is declined.
    pub fn add(&mut self, name: &[u8], what: T) -> Done {
        if self.get(name).is_some() {
            return Err(Why::Schema);
        }
        self.0.push((name.to_vec(), what));
        Ok(())
    }

    pub fn get(&self, name: &[u8]) -> Option<&T> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, what)| what)
    }

    /// Return what is declared of a column; rows mostly have them in the order of the schema.
    pub fn next(&self, name: &[u8], next: &mut usize) -> Option<&T> {
        if self.0.get(*next).is_none_or(|(other, _)| other != name) {
            *next = self.0.iter().position(|(other, _)| other == name)?;
        }
        *next += 1;
        self.0.get(*next - 1).map(|(_, what)| what)
    }
}

/// Return the fingerprint of the text of a schema.
pub fn fingerprint(text: &[u8]) -> Vec<u8> {
    let mut digits = hex(&Sha256::digest(text)).into_bytes();
    digits.truncate(DIGITS);
    digits
}
