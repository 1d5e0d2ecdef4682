//! Values of rows to the types of their columns: exactly, or not at all.

use super::kinds::{ColumnKind, Reading};
use super::nested::fit_nested;
use super::store::Store;
use crate::json::base64::decode;
use crate::json::number::{has_bits, number, parsed};
use crate::json::scan::Scan;
use crate::json::text::unescape;
use crate::json::times::{DAY, read_date, read_time};
use crate::rows::Means;
use crate::why::{Done, Why};

/// Integers that a double holds whatever they are.
const EXACT: u64 = 1 << 53;

/// Digits of a number that a double gives back whatever they are (IEEE 754).
const DIGITS: usize = 15;

/// Bytes of the text of a number at most.
const MOST_DIGITS: usize = 60;

/// Put a value, which is not null, into its column; it is declined if this does not fit, or is not seen.
pub fn fit(kind: &ColumnKind, means: Means, text: &[u8], store: &mut Store) -> Done {
    match store {
        Store::Nested(store) => fit_nested(kind, means, text, store),
        store => scalar(kind, means, text, store).ok_or(Why::Row),
    }
}

fn scalar(kind: &ColumnKind, means: Means, text: &[u8], store: &mut Store) -> Option<()> {
    match (kind, store) {
        (
            ColumnKind::Boolean | ColumnKind::Integer(_) | ColumnKind::Date | ColumnKind::Time(_),
            Store::Integers(store),
        ) => store.put(integer(kind, means, text)?),
        (ColumnKind::Double, Store::Floats(store)) => store.put(double(means, text)?),
        (ColumnKind::Single, Store::Floats(store)) => store.put(single(means, text)?),
        (ColumnKind::Decimal(precision, scale), Store::Decimals(store)) => {
            store.put(decimal(means, text, *precision, u32::try_from(*scale).ok()?)?);
        }
        (ColumnKind::Text(_) | ColumnKind::Json, Store::Texts(store)) if means.is_of_log() => {
            match content(text).filter(|_| *kind != ColumnKind::Json) {
                Some(content) => unescape(content, store.open())?,
                None => Scan::new(text).write(store.open()).ok()?,
            }
        }
        (ColumnKind::Text(reading), Store::Texts(store)) => {
            let is_text = match means {
                Means::Json => true,
                Means::Decimal => *reading != Reading::Declared,
                Means::Date | Means::Time => *reading == Reading::Row,
                _ => false,
            };
            unescape(content(text).filter(|_| is_text)?, store.open())?;
        }
        (ColumnKind::Bytes(reading), Store::Texts(store)) => {
            let is_base64 = means.is_of_log() || (means == Means::Json && *reading == Reading::Row);
            let is_bytes = means == Means::Bytes || is_base64;
            store.put(&decode(content(text).filter(|_| is_bytes)?)?);
        }
        (ColumnKind::Json, Store::Texts(store)) => store.put(text),
        _ => return None,
    }
    Some(())
}

/// Return what stands between the quotes of a text.
fn content(text: &[u8]) -> Option<&[u8]> {
    text.strip_prefix(b"\"")?.strip_suffix(b"\"")
}

fn integer(kind: &ColumnKind, means: Means, text: &[u8]) -> Option<i64> {
    let is_of_log = means.is_of_log();
    let is_json = is_of_log || means == Means::Json;
    match kind {
        ColumnKind::Boolean if is_json && text == b"true" => Some(1),
        ColumnKind::Boolean if is_json && text == b"false" => Some(0),
        ColumnKind::Integer(bits) if is_json => parsed(text).filter(|value| has_bits(*value, *bits)),
        ColumnKind::Date if is_of_log || matches!(means, Means::Date | Means::Time) => {
            let text = content(text)?;
            read_date(text).or_else(|| Some(read_time(text).filter(|time| time % DAY == 0)? / DAY))
        }
        ColumnKind::Time(_) if is_of_log || means == Means::Time => read_time(content(text)?),
        _ => None,
    }
}

/// Return the double that is a number, or has its digits.
fn double(means: Means, text: &[u8]) -> Option<f64> {
    if means.is_of_log() {
        let text = content(text).filter(|_| means == Means::ChangeText).unwrap_or(text);
        let found = number(text).filter(|found| found.text.len() == text.len())?;
        let is_exact = found.integer.is_none_or(|value| value.unsigned_abs() <= EXACT);
        return parsed(text).filter(|_| is_exact);
    }
    let number = if means == Means::Decimal { content(text)? } else { text };
    let is_number = matches!(means, Means::Json | Means::Decimal) && is_plain(number);
    if !is_number {
        return None;
    }
    let is_integer = !number.contains(&b'.');
    let is_exact = match means {
        Means::Decimal => number.len() <= DIGITS,
        _ if is_integer => parsed::<i64>(number)?.unsigned_abs() <= EXACT,
        _ => true,
    };
    parsed(number).filter(|_| is_exact)
}

/// Return the single that is a number, or has its digits; of a log, the nearest one.
#[allow(clippy::cast_possible_truncation)] // that is what is asked
fn single(means: Means, text: &[u8]) -> Option<f64> {
    let value = double(means, text)?;
    let nearest = f64::from(value as f32);
    let is_it = nearest.to_bits() == value.to_bits() || (means.is_of_log() && nearest.is_finite());
    is_it.then_some(nearest)
}

/// Return a number, or numeric text, as so many units of its last digit.
fn decimal(means: Means, text: &[u8], precision: u8, scale: u32) -> Option<i128> {
    let number = content(text).unwrap_or(text);
    let is_number = means.is_of_log() || matches!(means, Means::Json | Means::Decimal);
    if !is_number || !is_plain(number) || number.len() > MOST_DIGITS {
        return None;
    }
    let unsigned = number.strip_prefix(b"-").unwrap_or(number);
    let point = unsigned.iter().position(|c| *c == b'.').unwrap_or(unsigned.len());
    let fraction = unsigned.get(point + 1..).unwrap_or_default();
    let zeros = fraction.iter().rev().take_while(|c| **c == b'0').count();
    let fraction = &fraction[..fraction.len() - zeros];
    let missing = scale.checked_sub(u32::try_from(fraction.len()).ok()?)?;
    let mut units: i128 = 0;
    for digit in unsigned[..point].iter().chain(fraction) {
        units = units.checked_mul(10)?.checked_add(i128::from(digit - b'0'))?;
    }
    let units = units.checked_mul(10_i128.checked_pow(missing)?)?;
    let has_room = units < 10_i128.checked_pow(u32::from(precision))?;
    has_room.then_some(if number.len() > unsigned.len() { -units } else { units })
}

/// Tell whether a text is digits, with a sign and a point at most.
fn is_plain(text: &[u8]) -> bool {
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    let mut parts = unsigned.split(|c| *c == b'.');
    let is_digits = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    parts.next().is_some_and(is_digits) && parts.next().is_none_or(is_digits) && parts.next().is_none()
}
