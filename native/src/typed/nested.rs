//! Arrays, maps and structs: values within values, which are those of JSON.

use std::collections::HashSet;

use super::cells::fit;
use super::collections::{Collection, Struct};
use super::kinds::Kind;
use super::store::Store;
use crate::formats::rows::Means;
use crate::json::names::Names;
use crate::json::scan::{LEVELS, Scan};
use crate::json::text::unescape;

/// Put the elements of an array.
pub fn list(item: &Kind, text: &[u8], store: &mut Collection) -> Option<()> {
    store.open();
    Scan::new(text, false).array(|scan| {
        put(item, value(scan)?, &mut store.items[0])?;
        store.end_item();
        Some(())
    })
}

/// Put the members of an object, whatever their names.
pub fn map(item: &Kind, text: &[u8], store: &mut Collection) -> Option<()> {
    store.open();
    Scan::new(text, false).object(|scan, name| {
        let [names, values] = store.items.as_mut_slice() else { return None };
        let Store::Texts(names) = names else { return None };
        unescape(name.content, names.open())?;
        put(item, value(scan)?, values)?;
        store.end_item();
        Some(())
    })
}

/// Put the pairs of an array; keys must be there, and differ.
pub fn pairs(kinds: &[Kind; 2], text: &[u8], store: &mut Collection) -> Option<()> {
    store.open();
    let mut keys = HashSet::new();
    Scan::new(text, false).array(|scan| {
        let mut pair = Vec::with_capacity(2);
        scan.array(|scan| {
            pair.push(value(scan)?);
            Some(())
        })?;
        let [key, value] = pair.as_slice() else { return None };
        // Values that differ have texts that differ: each is written in one way.
        if *key == b"null" || !keys.insert(*key) {
            return None;
        }
        put(&kinds[0], key, &mut store.items[0])?;
        put(&kinds[1], value, &mut store.items[1])?;
        store.end_item();
        Some(())
    })
}

/// Put the members of an object into the fields of a struct; one that has no field is declined.
pub fn object(kinds: &[(Vec<u8>, Kind)], text: &[u8], store: &mut Struct) -> Option<()> {
    store.open();
    Scan::new(text, false).object(|scan, name| {
        let place = kinds.iter().position(|(other, _)| !name.is_escaped && other == name.content)?;
        put(&kinds[place].1, value(scan)?, &mut store.fields[place])
    })
}

/// Return the text of the value on which the cursor stands.
fn value<'t>(scan: &mut Scan<'t>) -> Option<&'t [u8]> {
    let start = scan.at;
    scan.skip(&mut Names::default(), LEVELS)?;
    scan.text.get(start..scan.at)
}

fn put(kind: &Kind, text: &[u8], store: &mut Store) -> Option<()> {
    if text == b"null" { Some(()) } else { fit(kind, Means::Json, text, store) }
}
