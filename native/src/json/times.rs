//! Times as Python writes them: ISO 8601, in UTC.

const MICROSECONDS: i64 = 1_000_000;
/// Microseconds of a day.
pub const DAY: i64 = 24 * 60 * 60 * MICROSECONDS;

/// Days from 0000-03-01 to 1970-01-01.
const EPOCH_DAYS: i64 = 719_468;

/// Days of 400 years.
const ERA: i64 = 146_097;

/// First and last day of the years that Python has, since 1970-01-01.
const FIRST_DAY: i64 = -719_162;
const LAST_DAY: i64 = 2_932_896;

/// Write a date, of days since 1970-01-01; `None` if Python has no such date.
pub fn write_date(days: i64, out: &mut Vec<u8>) -> Option<()> {
    if !(FIRST_DAY..=LAST_DAY).contains(&days) {
        return None;
    }
    let (year, month, day) = date(days);
    digits::<4>(year, out);
    out.push(b'-');
    digits::<2>(month, out);
    out.push(b'-');
    digits::<2>(day, out);
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

/// Return year, month and day. The year begins in March here, so that a leap day is its last.
fn date(days: i64) -> (i64, i64, i64) {
    let shifted = days + EPOCH_DAYS;
    let era = shifted.div_euclid(ERA);
    let of_era = shifted.rem_euclid(ERA);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// Return the days since 1970-01-01 of a date as it is written here.
pub fn read_date(text: &[u8]) -> Option<i64> {
    let [year, month, day] = [0..4, 5..7, 8..10].map(|part| text.get(part).and_then(number));
    let (year, month) = (year?, month?);
    let year = if month > 2 { year } else { year - 1 };
    let from_march = if month > 2 { month - 3 } else { month + 9 };
    let of_year = (153 * from_march + 2) / 5 + day? - 1;
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
    Some(era * ERA + of_era - EPOCH_DAYS)
}

/// Return the microseconds since 1970-01-01 of a time as it is written here.
pub fn read_time(text: &[u8]) -> Option<i64> {
    let [hour, minute, second] = [11..13, 14..16, 17..19].map(|part| text.get(part).and_then(number));
    let seconds = (hour? * 60 + minute?) * 60 + second?;
    let rest = if text.get(19) == Some(&b'.') { text.get(20..26).and_then(number)? } else { 0 };
    Some(read_date(text)? * DAY + seconds * MICROSECONDS + rest)
}

fn number(digits: &[u8]) -> Option<i64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}
