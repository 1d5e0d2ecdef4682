//! Members of JSON objects whose values are those of messages.

use crate::json::writing::named;
use crate::table::tape::{Message, Slot};
use crate::why::Done;

/// Write members whose values are there, as a message has them.
pub fn members(parts: &[(&str, &Slot)], message: &Message, out: &mut Vec<u8>) -> Done {
    for (name, slot) in parts.iter().filter(|(_, slot)| !slot.is_absent()) {
        named(name.as_bytes(), out);
        message.write(slot, out)?;
    }
    Ok(())
}

/// Write the unknown properties of a message by JSON Pointer, in the order of their names.
pub fn extras(message: &Message, out: &mut Vec<u8>) -> Done {
    if message.tape.extras.is_empty() {
        return Ok(());
    }
    let name = |extra: &(Slot, Slot)| message.content(&extra.0).unwrap_or_default();
    let mut found: Vec<_> = message.tape.extras.iter().collect();
    found.sort_by_key(|extra| name(extra));
    named(b"extra", out);
    out.push(b'{');
    for extra in found {
        let pointer = str::from_utf8(name(extra)).unwrap_or_default().replace('~', "~0").replace('/', "~1");
        named(format!("/{pointer}").as_bytes(), out);
        message.write(&extra.1, out)?;
    }
    out.push(b'}');
    Ok(())
}
