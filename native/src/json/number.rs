//! Numbers: which the kernel reads, and the text that msgspec writes for them.

use arrow_array::types::{Decimal128Type, DecimalType};

use super::writing::quoted;

/// Digits of a text that binary64 gives back whatever they are (IEEE 754).
const EXACT: usize = 15;

/// Characters of an integer that fits into 64 bits whatever its digits are.
const SHORT: usize = 18;

/// Texts that stand for numbers that JSON lacks.
pub const NOT_FINITE: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];

/// A number of JSON text.
#[derive(Clone, Copy)]
pub struct Number<'a> {
    /// What msgspec writes for it: its text, but for the zeros that a fraction ends with.
    pub text: &'a [u8],
    /// Its value if it is written as an integer.
    pub integer: Option<i64>,
    /// How many bytes its own text has.
    pub len: usize,
}

/// Read the number that text begins with. Exponents, -0, integers beyond 64 bits, tiny and huge
/// numbers are declined, and those that msgspec writes otherwise.
#[inline]
pub fn number(text: &[u8]) -> Option<Number<'_>> {
    let sign = usize::from(text.first() == Some(&b'-'));
    let whole = digits(&text[sign..]);
    if whole == 0 || (whole > 1 && text[sign] == b'0') {
        return None;
    }
    let point = sign + whole;
    match text.get(point) {
        Some(b'.') => fraction(text, point),
        Some(b'e' | b'E') => None,
        _ => {
            let text = &text[..point];
            let integer = value(text).filter(|_| text != b"-0")?;
            Some(Number { text, integer: Some(integer), len: point })
        }
    }
}

/// Return how many digits a text begins with.
#[inline]
pub fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|c| c.is_ascii_digit()).count()
}

/// Tell whether an integer has so many bits at most.
pub fn has_bits(value: i64, bits: u32) -> bool {
    matches!(value >> (bits - 1), 0 | -1)
}

/// Return the value of a text that Rust reads as one of a type.
pub fn parsed<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Return the value of the text of an integer; `None` if it takes more than 64 bits.
fn value(text: &[u8]) -> Option<i64> {
    if text.len() > SHORT {
        return parsed(text);
    }
    let (sign, digits) = text.strip_prefix(b"-").map_or((1, text), |digits| (-1, digits));
    Some(sign * digits.iter().fold(0, |value, c| value * 10 + i64::from(c - b'0')))
}

fn fraction(text: &[u8], point: usize) -> Option<Number<'_>> {
    let count = digits(&text[point + 1..]);
    let end = point + 1 + count;
    if count == 0 || matches!(text.get(end), Some(b'e' | b'E')) {
        return None;
    }
    let zeros = text[point + 2..end].iter().rev().take_while(|c| **c == b'0').count();
    let text = &text[..end - zeros];
    let number = Number { text, integer: None, len: end };
    if text.len() <= EXACT && !text[point + 1..].starts_with(b"000") {
        return Some(number);
    }
    let value = parsed(text).filter(|value| is_written_plainly(*value))?;
    let mut shortest = Vec::with_capacity(24);
    write_float(value, &mut shortest);
    (shortest == text).then_some(number)
}

/// Tell whether a number is written without an exponent.
pub fn is_written_plainly(value: f64) -> bool {
    value == 0.0 || (1e-4..1e16).contains(&value.abs())
}

/// Write a number as msgspec does, one that is written without an exponent.
pub fn write_float(value: f64, out: &mut Vec<u8>) {
    // Of two texts that are as short and as near, msgspec takes the one that ends with an even
    // digit, as Ryu does; the standard library does not.
    out.extend_from_slice(ryu::Buffer::new().format_finite(value).as_bytes());
}

/// Write the float that an integer becomes where the schema asks for a number.
pub fn write_integral(value: i64, out: &mut Vec<u8>) -> Option<()> {
    if value.unsigned_abs() >= 1 << 53 {
        return None;
    }
    write_integer(value, out);
    out.extend_from_slice(b".0");
    Some(())
}

/// Write an integer.
pub fn write_integer(value: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Tell whether a text is digits, with a sign and a point at most.
pub fn is_decimal(text: &[u8]) -> bool {
    let mut parts = text.strip_prefix(b"-").unwrap_or(text).split(|c| *c == b'.');
    let is_digits = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    parts.next().is_some_and(is_digits) && parts.next().is_none_or(is_digits) && parts.next().is_none()
}

/// Write numeric text as Python writes the decimal that it stands for. Text that a decimal is not
/// written as again is declined: with a plus sign, an exponent or superfluous zeros.
pub fn write_decimal(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    // Below 1e-6 Python writes an exponent.
    let is_odd = matches!(unsigned, [b'0', b'0'..=b'9', ..]) || unsigned.starts_with(b"0.00000");
    if is_odd || !is_decimal(text) || text.len() > 100 {
        return None;
    }
    quoted(text, out);
    Some(())
}

/// Write the decimal of an unscaled integer, big-endian in two's complement, as Python does. One of
/// more than 16 bytes, or that Python writes with an exponent, is declined.
pub fn write_unscaled(bytes: &[u8], scale: u32, out: &mut Vec<u8>) -> Option<()> {
    if bytes.is_empty() || bytes.len() > 16 {
        return None;
    }
    let sign = if bytes[0] & 0x80 == 0 { 0 } else { -1_i128 };
    let value = bytes.iter().fold(sign, |value, byte| value << 8 | i128::from(*byte));
    out.push(b'"');
    write_units(value, i8::try_from(scale).ok()?, out)?;
    out.push(b'"');
    Some(())
}

/// Write the decimal of so many units of its last digit, as Python does; one that Python writes with an
/// exponent is declined.
pub fn write_units(units: i128, scale: i8, out: &mut Vec<u8>) -> Option<()> {
    if units.unsigned_abs().to_string().len() + 6 <= usize::from(scale.unsigned_abs()) {
        return None;
    }
    out.extend_from_slice(Decimal128Type::format_decimal(units, u8::MAX, scale).as_bytes());
    Some(())
}
