//! Times as Python writes them: ISO 8601, in UTC.

use chrono::{Datelike, NaiveDate};

use super::number::{digits as count_digits, parsed};

const MICROSECONDS: i64 = 1_000_000;
/// Microseconds of a day.
pub const DAY: i64 = 24 * 60 * 60 * MICROSECONDS;

/// The microseconds since 1970-01-01 of the times that Python has.
pub const TIMES: std::ops::Range<i64> = -62_135_596_800_000_000..253_402_300_800_000_000;

/// Write a date, of days since 1970-01-01; `None` if Python has no such date.
pub fn write_date(days: i64, out: &mut Vec<u8>) -> Option<()> {
    let date = NaiveDate::from_epoch_days(i32::try_from(days).ok()?)?;
    if !(1..=9999).contains(&date.year()) {
        return None;
    }
    digits::<4>(date.year().into(), out);
    out.push(b'-');
    digits::<2>(date.month().into(), out);
    out.push(b'-');
    digits::<2>(date.day().into(), out);
    Some(())
}

/// Write a time, of microseconds since 1970-01-01; `None` if Python has no such time.
pub fn write_time(microseconds: i64, out: &mut Vec<u8>) -> Option<()> {
    write_date(microseconds.div_euclid(DAY), out)?;
    let of_day = microseconds.rem_euclid(DAY);
    let (seconds, rest) = (of_day / MICROSECONDS, of_day % MICROSECONDS);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    for (mark, part) in [(b'T', hour), (b':', minute), (b':', second)] {
        out.push(mark);
        digits::<2>(part, out);
    }
    if rest != 0 {
        out.push(b'.');
        digits::<6>(rest, out);
    }
    out.push(b'Z');
    Some(())
}

/// Write the last digits of a number that is not negative; the standard library's formatting takes
/// several times as long.
fn digits<const N: usize>(mut value: i64, out: &mut Vec<u8>) {
    let mut text = [b'0'; N];
    for digit in text.iter_mut().rev() {
        *digit += u8::try_from(value % 10).unwrap_or_default();
        value /= 10;
    }
    out.extend_from_slice(&text);
}

/// Return the days since 1970-01-01 of a date as it is written here.
pub fn read_date(text: &[u8]) -> Option<i64> {
    let [years @ .., b'-', _, _, b'-', _, _] = text else { return None };
    let digits = text.iter().filter(|c| c.is_ascii_digit()).count();
    let [year, month, day] = [0..4, 5..7, 8..10].map(|part| text.get(part).and_then(parsed::<u32>));
    let date = NaiveDate::from_ymd_opt(i32::try_from(year?).ok()?, month?, day?)?;
    (years.len() == 4 && digits == 8 && date.year() > 0).then(|| date.to_epoch_days().into())
}

/// Return what the clock shows at a time, as microseconds since 1970-01-01, and its offset from UTC.
///
/// It is ISO 8601: a date, hours and minutes, perhaps seconds, with up to nine digits behind their
/// point, of which the last three are 0, and `Z` or the offset.
pub fn read_time(text: &[u8]) -> Option<(i64, i64)> {
    let (day, clock) = text.split_at_checked(10)?;
    let (hour, minute) = (part(clock, 0, b"T")?, part(clock, 3, b":")?);
    let second = part(clock, 6, b":");
    let mut rest = &clock[if second.is_some() { 9 } else { 6 }..];
    let mut fraction = 0;
    if let (Some(_), Some(tail)) = (second, rest.strip_prefix(b".")) {
        let (found, behind) = tail.split_at(count_digits(tail));
        let padded = [found, b"00000000"].concat();
        let (micros, nanos) = padded.split_at(6);
        if !(1..=9).contains(&found.len()) || nanos.iter().any(|c| *c != b'0') {
            return None;
        }
        (fraction, rest) = (parsed(micros)?, behind);
    }
    let offset = if rest == b"Z" { 0 } else { read_offset(rest)? };
    let second = second.unwrap_or_default();
    let is_clock = hour < 24 && minute < 60 && second < 60;
    let of_day = ((hour * 60 + minute) * 60 + second) * MICROSECONDS + fraction;
    Some((read_date(day).filter(|_| is_clock)? * DAY + of_day, offset))
}

/// Return the microseconds of an offset of less than 20 hours.
fn read_offset(text: &[u8]) -> Option<i64> {
    let (hours, minutes) = (part(text, 0, b"+-")?, part(text, 3, b":")?);
    let seconds = if text.len() == 6 { 0 } else { part(text, 6, b":").filter(|_| text.len() == 9)? };
    let size = ((hours * 60 + minutes) * 60 + seconds) * MICROSECONDS;
    let is_offset = hours < 20 && minutes < 60 && seconds < 60;
    is_offset.then_some(if text[0] == b'-' { -size } else { size })
}

/// Return the number of two digits behind one of some marks, which stands at a place.
fn part(text: &[u8], at: usize, marks: &[u8]) -> Option<i64> {
    match text.get(at..at + 3)? {
        [mark, tens @ b'0'..=b'9', ones @ b'0'..=b'9'] if marks.contains(mark) => {
            Some(i64::from(tens - b'0') * 10 + i64::from(ones - b'0'))
        }
        _ => None,
    }
}
