//! MessagePack as JSON text, in which bytes and maps with any keys are marked.
//!
//! Bytes are Base64 text between apostrophes, a map with keys that are no text is an array of pairs in
//! round brackets, and a float that JSON lacks is its name behind a tilde. What Python would read
//! otherwise than this text says is declined.

mod read;

use crate::json::base64::encode;
use crate::json::number::{is_written_plainly, write_float, write_integer};
use crate::json::text::write_string;
use crate::why::{Done, Why};
use read::{Head, Read};

/// Keys of a map that are no text at most: each is compared with all before it.
const MOST_KEYS: usize = 256;

/// Tell whether bytes begin an array, as all messages in MessagePack do, and no JSON text.
pub fn begins_array(bytes: &[u8]) -> bool {
    matches!(bytes.first(), Some(0x90..=0x9f | 0xdc | 0xdd))
}

/// Bytes of JSON text that a byte of MessagePack becomes at most: an escape.
const MOST_GROWN: usize = 6;

/// Write the text of one value, and nothing behind it; at most so many levels are nested, and the text
/// has at most so many bytes.
pub fn transcode(bytes: &[u8], levels: u32, most: usize, out: &mut Vec<u8>) -> Done {
    let mut read = Read::new(bytes);
    value(&mut read, levels, most, out)?;
    if read.is_at_end() { Ok(()) } else { Err(Why::Text) }
}

fn value(read: &mut Read, levels: u32, most: usize, out: &mut Vec<u8>) -> Done {
    let levels = levels.checked_sub(1).ok_or(Why::Depth)?;
    let head = read.head().ok_or(Why::Text)?;
    let size = if let Head::Text(size) | Head::Bytes(size) = head { size } else { 0 };
    if size > most.saturating_sub(out.len() + 32) / MOST_GROWN {
        return Err(Why::Size);
    }
    match head {
        Head::Nil => out.extend_from_slice(b"null"),
        Head::Boolean(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
        Head::Integer(value) => write_integer(value, out),
        Head::Float(value) if !value.is_finite() => out.extend_from_slice(name_of(value)),
        Head::Float(value) if is_written_plainly(value) => write_float(value, out),
        Head::Float(_) => return Err(Why::Number),
        Head::Text(size) => {
            let text = read.take(size).and_then(|text| std::str::from_utf8(text).ok());
            write_string(text.ok_or(Why::Text)?, out).ok_or(Why::Text)?;
        }
        Head::Bytes(size) => {
            out.push(b'\'');
            encode(read.take(size).ok_or(Why::Text)?, out);
            out.push(b'\'');
        }
        Head::Array(size) => {
            out.push(b'[');
            for i in 0..size {
                comma(i, out);
                value(read, levels, most, out)?;
            }
            out.push(b']');
        }
        Head::Map(size) if size == 0 || read.is_text() => members(read, size, levels, most, out)?,
        Head::Map(size) => pairs(read, size, levels, most, out)?,
    }
    if out.len() > most { Err(Why::Size) } else { Ok(()) }
}

fn name_of(value: f64) -> &'static [u8] {
    match value {
        f64::INFINITY => b"~\"Infinity\"",
        f64::NEG_INFINITY => b"~\"-Infinity\"",
        _ => b"~\"NaN\"",
    }
}

/// Write a map whose keys are text; if a later one is not, it is declined.
fn members(read: &mut Read, size: usize, levels: u32, most: usize, out: &mut Vec<u8>) -> Done {
    out.push(b'{');
    for i in 0..size {
        comma(i, out);
        if !read.is_text() {
            return Err(Why::Name);
        }
        value(read, levels, most, out)?;
        out.push(b':');
        value(read, levels, most, out)?;
    }
    out.push(b'}');
    Ok(())
}

/// Write a map as pairs. Keys are integers, bytes and text: others may be equal and look different.
fn pairs(read: &mut Read, size: usize, levels: u32, most: usize, out: &mut Vec<u8>) -> Done {
    if size > MOST_KEYS {
        return Err(Why::Name);
    }
    let mut keys: Vec<(usize, usize)> = Vec::new();
    out.push(b'(');
    for i in 0..size {
        comma(i, out);
        out.push(b'[');
        let start = out.len();
        value(read, levels, most, out)?;
        let key = &out[start..];
        let is_comparable = match key {
            [b'"' | b'\'', ..] => true,
            [b'-' | b'0'..=b'9', ..] => !key.contains(&b'.'),
            _ => false,
        };
        if !is_comparable || keys.iter().any(|span| &out[span.0..span.1] == key) {
            return Err(Why::Name);
        }
        keys.push((start, out.len()));
        out.push(b',');
        value(read, levels, most, out)?;
        out.push(b']');
    }
    out.push(b')');
    Ok(())
}

fn comma(place: usize, out: &mut Vec<u8>) {
    if place > 0 {
        out.push(b',');
    }
}
