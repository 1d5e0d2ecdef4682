use super::text;
use crate::json::number::{number, write_decimal, write_float, write_integral, write_unscaled};

/// What is read of a number: its value if it is an integer, and what is written for it.
#[test]
fn reads_numbers() {
    let cases = [
        ("0", Some(0), "0"),
        ("-1,", Some(-1), "-1"),
        ("9223372036854775807]", Some(i64::MAX), "9223372036854775807"),
        ("-9223372036854775808", Some(i64::MIN), "-9223372036854775808"),
        ("1.5", None, "1.5"),
        ("-0.0", None, "-0.0"),
        ("12.50", None, "12.5"),
        ("-12.000}", None, "-12.0"),
        ("0.10000000000000000000", None, "0.1"),
        ("12345678.12345678", None, "12345678.12345678"),
    ];
    for (given, integer, expected) in cases {
        let found = number(given.as_bytes()).expect(given);
        assert_eq!((text(found.text), found.integer), (expected, integer), "{given}");
        assert_eq!(found.len, given.trim_end_matches([',', ']', '}']).len());
    }
}

/// What Python may read or write otherwise is declined.
#[test]
fn declines_numbers() {
    let cases = [
        "",
        "-",
        "+1",
        "01",
        "-01",
        "-0",
        ".5",
        "1.",
        "1.e1",
        "1e1",
        "1E1",
        "1.0e1",
        "9223372036854775808",
        "-9223372036854775809",
        "0.00001",
        "0.00000000000000000001",
        "10000000000000000.0",
        "1234567890.12345678",
        "0.1000000000000000055511151231257827",
    ];
    for given in cases {
        assert!(number(given.as_bytes()).is_none(), "{given}");
    }
}

fn written(write: impl FnOnce(&mut Vec<u8>) -> Option<()>) -> Option<String> {
    let mut out = Vec::new();
    write(&mut out).map(|()| text(&out).to_owned())
}

/// Floats are written with the fewest digits, and integers as floats only if they are exact.
#[test]
fn writes_floats() {
    for (value, expected) in
        [(0.1, "0.1"), (1.0, "1.0"), (-2.5, "-2.5"), (9_007_199_254_740_993.0, "9007199254740992.0")]
    {
        let found = written(|out| {
            write_float(value, out);
            Some(())
        });
        assert_eq!(found.as_deref(), Some(expected));
    }
    assert_eq!(written(|out| write_integral(-3, out)).as_deref(), Some("-3.0"));
    assert_eq!(written(|out| write_integral(1 << 53, out)), None);
}

/// A decimal is written as Python writes it, or declined.
#[test]
fn writes_decimals() {
    for given in ["0", "-0", "12.50", "0.00001", "0.000001"] {
        let expected = (given != "0.000001").then(|| format!("\"{given}\""));
        assert_eq!(written(|out| write_decimal(given.as_bytes(), out)), expected, "{given}");
    }
    for given in ["", "+1", "01", "1.", ".5", "1e3", "1.2.3", "1a", "0.00000000"] {
        assert_eq!(written(|out| write_decimal(given.as_bytes(), out)), None, "{given}");
    }
}

/// An unscaled integer in two's complement becomes a decimal of its scale.
#[test]
fn writes_unscaled() {
    let cases: [(&[u8], u32, Option<&str>); 7] = [
        (&[0x04, 0xd2], 2, Some("\"12.34\"")),
        (&[0xff], 0, Some("\"-1\"")),
        (&[0x00], 3, Some("\"0.000\"")),
        (&[0x80], 2, Some("\"-1.28\"")),
        (&[0x01], 7, None),
        (&[], 0, None),
        (&[1; 17], 0, None),
    ];
    for (bytes, scale, expected) in cases {
        assert_eq!(written(|out| write_unscaled(bytes, scale, out)).as_deref(), expected, "{bytes:?}");
    }
}
