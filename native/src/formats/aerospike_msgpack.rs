//! Aerospike messages in MessagePack: the very changes that the JSON form gives.

use super::bound::known_arm;
use super::change_table::ChangeTable;
use super::members::members;
use super::{Adapter, Input, Options, Scratch};
use crate::columns::{Columns, Name, Rest};
use crate::json::names::Names;
use crate::json::scan::{LEVELS, Scan};
use crate::json::text::unescape;
use crate::json::writing::named;
use crate::table::tape::{Message, Slot};
use crate::table::{Meaning, Table};
use crate::why::{Done, Why};

/// Types of bins whose values show them.
const SHOWN: [&str; 4] = ["IntegerBin", "DoubleBin", "StringBin", "BooleanBin"];

/// A type of bins, flags that they may have, and what is noted for both, as an object.
struct Particle {
    kind: i64,
    flags: i64,
    note: String,
}

pub struct AerospikeMsgpack {
    table: ChangeTable,
    particles: Vec<Particle>,
    /// The type of bins whose text is JSON.
    geojson: i64,
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

impl Particle {
    fn all(table: &Table) -> Option<Vec<Self>> {
        let of = |title, flags, note| Some(Particle { kind: kind_of(title, table)?, flags, note });
        let mut found = Vec::from(SHOWN.map(|title| of(title, 0, String::new())));
        found.push(of("BlobBin", 0, r#"{"type":"blob"}"#.to_owned()));
        found.push(of("GeojsonBin", 0, r#"{"type":"geojson"}"#.to_owned()));
        for known in table.values.get("MapBin.flags")? {
            let note = match known.means.as_str() {
                "unordered" => String::new(),
                order => format!(r#"{{"type":"map","order":"{order}"}}"#),
            };
            found.push(of("MapBin", known.value.as_i64()?, note));
        }
        for known in table.values.get("ListBin.flags")? {
            let note = format!(r#"{{"type":"list","ordered":{}}}"#, known.means == "ordered");
            found.push(of("ListBin", known.value.as_i64()?, note));
        }
        found.into_iter().collect()
    }
}

impl AerospikeMsgpack {
    pub fn new(table: &Table, options: &Options) -> Option<Self> {
        let bins: Vec<&str> = table.arms_of_rows("Bin")?.into_iter().map(|(label, _)| label).collect();
        let payloads = ["WritePayload", "DeletePayload", "LegacyDeletePayload"];
        let durable = |known: &Meaning| (known.means == "durable").then(|| known.value.as_i64());
        Some(AerospikeMsgpack {
            particles: Particle::all(table)?,
            geojson: kind_of("GeojsonBin", table)?,
            table: ChangeTable::new(table, options)?,
            durable: table.values.get("DeletePayload.flags")?.iter().find_map(durable)??,
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

    /// Write the bins of a record as its row, and what their values do not show to the notes; rare types of
    /// bins are declined.
    fn bins(&self, bins: &Slot, message: &Message, scratch: &mut Scratch, out: &mut Vec<u8>) -> Done {
        scratch.begin_bins(out);
        for bin in message.elements(bins) {
            let [name, kind, flags, value] = self.bin.map(|i| message.field(bin, i));
            scratch.begin_bin(name, message, out)?;
            let is_geojson = kind.value == self.geojson;
            if is_geojson {
                geojson(value, message, out)?;
            } else {
                message.write(value, out)?;
            }
            let is_it = |known: &&Particle| known.kind == kind.value && known.flags == flags.value;
            let note = &self.particles.iter().find(is_it).ok_or(Why::Meaning)?.note;
            if !note.is_empty() {
                named(message.content(name).unwrap_or_default(), &mut scratch.bins);
                scratch.bins.extend_from_slice(note.as_bytes());
            }
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

/// Return the number of a type of bins.
fn kind_of(title: &str, table: &Table) -> Option<i64> {
    table.arms_of_rows("Bin")?.iter().find(|(label, _)| *label == title)?.1
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
