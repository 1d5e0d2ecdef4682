//! Values of rows to the types of their columns: exactly, or not at all.

use super::collections::Nested;
use super::kinds::ColumnKind;
use super::store::Store;
use crate::json::base64::decode;
use crate::json::names::Names;
use crate::json::number::{Number, has_bits, is_decimal, number, parsed};
use crate::json::scan::{LEVELS, Scan};
use crate::json::text::unescape;
use crate::json::times::{DAY, TIMES, read_date, read_time};
use crate::why::{Done, Why};

/// Integers that a double holds whatever they are.
const EXACT: u64 = 1 << 53;

/// Bytes of the text of a number at most.
const MOST_DIGITS: usize = 60;

/// Put a value into its column, unless it is null; it is declined if it does not fit, or this is not seen.
pub fn put(kind: &ColumnKind, text: &[u8], store: &mut Store) -> Done {
    match store {
        _ if text == b"null" => Ok(()),
        Store::Nested(store) => nested(kind, text, store),
        store => scalar(kind, text, store).ok_or(Why::Row),
    }
}

/// Put a value into a column of arrays, maps or structs.
fn nested(kind: &ColumnKind, text: &[u8], store: &mut Nested) -> Done {
    store.open();
    let mut scan = Scan::new(text);
    match kind {
        ColumnKind::List(item) => scan.array(|scan| {
            put(item, value(scan)?, &mut store.items[0])?;
            store.end_item(false);
            Ok(())
        }),
        ColumnKind::Map(item) => scan.object(|scan, name| {
            let [Store::Texts(names), values] = store.items.as_mut_slice() else { return Err(Why::Row) };
            unescape(name.content, names.open()).ok_or(Why::Row)?;
            put(item, value(scan)?, values)?;
            store.end_item(false);
            Ok(())
        }),
        // A member that has no field is declined.
        ColumnKind::Struct(places, kinds) => scan.object(|scan, name| {
            let place = *name.plain().and_then(|name| places.get(name)).ok_or(Why::Row)?;
            put(&kinds[place], value(scan)?, &mut store.items[place])
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

fn scalar(kind: &ColumnKind, text: &[u8], store: &mut Store) -> Option<()> {
    match (kind, store) {
        (
            ColumnKind::Boolean | ColumnKind::Integer(_) | ColumnKind::Date | ColumnKind::Time(_),
            Store::Integers(store),
        ) => store.value = Some(integer(kind, text)?),
        (ColumnKind::Double, Store::Floats(store)) => store.value = Some(double(text)?),
        (ColumnKind::Single, Store::Floats(store)) => store.value = Some(single(text)?),
        (ColumnKind::Decimal(precision, scale), Store::Decimals(store)) => {
            store.value = Some(decimal(text, *precision, u32::try_from(*scale).ok()?)?);
        }
        (ColumnKind::Text | ColumnKind::Json, Store::Texts(store)) => {
            match content(text).filter(|_| *kind != ColumnKind::Json) {
                Some(content) => unescape(content, store.open())?,
                None => Scan::new(text).write(store.open()).ok()?,
            }
        }
        (ColumnKind::Bytes, Store::Texts(store)) => store.put(&decode(content(text)?)?),
        _ => return None,
    }
    Some(())
}

/// Return what stands between the quotes of a text.
fn content(text: &[u8]) -> Option<&[u8]> {
    text.strip_prefix(b"\"")?.strip_suffix(b"\"")
}

fn integer(kind: &ColumnKind, text: &[u8]) -> Option<i64> {
    match kind {
        ColumnKind::Boolean if text == b"true" => Some(1),
        ColumnKind::Boolean if text == b"false" => Some(0),
        ColumnKind::Integer(bits) => parsed(text).filter(|value| has_bits(*value, *bits)),
        ColumnKind::Date => {
            let text = content(text)?;
            read_date(text).or_else(|| Some(read_time(text).filter(|(clock, _)| clock % DAY == 0)?.0 / DAY))
        }
        ColumnKind::Time(is_clock) => {
            let (clock, offset) = read_time(content(text)?)?;
            Some(if *is_clock { clock } else { clock - offset }).filter(|time| TIMES.contains(time))
        }
        _ => None,
    }
}

/// Return the double that is a number, or has its digits.
fn double(text: &[u8]) -> Option<f64> {
    let text = content(text).unwrap_or(text);
    let is_exact = |found: Number| {
        found.len == text.len() && found.integer.is_none_or(|value| value.unsigned_abs() <= EXACT)
    };
    parsed(text).filter(|_| number(text).is_some_and(is_exact))
}

/// Return the single that is nearest to a number, if it has its digits.
#[allow(clippy::cast_possible_truncation)] // that is what is asked
fn single(text: &[u8]) -> Option<f64> {
    let value = double(text)?;
    let single = Some(value as f32).filter(|single| single.is_finite())?;
    (parsed(single.to_string().as_bytes()) == Some(value)).then(|| f64::from(single))
}

/// Return a number, or numeric text, as so many units of its last digit.
fn decimal(text: &[u8], precision: u8, scale: u32) -> Option<i128> {
    let number = content(text).unwrap_or(text);
    if !is_decimal(number) || number.len() > MOST_DIGITS {
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
