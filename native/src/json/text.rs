//! Strings: their escapes, as msgspec writes them.

/// Write the content of a JSON string again, with its quotes, as msgspec writes it.
pub fn write_text(content: &[u8], is_escaped: bool, out: &mut Vec<u8>) -> Option<()> {
    out.push(b'"');
    if is_escaped {
        for_each_char(content, |c| write_char(c, out))?;
    } else {
        out.extend_from_slice(content);
    }
    out.push(b'"');
    Some(())
}

/// Write a text as a JSON string, as msgspec writes it.
pub fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    if text.bytes().any(|c| c < b' ' || c == b'"' || c == b'\\') {
        text.chars().for_each(|c| write_char(c, out));
    } else {
        out.extend_from_slice(text.as_bytes());
    }
    out.push(b'"');
}

/// Tell whether all escapes in the content of a JSON string are known.
pub fn is_unescapable(content: &[u8]) -> bool {
    for_each_char(content, |_| {}).is_some()
}

/// Append what the content of a JSON string stands for.
pub fn unescape(content: &[u8], out: &mut Vec<u8>) -> Option<()> {
    for_each_char(content, |c| out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()))
}

fn for_each_char(content: &[u8], mut each: impl FnMut(char)) -> Option<()> {
    let mut rest = std::str::from_utf8(content).ok()?.chars();
    while let Some(c) = rest.next() {
        each(if c == '\\' { escaped(&mut rest)? } else { c });
    }
    Some(())
}

fn escaped(rest: &mut std::str::Chars) -> Option<char> {
    Some(match rest.next()? {
        '"' => '"',
        '\\' => '\\',
        '/' => '/',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'u' => unicode(rest)?,
        _ => return None,
    })
}

/// Return the character of an escape with four digits, or of two that are a surrogate pair.
fn unicode(rest: &mut std::str::Chars) -> Option<char> {
    let high = hex(rest)?;
    if !(0xd800..0xdc00).contains(&high) {
        return char::from_u32(high);
    }
    let follows = rest.next()? == '\\' && rest.next()? == 'u';
    let low = if follows { hex(rest)? } else { 0 };
    if !(0xdc00..0xe000).contains(&low) {
        return None;
    }
    char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))
}

fn hex(rest: &mut std::str::Chars) -> Option<u32> {
    let mut value = 0;
    for _ in 0..4 {
        value = value * 16 + rest.next()?.to_digit(16)?;
    }
    Some(value)
}

fn write_char(c: char, out: &mut Vec<u8>) {
    let short = match c {
        '"' | '\\' => c,
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{c}' => 'f',
        '\r' => 'r',
        c if c < ' ' => {
            out.extend_from_slice(format!("\\u{:04x}", c as u32).as_bytes());
            return;
        }
        c => {
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short as u8]);
}
