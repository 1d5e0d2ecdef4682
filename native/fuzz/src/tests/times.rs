use super::text;
use crate::json::times::{DAY, read_date, read_time, write_date, write_time};

fn time(microseconds: i64) -> Option<String> {
    let mut out = Vec::new();
    write_time(microseconds, &mut out).map(|()| text(&out).to_owned())
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
        assert_eq!(read_time(expected.as_bytes()), Some(microseconds));
    }
    assert_eq!(time(253_402_300_800_000_000), None);
    assert_eq!(time(-62_135_596_800_000_001), None);
}

/// Times are read as they are written, and in no other form.
#[test]
fn reads_times() {
    let cases = [
        "1970-01-01T00:00Z",
        "1970-01-01T00:00:00.5Z",
        "1970-01-01T00:00:00.123456000Z",
        "1970-01-01T00:00:00.000000Z",
        "1970-01-01T00:00:00+00:00",
        "1970-01-01T00:00:00",
        "1970-01-01T24:00:00Z",
        "1970-01-01T00:00:60Z",
        "1970-01-01 00:00:00Z",
        "1970-01-01t00:00:00z",
        "+970-01-01T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "1970-01-01T00:00é:00Z",
    ];
    for text in cases {
        assert_eq!(read_time(text.as_bytes()), None, "{text}");
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
