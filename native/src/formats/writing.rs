//! Members of JSON objects, as adapters write them.

use crate::table::tape::{Message, Slot};

/// Write a member whose value is there as a message has it.
pub fn member(name: &str, slot: &Slot, message: &Message, out: &mut Vec<u8>) -> Option<()> {
    if slot.is_absent() {
        return Some(());
    }
    named(name, out);
    message.write(slot, out)
}

/// Write the name of a member; the first one is put behind the brace.
pub fn named(name: &str, out: &mut Vec<u8>) {
    comma(out);
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

/// Write a comma, unless an object or an array begins here.
pub fn comma(out: &mut Vec<u8>) {
    if !matches!(out.last(), Some(b'{' | b'[')) {
        out.push(b',');
    }
}

/// Write a member whose value is plain text.
pub fn word(name: &str, value: &str, out: &mut Vec<u8>) {
    named(name, out);
    out.push(b'"');
    out.extend_from_slice(value.as_bytes());
    out.push(b'"');
}

/// Write the names of leniencies, if there are some.
pub fn leniencies(notes: &[&str], out: &mut Vec<u8>) {
    if notes.is_empty() {
        return;
    }
    named("leniencies", out);
    out.push(b'[');
    for note in notes {
        comma(out);
        out.push(b'"');
        out.extend_from_slice(note.as_bytes());
        out.push(b'"');
    }
    out.push(b']');
}

/// Write the unknown properties of a message by JSON Pointer, in the order of their names.
pub fn extras(message: &Message, out: &mut Vec<u8>) -> Option<()> {
    if message.tape.extras.is_empty() {
        return Some(());
    }
    let mut found: Vec<_> = message.tape.extras.iter().collect();
    found.sort_by_key(|extra| &message.text[extra.name.0..extra.name.1]);
    named("extra", out);
    out.push(b'{');
    for extra in found {
        comma(out);
        out.extend_from_slice(b"\"/");
        for c in &message.text[extra.name.0..extra.name.1] {
            match c {
                b'~' => out.extend_from_slice(b"~0"),
                b'/' => out.extend_from_slice(b"~1"),
                c => out.push(*c),
            }
        }
        out.extend_from_slice(b"\":");
        message.write(&extra.value, out)?;
    }
    out.push(b'}');
    Some(())
}
