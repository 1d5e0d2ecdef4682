//! Tests of what Python cannot see: parts by themselves, states, and how much work a message is.

mod base64;
mod cache;
mod columns;
mod names;
mod numbers;
mod scanning;
mod text;
mod times;
mod work;

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}
