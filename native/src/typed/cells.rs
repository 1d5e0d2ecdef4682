//! Values of rows to the types of their columns: exactly, or not at all.

use super::kinds::{ColumnKind, Reading};
use super::nested;
use super::store::Store;
use crate::json::base64::decode;
use crate::json::number::parsed;
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
    match (kind, store) {
        (kind, store @ (Store::Collection(_) | Store::Struct(_))) => nested(kind, means, text, store),
        (kind, store) => scalar(kind, means, text, store).ok_or(Why::Row),
    }
}

fn nested(kind: &ColumnKind, means: Means, text: &[u8], store: &mut Store) -> Done {
    match (kind, store) {
        _ if means != Means::Json => Err(Why::Row),
        (ColumnKind::List(item), Store::Collection(store)) => nested::list(item, text, store),
        (ColumnKind::Map(item), Store::Collection(store)) => nested::map(item, text, store),
        (ColumnKind::Pairs(kinds), Store::Collection(store)) => nested::pairs(kinds, text, store),
        (ColumnKind::Struct(kinds), Store::Struct(store)) => nested::object(kinds, text, store),
        _ => Err(Why::Row),
    }
}

fn scalar(kind: &ColumnKind, means: Means, text: &[u8], store: &mut Store) -> Option<()> {
    match (kind, store) {
        (
            ColumnKind::Boolean | ColumnKind::Integer(_) | ColumnKind::Date | ColumnKind::Time,
            Store::Integers(store),
        ) => store.put(integer(kind, means, text)?),
        (ColumnKind::Double, Store::Floats(store)) => store.put(double(means, text)?),
        (ColumnKind::Single, Store::Floats(store)) => {
            store.put(double(means, text).filter(|value| is_single(*value))?);
        }
        (ColumnKind::Decimal(precision, scale), Store::Decimals(store)) => {
            store.put(decimal(means, text, *precision, u32::try_from(*scale).ok()?)?);
        }
        (ColumnKind::Text(reading), Store::Texts(store)) => {
            let is_text = match means {
                Means::Json => true,
                Means::Decimal => *reading != Reading::Declared,
                Means::Date | Means::Time => *reading == Reading::Row,
                Means::Bytes | Means::Unknown => false,
            };
            unescape(content(text).filter(|_| is_text)?, store.open())?;
        }
        (ColumnKind::Bytes(reading), Store::Texts(store)) => {
            let is_bytes = means == Means::Bytes || (means == Means::Json && *reading == Reading::Row);
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
    match (kind, means) {
        (ColumnKind::Boolean, Means::Json) if text == b"true" => Some(1),
        (ColumnKind::Boolean, Means::Json) if text == b"false" => Some(0),
        (ColumnKind::Integer(bits), Means::Json) => {
            let value: i64 = parsed(text)?;
            let beyond = value >> (bits - 1);
            (beyond == 0 || beyond == -1).then_some(value)
        }
        (ColumnKind::Date, Means::Date) => read_date(content(text)?),
        (ColumnKind::Date, Means::Time) => {
            read_time(content(text)?).filter(|time| time % DAY == 0).map(|time| time / DAY)
        }
        (ColumnKind::Time, Means::Time) => read_time(content(text)?),
        _ => None,
    }
}

/// Return the double that is a number, or has its digits.
fn double(means: Means, text: &[u8]) -> Option<f64> {
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

#[allow(clippy::cast_possible_truncation)] // that is what is asked
fn is_single(value: f64) -> bool {
    f64::from(value as f32).to_bits() == value.to_bits()
}

/// Return a number, or numeric text, as so many units of its last digit.
fn decimal(means: Means, text: &[u8], precision: u8, scale: u32) -> Option<i128> {
    let number = content(text).unwrap_or(text);
    if !matches!(means, Means::Json | Means::Decimal) || !is_plain(number) || number.len() > MOST_DIGITS {
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
