//! Whole values of JSON text: passed over, or written as msgspec writes them.

use super::names::Names;
use super::number::{parsed, write_float};
use super::scan::{Kind, Scan, Text};
use super::text::write_text;
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
            b'\'' => self.bytes().map(|_| Kind::Bytes)?,
            b'~' => self.not_finite()?,
            b'(' if self.is_marked => {
                self.elements(b'(', b')', |scan| scan.skip(names, levels).map(|_| ()))?;
                self.untidy += 1;
                Kind::Pairs
            }
            b't' => self.word(b"true", Kind::True)?,
            b'f' => self.word(b"false", Kind::False)?,
            b'n' => self.word(b"null", Kind::Null)?,
            _ => match self.number()?.integer {
                Some(_) => Kind::Integer,
                None => Kind::Float,
            },
        })
    }

    /// Add a name to its object; one that has escapes is declined, as it may be another's equal.
    pub fn name(&self, name: Text, mark: usize, names: &mut Names) -> Done {
        let content = name.plain().ok_or(Why::Name)?;
        names.add(mark, self.text, name.start, name.start + content.len())
    }

    /// Write a value, which was read before, as msgspec writes it.
    pub fn write(&mut self, out: &mut Vec<u8>) -> Done {
        match self.peek().ok_or(Why::Text)? {
            b'"' => {
                let text = self.string()?;
                write_text(text.content, text.is_escaped, out).ok_or(Why::Text)
            }
            b'{' => {
                out.push(b'{');
                self.object(|scan, name| {
                    write_text(name.content, name.is_escaped, out).ok_or(Why::Text)?;
                    out.push(b':');
                    scan.write(out)?;
                    out.push(b',');
                    Ok(())
                })?;
                end_of(out, b'}');
                Ok(())
            }
            start @ (b'[' | b'(') => {
                let end = if start == b'[' { b']' } else { b')' };
                out.push(b'[');
                self.elements(start, end, |scan| {
                    scan.write(out)?;
                    out.push(b',');
                    Ok(())
                })?;
                end_of(out, b']');
                Ok(())
            }
            b'~' => {
                self.at += 1;
                self.write(out)
            }
            b'\'' => {
                self.is_marked = true;
                let text = self.bytes()?;
                write_text(text.content, false, out).ok_or(Why::Text)
            }
            first @ (b't' | b'f' | b'n') => {
                let start = self.at;
                self.at += if first == b'f' { 5 } else { 4 };
                out.extend_from_slice(self.text.get(start..self.at).ok_or(Why::Text)?);
                Ok(())
            }
            _ => {
                let number = self.number()?;
                if number.is_plain {
                    out.extend_from_slice(number.text);
                } else {
                    write_float(parsed(number.text).ok_or(Why::Number)?, out);
                }
                Ok(())
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
