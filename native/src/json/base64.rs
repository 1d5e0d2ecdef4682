//! Base64 text that is what its own bytes are encoded to again (RFC 4648, section 4).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Return how many bytes a text stands for; none if it is not Base64.
pub fn byte_count(text: &[u8]) -> Option<usize> {
    decode(text).map(|bytes| bytes.len())
}

/// Write bytes as Base64 text.
pub fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(STANDARD.encode(bytes).as_bytes());
}

/// Return the bytes that Base64 text stands for. Text whose unused bits are not 0 is declined: Python would
/// write it otherwise.
pub fn decode(text: &[u8]) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}
