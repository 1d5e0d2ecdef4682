//! Aerospike messages in MessagePack: the very changes that the JSON form gives.

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
use crate::table::tape::{Message, Slot};
use crate::table::{Meaning, Table};
use crate::why::{Done, Why};

/// Types of bins, and their words in the JSON form; none of types whose values show them.
const WORDS: [(&str, &str); 8] = [
    ("IntegerBin", ""),
    ("DoubleBin", ""),
    ("StringBin", ""),
    ("BooleanBin", ""),
    ("BlobBin", "blob"),
    ("MapBin", "map"),
    ("ListBin", "list"),
    ("GeojsonBin", "geojson"),
];

/// What the numbers in bins mean.
struct Particles {
    words: Vec<(i64, &'static str)>,
    geojson: i64,
    flags: Vec<Flags>,
}

/// Flags of bins of a type, and what is noted for them, as JSON: nothing for maps without order.
struct Flags {
    kind: i64,
    value: i64,
    name: &'static str,
    text: String,
}

pub struct AerospikeMsgpack {
    table: ChangeTable,
    particles: Particles,
    /// Flag of a delete that left a tombstone on the server.
    durable: i64,
    /// Positions in a message, in its payload, in a key and in a bin.
    payload: usize,
    key: usize,
    flags: usize,
    bins: usize,
    digest: usize,
    bin: [usize; 4],
}

impl Particles {
    fn new(table: &Table) -> Option<Self> {
        let arms = table.arms_of_rows("Bin")?;
        let tag = |title: &str| arms.iter().find(|(label, _)| *label == title)?.1;
        let words = WORDS.into_iter().map(|(title, word)| Some((tag(title)?, word)));
        let mut flags = Vec::new();
        for known in table.values("MapBin.flags")? {
            let is_noted = known.means != "unordered";
            let text = if is_noted { format!("\"{}\"", known.means) } else { String::new() };
            flags.push(Flags { kind: tag("MapBin")?, value: known.value.as_i64()?, name: "order", text });
        }
        for known in table.values("ListBin.flags")? {
            let text = (known.means == "ordered").to_string();
            flags.push(Flags { kind: tag("ListBin")?, value: known.value.as_i64()?, name: "ordered", text });
        }
        Some(Particles { words: words.collect::<Option<_>>()?, geojson: tag("GeojsonBin")?, flags })
    }

    /// Write what the column of a bin does not show of its type, if there is something.
    fn note(&self, name: &[u8], kind: i64, flags: i64, out: &mut Vec<u8>) {
        let found = self.words.iter().find(|(known, _)| *known == kind).map(|(_, word)| *word);
        let known = self.flags.iter().find(|known| known.kind == kind && known.value == flags);
        if (found == Some("") && flags == 0) || known.is_some_and(|known| known.text.is_empty()) {
            return;
        }
        named(name, out);
        out.push(b'{');
        match found {
            Some("") => {}
            Some(text) => word("type", text, out),
            None => number("type", kind, out),
        }
        if let Some(Flags { name, text, .. }) = known {
            named(name.as_bytes(), out);
            out.extend_from_slice(text.as_bytes());
        } else if flags != 0 {
            number("flags", flags, out);
        }
        out.push(b'}');
    }
}

impl AerospikeMsgpack {
    pub fn new(table: &Table, options: &Options) -> Option<Self> {
        let bins: Vec<&str> = table.arms_of_rows("Bin")?.into_iter().map(|(label, _)| label).collect();
        let payloads = ["WritePayload", "DeletePayload", "LegacyDeletePayload"];
        let durable = |known: &Meaning| (known.means == "durable").then(|| known.value.as_i64());
        Some(AerospikeMsgpack {
            particles: Particles::new(table)?,
            table: ChangeTable::new(table, options)?,
            durable: table.values("DeletePayload.flags")?.iter().find_map(durable)??,
            payload: table.positions(&["Write", "Delete", "LegacyDelete"], ["payload"])?[0],
            key: table.positions(&payloads, ["key"])?[0],
            flags: table.positions(&payloads[1..], ["flags"])?[0],
            bins: table.positions(&payloads[..1], ["bins"])?[0],
            digest: table.positions(&["Key"], ["digest"])?[0],
            bin: table.positions(&bins, ["name", "type", "flags", "value"])?,
        })
    }

    /// Write the flags of a delete.
    fn write_flags(&self, flags: &Slot, message: &Message, out: &mut Vec<u8>) -> Done {
        if flags.value & !self.durable != 0 {
            members(&[("flags", flags)], message, out)?;
        }
        named(b"durable", out);
        out.extend_from_slice(if flags.value & self.durable == 0 { b"false" } else { b"true" });
        Ok(())
    }

    /// Write the bins of a record as its row, and what their values do not show to the notes.
    fn bins(&self, bins: &Slot, message: &Message, scratch: &mut Scratch, out: &mut Vec<u8>) -> Done {
        scratch.begin_bins(out);
        let particles = &self.particles;
        for bin in message.elements(bins) {
            let [name, kind, flags, value] = self.bin.map(|i| message.field(bin, i));
            scratch.begin_bin(name, message, out)?;
            let is_geojson = kind.value == particles.geojson;
            if is_geojson {
                geojson(value, message, out)?;
            } else {
                message.write(value, out)?;
            }
            scratch.rows[1].end_value(means(is_geojson, value), out);
            let name = message.content(name).unwrap_or_default();
            particles.note(name, kind.value, flags.value, &mut scratch.bins);
        }
        out.push(b'}');
        Ok(())
    }
}

impl Adapter for AerospikeMsgpack {
    fn row(&self, input: &Input, scratch: &mut Scratch, columns: &mut Columns) -> Done<Rest> {
        let message = &input.message;
        let op = known_arm(&self.table.ops, &input.root)?;
        let payload = message.field(&input.root, self.payload);
        let digest = message.field(message.field(payload, self.key), self.digest);
        let is_delete = op == "delete";
        if !is_delete {
            let bins = message.field(payload, self.bins);
            self.bins(bins, message, scratch, columns.of(Name::After).open())?;
        }
        let rest = self.table.record(op, digest, &scratch.bins, &[], input, columns)?;
        let out = columns.of(Name::Attributes).open();
        if is_delete {
            self.write_flags(message.field(payload, self.flags), message, out)?;
        }
        out.push(b'}');
        Ok(rest)
    }
}

fn number(name: &str, value: i64, out: &mut Vec<u8>) {
    named(name.as_bytes(), out);
    write_integer(value, out);
}

/// Return what the value of a bin is.
fn means(is_geojson: bool, value: &Slot) -> Means {
    match value.kind {
        _ if is_geojson => Means::Unknown,
        Kind::Bytes => Means::Bytes,
        // It may hold values that JSON lacks.
        Kind::Array | Kind::Object | Kind::Pairs if !value.is_plain => Means::Unknown,
        _ => Means::Json,
    }
}

/// Write the JSON value that a text holds; a text that the kernel does not read is declined.
fn geojson(slot: &Slot, message: &Message, out: &mut Vec<u8>) -> Done {
    let raw = message.raw(slot);
    let mut text = Vec::with_capacity(raw.len());
    raw.get(1..raw.len() - 1).and_then(|content| unescape(content, &mut text)).ok_or(Why::Value)?;
    let mut scan = Scan::new(&text);
    scan.blanks();
    scan.skip(&mut Names::default(), LEVELS)?;
    if scan.is_at_end() { Scan::new(&text).write(out) } else { Err(Why::Value) }
}
