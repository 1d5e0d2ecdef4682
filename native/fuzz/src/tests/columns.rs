use arrow_array::{Array, StringArray};

use crate::builders::{Offsets, TextColumn, TextLists};
use crate::why::Why;

/// An end that does not fit into 31 bits is declined.
#[test]
fn offsets_are_checked() {
    let mut offsets = Offsets::new(2);
    let most = usize::try_from(i32::MAX).unwrap();
    assert_eq!(offsets.push(most), Ok(()));
    assert_eq!(offsets.push(most + 1), Err(Why::Size));
    assert_eq!(offsets.push(usize::MAX), Err(Why::Size));
    assert_eq!(offsets.finish().len(), 2);
}

/// A row without text is NULL, and one that is taken back leaves nothing.
#[test]
fn texts_are_rows() {
    let mut column = TextColumn::new(0, 0);
    for text in [Some("a"), None, Some(""), Some("taken back"), Some("é")] {
        if let Some(text) = text {
            column.put(text.as_bytes());
        }
        if text == Some("taken back") {
            column.take_back();
        }
        column.end().unwrap();
    }
    let found = column.finish(true).unwrap();
    let found = found.as_any().downcast_ref::<StringArray>().unwrap().iter().collect::<Vec<_>>();
    assert_eq!(found, [Some("a"), None, Some(""), None, Some("é")]);
}

/// Bytes that are not UTF-8, and rows that cut a character, cannot be a column of text.
#[test]
fn texts_are_utf8() {
    let column = |parts: [&[u8]; 2]| {
        let mut column = TextColumn::new(0, 0);
        for part in parts {
            column.put(part);
            column.end().unwrap();
        }
        column
    };
    assert!(column([b"a", b"\xff"]).finish(true).is_err());
    assert!(column([b"\xc3", b"\xa9"]).finish(true).is_err());
    assert!(column([b"\xc3", b"\xa9"]).finish(false).is_ok());
}

/// Lists have their items, and a list that is not there is NULL.
#[test]
fn lists_are_rows() {
    let mut lists = TextLists::default();
    lists.end(Some([b"a".as_slice(), b"b"].into_iter())).unwrap();
    lists.end(None::<std::iter::Empty<_>>).unwrap();
    lists.end(Some(std::iter::empty())).unwrap();
    let found = lists.finish();
    assert_eq!((found.len(), found.null_count(), found.is_null(1)), (3, 1, true));
}
