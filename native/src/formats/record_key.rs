//! Keys of Kafka records that are JSON objects: the columns that name a row.

use super::Notes;
use super::connect::{Column, ConnectColumns, write_declared};
use super::values::ValueType;
use crate::cache::Cache;
use crate::json::base64::byte_count;
use crate::json::names::Names;
use crate::rows::{Row, Written, write_row};
use crate::table::Table;
use crate::table::node::{Node, Rule};
use crate::table::tape::{Message, Slot, Tape};
use crate::table::walk::Walk;
use crate::why::{Done, Why};

/// First bytes of a key behind the prefix of a schema registry, or compressed by gzip or zstd.
const FRAMED: [u8; 3] = [0, 0x1f, 0x28];

/// The columns of a record key.
#[derive(Default)]
pub struct RecordKey {
    row: Row,
    data: Vec<u8>,
    tape: Tape,
    names: Names,
    /// Whether all its texts are Base64 text.
    pub is_base64: bool,
}

/// Tell whether a value can be that of a cell of an HBase table: text is bytes as Base64 there.
pub fn is_cell(column: Option<&Column>, slot: &Slot, message: &Message) -> bool {
    let is_decimal = column.is_some_and(|column| matches!(column.kind, ValueType::Decimal(_)));
    let is_base64 = || message.content(slot).is_some_and(|text| byte_count(text).is_some());
    !slot.is_text() || is_decimal || is_base64()
}

impl RecordKey {
    pub fn written(&self) -> Written<'_> {
        Written { row: &self.row, data: &self.data }
    }

    /// Return the table of keys: objects with any members.
    pub fn table() -> Table {
        let node = |rule| Node { rule, label: String::new() };
        Table { nodes: vec![node(Rule::Map(1)), node(Rule::Any)], ..Table::default() }
    }

    /// Read a key; without columns, values stay as JSON has them. A key that is no JSON object has no
    /// columns; one with a schema of its own is declined, and one that bytes around it may hide.
    pub fn read(&mut self, key: Option<&[u8]>, columns: Option<&ConnectColumns>, table: &Table) -> Done {
        self.row.reset(false);
        self.data.clear();
        self.tape.clear();
        self.names.clear();
        let Some(text) = key else { return Ok(()) };
        let blank = text.iter().take_while(|c| b" \t\r\n".contains(c)).count();
        if text.get(blank) != Some(&b'{') {
            let is_framed = text.first().is_none_or(|first| FRAMED.contains(first));
            return if is_framed { Err(Why::Key) } else { Ok(()) };
        }
        std::str::from_utf8(text).map_err(|_| Why::Key)?;
        let (tape, names) = (&mut self.tape, &mut self.names);
        let map = Walk::new(table, text, tape, names, &mut Cache::of(0)).message()?;
        self.is_base64 = true;
        let RecordKey { row, data, tape, is_base64, .. } = self;
        let message = Message { text, tape };
        // Python reports leniencies of rows, and not of their keys.
        let (mut next, mut notes) = (0, Notes::new());
        write_row(&map, &message, row, data, |name, slot, out| {
            let column = columns.map(|columns| columns.next(name, &mut next));
            *is_base64 &= is_cell(column.flatten(), slot, &message);
            match column {
                Some(column) => write_declared(column, slot, &message, out, &mut notes),
                None => message.write(slot, out).map(|()| false),
            }
        })?;
        let has = |name: &[u8]| self.written().value(name).is_some();
        if has(b"schema") && has(b"payload") { Err(Why::Key) } else { Ok(()) }
    }
}
