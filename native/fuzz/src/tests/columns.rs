use arrow_array::{Array, StringArray};
use arrow_schema::{DataType, Field};

use crate::builders::TextColumn;
use crate::typed::Nested;

/// A row without text is NULL, and one that is taken back leaves nothing.
#[test]
fn texts_are_rows() {
    let mut column = TextColumn::new(0);
    for text in [Some("a"), None, Some(""), Some("taken back"), Some("é")] {
        if let Some(text) = text {
            column.put(text.as_bytes());
        }
        if text == Some("taken back") {
            column.take_back();
        }
        column.end();
    }
    let found = column.finish(true).unwrap();
    let found = found.as_any().downcast_ref::<StringArray>().unwrap().iter().collect::<Vec<_>>();
    assert_eq!(found, [Some("a"), None, Some(""), None, Some("é")]);
}

/// Bytes that are not UTF-8, and rows that cut a character, cannot be a column of text.
#[test]
fn texts_are_utf8() {
    let column = |parts: [&[u8]; 2]| {
        let mut column = TextColumn::new(0);
        for part in parts {
            column.put(part);
            column.end();
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
    let mut lists = Nested::texts(0);
    for items in [Some(["a", "b"].as_slice()), None, Some(&[])] {
        if let Some(items) = items {
            lists.open();
            items.iter().for_each(|item| lists.put_text(item.as_bytes()));
        }
        lists.end(false);
    }
    let found = lists.finish(&DataType::List(Field::new_list_field(DataType::Utf8, true).into())).unwrap();
    assert_eq!((found.len(), found.null_count(), found.is_null(1)), (3, 1, true));
}
