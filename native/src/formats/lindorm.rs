//! Lindorm messages: rows before and after, and cells of HBase tables.

use std::ops::Range;
use std::sync::Arc;

use super::bound::Bound;
use super::connect::{Column, Connect, Schemas, Type, column_of, kind_of};
use super::connect_values::write_value;
use super::hbase::{ROW_KEY, cell_name};
use super::record_key::{RecordKey, is_cell};
use super::rows::{Means, Row, Written, distinct, is_same, write_key};
use super::writing::{extras, leniencies, member, word};
use super::{Adapter, Input, Notes, Options};
use crate::columns::{Columns, Name, Rest};
use crate::json::scan::Kind;
use crate::table::Table;
use crate::table::tape::{ABSENT, Message, Slot};

/// The change that each variant is.
const OPS: [(&str, &str); 4] =
    [("Insert", "insert"), ("Update", "update"), ("Delete", "delete"), ("Read", "read")];

/// Milliseconds since the Unix epoch of the years from 1 to 9999, those that a time can have.
const MILLISECONDS: Range<i64> = -62_135_596_800_000..253_402_300_800_000;

pub struct Lindorm {
    message: Bound<2>,
    payload: Bound<5>,
    source: Bound<5>,
    schemas: Schemas,
    /// By the index of an arm; none for a variant that has no meaning yet.
    ops: Vec<Option<&'static str>>,
    keys: Option<Vec<Vec<u8>>>,
    families: Option<Vec<Vec<u8>>>,
    mode: String,
    rows: [Row; 2],
    named: RecordKey,
}

impl Lindorm {
    pub fn new(table: &Table, options: &Options) -> Option<Self> {
        let payload = table.union(*table.by_name.get("Payload")?)?;
        let op_of = |title: &str| OPS.iter().find(|(name, _)| *name == title).map(|(_, op)| *op);
        Some(Lindorm {
            message: Bound::new(table.union(table.root)?, ["schema", "payload"])?,
            payload: Bound::new(payload, ["op", "ts_ms", "before", "after", "source"])?,
            source: Bound::named(table, "Source", ["version", "db", "namespace", "table", "ts_ms"])?,
            schemas: Schemas::new(table)?,
            ops: payload.arms.iter().map(|arm| op_of(&arm.title)).collect(),
            keys: options.keys.as_deref().map(distinct),
            families: options.families.as_deref().map(distinct),
            mode: options.image.clone(),
            rows: Default::default(),
            named: RecordKey::default(),
        })
    }

    /// Write a row: by its schema, as cells of an HBase table, or as JSON has it.
    fn image(
        &mut self,
        side: usize,
        image: &Slot,
        style: &Style,
        message: &Message,
        columns: &mut Columns,
        notes: &mut Notes,
    ) -> Option<Notes> {
        let mut unknown = Notes::new();
        let row = &mut self.rows[side];
        row.is_there = image.is_there();
        row.cells.clear();
        if !row.is_there {
            return Some(unknown);
        }
        let out = columns.of(if side == 0 { Name::Before } else { Name::After }).open();
        let declared = style.columns[side];
        let mut next = 0;
        row.begin(out);
        for (place, slot) in message.elements(image) {
            let name = message.content(slot)?;
            let value = message.tape.slots.get(place + 1)?;
            let column = declared.map(|columns| column_of(columns, name, &mut next));
            if style.is_hbase {
                if !is_cell(column.flatten(), value, message) {
                    return None;
                }
                cell_name(name, self.families.as_deref(), row, out, &mut unknown)?;
            } else {
                row.name(&[name], out);
            }
            let means = match column {
                Some(column) => write_value(column, value, message, out, notes)?,
                None => message.write(value, out).map(|()| Means::Json)?,
            };
            // Text in a cell is Base64 text, but where a schema declares the column.
            let is_undeclared = self.families.is_some() || column.flatten().is_none();
            let is_bytes = style.is_hbase && is_undeclared && value.is_text() && means == Means::Json;
            row.end_value(if is_bytes { Means::Bytes } else { means }, out);
        }
        out.push(b'}');
        Some(unknown)
    }

    /// Return how rows are written: by which columns, and whether as those of an HBase table.
    fn style<'s>(
        &mut self,
        input: &Input,
        images: [&Slot; 2],
        schema: Option<&'s Connect>,
    ) -> Option<Style<'s>> {
        let columns = schema.map_or([None, None], |schema| [0, 1].map(|side| schema.images[side].as_deref()));
        let [before, after] = columns;
        self.named.read(input.key.filter(|key| !key.is_empty()), after.or(before))?;
        let named = Written { row: &self.named.row, data: &self.named.data };
        let message = &input.message;
        let has_row_key =
            |slot: &&Slot| message.elements(slot).any(|(_, name)| message.content(name) == Some(ROW_KEY));
        let declared = columns.map(|columns| kind_of(columns, ROW_KEY));
        let is_declared = declared.iter().any(Option::is_some);
        let is_other = declared.iter().flatten().any(|kind| !matches!(kind, Type::Bytes));
        let is_hbase = (self.families.is_some() || (self.keys.is_none() && !is_other))
            && (images.iter().any(has_row_key) || named.value(ROW_KEY).is_some());
        if is_hbase && named.row.is_there && !self.named.is_base64 {
            return None;
        }
        let is_assumed = is_hbase && self.families.is_none() && !is_declared;
        Some(Style { columns, is_hbase, is_assumed })
    }

    /// Write the key of a row, and the one before an update that moved the row to another. Return
    /// whether a decimal is among its columns.
    fn keys(&self, op: &str, style: &Style, columns: &mut Columns) -> Option<bool> {
        let [before, after] = [(Name::Before, 0), (Name::After, 1)]
            .map(|(name, side)| Written { row: &self.rows[side], data: columns.data(name) });
        let named = Written { row: &self.named.row, data: &self.named.data };
        let key_names: Vec<&[u8]> = match &self.keys {
            Some(keys) => keys.iter().map(Vec::as_slice).collect(),
            None if style.is_hbase => vec![ROW_KEY],
            None => named.names().collect(),
        };
        let row = if after.has_columns() || named.has_columns() { after } else { before };
        let all = key_names.iter().copied();
        let (mut found, mut old) = (Vec::new(), Vec::new());
        // A subscription may leave out what did not change, so the key need not be in one place.
        let anywhere = |name: &[u8]| after.value(name).or(named.value(name)).or(before.value(name));
        let is_of_row = write_key(all.clone(), |name| row.value(name), &mut found);
        if !is_of_row && !write_key(all.clone(), anywhere, &mut found) {
            return Some(false);
        }
        let has_before = op == "update" && before.has_columns();
        // Text and bytes have the same JSON text, and are not equal.
        if has_before && !all.clone().all(|name| style.has_one_type(name)) {
            return None;
        }
        if has_before && write_key(all.clone(), |name| before.value(name), &mut old) && old != found {
            for name in all.clone() {
                let now = if is_of_row { row.value(name) } else { anywhere(name) }?;
                let was = before.value(name)?;
                if now != was && is_same(now, was)? {
                    return None;
                }
            }
            columns.of(Name::BeforeKey).put(&old);
        }
        columns.of(Name::Key).put(&found);
        Some(all.clone().any(|name| style.is_decimal(name)))
    }
}

/// How the rows of a message are written.
struct Style<'s> {
    /// The columns that the schema declares before and after.
    columns: [Option<&'s [Column]>; 2],
    is_hbase: bool,
    /// Whether only the column `ROW` says that they are those of an HBase table.
    is_assumed: bool,
}

impl Style<'_> {
    /// Tell whether a column is declared as a decimal, which is text in JSON.
    fn is_decimal(&self, name: &[u8]) -> bool {
        let kinds = self.columns.map(|columns| kind_of(columns, name));
        kinds.iter().any(|kind| matches!(kind, Some(Type::Decimal(_))))
    }

    /// Tell whether a column is declared with one type, or with none, wherever it stands.
    fn has_one_type(&self, name: &[u8]) -> bool {
        let [before, after] = self.columns.map(|columns| kind_of(columns, name));
        before == after
    }
}

impl Adapter for Lindorm {
    fn rows(&self) -> &[Row; 2] {
        &self.rows
    }

    fn needs_keys(&self) -> bool {
        true
    }

    fn row(&mut self, input: &Input, columns: &mut Columns, notes: &mut Notes) -> Option<Rest> {
        let message = &input.message;
        let [schema, payload] = self.message.of(&input.root, message)?;
        let op = (*self.ops.get(usize::try_from(payload.value).ok()?)?)?;
        let [word_of_op, ts_ms, before, after, source] = self.payload.of(payload, message)?;
        let [version, db, namespace, table, time] = self.source.of(source, message)?;
        let connect: Option<Arc<Connect>> = if schema.kind == Kind::Repeated {
            Some(self.schemas.get(schema.value, input.texts)?).filter(|connect| !connect.is_empty)
        } else {
            None
        };
        let after = if op == "delete" { &ABSENT } else { after };
        let style = self.style(input, [before, after], connect.as_deref())?;
        let unknown = self.image(0, before, &style, message, columns, notes)?;
        let unknown_after = self.image(1, after, &style, message, columns, notes)?;
        let assumed = style.is_assumed.then_some("assumed-hbase");
        notes.extend(assumed.into_iter().chain(unknown).chain(unknown_after));
        let has_decimal_key = self.keys(op, &style, columns)?;
        columns.of(Name::Op).put(op.as_bytes());
        columns.of(Name::System).put(b"lindorm");
        columns.of(Name::Database).put(message.content(namespace)?);
        columns.of(Name::Table).put(message.content(table)?);
        if let Some(connect) = &connect {
            columns.of(Name::Fingerprint).put(&connect.fingerprint);
        }
        let out = columns.of(Name::Attributes).open();
        out.push(b'{');
        member("op", word_of_op, message, out)?;
        member("ts_ms", ts_ms, message, out)?;
        word("image", &self.mode, out);
        member("db", db, message, out)?;
        member("version", version, message, out)?;
        leniencies(notes, out);
        extras(message, out)?;
        out.push(b'}');
        Some(Rest {
            event_time: MILLISECONDS.contains(&time.value).then(|| time.value * 1000),
            sequence: Some((time.value, 0)),
            has_decimal_key,
            is_empty_image: false,
        })
    }
}
