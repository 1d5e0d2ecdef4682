use super::text;
use crate::json::times::{Clocks, DAY, read_date, read_time, write_date, write_time};

fn time(microseconds: i64) -> Option<String> {
    let mut out = Vec::new();
    write_time(microseconds, 0, &mut out).map(|()| text(&out).to_owned())
}

/// Times are ISO 8601 in UTC, with microseconds if there are some.
#[test]
fn writes_times() {
    let cases = [
        (0, "1970-01-01T00:00:00Z"),
        (-1, "1969-12-31T23:59:59.999999Z"),
        (951_827_696_000_001, "2000-02-29T12:34:56.000001Z"),
        (253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"),
        (-62_135_596_800_000_000, "0001-01-01T00:00:00Z"),
    ];
    for (microseconds, expected) in cases {
        assert_eq!(time(microseconds).as_deref(), Some(expected));
        assert_eq!(read_time(expected.as_bytes()), Some((microseconds, 0)));
    }
    assert_eq!(time(253_402_300_800_000_000), None);
    assert_eq!(time(-62_135_596_800_000_001), None);
}

/// A clock that is ahead of UTC, or behind it, has its offset from the second on from which it is known.
#[test]
fn writes_clocks() {
    let clocks = Clocks(vec![(0, Some(480)), (10, None), (20, Some(-210))]);
    let second = 1_000_000;
    let cases = [
        (-1, None),
        (0, Some("1970-01-01T08:00:00+08:00")),
        (10 * second - 1, Some("1970-01-01T08:00:09.999999+08:00")),
        (10 * second, None),
        (20 * second, Some("1969-12-31T20:30:20-03:30")),
    ];
    for (microseconds, expected) in cases {
        let mut out = Vec::new();
        let written =
            clocks.offset(microseconds).and_then(|minutes| write_time(microseconds, minutes, &mut out));
        assert_eq!(written.map(|()| text(&out)), expected);
    }
}

/// Times are read in the form of RFC 3339, with their offsets, and in no other.
#[test]
fn reads_times() {
    let second = 1_000_000;
    let cases = [
        ("1970-01-01T00:01:02.5-00:30", Some((62_500_000, -1800 * second))),
        ("1970-01-01T00:00:00.123456000+19:59", Some((123_456, 71_940 * second))),
        ("0001-01-01T00:00:00-01:00", Some((-62_135_596_800_000_000, -3600 * second))),
        ("1970-01-01T00:00Z", None),
        ("1970-01-01T00:00:00.000000001Z", None),
        ("1970-01-01T00:00:00.0000000000Z", None),
        ("1970-01-01T00:00:00.Z", None),
        ("1970-01-01T00:00:00", None),
        ("1970-01-01T00:00:00+20:00", None),
        ("1970-01-01T00:00:00+01", None),
        ("1970-01-01T24:00:00Z", None),
        ("1970-01-01T00:00:60Z", None),
        ("1970-01-01T23:59:60Z", None),
        ("1970-01-01 00:00:00Z", None),
        ("1970-01-01t00:00:00z", None),
        ("1970-01-01T00:00:00\u{2212}01:00", None),
        ("+970-01-01T00:00:00Z", None),
        ("0000-01-01T00:00:00Z", None),
        ("1970-01-01T00:00é:00Z", None),
    ];
    for (text, expected) in cases {
        assert_eq!(read_time(text.as_bytes()), expected, "{text}");
    }
}

/// Every day of all years comes back, and follows the one before.
#[test]
fn days_follow_one_another() {
    let mut before = String::new();
    for days in -719_162..=2_932_896 {
        let mut out = Vec::new();
        write_date(days, &mut out).unwrap();
        assert_eq!(read_date(&out), Some(days));
        assert!(text(&out) > before.as_str());
        before = text(&out).to_owned();
    }
    assert_eq!(before, "9999-12-31");
    assert!(write_date(2_932_897, &mut Vec::new()).is_none());
    assert_eq!(DAY, 86_400_000_000);
}
