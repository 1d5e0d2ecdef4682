//! Whole values of JSON text: passed over, or written as msgspec writes them.

use super::names::Names;
use super::number::write_float;
use super::scan::{Kind, Scan, Text};
use super::text::write_text;

impl Scan<'_> {
    /// Read any value; nothing but its kind is kept.
    pub fn skip(&mut self, names: &mut Names, levels: u32) -> Option<Kind> {
        let levels = levels.checked_sub(1)?;
        Some(match self.peek()? {
            b'"' => {
                if self.string()?.is_escaped {
                    Kind::Escaped
                } else {
                    Kind::Text
                }
            }
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
            b'\'' => self.bytes().map(|_| Kind::Bytes)?,
            b'~' => self.not_finite()?,
            b'(' if self.is_marked => {
                self.elements(b'(', b')', |scan| scan.skip(names, levels).map(|_| ()))?;
                self.untidy += 1;
                Kind::Pairs
            }
            b't' => self.word(b"true").map(|()| Kind::True)?,
            b'f' => self.word(b"false").map(|()| Kind::False)?,
            b'n' => self.word(b"null").map(|()| Kind::Null)?,
            _ => {
                if self.number()?.integer.is_some() {
                    Kind::Integer
                } else {
                    Kind::Float
                }
            }
        })
    }

    /// Add a name to its object; one that has escapes is declined, as it may be another's equal.
    pub fn name(&self, name: Text, mark: usize, names: &mut Names) -> Option<()> {
        if name.is_escaped {
            return None;
        }
        names.add(mark, self.text, name.start, name.start + name.content.len())
    }

    /// Write a value, which was read before, as msgspec writes it.
    pub fn write(&mut self, out: &mut Vec<u8>) -> Option<()> {
        match self.peek()? {
            b'"' => {
                let text = self.string()?;
                write_text(text.content, text.is_escaped, out)
            }
            b'{' => {
                out.push(b'{');
                self.object(|scan, name| {
                    write_text(name.content, name.is_escaped, out)?;
                    out.push(b':');
                    scan.write(out)?;
                    out.push(b',');
                    Some(())
                })?;
                end_of(out, b'}');
                Some(())
            }
            b'[' | b'(' => {
                let end = if self.peek()? == b'[' { b']' } else { b')' };
                out.push(b'[');
                self.elements(self.peek()?, end, |scan| {
                    scan.write(out)?;
                    out.push(b',');
                    Some(())
                })?;
                end_of(out, b']');
                Some(())
            }
            b'~' => {
                self.at += 1;
                self.write(out)
            }
            b'\'' => {
                self.is_marked = true;
                let text = self.bytes()?;
                write_text(text.content, false, out)
            }
            b't' | b'f' | b'n' => {
                let start = self.at;
                self.at += if self.peek()? == b'f' { 5 } else { 4 };
                out.extend_from_slice(self.text.get(start..self.at)?);
                Some(())
            }
            _ => {
                let number = self.number()?;
                if number.is_plain {
                    out.extend_from_slice(number.text);
                } else {
                    write_float(std::str::from_utf8(number.text).ok()?.parse().ok()?, out);
                }
                Some(())
            }
        }
    }
}

/// End a collection whose last element may be followed by a comma.
fn end_of(out: &mut Vec<u8>, c: u8) {
    match out.last_mut() {
        Some(last) if *last == b',' => *last = c,
        _ => out.push(c),
    }
}
