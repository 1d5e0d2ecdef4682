use super::text;
use crate::json::text::{unescape, unescaped, write_string, write_text};

/// Escapes stand for characters, those of surrogate pairs for one.
#[test]
fn unescapes() {
    let given = r#"a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é"#;
    let mut out = Vec::new();
    unescape(given.as_bytes(), &mut out).unwrap();
    assert_eq!(text(&out), "a\"\\/\u{8}\u{c}\n\r\té😀é");
    for bad in [r"\", r"\x", r"\u12", r"\u12g4", r"\ud800", r"\ud800\n", r"\ud800A", r"\udc00"] {
        assert!(unescaped(bad.as_bytes()).is_none(), "{bad}");
        assert!(unescape(bad.as_bytes(), &mut Vec::new()).is_none(), "{bad}");
    }
}

/// Text is written with the escapes that msgspec writes, and no others.
#[test]
fn writes_text() {
    let mut out = Vec::new();
    write_string("a\"\\/\u{8}\u{c}\n\r\t\u{1}\u{7f}é", &mut out).unwrap();
    assert_eq!(text(&out), "\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\u{7f}é\"");
    let mut out = Vec::new();
    write_text(br"\u0061\/\u0022", true, &mut out).unwrap();
    assert_eq!(text(&out), "\"a/\\\"\"");
    let mut out = Vec::new();
    write_text("é".as_bytes(), false, &mut out).unwrap();
    assert_eq!(text(&out), "\"é\"");
}
