use crate::json::base64::{byte_count, decode, encode};

/// Bytes of any length are encoded as RFC 4648 says, and come back.
#[test]
fn encodes_and_decodes() {
    let known = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
    for (bytes, expected) in known {
        let mut out = Vec::new();
        encode(bytes.as_bytes(), &mut out);
        assert_eq!(out, expected.as_bytes());
    }
    let all: Vec<u8> = (0..=255).collect();
    for size in 0..all.len() {
        let mut out = Vec::new();
        encode(&all[size..], &mut out);
        assert_eq!(byte_count(&out), Some(all.len() - size));
        assert_eq!(decode(&out).as_deref(), Some(&all[size..]));
    }
}

/// Base64 text must be equal to what its own bytes are encoded to.
#[test]
fn declines_other_text() {
    for text in ["Z", "Zg", "Zg=", "Zh==", "Zm9=", "Zg==Zg==", "====", "=m8=", "Zm8-", "Zm 8", "Zg==\n"] {
        assert_eq!(byte_count(text.as_bytes()), None, "{text}");
        assert_eq!(decode(text.as_bytes()), None, "{text}");
    }
}
