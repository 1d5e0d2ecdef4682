use super::text;
use crate::json::names::Names;
use crate::json::scan::{Kind, LEVELS, Scan};
use crate::why::{Done, Why};

fn kind_of(given: &str) -> Done<Kind> {
    Scan::new(given.as_bytes()).skip(&mut Names::default(), LEVELS)
}

/// Each value is of the kind by which it begins.
#[test]
fn tells_kinds() {
    let cases = [
        ("null", Kind::Null),
        ("true", Kind::True),
        ("false", Kind::False),
        ("-12", Kind::Integer),
        ("1.5", Kind::Float),
        ("\"a\"", Kind::Text),
        ("\"\\u00e9\"", Kind::Escaped),
        ("[1, [], {}]", Kind::Array),
        ("{\"a\" : {\"a\": 1}}", Kind::Object),
    ];
    for (given, expected) in cases {
        assert_eq!(kind_of(given), Ok(expected), "{given}");
    }
}

/// What is declined has a reason.
#[test]
fn says_why() {
    let cases = [
        ("", Why::Text),
        ("nul", Why::Text),
        ("x", Why::Text),
        ("\"a", Why::Text),
        ("\"\\", Why::Text),
        ("\"\\x\"", Why::Text),
        ("\"a\nb\"", Why::Text),
        ("[1,]", Why::Text),
        ("{\"a\" 1}", Why::Text),
        ("{1:1}", Why::Text),
        ("'AA=='", Why::Text),
        ("1e5", Why::Number),
        ("[-0]", Why::Number),
        ("{\"a\":1,\"a\":2}", Why::Name),
        ("{\"\\u0061\":1}", Why::Name),
    ];
    for (given, expected) in cases {
        assert_eq!(kind_of(given), Err(expected), "{given}");
    }
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert_eq!(kind_of(&deep(64)), Ok(Kind::Array));
    assert_eq!(kind_of(&deep(65)), Err(Why::Depth));
}

/// A string ends at its quote, wherever that stands among words of eight bytes.
#[test]
fn reads_strings() {
    for size in 0..40 {
        for tail in ["", "é", "\\\"", "\\\\"] {
            let content = "x".repeat(size) + tail;
            let given = format!("\"{content}\" ");
            let mut scan = Scan::new(given.as_bytes());
            let found = scan.string().expect(&given);
            assert_eq!((text(found.content), scan.at), (content.as_str(), content.len() + 2));
            assert_eq!(found.is_escaped, tail.starts_with('\\'));
        }
        let bad = format!("\"{}\u{1}\"", "x".repeat(size));
        assert!(Scan::new(bad.as_bytes()).string().is_err());
    }
}

/// Values are written without blanks, and what differs from that is counted.
#[test]
fn writes_values() {
    let cases = [
        ("[1,\"a\",{\"b\":null}]", "[1,\"a\",{\"b\":null}]", true),
        ("[ 1 , 0.5 ]", "[1,0.5]", false),
        ("{ }", "{}", false),
        ("\"\\u0041\\/\"", "\"A/\"", false),
    ];
    for (given, expected, is_tidy) in cases {
        let mut scan = Scan::new(given.as_bytes());
        scan.skip(&mut Names::default(), LEVELS).expect(given);
        assert_eq!(scan.untidy == 0, is_tidy, "{given}");
        let mut out = Vec::new();
        Scan::new(given.as_bytes()).write(&mut out).expect(given);
        assert_eq!(text(&out), expected);
    }
}
