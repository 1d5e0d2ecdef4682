//! Members of JSON objects, one behind the other.

/// Write a comma, unless an object, an array or pairs of MessagePack begin here.
pub fn comma(out: &mut Vec<u8>) {
    if !matches!(out.last(), None | Some(b'{' | b'[' | b'(')) {
        out.push(b',');
    }
}

/// Write the name of a member, which needs no escapes; the first one is put behind the brace.
pub fn named(name: &[u8], out: &mut Vec<u8>) {
    comma(out);
    out.push(b'"');
    out.extend_from_slice(name);
    out.extend_from_slice(b"\":");
}

/// Write a member whose value is plain text.
pub fn word(name: &str, value: &str, out: &mut Vec<u8>) {
    named(name.as_bytes(), out);
    quoted(value.as_bytes(), out);
}

/// Write a text that needs no escapes.
pub fn quoted(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(text);
    out.push(b'"');
}
