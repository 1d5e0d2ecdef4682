//! Strings: their escapes, as msgspec writes them.

use memchr::memchr;

use super::writing::quoted;

/// Write the content of a JSON string again, with its quotes, as msgspec writes it.
pub fn write_text(content: &[u8], is_escaped: bool, out: &mut Vec<u8>) -> Option<()> {
    if is_escaped {
        return write_string(&unescaped(content)?, out);
    }
    quoted(content, out);
    Some(())
}

/// Write a text as a JSON string, as msgspec writes it.
pub fn write_string(text: &str, out: &mut Vec<u8>) -> Option<()> {
    serde_json::to_writer(out, text).ok()
}

/// Append what the content of a JSON string stands for.
pub fn unescape(content: &[u8], out: &mut Vec<u8>) -> Option<()> {
    if memchr(b'\\', content).is_none() {
        out.extend_from_slice(content);
    } else {
        out.extend_from_slice(unescaped(content)?.as_bytes());
    }
    Some(())
}

/// Return what the content of a JSON string stands for; none if an escape in it is not known.
pub fn unescaped(content: &[u8]) -> Option<String> {
    serde_json::from_slice(&[b"\"", content, b"\""].concat()).ok()
}
