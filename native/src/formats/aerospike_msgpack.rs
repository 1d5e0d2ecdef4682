//! Aerospike messages in MessagePack: the very changes that the JSON form gives.

use super::aerospike::{bins_and_image, key_column, source, times};
use super::rows::{Means, Row};
use super::writing::{member, named, word};
use super::{Adapter, Input, Notes, Options};
use crate::columns::{Columns, Name, Rest};
use crate::json::names::Names;
use crate::json::scan::{Kind, LEVELS, Scan};
use crate::json::text::unescape;
use crate::table::Table;
use crate::table::tape::{Message, Slot};

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

/// Arms of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arm {
    Write,
    Delete,
    LegacyDelete,
}

pub struct AerospikeMsgpack {
    arms: Vec<Arm>,
    image: String,
    names: Names,
    notes: Vec<u8>,
    rows: [Row; 2],
}

impl AerospikeMsgpack {
    pub fn new(table: &Table, options: &Options) -> Option<Self> {
        let has_bins = table.arms_of_rows("Bin")?.iter().all(|bin| table.is_row(bin, BIN));
        if !has_bins || !ROWS.iter().all(|(name, positions)| table.is_row(name, positions)) {
            return None;
        }
        let arm = |title: &str| match title {
            "Write" => Some(Arm::Write),
            "Delete" => Some(Arm::Delete),
            "LegacyDelete" => Some(Arm::LegacyDelete),
            _ => None,
        };
        Some(AerospikeMsgpack {
            arms: table.arms_of_rows("Message")?.into_iter().map(arm).collect::<Option<_>>()?,
            image: options.image.clone(),
            names: Names::default(),
            notes: Vec::new(),
            rows: Default::default(),
        })
    }

    /// Write the bins of a record as its row, and what their values do not show to the notes.
    fn bins(&mut self, bins: &Slot, message: &Message, out: &mut Vec<u8>) -> Option<()> {
        self.notes.clear();
        self.names.clear();
        self.rows[1].begin(out);
        for (_, bin) in message.elements(bins) {
            let [name, kind, flags, value] = std::array::from_fn(|i| message.field(bin, i));
            let text = message.content(name)?;
            self.names.add(0, message.text, name.start as usize + 1, name.end as usize - 1)?;
            self.rows[1].name(&[text], out);
            if kind.value == GEOJSON {
                geojson(value, message, out)?;
            } else {
                message.write(value, out)?;
            }
            self.rows[1].end_value(means(kind.value, value, message.raw(value)), out);
            if !PLAIN.contains(&kind.value) || flags.value != 0 {
                note(text, kind.value, flags.value, &mut self.notes);
            }
        }
        out.push(b'}');
        Some(())
    }

    fn write(&mut self, payload: &Slot, message: &Message, columns: &mut Columns) -> Option<Rest> {
        let [key, generation, exp, lut, bins] = std::array::from_fn(|i| message.field(payload, i));
        self.bins(bins, message, columns.of(Name::After).open())?;
        let is_empty = columns.text(Name::After) == Some(b"{}");
        let out = attributes(key, message, columns)?;
        for (name, slot) in [("gen", generation), ("exp", exp), ("lut", lut)] {
            member(name, slot, message, out)?;
        }
        bins_and_image(&self.notes, if is_empty { "keys" } else { &self.image }, out);
        out.push(b'}');
        Some(Rest { is_empty_image: is_empty, ..times(generation, lut) })
    }
}

impl Adapter for AerospikeMsgpack {
    fn rows(&self) -> &[Row; 2] {
        &self.rows
    }

    fn row(&mut self, input: &Input, columns: &mut Columns, _: &mut Notes) -> Option<Rest> {
        let message = &input.message;
        let arm = *self.arms.get(usize::try_from(input.root.value).ok()?)?;
        let payload = message.field(&input.root, 2);
        let op: &[u8] = if arm == Arm::Write { b"upsert" } else { b"delete" };
        columns.of(Name::Op).put(op);
        match arm {
            Arm::Write => self.write(payload, message, columns),
            Arm::Delete | Arm::LegacyDelete => delete(arm, payload, message, columns),
        }
    }
}

fn delete(arm: Arm, payload: &Slot, message: &Message, columns: &mut Columns) -> Option<Rest> {
    let [key, flags, generation, exp, lut] = std::array::from_fn(|i| message.field(payload, i));
    let out = attributes(key, message, columns)?;
    let mut rest = Rest::default();
    if arm == Arm::Delete {
        for (name, slot) in [("gen", generation), ("exp", exp), ("lut", lut)] {
            member(name, slot, message, out)?;
        }
        rest = times(generation, lut);
    }
    if flags.value & !DURABLE != 0 {
        member("flags", flags, message, out)?;
    }
    named("durable", out);
    out.extend_from_slice(if flags.value & DURABLE == 0 { b"false}" } else { b"true}" });
    Some(rest)
}

/// Write the place of a record and its key, and begin its attributes.
fn attributes<'c>(key: &Slot, message: &Message, columns: &'c mut Columns) -> Option<&'c mut Vec<u8>> {
    let [namespace, set, digest, user_key] = std::array::from_fn(|i| message.field(key, i));
    source([namespace, set], message, columns)?;
    key_column(digest, message, columns)?;
    let out = columns.of(Name::Attributes).open();
    out.push(b'{');
    member("set", set, message, out)?;
    member("user_key", user_key, message, out)?;
    Some(out)
}

/// Write what the column of a bin does not show of its type, if there is something.
fn note(name: &[u8], kind: i64, flags: i64, out: &mut Vec<u8>) {
    let start = out.len();
    if !out.is_empty() {
        out.push(b',');
    }
    out.push(b'"');
    out.extend_from_slice(name);
    out.extend_from_slice(b"\":{");
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
    named(name, out);
    out.extend_from_slice(value.to_string().as_bytes());
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
fn geojson(slot: &Slot, message: &Message, out: &mut Vec<u8>) -> Option<()> {
    let raw = message.raw(slot);
    let mut text = Vec::with_capacity(raw.len());
    unescape(raw.get(1..raw.len() - 1)?, &mut text)?;
    let mut scan = Scan::new(&text, false);
    scan.blanks();
    let start = scan.at;
    scan.skip(&mut Names::default(), LEVELS)?;
    let end = scan.at;
    scan.blanks();
    if scan.at < text.len() {
        return None;
    }
    let mut scan = Scan::new(&text[..end], false);
    scan.at = start;
    scan.write(out)
}
