//! Aerospike messages in JSON: bins become columns, the digest becomes the key.

use super::bound::{Bound, known_arm};
use super::change_table::ChangeTable;
use super::members::{extras, members};
use super::{Adapter, Input, Options, Scratch};
use crate::columns::{Columns, Name, Rest, RowImage};
use crate::json::scan::Kind;
use crate::json::writing::{comma, named, word};
use crate::table::Table;
use crate::table::tape::{Message, Slot};
use crate::table::walk::arm_at;
use crate::why::{Done, Why};

/// The properties of a bin.
const BIN: [&str; 5] = ["name", "type", "value", "ordered", "order"];

pub struct Aerospike {
    message: Bound<2>,
    bin: Bound<5>,
    table: ChangeTable,
    /// By the index of an arm.
    kinds: Vec<BinKind>,
    /// Position of the digest in a key.
    digest: usize,
}

/// What an arm of a bin means.
struct BinKind {
    /// Whether the type is noted, which the value does not show.
    is_noted: bool,
    /// The property without which it is not noted.
    flag: Option<usize>,
}

impl BinKind {
    fn new(title: &str) -> Self {
        let (is_noted, flag) = match title {
            "StrBin" | "BoolBin" | "IntBin" | "FloatBin" => (false, None),
            "ListBin" => (true, Some(3)),
            "MapBin" => (true, Some(4)),
            _ => (true, None),
        };
        BinKind { is_noted, flag }
    }
}

impl Aerospike {
    pub fn new(table: &Table, options: &Options) -> Option<Self> {
        let bin = table.union(*table.by_name.get("Bin")?)?;
        Some(Aerospike {
            message: Bound::new(table.union(table.root)?, ["key", "bins"])?,
            bin: Bound::new(bin, BIN)?,
            table: ChangeTable::new(table, options)?,
            kinds: bin.arms.iter().map(|arm| BinKind::new(&arm.title)).collect(),
            digest: table.positions(&["Key"], ["digest"])?[0],
        })
    }

    /// Write the bins of a record as its row, and what their values do not show to the notes.
    fn bins(&self, bins: &Slot, message: &Message, scratch: &mut Scratch, out: &mut Vec<u8>) -> Done {
        scratch.begin_bins(out);
        for bin in message.elements(bins) {
            let parts = self.bin.of(bin, message);
            let [name, kind, value, ..] = parts;
            scratch.begin_bin(name, message, out)?;
            // A float that is written as an integer is one in Python.
            if value.kind == Kind::Float && !message.raw(value).contains(&b'.') {
                return Err(Why::Number);
            }
            message.write(value, out)?;
            let BinKind { is_noted, flag } = arm_at(&self.kinds, bin)?;
            if !is_noted || flag.is_some_and(|flag| parts[flag].is_absent()) {
                continue;
            }
            let notes = &mut scratch.bins;
            comma(notes);
            message.write(name, notes)?;
            notes.extend_from_slice(b":{");
            members(&[("type", kind)], message, notes)?;
            if let Some(flag) = *flag {
                members(&[(BIN[flag], parts[flag])], message, notes)?;
            }
            notes.push(b'}');
        }
        out.push(b'}');
        Ok(())
    }
}

impl Adapter for Aerospike {
    fn row(&self, input: &Input, scratch: &mut Scratch, columns: &mut Columns) -> Done<Rest> {
        let message = &input.message;
        let [key, bins] = self.message.of(&input.root, message);
        let op = known_arm(&self.table.ops, &input.root)?;
        if op != "delete" {
            self.bins(bins, message, scratch, columns.of(Name::After).open())?;
        }
        let digest = message.field(key, self.digest);
        let rest = self.table.record(op, digest, &scratch.bins, &[], input, columns)?;
        let out = columns.of(Name::Attributes).open();
        extras(message, out)?;
        out.push(b'}');
        Ok(rest)
    }
}

impl Scratch {
    pub fn begin_bins(&mut self, out: &mut Vec<u8>) {
        self.bins.clear();
        self.names.clear();
        self.rows[1].begin(out);
    }

    /// Write the name of a bin, which has no escapes and comes once.
    pub fn begin_bin(&mut self, name: &Slot, message: &Message, out: &mut Vec<u8>) -> Done {
        let text = message.content(name).ok_or(Why::Name)?;
        self.names.add(0, message.text, name.start as usize + 1, name.end as usize - 1)?;
        self.rows[1].name(&[text], out);
        Ok(())
    }
}

impl ChangeTable {
    /// Write what a record has beside its row, which was written. Its attributes stay open: first come
    /// those that are absent, null; their names have no escapes.
    pub fn record(
        &self,
        op: &str,
        digest: &Slot,
        notes: &[u8],
        absent: &[&str],
        input: &Input,
        columns: &mut Columns,
    ) -> Done<Rest> {
        let message = &input.message;
        let is_empty_image = columns.text(Name::After) == Some(b"{}");
        columns.of(Name::Op).put(op.as_bytes());
        self.source(message, &input.root, columns)?;
        let out = columns.of(Name::Key).open();
        out.push(b'{');
        members(&[("aerospike_digest", digest)], message, out)?;
        out.push(b'}');
        let image = if is_empty_image { RowImage::Keys } else { self.images.image(columns)? };
        let out = columns.of(Name::Attributes).open();
        out.push(b'{');
        for name in absent {
            named(name.as_bytes(), out);
            out.extend_from_slice(b"null");
        }
        self.attributes(message, &input.root, out)?;
        if op != "delete" {
            if !notes.is_empty() {
                named(b"bins", out);
                out.push(b'{');
                out.extend_from_slice(notes);
                out.push(b'}');
            }
            word("row_image", image.name(), out);
        }
        Ok(Rest { image, is_empty_image, ..self.rest(message, &input.root) })
    }
}
