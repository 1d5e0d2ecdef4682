//! MessagePack as JSON text, in which bytes and maps with any keys are marked.
//!
//! Bytes are Base64 text between apostrophes, a map with keys that are no text is an array of pairs in
//! round brackets, and a float that JSON lacks is its name behind a tilde. What Python would read
//! otherwise than this text says is declined.

mod read;

use std::ops::Range;

use crate::json::base64::encode;
use crate::json::number::{is_written_plainly, write_float, write_integer};
use crate::json::text::write_string;
use crate::json::writing::comma;
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
    let head = read.head()?;
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
            let text = std::str::from_utf8(read.take(size)?).map_err(|_| Why::Text)?;
            write_string(text, out).ok_or(Why::Text)?;
        }
        Head::Bytes(size) => {
            out.push(b'\'');
            encode(read.take(size)?, out);
            out.push(b'\'');
        }
        Head::Array(size) => {
            out.push(b'[');
            for _ in 0..size {
                comma(out);
                value(read, levels, most, out)?;
            }
            out.push(b']');
        }
        Head::Map(size) => entries(read, size, levels, most, out)?,
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

/// Write a map, as pairs if its first key is not text.
///
/// Keys are all text, or integers, bytes and text: others may be equal and look different.
fn entries(read: &mut Read, size: usize, levels: u32, most: usize, out: &mut Vec<u8>) -> Done {
    let is_object = size == 0 || read.is_text();
    if !is_object && size > MOST_KEYS {
        return Err(Why::Name);
    }
    let mut keys: Vec<Range<usize>> = Vec::new();
    out.push(if is_object { b'{' } else { b'(' });
    for _ in 0..size {
        comma(out);
        if is_object {
            if !read.is_text() {
                return Err(Why::Name);
            }
            value(read, levels, most, out)?;
            out.push(b':');
            value(read, levels, most, out)?;
            continue;
        }
        out.push(b'[');
        let start = out.len();
        value(read, levels, most, out)?;
        let key = &out[start..];
        let is_integer = matches!(key, [b'-' | b'0'..=b'9', ..]) && !key.contains(&b'.');
        let is_comparable = is_integer || matches!(key, [b'"' | b'\'', ..]);
        if !is_comparable || keys.iter().any(|span| out[span.clone()] == *key) {
            return Err(Why::Name);
        }
        keys.push(start..out.len());
        out.push(b',');
        value(read, levels, most, out)?;
        out.push(b']');
    }
    out.push(if is_object { b'}' } else { b')' });
    Ok(())
}
