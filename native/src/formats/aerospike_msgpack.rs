//! Aerospike messages in MessagePack: the very changes that the JSON form gives.

use super::aerospike::{DIGEST, bins_and_image, record};
use super::bound::known_arm;
use super::change_table::ChangeTable;
use super::members::members;
use super::{Adapter, Input, Options, Scratch};
use crate::columns::{Columns, Name, Rest};
use crate::json::names::Names;
use crate::json::number::write_integer;
use crate::json::scan::{Kind, LEVELS, Scan};
use crate::json::text::unescape;
use crate::json::writing::{named, word};
use crate::rows::Means;
use crate::table::Table;
use crate::table::tape::{Message, Slot};
use crate::why::{Done, Why};

/// Rows that the adapter gives a meaning to, and their positions.
const ROWS: [(&str, &[&str]); 7] = [
    ("Write", MESSAGE),
    ("Delete", MESSAGE),
    ("LegacyDelete", MESSAGE),
    ("WritePayload", &["key", "gen", "exp", "lut", "bins"]),
    ("DeletePayload", &["key", "flags", "gen", "exp", "lut"]),
    ("LegacyDeletePayload", &["key", "flags"]),
    ("Key", &["namespace", "set", "digest", "user_key"]),
];
/// Positions of a message and of its payload.
const PAYLOAD: usize = 2;
const FLAGS: usize = 1;
const BINS: usize = 4;
const MESSAGE: &[&str] = &["version", "type", "payload"];
const BIN: &[&str] = &["name", "type", "flags", "value"];

/// Particle types.
const BLOB: i64 = 4;
const MAP: i64 = 19;
const LIST: i64 = 20;
const GEOJSON: i64 = 23;

/// Types whose values show them, and that have nothing more to say.
const PLAIN: [i64; 4] = [1, 2, 3, 17];

/// Types that the JSON form has words for.
const WORDS: [(i64, &str); 4] = [(BLOB, "blob"), (MAP, "map"), (LIST, "list"), (GEOJSON, "geojson")];

/// Flag of a delete that left a tombstone on the server.
const DURABLE: i64 = 1;

pub struct AerospikeMsgpack {
    table: ChangeTable,
    image: String,
}

impl AerospikeMsgpack {
    pub fn new(table: &Table, options: &Options) -> Option<Self> {
        let has_bins = table.arms_of_rows("Bin")?.iter().all(|bin| table.is_row(bin, BIN));
        if !has_bins || !ROWS.iter().all(|(name, positions)| table.is_row(name, positions)) {
            return None;
        }
        Some(AerospikeMsgpack { table: ChangeTable::new(table)?, image: options.row_image.clone() })
    }
}

impl Adapter for AerospikeMsgpack {
    fn row(&self, input: &Input, scratch: &mut Scratch, columns: &mut Columns) -> Done<Rest> {
        let message = &input.message;
        let op = known_arm(&self.table.ops, &input.root)?;
        let payload = message.field(&input.root, PAYLOAD);
        let key = message.field(payload, 0);
        let rest = self.table.rest(message, &input.root);
        if op == "delete" {
            let out = record(&self.table, op, message.field(key, DIGEST), &[], input, columns)?;
            write_flags(message.field(payload, FLAGS), message, out)?;
            return Ok(rest);
        }
        let all_bins = message.field(payload, BINS);
        bins(all_bins, message, scratch, columns.of(Name::After).open())?;
        let is_empty = columns.text(Name::After) == Some(b"{}");
        let out = record(&self.table, op, message.field(key, DIGEST), &[], input, columns)?;
        bins_and_image(&scratch.bins, if is_empty { "keys" } else { &self.image }, out);
        out.push(b'}');
        Ok(Rest { is_empty_image: is_empty, ..rest })
    }
}

/// Write the flags of a delete, and end its attributes.
fn write_flags(flags: &Slot, message: &Message, out: &mut Vec<u8>) -> Done {
    if flags.value & !DURABLE != 0 {
        members(&[("flags", flags)], message, out)?;
    }
    named(b"durable", out);
    out.extend_from_slice(if flags.value & DURABLE == 0 { b"false}" } else { b"true}" });
    Ok(())
}

/// Write the bins of a record as its row, and what their values do not show to the notes.
fn bins(bins: &Slot, message: &Message, scratch: &mut Scratch, out: &mut Vec<u8>) -> Done {
    scratch.begin_bins(out);
    for bin in message.elements(bins) {
        let [name, kind, flags, value] = std::array::from_fn(|i| message.field(bin, i));
        scratch.begin_bin(name, message, out)?;
        if kind.value == GEOJSON {
            geojson(value, message, out)?;
        } else {
            message.write(value, out)?;
        }
        scratch.rows[1].end_value(means(kind.value, value, message.raw(value)), out);
        if !PLAIN.contains(&kind.value) || flags.value != 0 {
            note(message.content(name).unwrap_or_default(), kind.value, flags.value, &mut scratch.bins);
        }
    }
    out.push(b'}');
    Ok(())
}

/// Write what the column of a bin does not show of its type, if there is something.
fn note(name: &[u8], kind: i64, flags: i64, out: &mut Vec<u8>) {
    let start = out.len();
    named(name, out);
    out.push(b'{');
    match (kind, flags) {
        (LIST, 0) => out.extend_from_slice(b"\"type\":\"list\",\"ordered\":false"),
        (LIST, 1) => out.extend_from_slice(b"\"type\":\"list\",\"ordered\":true"),
        (MAP, 0) => return out.truncate(start),
        (MAP, 1) => out.extend_from_slice(b"\"type\":\"map\",\"order\":\"key\""),
        (MAP, 3) => out.extend_from_slice(b"\"type\":\"map\",\"order\":\"key-value\""),
        _ => {
            if !PLAIN.contains(&kind) {
                match WORDS.iter().find(|(known, _)| *known == kind) {
                    Some((_, text)) => word("type", text, out),
                    None => number("type", kind, out),
                }
            }
            if flags != 0 {
                number("flags", flags, out);
            }
        }
    }
    out.push(b'}');
}

fn number(name: &str, value: i64, out: &mut Vec<u8>) {
    named(name.as_bytes(), out);
    write_integer(value, out);
}

/// Return what the value of a bin is.
fn means(kind: i64, value: &Slot, text: &[u8]) -> Means {
    match value.kind {
        _ if kind == GEOJSON => Means::Unknown,
        Kind::Bytes => Means::Bytes,
        Kind::Array | Kind::Object | Kind::Pairs if !value.is_plain && has_marks(text) => Means::Unknown,
        _ => Means::Json,
    }
}

/// Tell whether there are values in a text that JSON lacks.
fn has_marks(text: &[u8]) -> bool {
    let mut rest = text.iter();
    while let Some(c) = rest.next() {
        match c {
            b'"' => {
                while rest.next().is_some_and(|c| *c != b'"' && (*c != b'\\' || rest.next().is_some())) {}
            }
            b'\'' | b'~' | b'(' => return true,
            _ => {}
        }
    }
    false
}

/// Write the JSON value that a text holds; a text that the kernel does not read is declined.
fn geojson(slot: &Slot, message: &Message, out: &mut Vec<u8>) -> Done {
    let raw = message.raw(slot);
    let mut text = Vec::with_capacity(raw.len());
    raw.get(1..raw.len() - 1).and_then(|content| unescape(content, &mut text)).ok_or(Why::Value)?;
    let mut scan = Scan::new(&text, false);
    scan.blanks();
    let start = scan.at;
    scan.skip(&mut Names::default(), LEVELS)?;
    let end = scan.at;
    if !scan.is_at_end() {
        return Err(Why::Value);
    }
    let mut scan = Scan::new(&text[..end], false);
    scan.at = start;
    scan.write(out)
}
