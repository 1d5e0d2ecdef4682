//! Arrays, maps and structs: values within values, which are those of JSON.

use std::collections::HashSet;

use super::cells::fit;
use super::collections::Nested;
use super::kinds::ColumnKind;
use super::store::Store;
use crate::json::names::Names;
use crate::json::scan::{LEVELS, Scan};
use crate::json::text::unescape;
use crate::rows::Means;
use crate::why::{Done, Why};

/// Put a value into a column of arrays, maps or structs; it is declined as `fit` says.
pub fn fit_nested(kind: &ColumnKind, means: Means, text: &[u8], store: &mut Nested) -> Done {
    if means != Means::Json && !means.is_of_log() {
        return Err(Why::Row);
    }
    store.open();
    let mut scan = Scan::new(text);
    match kind {
        ColumnKind::List(item) => scan.array(|scan| {
            put(item, means, value(scan)?, &mut store.items[0])?;
            store.end_item(false)
        }),
        ColumnKind::Map(item) => scan.object(|scan, name| {
            let [Store::Texts(names), values] = store.items.as_mut_slice() else { return Err(Why::Row) };
            unescape(name.content, names.open()).ok_or(Why::Row)?;
            put(item, means, value(scan)?, values)?;
            store.end_item(false)
        }),
        ColumnKind::Pairs(kinds) => pairs(kinds, means, &mut scan, store),
        // A member that has no field is declined.
        ColumnKind::Struct(kinds) => scan.object(|scan, name| {
            let name = name.plain().ok_or(Why::Row)?;
            let place = kinds.iter().position(|(other, _)| other == name).ok_or(Why::Row)?;
            put(&kinds[place].1, means, value(scan)?, &mut store.items[place])
        }),
        _ => Err(Why::Row),
    }
}

/// Put the pairs of an array; keys must be there, and differ.
fn pairs(kinds: &[ColumnKind; 2], means: Means, scan: &mut Scan, store: &mut Nested) -> Done {
    // A time of a log can be written in several ways.
    if means.is_of_log() && matches!(kinds[0], ColumnKind::Date | ColumnKind::Time(_)) {
        return Err(Why::Row);
    }
    let mut keys = HashSet::new();
    scan.array(|scan| {
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
        store.end_item(false)
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
