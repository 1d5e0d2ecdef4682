//! Whole values of JSON text: passed over, or written as msgspec writes them.

use super::names::Names;
use super::scan::{Kind, Scan, Text};
use super::text::write_text;
use super::writing::quoted;
use crate::why::{Done, Why};

impl Scan<'_> {
    /// Read any value; nothing but its kind is kept.
    pub fn skip(&mut self, names: &mut Names, levels: u32) -> Done<Kind> {
        let levels = levels.checked_sub(1).ok_or(Why::Depth)?;
        Ok(match self.peek().ok_or(Why::Text)? {
            b'"' => self.string()?.kind(),
            b'{' => {
                let mark = names.open();
                self.object(|scan, name| {
                    scan.name(name, mark, names)?;
                    scan.skip(names, levels).map(|_| ())
                })?;
                names.close(mark);
                Kind::Object
            }
            b'[' => {
                self.array(|scan| scan.skip(names, levels).map(|_| ()))?;
                Kind::Array
            }
            b'(' if self.is_marked => {
                self.elements(b'(', b')', |scan| scan.skip(names, levels).map(|_| ()))?;
                self.untidy += 1;
                Kind::Pairs
            }
            b'\'' => self.bytes().map(|_| Kind::Bytes)?,
            b'~' => self.not_finite().map(|_| Kind::NotFinite)?,
            b't' => self.word(b"true", Kind::True)?,
            b'f' => self.word(b"false", Kind::False)?,
            b'n' => self.word(b"null", Kind::Null)?,
            _ if self.number()?.integer.is_some() => Kind::Integer,
            _ => Kind::Float,
        })
    }

    fn word(&mut self, word: &[u8], kind: Kind) -> Done<Kind> {
        if self.eat_word(word) { Ok(kind) } else { Err(Why::Text) }
    }

    /// Write all that follows, which was read before, as msgspec writes it.
    pub fn write(&mut self, out: &mut Vec<u8>) -> Done {
        self.is_marked = true;
        while let Some(c) = self.peek() {
            match c {
                b' ' | b'\n' | b'\t' | b'\r' => self.blanks(),
                b'"' => {
                    let text = self.string()?;
                    write_text(text.content, text.is_escaped, out).ok_or(Why::Text)?;
                }
                b'\'' => quoted(self.bytes()?.content, out),
                b'-' | b'0'..=b'9' => out.extend_from_slice(self.number()?.text),
                _ => {
                    self.at += 1;
                    match c {
                        b'(' => out.push(b'['),
                        b')' => out.push(b']'),
                        b'~' => {}
                        _ => out.push(c),
                    }
                }
            }
        }
        Ok(())
    }

    /// Add a name to its object; one that has escapes is declined, as it may be another's equal.
    pub fn name(&self, name: Text, mark: usize, names: &mut Names) -> Done {
        let content = name.plain().ok_or(Why::Name)?;
        names.add(mark, self.text, name.start, name.start + content.len())
    }
}
