//! DataWorks messages: before and after images, by the types declared beside them.

use std::sync::Arc;

use super::bound::Bound;
use super::dataworks_ops::{Arm, arm_of};
use super::dataworks_schema::{Schemas, TableSchema, Type};
use super::dataworks_values::{sequence_of, value, write_ddl};
use super::rows::{Means, Row, Written, distinct, is_same, write_key, write_row};
use super::writing::{extras, leniencies, member, named, word};
use super::{Adapter, Input, Notes, Options};
use crate::columns::{Columns, Name, Rest};
use crate::json::scan::Kind;
use crate::table::Table;
use crate::table::tape::{ABSENT, Message, Slot};

/// Columns that name the rows of tables without a primary key.
const HIDDEN: [&[u8]; 3] = [b"#alibaba_rds_row_id#", b"__#alibaba_rds_row_id#__", b"_drds_implicit_id_"];

pub struct DataWorks {
    message: Bound<3>,
    payload: Bound<7>,
    image: Bound<1>,
    times: Bound<3>,
    ddl: Bound<2>,
    schemas: Schemas,
    /// By the index of an arm; none for a variant that has no meaning yet.
    arms: Vec<Option<Arm>>,
    keys: Option<Vec<Vec<u8>>>,
    mode: String,
    /// Whether dates are those of clocks in UTC; others are declined.
    is_utc: bool,
    rows: [Row; 2],
}

impl DataWorks {
    pub fn new(table: &Table, options: &Options) -> Option<Self> {
        let payload = table.union(*table.by_name.get("Payload")?)?;
        let fields = ["op", "before", "after", "sequenceId", "scn", "timestamp", "ddl"];
        let arms = payload.arms.iter().map(|arm| arm_of(&arm.title)).collect();
        Some(DataWorks {
            message: Bound::new(table.union(table.root)?, ["schema", "payload", "version"])?,
            payload: Bound::new(payload, fields)?,
            image: Bound::named(table, "Image", ["dataColumn"])?,
            times: Bound::named(table, "Times", ["eventTime", "systemTime", "checkpointTime"])?,
            ddl: Bound::named(table, "DdlStatement", ["text", "ddlMeta"])?,
            schemas: Schemas::new(table)?,
            arms,
            keys: options.keys.as_deref().map(distinct),
            mode: options.image.clone(),
            is_utc: options.time_zone == "UTC",
            rows: Default::default(),
        })
    }

    /// Write an image as a row with values of the types that are declared for its columns.
    fn image(
        &mut self,
        side: usize,
        image: &Slot,
        table: &TableSchema,
        message: &Message,
        columns: &mut Columns,
        notes: &mut Notes,
    ) -> Option<()> {
        let is_utc = self.is_utc;
        let row = &mut self.rows[side];
        row.is_there = image.is_there();
        row.cells.clear();
        if !row.is_there {
            return Some(());
        }
        let [values] = self.image.of(image, message)?;
        let out = columns.of(if side == 0 { Name::Before } else { Name::After }).open();
        let mut next = 0;
        write_row(values, message, row, out, |name, slot, out| {
            match table.type_of(name, &mut next) {
                None => notes.push("undeclared-column"),
                Some(Type::Date) if !is_utc && slot.kind != Kind::Null => return None,
                Some(kind) if slot.kind != Kind::Null => return value(kind, slot, message, out, notes),
                Some(_) => {}
            }
            message.write(slot, out)?;
            Some(Means::Json)
        })
    }

    /// Write the key of a row, and the one before an update that moved the row to another.
    fn keys(&self, op: &str, table: &TableSchema, columns: &mut Columns) -> Option<()> {
        let [before, after] = [Name::Before, Name::After].map(|name| columns.data(name));
        let before = Written { row: &self.rows[0], data: before };
        let after = Written { row: &self.rows[1], data: after };
        let row = if after.row.is_there { after } else { before };
        // What did not change need not be in an image that is not full.
        let rest = (self.mode != "full").then_some(before);
        let value = |name: &[u8]| row.value(name).or_else(|| rest.and_then(|rest| rest.value(name)));
        let names = key_names(self.names(table), value);
        let (mut key, mut old) = (Vec::new(), Vec::new());
        if !write_key(names.iter().copied(), value, &mut key) {
            return Some(());
        }
        let is_update = op == "update" && after.row.is_there && before.row.is_there;
        if is_update && write_key(names.iter().copied(), |name| before.value(name), &mut old) && old != key {
            for name in names {
                let pair = (before.value(name), value(name));
                // Decimals of other digits may be equal, and so may a decimal and a number.
                let is_number = table.type_of(name, &mut 0) == Some(Type::Double);
                let (Some(one), Some(other)) = pair else { return None };
                if one != other && (is_number || is_same(one, other)?) {
                    return None;
                }
            }
            columns.of(Name::BeforeKey).put(&old);
        }
        columns.of(Name::Key).put(&key);
        Some(())
    }

    /// Tell whether a column of the key may be a decimal.
    fn has_decimal_key(&self, table: &TableSchema) -> bool {
        let is_double = |name: &Vec<u8>| table.type_of(name, &mut 0) == Some(Type::Double);
        let hidden = |name: &&[u8]| table.type_of(name, &mut 0) == Some(Type::Double);
        let names = self.names(table);
        names.iter().any(is_double) || (names.is_empty() && HIDDEN.iter().any(hidden))
    }

    /// Return the columns that name a row; empty if only hidden ones may.
    fn names<'n>(&'n self, table: &'n TableSchema) -> &'n [Vec<u8>] {
        self.keys.as_deref().unwrap_or(&table.primary_key)
    }

    fn attributes(
        &self,
        input: &Input,
        table: &TableSchema,
        parts: &Parts,
        notes: &Notes,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let message = &input.message;
        out.extend_from_slice(&table.attributes);
        member("op", parts.op, message, out)?;
        member("version", parts.version, message, out)?;
        member("system_time", parts.system_time, message, out)?;
        member("checkpoint_time", parts.checkpoint_time, message, out)?;
        member("scn", parts.scn, message, out)?;
        member("ddl_meta", parts.ddl_meta, message, out)?;
        if self.rows.iter().any(|row| row.is_there) {
            word("image", &self.mode, out);
        }
        leniencies(notes, out);
        extras(message, out)?;
        out.push(b'}');
        Some(())
    }

    /// Write the event of an operation that is not known; all that it holds is kept.
    fn other(input: &Input, table: &TableSchema, fields: [&Slot; 8], out: &mut Vec<u8>) -> Option<()> {
        let message = &input.message;
        let [op, version, held @ ..] = fields;
        out.extend_from_slice(&table.attributes);
        member("op", op, message, out)?;
        member("version", version, message, out)?;
        named("payload", out);
        out.push(b'{');
        let names = ["before", "after", "sequence_id", "scn", "timestamp", "ddl"];
        for (name, slot) in names.into_iter().zip(held) {
            member(name, slot, message, out)?;
        }
        out.push(b'}');
        extras(message, out)?;
        out.push(b'}');
        Some(())
    }
}

/// What attributes say of a message.
struct Parts<'p> {
    op: &'p Slot,
    version: &'p Slot,
    system_time: &'p Slot,
    checkpoint_time: &'p Slot,
    scn: &'p Slot,
    ddl_meta: &'p Slot,
}

impl Adapter for DataWorks {
    fn rows(&self) -> &[Row; 2] {
        &self.rows
    }

    fn row(&mut self, input: &Input, columns: &mut Columns, notes: &mut Notes) -> Option<Rest> {
        let message = &input.message;
        let [schema, payload, version] = self.message.of(&input.root, message)?;
        let table: Arc<TableSchema> = self.schemas.get(schema.value, input.texts)?;
        let arm = (*self.arms.get(usize::try_from(payload.value).ok()?)?)?;
        let [op, before, after, sequence, scn, timestamp, ddl] = self.payload.of(payload, message)?;
        columns.of(Name::Op).put(arm.op.as_bytes());
        columns.of(Name::System).put(b"dataworks");
        for (name, place) in [Name::Database, Name::Schema, Name::Table].into_iter().zip(&table.source) {
            if let Some(place) = place {
                columns.of(name).put(place);
            }
        }
        columns.of(Name::Fingerprint).put(&table.fingerprint);
        if arm.is_other {
            let held = [op, version, before, after, sequence, scn, timestamp, ddl];
            DataWorks::other(input, &table, held, columns.of(Name::Attributes).open())?;
            return Some(Rest::default());
        }
        let has_after = !arm.is_before && arm.op != "delete";
        self.image(0, before, &table, message, columns, notes)?;
        self.image(1, if has_after { after } else { &ABSENT }, &table, message, columns, notes)?;
        self.keys(arm.op, &table, columns)?;
        let [event_time, system_time, checkpoint_time] = self.times.of(timestamp, message)?;
        let mut ddl_meta = &ABSENT;
        if ddl.is_there() {
            let [text, meta] = self.ddl.of(ddl, message)?;
            ddl_meta = meta;
            write_ddl(text, message, columns)?;
        }
        let parts = Parts { op, version, system_time, checkpoint_time, scn, ddl_meta };
        self.attributes(input, &table, &parts, notes, columns.of(Name::Attributes).open())?;
        let time = event_time.value;
        Some(Rest {
            event_time: (time != -1).then(|| time * 1000),
            sequence: sequence_of(sequence, message, arm.is_before)?,
            has_decimal_key: self.has_decimal_key(&table),
            is_empty_image: false,
        })
    }
}

/// Return the columns that name a row; without any, one of the hidden columns does.
fn key_names<'n, 'v>(names: &'n [Vec<u8>], value: impl Fn(&[u8]) -> Option<&'v [u8]>) -> Vec<&'n [u8]> {
    if !names.is_empty() {
        return names.iter().map(Vec::as_slice).collect();
    }
    HIDDEN.into_iter().find(|name| value(name).is_some()).into_iter().collect()
}
