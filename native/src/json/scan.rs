//! A cursor over JSON text.

use super::number::{Number, number};
use super::text::unescaped;
use crate::steps::steps;
use crate::why::{Done, Why};

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

impl<'a> Text<'a> {
    pub fn kind(&self) -> Kind {
        if self.is_escaped { Kind::Escaped } else { Kind::Text }
    }

    /// Return the content, unless it has escapes.
    pub fn plain(&self) -> Option<&'a [u8]> {
        (!self.is_escaped).then_some(self.content)
    }
}

#[derive(Clone)]
pub struct Scan<'a> {
    pub text: &'a [u8],
    pub at: usize,
    /// How often the text differed from what msgspec writes: blanks, escapes.
    pub untidy: usize,
    /// Whether it is the text of MessagePack, which has marks that JSON lacks.
    pub is_marked: bool,
}

impl<'a> Scan<'a> {
    pub fn new(text: &'a [u8]) -> Self {
        Scan { text, at: 0, untidy: 0, is_marked: false }
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

    /// Pass over a character, if it is next.
    #[inline]
    pub fn eat(&mut self, c: u8) -> bool {
        let is_it = self.peek() == Some(c);
        self.at += usize::from(is_it);
        is_it
    }

    /// Pass over a character, which must be next.
    #[inline]
    pub fn expect(&mut self, c: u8) -> Done {
        if self.eat(c) { Ok(()) } else { Err(Why::Text) }
    }

    /// Pass over a word, if it is next.
    #[inline]
    pub fn eat_word(&mut self, word: &[u8]) -> bool {
        let is_it = self.text[self.at..].starts_with(word);
        self.at += if is_it { word.len() } else { 0 };
        is_it
    }

    /// Read a string; the cursor stands on its first quote.
    #[inline]
    pub fn string(&mut self) -> Done<Text<'a>> {
        self.expect(b'"')?;
        let start = self.at;
        let mut is_escaped = false;
        loop {
            self.skip_usual();
            match self.peek().ok_or(Why::Text)? {
                b'"' => break,
                b'\\' => {
                    is_escaped = true;
                    self.at += 2;
                }
                c if c < b' ' => return Err(Why::Text),
                _ => self.at += 1,
            }
        }
        let content = self.text.get(start..self.at).ok_or(Why::Text)?;
        self.at += 1;
        steps(self.at - start);
        if is_escaped {
            self.untidy += 1;
            if unescaped(content).is_none() {
                return Err(Why::Text);
            }
        }
        Ok(Text { content, start, is_escaped })
    }

    /// Read bytes as the text of MessagePack has them: Base64 text between apostrophes.
    pub fn bytes(&mut self) -> Done<Text<'a>> {
        if !self.is_marked || !self.eat(b'\'') {
            return Err(Why::Text);
        }
        let start = self.at;
        let size = self.text[start..].iter().position(|c| *c == b'\'').ok_or(Why::Text)?;
        self.at += size + 1;
        self.untidy += 1;
        Ok(Text { content: &self.text[start..start + size], start, is_escaped: false })
    }

    /// Read a float that JSON lacks, as the text of MessagePack has it: its name behind a tilde.
    pub fn not_finite(&mut self) -> Done<Text<'a>> {
        if !self.is_marked || !self.eat(b'~') {
            return Err(Why::Text);
        }
        self.untidy += 1;
        self.string()
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
    pub fn number(&mut self) -> Done<Number<'a>> {
        let rest = &self.text[self.at..];
        let Some(found) = number(rest) else {
            let begins_one = matches!(rest, [b'-' | b'0'..=b'9', ..]);
            return Err(if begins_one { Why::Number } else { Why::Text });
        };
        self.at += found.len;
        self.untidy += usize::from(found.text.len() != found.len);
        Ok(found)
    }

    /// Read the members of an object: `each` gets the name, the cursor stands on the value.
    #[inline]
    pub fn object(&mut self, mut each: impl FnMut(&mut Self, Text<'a>) -> Done) -> Done {
        self.elements(b'{', b'}', |scan| {
            let name = scan.member()?;
            each(scan, name)
        })
    }

    /// Read the elements of an array: `each` is called with the cursor on each of them.
    #[inline]
    pub fn array(&mut self, each: impl FnMut(&mut Self) -> Done) -> Done {
        self.elements(b'[', b']', each)
    }

    #[inline]
    pub fn elements(&mut self, start: u8, end: u8, mut each: impl FnMut(&mut Self) -> Done) -> Done {
        let mut is_more = self.open(start, end)?;
        while is_more {
            each(self)?;
            is_more = self.is_more(end)?;
        }
        Ok(())
    }

    /// Begin a collection, and tell whether it has an element.
    #[inline]
    pub fn open(&mut self, start: u8, end: u8) -> Done<bool> {
        self.expect(start)?;
        self.blanks();
        Ok(!self.eat(end))
    }

    /// Read the name of a member; the cursor stands on its value then.
    #[inline]
    pub fn member(&mut self) -> Done<Text<'a>> {
        let name = self.string()?;
        self.blanks();
        self.expect(b':')?;
        self.blanks();
        Ok(name)
    }

    /// Tell whether a comma follows, or what ends the collection.
    #[inline]
    pub fn is_more(&mut self, end: u8) -> Done<bool> {
        self.blanks();
        let is_more = self.eat(b',');
        if is_more {
            self.blanks();
        } else {
            self.expect(end)?;
        }
        Ok(is_more)
    }

    /// Pass over blanks, and tell whether nothing follows.
    pub fn is_at_end(&mut self) -> bool {
        self.blanks();
        self.at == self.text.len()
    }
}
