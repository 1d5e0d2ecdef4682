//! Keys of Kafka records that are JSON objects: the columns that name a row.

use super::connect::{Column, Type, column_of};
use super::connect_values::write_value;
use super::rows::{Means, Row, write_row};
use crate::json::base64::byte_count;
use crate::json::names::Names;
use crate::json::scan::{Kind, LEVELS, Scan};
use crate::table::tape::{ABSENT, Message, NONE, Slot, Tape, short};

/// First bytes of a key behind the prefix of a schema registry, or compressed by gzip or zstd.
const FRAMED: [u8; 3] = [0, 0x1f, 0x28];

/// The columns of a record key.
#[derive(Default)]
pub struct RecordKey {
    pub row: Row,
    pub data: Vec<u8>,
    tape: Tape,
    names: Names,
    notes: Vec<&'static str>,
    /// Whether all its texts are Base64 text.
    pub is_base64: bool,
}

/// Tell whether a value can be that of a cell of an HBase table: text is bytes as Base64 there.
pub fn is_cell(column: Option<&Column>, slot: &Slot, message: &Message) -> bool {
    let is_decimal = column.is_some_and(|column| matches!(column.kind, Type::Decimal(_)));
    let is_base64 = || message.content(slot).is_some_and(|text| byte_count(text).is_some());
    !slot.is_text() || is_decimal || is_base64()
}

impl RecordKey {
    /// Read a key; without columns, values stay as JSON has them. A key that is no JSON object has no
    /// columns; one with a schema of its own is declined, and one that bytes around it may hide.
    pub fn read(&mut self, key: Option<&[u8]>, columns: Option<&[Column]>) -> Option<()> {
        self.row.is_there = false;
        self.row.cells.clear();
        self.data.clear();
        self.tape.slots.clear();
        self.names.clear();
        let Some(text) = key else { return Some(()) };
        let blank = text.iter().take_while(|c| b" \t\r\n".contains(c)).count();
        if text.get(blank) != Some(&b'{') {
            return if FRAMED.contains(text.first()?) { None } else { Some(()) };
        }
        std::str::from_utf8(text).ok()?;
        let map = self.members(text)?;
        self.is_base64 = true;
        let RecordKey { row, data, tape, notes, is_base64, .. } = self;
        let message = Message { text, tape, exact: true };
        let mut next = 0;
        write_row(&map, &message, row, data, |name, slot, out| {
            let column = columns.map(|columns| column_of(columns, name, &mut next));
            *is_base64 &= is_cell(column.flatten(), slot, &message);
            match column {
                Some(column) => write_value(column, slot, &message, out, notes),
                None => message.write(slot, out).map(|()| Means::Json),
            }
        })?;
        let has = |name: &[u8]| message.elements(&map).any(|(_, slot)| message.content(slot) == Some(name));
        if has(b"schema") && has(b"payload") { None } else { Some(()) }
    }

    /// Read the members of the object that a text is.
    fn members(&mut self, text: &[u8]) -> Option<Slot> {
        let mut scan = Scan::new(text, true);
        scan.blanks();
        let mut last: Option<usize> = None;
        let slots = &mut self.tape.slots;
        let mark = self.names.open();
        let mut is_more = scan.open(b'{', b'}')?;
        while is_more {
            let name = scan.member()?;
            scan.name(name, mark, &mut self.names)?;
            let (start, untidy) = (scan.at, scan.untidy);
            let kind = scan.skip(&mut self.names, LEVELS)?;
            let place = slots.len();
            if let Some(last) = last.replace(place) {
                slots[last].next = short(place);
            }
            let end = name.start + name.content.len() + 1;
            slots.push(Slot { kind: Kind::Text, start: short(name.start - 1), end: short(end), ..ABSENT });
            let is_plain = scan.untidy == untidy;
            slots.push(Slot { kind, is_plain, start: short(start), end: short(scan.at), ..ABSENT });
            is_more = scan.is_more(b'}')?;
        }
        scan.blanks();
        let first = if slots.is_empty() { NONE } else { 0 };
        (scan.at == text.len()).then_some(Slot { kind: Kind::Object, first, ..ABSENT })
    }
}
