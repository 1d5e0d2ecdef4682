//! Base64 text that is what its own bytes are encoded to again.

const PAD: u8 = b'=';

/// Return how many bytes Base64 text stands for (RFC 4648, section 4). Text whose unused bits are
/// not 0 is declined: Python would write it otherwise.
pub fn byte_count(text: &[u8]) -> Option<usize> {
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let padding = text.iter().rev().take(2).take_while(|c| **c == PAD).count();
    let body = &text[..text.len() - padding];
    let mut last = 0;
    for c in body {
        last = sextet(*c)?;
    }
    let unused = [0, 0b11, 0b1111][padding];
    (last & unused == 0).then_some(text.len() / 4 * 3 - padding)
}

/// Return the bytes that Base64 text stands for.
pub fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut found = Vec::with_capacity(byte_count(text)?);
    let (mut word, mut bits) = (0_u32, 0);
    for c in text.iter().filter(|c| **c != PAD) {
        word = word << 6 | u32::from(sextet(*c)?);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            found.push(u8::try_from(word >> bits & 0xff).ok()?);
        }
    }
    Some(found)
}

fn sextet(c: u8) -> Option<u8> {
    Some(match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}
