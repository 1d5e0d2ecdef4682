//! Aerospike messages in JSON: bins become columns, the digest becomes the key.

use super::bound::{Bound, arms};
use super::rows::{Means, Row};
use super::writing::{extras, member, named, word};
use super::{Adapter, Input, Notes, Options};
use crate::columns::{Columns, Name, Rest};
use crate::json::names::Names;
use crate::json::number::write_integral;
use crate::json::scan::Kind;
use crate::table::Table;
use crate::table::node::Rule;
use crate::table::tape::{Message, Slot};

/// Positions of a key.
const POSITIONS: usize = 4;

pub struct Aerospike {
    message: Bound<7>,
    bin: Bound<5>,
    write: i64,
    delete: i64,
    kinds: Kinds,
    image: String,
    names: Names,
    notes: Vec<u8>,
    rows: [Row; 2],
}

/// The arms of a bin.
struct Kinds {
    float: i64,
    /// Kinds that are seen in the value.
    plain: [i64; 4],
    blob: i64,
    list: i64,
    map: i64,
}

impl Kinds {
    /// Return what the value of a bin is.
    fn means(&self, arm: i64) -> Means {
        if self.plain.contains(&arm) || arm == self.list || arm == self.map {
            Means::Json
        } else if arm == self.blob {
            Means::Bytes
        } else {
            Means::Unknown
        }
    }
}

impl Aerospike {
    pub fn new(table: &Table, options: &Options) -> Option<Self> {
        let root = table.union(table.root)?;
        let fields = ["msg", "key", "gen", "exp", "lut", "bins", "durable"];
        let [write, delete] = arms(root, ["Write", "Delete"])?;
        let bin = table.union(*table.by_name.get("Bin")?)?;
        let plain = arms(bin, ["StrBin", "BoolBin", "IntBin", "FloatBin"])?;
        let [blob, list, map] = arms(bin, ["BlobBin", "ListBin", "MapBin"])?;
        let key = &table.nodes.get(*table.by_name.get("Key")?)?.rule;
        if !matches!(key, Rule::Row(row) if row.items.len() == POSITIONS) {
            return None;
        }
        let [msg, key, generation, exp, lut, bins, durable] = fields;
        Some(Aerospike {
            message: Bound::new(root, [msg, key, generation, exp, lut, bins, durable])?,
            bin: Bound::new(bin, ["name", "type", "value", "ordered", "order"])?,
            write,
            delete,
            kinds: Kinds { float: plain[3], plain, blob, list, map },
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
            let [name, kind, value, ordered, order] = self.bin.of(bin, message)?;
            let text = message.content(name)?;
            self.names.add(0, message.text, name.start as usize + 1, name.end as usize - 1)?;
            self.rows[1].name(&[text], out);
            if bin.value == self.kinds.float && value.kind == Kind::Float {
                float(value, message, out)?;
            } else {
                message.write(value, out)?;
            }
            self.rows[1].end_value(self.kinds.means(bin.value), out);
            self.note(bin.value, [name, kind, ordered, order], message)?;
        }
        out.push(b'}');
        Some(())
    }

    fn note(&mut self, arm: i64, parts: [&Slot; 4], message: &Message) -> Option<()> {
        let [name, kind, ordered, order] = parts;
        let is_collection = arm == self.kinds.list || arm == self.kinds.map;
        let flag = if arm == self.kinds.list { ordered } else { order };
        if self.kinds.plain.contains(&arm) || (is_collection && flag.is_absent()) {
            return Some(());
        }
        let out = &mut self.notes;
        if !out.is_empty() {
            out.push(b',');
        }
        message.write(name, out)?;
        out.extend_from_slice(b":{");
        member("type", kind, message, out)?;
        if is_collection {
            let name = if arm == self.kinds.list { "ordered" } else { "order" };
            member(name, flag, message, out)?;
        }
        out.push(b'}');
        Some(())
    }
}

impl Adapter for Aerospike {
    fn rows(&self) -> &[Row; 2] {
        &self.rows
    }

    fn row(&mut self, input: &Input, columns: &mut Columns, _: &mut Notes) -> Option<Rest> {
        let message = &input.message;
        let [_, key, generation, exp, lut, bins, durable] = self.message.of(&input.root, message)?;
        let is_write = input.root.value == self.write;
        if !is_write && input.root.value != self.delete {
            return None;
        }
        let [namespace, set, digest, user_key] = std::array::from_fn(|i| message.field(key, i));
        source([namespace, set], message, columns)?;
        columns.of(Name::Op).put(if is_write { b"upsert" } else { b"delete" });
        if is_write {
            self.bins(bins, message, columns.of(Name::After).open())?;
        }
        let is_empty = columns.text(Name::After) == Some(b"{}");
        key_column(digest, message, columns)?;
        let out = columns.of(Name::Attributes).open();
        out.push(b'{');
        let parts = [("set", set), ("user_key", user_key), ("gen", generation), ("exp", exp), ("lut", lut)];
        for (name, slot) in parts {
            member(name, slot, message, out)?;
        }
        if is_write {
            bins_and_image(&self.notes, if is_empty { "keys" } else { &self.image }, out);
        } else {
            member("durable", durable, message, out)?;
        }
        extras(message, out)?;
        out.push(b'}');
        Some(Rest { is_empty_image: is_write && is_empty, ..times(generation, lut) })
    }
}

/// Write the place of a record; its names have no escapes.
pub fn source(names: [&Slot; 2], message: &Message, columns: &mut Columns) -> Option<()> {
    columns.of(Name::System).put(b"aerospike");
    let [namespace, set] = names;
    columns.of(Name::Database).put(message.content(namespace)?);
    if set.is_there() {
        columns.of(Name::Table).put(message.content(set)?);
    }
    Some(())
}

/// Write the key of a row: the digest of its record.
pub fn key_column(digest: &Slot, message: &Message, columns: &mut Columns) -> Option<()> {
    let out = columns.of(Name::Key).open();
    out.push(b'{');
    member("aerospike_digest", digest, message, out)?;
    out.push(b'}');
    Some(())
}

/// Write the attributes that only a write has.
pub fn bins_and_image(notes: &[u8], image: &str, out: &mut Vec<u8>) {
    if !notes.is_empty() {
        named("bins", out);
        out.push(b'{');
        out.extend_from_slice(notes);
        out.push(b'}');
    }
    word("image", image, out);
}

/// Write a number that the schema asks to be a float, though it may be written as an integer.
fn float(value: &Slot, message: &Message, out: &mut Vec<u8>) -> Option<()> {
    let text = message.raw(value);
    if text.contains(&b'.') {
        return message.write(value, out);
    }
    write_integral(std::str::from_utf8(text).ok()?.parse().ok()?, out)
}

/// Return the time of a record, and its place in the order of changes, if the server shipped it.
pub fn times(generation: &Slot, lut: &Slot) -> Rest {
    if lut.value == 0 {
        return Rest::default();
    }
    let sequence = Some((lut.value, generation.value));
    Rest { event_time: Some(lut.value * 1000), sequence, ..Rest::default() }
}
