//! Values of rows to the types of their columns: exactly, or not at all.

use super::collections::Nested;
use super::kinds::{ColumnKind, Reading};
use super::store::Store;
use crate::json::base64::decode;
use crate::json::names::Names;
use crate::json::number::{Number, has_bits, is_decimal, number, parsed};
use crate::json::scan::{LEVELS, Scan};
use crate::json::text::unescape;
use crate::json::times::{DAY, TIMES, read_date, read_time};
use crate::rows::Means;
use crate::why::{Done, Why};

/// Integers that a double holds whatever they are.
const EXACT: u64 = 1 << 53;

/// Digits of a number that a double gives back whatever they are (IEEE 754).
const DIGITS: usize = 15;

/// Bytes of the text of a number at most.
const MOST_DIGITS: usize = 60;

/// Put a value into its column, unless it is null; it is declined if it does not fit, or this is not seen.
pub fn put(kind: &ColumnKind, means: Means, text: &[u8], store: &mut Store) -> Done {
    match store {
        _ if text == b"null" => Ok(()),
        Store::Nested(store) => nested(kind, means, text, store),
        store => scalar(kind, means, text, store).ok_or(Why::Row),
    }
}

/// Put a value into a column of arrays, maps or structs: values within it are those of JSON.
fn nested(kind: &ColumnKind, means: Means, text: &[u8], store: &mut Nested) -> Done {
    if means != Means::Json && !means.is_of_log() {
        return Err(Why::Row);
    }
    store.open();
    let mut scan = Scan::new(text);
    match kind {
        ColumnKind::List(item) => scan.array(|scan| {
            put(item, means, value(scan)?, &mut store.items[0])?;
            store.end_item(false);
            Ok(())
        }),
        ColumnKind::Map(item) => scan.object(|scan, name| {
            let [Store::Texts(names), values] = store.items.as_mut_slice() else { return Err(Why::Row) };
            unescape(name.content, names.open()).ok_or(Why::Row)?;
            put(item, means, value(scan)?, values)?;
            store.end_item(false);
            Ok(())
        }),
        // A member that has no field is declined.
        ColumnKind::Struct(kinds) => scan.object(|scan, name| {
            let name = name.plain().ok_or(Why::Row)?;
            let place = kinds.iter().position(|(other, _)| other == name).ok_or(Why::Row)?;
            put(&kinds[place].1, means, value(scan)?, &mut store.items[place])
        }),
        _ => Err(Why::Row),
    }
}

/// Return the text of the value on which the cursor stands.
fn value<'t>(scan: &mut Scan<'t>) -> Done<&'t [u8]> {
    let start = scan.at;
    scan.skip(&mut Names::default(), LEVELS)?;
    Ok(&scan.text[start..scan.at])
}

fn scalar(kind: &ColumnKind, means: Means, text: &[u8], store: &mut Store) -> Option<()> {
    match (kind, store) {
        (
            ColumnKind::Boolean | ColumnKind::Integer(_) | ColumnKind::Date | ColumnKind::Time(_),
            Store::Integers(store),
        ) => store.value = Some(integer(kind, means, text)?),
        (ColumnKind::Double, Store::Floats(store)) => store.value = Some(double(means, text)?),
        (ColumnKind::Single, Store::Floats(store)) => store.value = Some(single(means, text)?),
        (ColumnKind::Decimal(precision, scale), Store::Decimals(store)) => {
            store.value = Some(decimal(means, text, *precision, u32::try_from(*scale).ok()?)?);
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
            read_date(text).or_else(|| Some(read_time(text).filter(|(clock, _)| clock % DAY == 0)?.0 / DAY))
        }
        ColumnKind::Time(is_clock) if is_of_log || means == Means::Time => {
            let (clock, offset) = read_time(content(text)?)?;
            Some(if *is_clock { clock } else { clock - offset }).filter(|time| TIMES.contains(time))
        }
        _ => None,
    }
}

/// Return the double that is a number, or has its digits.
fn double(means: Means, text: &[u8]) -> Option<f64> {
    let text = match means {
        Means::Json | Means::KeyText => text,
        Means::ChangeText => content(text).unwrap_or(text),
        Means::Decimal => content(text).filter(|text| is_decimal(text) && text.len() <= DIGITS)?,
        _ => return None,
    };
    let is_exact = |found: Number| {
        found.len == text.len() && found.integer.is_none_or(|value| value.unsigned_abs() <= EXACT)
    };
    parsed(text).filter(|_| means == Means::Decimal || number(text).is_some_and(is_exact))
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
    if !is_number || !is_decimal(number) || number.len() > MOST_DIGITS {
        return None;
    }
    let point = number.iter().position(|c| *c == b'.').unwrap_or(number.len());
    let fraction = number.get(point + 1..).unwrap_or_default();
    let zeros = fraction.iter().rev().take_while(|c| **c == b'0').count();
    let fraction = &fraction[..fraction.len() - zeros];
    let missing = scale.checked_sub(u32::try_from(fraction.len()).ok()?)?;
    let digits: i128 = parsed(&[&number[..point], fraction].concat())?;
    let units = digits.checked_mul(10_i128.checked_pow(missing)?)?;
    (units.unsigned_abs() < 10_u128.checked_pow(u32::from(precision))?).then_some(units)
}
