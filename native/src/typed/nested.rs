//! Arrays, maps and structs: values within values, which are those of JSON.

use std::collections::HashSet;

use super::cells::fit;
use super::collections::{Collection, Struct};
use super::kinds::ColumnKind;
use super::store::Store;
use crate::json::names::Names;
use crate::json::scan::{LEVELS, Scan};
use crate::json::text::unescape;
use crate::rows::Means;
use crate::why::{Done, Why};

/// Put the elements of an array.
pub fn list(item: &ColumnKind, means: Means, text: &[u8], store: &mut Collection) -> Done {
    store.open();
    Scan::new(text, false).array(|scan| {
        put(item, means, value(scan)?, &mut store.items[0])?;
        store.end_item()
    })
}

/// Put the members of an object, whatever their names.
pub fn map(item: &ColumnKind, means: Means, text: &[u8], store: &mut Collection) -> Done {
    store.open();
    Scan::new(text, false).object(|scan, name| {
        let [Store::Texts(names), values] = store.items.as_mut_slice() else { return Err(Why::Row) };
        unescape(name.content, names.open()).ok_or(Why::Row)?;
        put(item, means, value(scan)?, values)?;
        store.end_item()
    })
}

/// Put the pairs of an array; keys must be there, and differ.
pub fn pairs(kinds: &[ColumnKind; 2], means: Means, text: &[u8], store: &mut Collection) -> Done {
    // A time of a log can be written in several ways.
    if means.is_of_log() && matches!(kinds[0], ColumnKind::Date | ColumnKind::Time(_)) {
        return Err(Why::Row);
    }
    store.open();
    let mut keys = HashSet::new();
    Scan::new(text, false).array(|scan| {
        let mut pair = Vec::with_capacity(2);
        scan.array(|scan| {
            pair.push(value(scan)?);
            Ok(())
        })?;
        let [key, value] = pair.as_slice() else { return Err(Why::Row) };
        // Values that differ have texts that differ: each is written in one way.
        if *key == b"null" || !keys.insert(*key) {
            return Err(Why::Row);
        }
        put(&kinds[0], means, key, &mut store.items[0])?;
        put(&kinds[1], means, value, &mut store.items[1])?;
        store.end_item()
    })
}

/// Put the members of an object into the fields of a struct; one that has no field is declined.
pub fn object(kinds: &[(Vec<u8>, ColumnKind)], means: Means, text: &[u8], store: &mut Struct) -> Done {
    store.open();
    Scan::new(text, false).object(|scan, name| {
        let name = name.plain().ok_or(Why::Row)?;
        let place = kinds.iter().position(|(other, _)| other == name).ok_or(Why::Row)?;
        put(&kinds[place].1, means, value(scan)?, &mut store.fields[place])
    })
}

/// Return the text of the value on which the cursor stands.
fn value<'t>(scan: &mut Scan<'t>) -> Done<&'t [u8]> {
    let start = scan.at;
    scan.skip(&mut Names::default(), LEVELS)?;
    Ok(&scan.text[start..scan.at])
}

/// Put a value into its column, unless it is null.
pub fn put(kind: &ColumnKind, means: Means, text: &[u8], store: &mut Store) -> Done {
    if text == b"null" { Ok(()) } else { fit(kind, means, text, store) }
}
