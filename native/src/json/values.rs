//! Whole values of JSON text: passed over, or written as msgspec writes them.

use super::names::Names;
use super::scan::{Kind, LEVELS, Scan, Text};
use super::text::write_text;
use crate::why::{Done, Why};

/// What becomes of values that are read: by default nothing.
trait Sink {
    fn put(&mut self, _: &[u8]) {}

    fn text(&mut self, _: &Text) -> Done {
        Ok(())
    }

    /// End a collection whose last element may be followed by a comma.
    fn end(&mut self, _: u8) {}
}

impl Sink for () {}

/// They are written as msgspec writes them.
impl Sink for &mut Vec<u8> {
    fn put(&mut self, text: &[u8]) {
        self.extend_from_slice(text);
    }

    fn text(&mut self, text: &Text) -> Done {
        write_text(text.content, text.is_escaped, self).ok_or(Why::Text)
    }

    fn end(&mut self, c: u8) {
        match self.last_mut() {
            Some(last) if *last == b',' => *last = c,
            _ => self.push(c),
        }
    }
}

impl Scan<'_> {
    /// Read any value; nothing but its kind is kept.
    pub fn skip(&mut self, names: &mut Names, levels: u32) -> Done<Kind> {
        self.value(names, levels, &mut ())
    }

    /// Write a value, which was read before, as msgspec writes it.
    pub fn write(&mut self, mut out: &mut Vec<u8>) -> Done {
        self.is_marked = true;
        self.value(&mut Names::default(), LEVELS, &mut out).map(|_| ())
    }

    fn value(&mut self, names: &mut Names, levels: u32, out: &mut impl Sink) -> Done<Kind> {
        let levels = levels.checked_sub(1).ok_or(Why::Depth)?;
        Ok(match self.peek().ok_or(Why::Text)? {
            b'"' => {
                let text = self.string()?;
                out.text(&text)?;
                text.kind()
            }
            b'{' => {
                let mark = names.open();
                out.put(b"{");
                self.object(|scan, name| {
                    scan.name(name, mark, names)?;
                    out.text(&name)?;
                    out.put(b":");
                    scan.value(names, levels, out)?;
                    out.put(b",");
                    Ok(())
                })?;
                out.end(b'}');
                names.close(mark);
                Kind::Object
            }
            start @ (b'[' | b'(') => {
                let is_pairs = start == b'(';
                if is_pairs && !self.is_marked {
                    return Err(Why::Text);
                }
                out.put(b"[");
                self.elements(start, if is_pairs { b')' } else { b']' }, |scan| {
                    scan.value(names, levels, out)?;
                    out.put(b",");
                    Ok(())
                })?;
                out.end(b']');
                self.untidy += usize::from(is_pairs);
                if is_pairs { Kind::Pairs } else { Kind::Array }
            }
            b'\'' => {
                out.text(&self.bytes()?)?;
                Kind::Bytes
            }
            b'~' => {
                out.text(&self.not_finite()?)?;
                Kind::NotFinite
            }
            b't' => self.word(b"true", Kind::True, out)?,
            b'f' => self.word(b"false", Kind::False, out)?,
            b'n' => self.word(b"null", Kind::Null, out)?,
            _ => {
                let number = self.number()?;
                out.put(number.text);
                if number.integer.is_some() { Kind::Integer } else { Kind::Float }
            }
        })
    }

    fn word(&mut self, word: &[u8], kind: Kind, out: &mut impl Sink) -> Done<Kind> {
        out.put(word);
        if self.eat_word(word) { Ok(kind) } else { Err(Why::Text) }
    }

    /// Add a name to its object; one that has escapes is declined, as it may be another's equal.
    pub fn name(&self, name: Text, mark: usize, names: &mut Names) -> Done {
        let content = name.plain().ok_or(Why::Name)?;
        names.add(mark, self.text, name.start, name.start + content.len())
    }
}
