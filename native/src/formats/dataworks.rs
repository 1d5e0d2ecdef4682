//! DataWorks messages: before and after images, by the types declared beside them.

use super::bound::{Bound, known_arm};
use super::change_table::{BEFORE, ChangeTable};
use super::dataworks_schema::{TableSchema, TableSchemas, sequence_of, value, write_ddl};
use super::values::ValueType;
use super::{Adapter, Input, Notes, Options, Scratch};
use crate::columns::{Columns, Name, Rest, RowImage};
use crate::json::scan::Kind;
use crate::json::times::{Clocks, write_time};
use crate::rows::{Row, Written, key_of, old_key, write_row};
use crate::table::Table;
use crate::table::tape::{ABSENT, Message, Slot};
use crate::why::{Done, Why};

/// Columns that name the rows of tables without a primary key.
const HIDDEN: [&[u8]; 3] = [b"#alibaba_rds_row_id#", b"__#alibaba_rds_row_id#__", b"_drds_implicit_id_"];

pub struct DataWorks {
    message: Bound<2>,
    payload: Bound<4>,
    image: Bound<1>,
    table: ChangeTable,
    ddl: Bound<1>,
    schemas: TableSchemas,
    /// The clocks that dates are of; without any they are read in UTC.
    clocks: Option<Clocks>,
}

impl DataWorks {
    pub fn new(table: &Table, options: &Options) -> Option<Self> {
        Some(DataWorks {
            message: Bound::new(table.union(table.root)?, ["schema", "payload"])?,
            payload: Bound::named(table, "Payload", ["before", "after", "sequenceId", "ddl"])?,
            image: Bound::named(table, "Image", ["dataColumn"])?,
            ddl: Bound::named(table, "DdlStatement", ["text"])?,
            schemas: TableSchemas::new(table)?,
            table: ChangeTable::new(table, options)?,
            clocks: options.time_zone.clone(),
        })
    }

    /// Write an image as a row with values of the types that are declared for its columns.
    fn image(
        &self,
        image: &Slot,
        table: &TableSchema,
        message: &Message,
        row: &mut Row,
        notes: &mut Notes,
        (columns, name): (&mut Columns, Name),
    ) -> Done {
        if !row.reset(image.is_there()) {
            return Ok(());
        }
        let [values] = self.image.of(image, message);
        let mut next = 0;
        write_row(values, message, row, columns.of(name).open(), |name, slot, out| {
            match table.columns.next(name, &mut next) {
                None => notes.push("undeclared-column"),
                Some(_) if slot.kind == Kind::Null => {}
                Some(Some(ValueType::Time(unit))) => {
                    return self.date(*unit, slot, message, out, notes).map(|()| false).ok_or(Why::Value);
                }
                Some(kind) => return value(*kind, slot, message, out, notes),
            }
            message.write(slot, out).map(|()| false)
        })
    }

    /// Write a date, of a unit of so many microseconds; `None` where Python must look.
    fn date(
        &self,
        unit: i64,
        slot: &Slot,
        message: &Message,
        out: &mut Vec<u8>,
        notes: &mut Notes,
    ) -> Option<()> {
        if self.clocks.is_none() {
            notes.push("date-read-in-utc");
        }
        let time = message.integer(slot)?.checked_mul(unit)?;
        let minutes = self.clocks.as_ref().map_or(Some(0), |clocks| clocks.offset(time))?;
        out.push(b'"');
        write_time(time, minutes, out)?;
        out.push(b'"');
        Some(())
    }

    /// Write the key of a row, and the one before an update that moved the row to another.
    fn keys(
        (op, image): (&str, RowImage),
        (table, primary_key): (&TableSchema, &[Vec<u8>]),
        rows: &[Row; 2],
        columns: &mut Columns,
    ) -> Done {
        let before = Written { row: &rows[0], data: columns.data(Name::Before) };
        let after = Written { row: &rows[1], data: columns.data(Name::After) };
        let row = if after.row.is_there { after } else { before };
        // What did not change need not be in an image that is not full.
        let rest = (image != RowImage::Full).then_some(before);
        let value = |name: &[u8]| row.value(name).or_else(|| rest.and_then(|rest| rest.value(name)));
        let names = key_names(primary_key, value);
        let Some(key) = key_of(&names, value)? else { return Ok(()) };
        let mut old = None;
        if op == "update" && after.row.is_there && before.row.is_there {
            // Decimals of other digits may be equal, and so may a decimal and a number.
            let may_equal =
                |name: &[u8]| matches!(table.columns.get(name), Some(Some(ValueType::Decimal(_))));
            old = old_key(&names, before, value, may_equal, &key)?;
        }
        columns.put(Name::BeforeKey, old.as_deref());
        columns.put(Name::Key, Some(&key));
        Ok(())
    }
}

impl Adapter for DataWorks {
    fn row(&self, input: &Input, scratch: &mut Scratch, columns: &mut Columns) -> Done<Rest> {
        let message = &input.message;
        let [schema, payload] = self.message.of(&input.root, message);
        let known = message.known(schema).ok_or(Why::Schema)?;
        let table = known.meaning(|known| self.schemas.make(known))?;
        let op = known_arm(&self.table.ops, payload)?;
        let is_before = op == BEFORE;
        let op = if is_before { "update" } else { op };
        let [before, after, sequence, ddl] = self.payload.of(payload, message);
        columns.of(Name::Op).put(op.as_bytes());
        columns.of(Name::System).put(self.table.system.as_bytes());
        let place = self.table.place(message, &input.root)?;
        let place = place.map(|name| name.filter(|name| !name.is_empty()));
        for (column, name) in [Name::Database, Name::Schema, Name::Table].into_iter().zip(place) {
            columns.put(column, name);
        }
        columns.of(Name::Fingerprint).put(&table.fingerprint);
        let has_after = !is_before && op != "delete";
        let after = if has_after { after } else { &ABSENT };
        let Scratch { rows, notes, .. } = scratch;
        self.image(before, table, message, &mut rows[0], notes, (columns, Name::Before))?;
        self.image(after, table, message, &mut rows[1], notes, (columns, Name::After))?;
        let image = self.table.images.image(columns)?;
        let primary_key = self.table.keys.of(|| Ok(place))?.unwrap_or(&table.primary_key);
        Self::keys((op, image), (table, primary_key), rows, columns)?;
        if ddl.is_there() {
            let [text] = self.ddl.of(ddl, message);
            write_ddl(text, message, columns)?;
        }
        let shown = rows.iter().any(|row| row.is_there).then_some(image);
        self.table.all_attributes(input, shown, notes, columns)?;
        Ok(Rest {
            sequence: sequence_of(sequence, message, is_before)?,
            image,
            ..self.table.rest(message, &input.root)
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
