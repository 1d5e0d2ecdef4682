//! Times as Python writes them: ISO 8601.

use std::io::Write;

use chrono::{DateTime, Datelike, FixedOffset, NaiveDate, SecondsFormat};

use super::number::{digits, parsed};

const MICROSECONDS: i64 = 1_000_000;
/// Microseconds of a day.
pub const DAY: i64 = 24 * 60 * 60 * MICROSECONDS;

/// The microseconds since 1970-01-01 of the times that Python has.
pub const TIMES: std::ops::Range<i64> = -62_135_596_800_000_000..253_402_300_800_000_000;

/// Microseconds of an offset from UTC that is read at most.
const OFFSET: i64 = 20 * 60 * 60 * MICROSECONDS;

/// Write a date, of days since 1970-01-01; `None` if Python has no such date.
pub fn write_date(days: i64, out: &mut Vec<u8>) -> Option<()> {
    let date = NaiveDate::from_epoch_days(i32::try_from(days).ok()?)?;
    let is_date = (1..=9999).contains(&date.year());
    is_date.then(|| write!(out, "{date}").ok())?
}

/// Clocks of a time zone: offsets from UTC in minutes, each from a second since 1970-01-01 on; `None` where
/// Python must look.
#[derive(Clone)]
pub struct Clocks(pub Vec<(i64, Option<i32>)>);

impl Clocks {
    /// Return the offset at a time, of microseconds since 1970-01-01.
    pub fn offset(&self, microseconds: i64) -> Option<i32> {
        let next = self.0.partition_point(|(from, _)| from.saturating_mul(MICROSECONDS) <= microseconds);
        self.0.get(next.checked_sub(1)?)?.1
    }
}

/// Write a time, of microseconds since 1970-01-01, as a clock shows it that is so many minutes ahead of UTC;
/// `None` if Python has no such time.
pub fn write_time(microseconds: i64, minutes: i32, out: &mut Vec<u8>) -> Option<()> {
    let clock = FixedOffset::east_opt(minutes.checked_mul(60)?)?;
    let time = DateTime::from_timestamp_micros(microseconds).filter(|_| TIMES.contains(&microseconds))?;
    let time = time.with_timezone(&clock);
    let is_whole = microseconds % MICROSECONDS == 0;
    let digits = if is_whole { SecondsFormat::Secs } else { SecondsFormat::Micros };
    out.extend_from_slice(time.to_rfc3339_opts(digits, true).as_bytes());
    Some(())
}

/// Return the days since 1970-01-01 of a date, if it is written as here.
pub fn read_date(text: &[u8]) -> Option<i64> {
    let date: NaiveDate = parsed(text)?;
    let days = date.to_epoch_days().into();
    let mut again = Vec::with_capacity(text.len());
    write_date(days, &mut again).filter(|()| again == text).map(|()| days)
}

/// Return what the clock shows at a time, as microseconds since 1970-01-01, and its offset from UTC.
///
/// It is RFC 3339 as Python reads it: with up to nine digits behind the point of the seconds, of which
/// the last three are 0, and without leap seconds.
pub fn read_time(text: &[u8]) -> Option<(i64, i64)> {
    let is_usual = text.get(10) == Some(&b'T') && text.is_ascii() && !text.ends_with(b"z");
    let fraction = text.get(19..)?.strip_prefix(b".").map_or(0, digits);
    let time = DateTime::parse_from_rfc3339(std::str::from_utf8(text).ok()?).ok()?;
    let nanoseconds = time.timestamp_subsec_nanos();
    let is_exact = fraction <= 9 && nanoseconds < 1_000_000_000 && nanoseconds % 1000 == 0;
    let offset = i64::from(time.offset().local_minus_utc()) * MICROSECONDS;
    let has_clock = is_usual && is_exact && time.year() > 0 && offset.abs() < OFFSET;
    has_clock.then(|| (time.timestamp_micros() + offset, offset))
}
