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
    // All at once: without a way out of the loop, it takes half the time.
    let worst = body.iter().fold(0, |worst, c| worst | SEXTETS[usize::from(*c)]);
    if worst >= NONE {
        return None;
    }
    let last = body.last().map_or(0, |c| SEXTETS[usize::from(*c)]);
    let unused = [0, 0b11, 0b1111][padding];
    (last & unused == 0).then_some(text.len() / 4 * 3 - padding)
}

/// Write bytes as Base64 text.
pub fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    for group in bytes.chunks(3) {
        let word = (0..3).fold(0, |word, i| word << 8 | u32::from(group.get(i).copied().unwrap_or_default()));
        let sextets = [18, 12, 6, 0].map(|shift| ALPHABET[(word >> shift & 0x3f) as usize]);
        let count = group.len() + 1;
        out.extend_from_slice(&sextets[..count]);
        out.extend(std::iter::repeat_n(PAD, 4 - count));
    }
}

/// Return the bytes that Base64 text stands for.
pub fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut found = Vec::with_capacity(byte_count(text)?);
    let (mut word, mut bits) = (0_u32, 0);
    for c in text.iter().filter(|c| **c != PAD) {
        word = word << 6 | u32::from(SEXTETS[usize::from(*c)]);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            found.push(u8::try_from(word >> bits & 0xff).ok()?);
        }
    }
    Some(found)
}

const NONE: u8 = 64;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// What each character of the alphabet stands for; `NONE` for others.
static SEXTETS: [u8; 256] = {
    let alphabet = ALPHABET;
    let mut sextets = [NONE; 256];
    let mut i = 0;
    while i < alphabet.len() {
        #[allow(clippy::cast_possible_truncation)] // the alphabet has 64 characters
        let sextet = i as u8;
        sextets[alphabet[i] as usize] = sextet;
        i += 1;
    }
    sextets
};
