//! Lindorm messages: rows before and after, and cells of HBase tables.

use super::bound::{Bound, known_arm};
use super::change_table::ChangeTable;
use super::connect::{Connect, ConnectColumns, ConnectSchemas, write_declared};
use super::record_key::{RecordKey, is_cell};
use super::values::ValueType;
use super::{Adapter, Input, Notes, Options, Scratch};
use crate::columns::{Columns, Name, Rest};
use crate::rows::{Row, Written, distinct, key_of, old_key};
use crate::table::Table;
use crate::table::tape::{ABSENT, Message, Slot};
use crate::why::{Done, Why};

/// Column of an HBase table that holds the row key.
const ROW_KEY: &[u8] = b"ROW";

pub struct Lindorm {
    message: Bound<2>,
    payload: Bound<2>,
    table: ChangeTable,
    schemas: ConnectSchemas,
    families: Option<Vec<Vec<u8>>>,
    /// What keys of records are.
    keys_of_records: Table,
}

impl Lindorm {
    pub fn new(table: &Table, options: &Options) -> Option<Self> {
        let payload = table.union(*table.by_name.get("Payload")?)?;
        Some(Lindorm {
            message: Bound::new(table.union(table.root)?, ["schema", "payload"])?,
            payload: Bound::new(payload, ["before", "after"])?,
            table: ChangeTable::new(table, options)?,
            schemas: ConnectSchemas::new(table)?,
            families: options.column_families.as_deref().map(distinct),
            keys_of_records: RecordKey::table(),
        })
    }

    /// Write a row: by its schema, as cells of an HBase table, or as JSON has it. Return the leniencies
    /// of names.
    fn image(
        &self,
        image: &Slot,
        (style, declared): (&Style, Option<&ConnectColumns>),
        message: &Message,
        row: &mut Row,
        out: &mut Vec<u8>,
        notes: &mut Notes,
    ) -> Done<Notes> {
        let mut unknown = Notes::new();
        let mut next = 0;
        row.begin(out);
        for (name, value) in message.members(image) {
            let name = message.content(name).ok_or(Why::Name)?;
            let column = declared.map(|columns| columns.next(name, &mut next));
            if style.is_hbase && !is_cell(column.flatten(), value, message) {
                return Err(Why::Value);
            }
            match self.families.as_deref().filter(|_| style.is_hbase && name != ROW_KEY) {
                Some(families) => cell_name(name, families, row, out, &mut unknown)?,
                None => row.name(&[name], out),
            }
            let is_decimal = match column {
                Some(column) => write_declared(column, value, message, out, notes)?,
                None => message.write(value, out).map(|()| false)?,
            };
            row.end_value(is_decimal, out);
        }
        out.push(b'}');
        Ok(unknown)
    }

    /// Return how rows are written: by which columns, and whether as those of an HBase table.
    fn style<'s>(
        &'s self,
        input: &Input,
        images: [&Slot; 2],
        schema: Option<&'s Connect>,
        scratch: &mut Scratch,
    ) -> Done<Style<'s>> {
        let columns = schema.map_or([None, None], |schema| schema.images.each_ref().map(Option::as_ref));
        let [before, after] = columns;
        scratch.key.read(input.key.filter(|key| !key.is_empty()), after.or(before), &self.keys_of_records)?;
        let named = scratch.key.written();
        let message = &input.message;
        let keys = self.table.keys.of(|| self.table.place(message, &input.root))?.map(Vec::as_slice);
        let has_row_key =
            |slot: &&Slot| message.members(slot).any(|(name, _)| message.content(name) == Some(ROW_KEY));
        let declared = columns.map(|columns| columns.and_then(|columns| columns.get(ROW_KEY)));
        let is_declared = declared.iter().any(Option::is_some);
        let is_other = declared.iter().flatten().any(|column| column.kind != ValueType::Bytes);
        let is_hbase = (self.families.is_some() || (keys.is_none() && !is_other))
            && (images.iter().any(has_row_key) || named.value(ROW_KEY).is_some());
        if is_hbase && named.row.is_there && !scratch.key.is_base64 {
            return Err(Why::Key);
        }
        let is_assumed = is_hbase && self.families.is_none() && !is_declared;
        Ok(Style { columns, keys, is_hbase, is_assumed })
    }
}

/// Write the name of a cell, with its family, if that is known.
fn cell_name(
    name: &[u8],
    families: &[Vec<u8>],
    row: &mut Row,
    out: &mut Vec<u8>,
    unknown: &mut Notes,
) -> Done {
    let is_of = |family: &&Vec<u8>| {
        name.strip_prefix(family.as_slice()).is_some_and(|rest| rest.first() == Some(&b'_'))
    };
    if let Some(family) = families.iter().filter(is_of).max_by_key(|family| family.len()) {
        row.name(&[family, b":", &name[family.len() + 1..]], out);
    } else {
        unknown.push("unknown-family");
        row.name(&[name], out);
    }
    if row.is_last_twice(out) { Err(Why::Name) } else { Ok(()) }
}

/// How the rows of a message are written.
struct Style<'s> {
    /// The columns that the schema declares before and after.
    columns: [Option<&'s ConnectColumns>; 2],
    /// The columns of the key that are given for the table.
    keys: Option<&'s [Vec<u8>]>,
    is_hbase: bool,
    /// Whether only the column `ROW` says that they are those of an HBase table.
    is_assumed: bool,
}

impl Style<'_> {
    /// Write the key of a row, and the one before an update that moved the row to another.
    fn write_keys(&self, op: &str, scratch: &Scratch, columns: &mut Columns) -> Done {
        let before = Written { row: &scratch.rows[0], data: columns.data(Name::Before) };
        let after = Written { row: &scratch.rows[1], data: columns.data(Name::After) };
        let record_key = scratch.key.written();
        let mut names: Vec<&[u8]> = match self.keys {
            Some(keys) => keys.iter().map(Vec::as_slice).collect(),
            None if self.is_hbase => vec![ROW_KEY],
            None => record_key.names().collect(),
        };
        names.sort_unstable();
        let row = if after.has_columns() || record_key.has_columns() { after } else { before };
        // A subscription may leave out what did not change, so the key need not be in one place.
        let anywhere = |name: &[u8]| after.value(name).or(record_key.value(name)).or(before.value(name));
        let of_row = key_of(&names, |name| row.value(name))?;
        let is_of_row = of_row.is_some();
        let Some(key) = of_row.map_or_else(|| key_of(&names, anywhere), |key| Ok(Some(key)))? else {
            return Ok(());
        };
        let mut old = None;
        if op == "update" && before.has_columns() {
            // Text and bytes have the same JSON text, and are not equal.
            if !names.iter().all(|name| self.has_one_type(name)) {
                return Err(Why::Key);
            }
            let value = |name: &[u8]| if is_of_row { row.value(name) } else { anywhere(name) };
            old = old_key(&names, before, value, |_| false, &key)?;
        }
        columns.put(Name::BeforeKey, old.as_deref());
        columns.put(Name::Key, Some(&key));
        Ok(())
    }

    /// Tell whether a column is declared with one type, or with none, wherever it stands.
    fn has_one_type(&self, name: &[u8]) -> bool {
        let kind = |columns: &ConnectColumns| columns.get(name).map(|column| column.kind);
        let [before, after] = self.columns.map(|columns| columns.and_then(kind));
        before == after
    }
}

impl Adapter for Lindorm {
    fn needs_keys(&self) -> bool {
        true
    }

    fn row(&self, input: &Input, scratch: &mut Scratch, columns: &mut Columns) -> Done<Rest> {
        let message = &input.message;
        let [schema, payload] = self.message.of(&input.root, message);
        let op = known_arm(&self.table.ops, payload)?;
        let [before, after] = self.payload.of(payload, message);
        let connect = message.known(schema).map(|known| known.meaning(|known| self.schemas.make(known)));
        let connect = connect.transpose()?.filter(|connect| !connect.fingerprint.is_empty());
        let images = [before, if op == "delete" { &ABSENT } else { after }];
        let style = self.style(input, images, connect, scratch)?;
        let mut unknown = Notes::new();
        for (side, name) in [Name::Before, Name::After].into_iter().enumerate() {
            let Scratch { rows, notes, .. } = scratch;
            if rows[side].reset(images[side].is_there()) {
                let (out, style) = (columns.of(name).open(), (&style, style.columns[side]));
                unknown.extend(self.image(images[side], style, message, &mut rows[side], out, notes)?);
            }
        }
        let assumed = style.is_assumed.then_some("assumed-hbase");
        scratch.notes.extend(assumed.into_iter().chain(unknown));
        style.write_keys(op, scratch, columns)?;
        columns.of(Name::Op).put(op.as_bytes());
        self.table.source(message, &input.root, columns)?;
        if let Some(connect) = connect {
            columns.of(Name::Fingerprint).put(&connect.fingerprint);
        }
        let image = self.table.images.image(columns)?;
        self.table.all_attributes(input, Some(image), &scratch.notes, columns)?;
        Ok(Rest { image, ..self.table.rest(message, &input.root) })
    }
}
