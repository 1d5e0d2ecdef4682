//! A cursor over JSON text.

use super::number::{Number, number};
use super::text::unescape;

/// Levels of nesting that are followed.
pub const LEVELS: u32 = 64;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// What stands between the quotes of a string.
#[derive(Clone, Copy)]
pub struct Text<'a> {
    pub content: &'a [u8],
    pub start: usize,
    pub is_escaped: bool,
}

/// The kind of a value, by how it begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Absent,
    Null,
    True,
    False,
    Integer,
    Float,
    Text,
    Escaped,
    /// A float that JSON lacks, which the text of MessagePack marks.
    NotFinite,
    /// Bytes, which the text of MessagePack marks.
    Bytes,
    Array,
    Object,
    /// A map with keys that are no text, which it marks as well.
    Pairs,
    /// Text of a property that messages repeat: which one is known.
    Repeated,
}

pub struct Scan<'a> {
    pub text: &'a [u8],
    pub at: usize,
    /// How often the text differed from what msgspec writes: blanks, escapes, spelt-out numbers.
    pub untidy: usize,
    /// Whether numbers that binary64 does not hold are declined.
    pub exact: bool,
    /// Whether it is the text of MessagePack, which has marks that JSON lacks.
    pub is_marked: bool,
}

impl<'a> Scan<'a> {
    pub fn new(text: &'a [u8], exact: bool) -> Self {
        Scan { text, at: 0, untidy: 0, exact, is_marked: false }
    }

    #[inline]
    pub fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    #[inline]
    pub fn blanks(&mut self) {
        let start = self.at;
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
        self.untidy += usize::from(self.at > start);
    }

    #[inline]
    pub fn eat(&mut self, c: u8) -> Option<()> {
        (self.peek()? == c).then(|| self.at += 1)
    }

    #[inline]
    pub fn word(&mut self, word: &[u8]) -> Option<()> {
        self.text[self.at..].starts_with(word).then(|| self.at += word.len())
    }

    /// Read a string; the cursor stands on its first quote.
    #[inline]
    pub fn string(&mut self) -> Option<Text<'a>> {
        self.eat(b'"')?;
        let start = self.at;
        let mut is_escaped = false;
        loop {
            self.skip_usual();
            match self.peek()? {
                b'"' => break,
                b'\\' => {
                    is_escaped = true;
                    self.at += 2;
                }
                c if c < b' ' => return None,
                _ => self.at += 1,
            }
        }
        let content = self.text.get(start..self.at)?;
        self.at += 1;
        if is_escaped {
            self.untidy += 1;
            unescape(content, &mut Vec::new())?;
        }
        Some(Text { content, start, is_escaped })
    }

    /// Read bytes as the text of MessagePack has them: Base64 text between apostrophes.
    pub fn bytes(&mut self) -> Option<Text<'a>> {
        if !self.is_marked {
            return None;
        }
        self.eat(b'\'')?;
        let start = self.at;
        let size = self.text[start..].iter().position(|c| *c == b'\'')?;
        self.at += size + 1;
        self.untidy += 1;
        Some(Text { content: &self.text[start..start + size], start, is_escaped: false })
    }

    /// Read a float that JSON lacks, as the text of MessagePack has it: its name behind a tilde.
    pub fn not_finite(&mut self) -> Option<Kind> {
        if !self.is_marked {
            return None;
        }
        self.eat(b'~')?;
        self.untidy += 1;
        self.string().map(|_| Kind::NotFinite)
    }

    /// Skip bytes that are no quote, backslash or control character, eight at a time.
    #[inline]
    fn skip_usual(&mut self) {
        while let Some(bytes) = self.text.get(self.at..self.at + 8) {
            let word = bytes.try_into().map_or(0, u64::from_le_bytes);
            let quote = word ^ (ONES * u64::from(b'"'));
            let slash = word ^ (ONES * u64::from(b'\\'));
            let found = (quote.wrapping_sub(ONES) & !quote)
                | (slash.wrapping_sub(ONES) & !slash)
                | (word.wrapping_sub(ONES * u64::from(b' ')) & !word);
            let first = (found & HIGH).trailing_zeros() / 8;
            self.at += first as usize;
            if first < 8 {
                return;
            }
        }
    }

    #[inline]
    pub fn number(&mut self) -> Option<Number<'a>> {
        let found = number(&self.text[self.at..], self.exact)?;
        self.at += found.text.len();
        self.untidy += usize::from(!found.is_plain);
        Some(found)
    }

    /// Read the members of an object: `each` gets the name, the cursor stands on the value.
    #[inline]
    pub fn object(&mut self, mut each: impl FnMut(&mut Self, Text<'a>) -> Option<()>) -> Option<()> {
        let mut is_more = self.open(b'{', b'}')?;
        while is_more {
            let name = self.member()?;
            each(self, name)?;
            is_more = self.is_more(b'}')?;
        }
        Some(())
    }

    /// Read the elements of an array: `each` is called with the cursor on each of them.
    #[inline]
    pub fn array(&mut self, each: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.elements(b'[', b']', each)
    }

    #[inline]
    pub fn elements(
        &mut self,
        start: u8,
        end: u8,
        mut each: impl FnMut(&mut Self) -> Option<()>,
    ) -> Option<()> {
        let mut is_more = self.open(start, end)?;
        while is_more {
            each(self)?;
            is_more = self.is_more(end)?;
        }
        Some(())
    }

    /// Begin a collection, and tell whether it has an element.
    #[inline]
    pub fn open(&mut self, start: u8, end: u8) -> Option<bool> {
        self.eat(start)?;
        self.blanks();
        Some(self.eat(end).is_none())
    }

    /// Read the name of a member; the cursor stands on its value then.
    #[inline]
    pub fn member(&mut self) -> Option<Text<'a>> {
        let name = self.string()?;
        self.blanks();
        self.eat(b':')?;
        self.blanks();
        Some(name)
    }

    /// Tell whether a comma follows, or what ends the collection.
    #[inline]
    pub fn is_more(&mut self, end: u8) -> Option<bool> {
        self.blanks();
        let is_more = self.eat(b',').is_some();
        if is_more {
            self.blanks();
        } else {
            self.eat(end)?;
        }
        Some(is_more)
    }
}
