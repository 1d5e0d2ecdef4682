//! Schemas of Kafka Connect that stand in messages.

use super::bound::Bound;
use super::declared::{Declared, fingerprint};
use crate::json::number::parsed;
use crate::json::scan::Kind;
use crate::table::Table;
use crate::table::tape::{Known, Message, Slot};
use crate::why::{Done, Why};

/// Types that hold no others, with the bits of integers.
const INTEGERS: [(&[u8], u32); 4] = [(b"int8", 8), (b"int16", 16), (b"int32", 32), (b"int64", 64)];

/// The properties of a schema.
const PROPERTIES: [&str; 12] = [
    "type",
    "optional",
    "field",
    "name",
    "version",
    "doc",
    "parameters",
    "default",
    "fields",
    "items",
    "keys",
    "values",
];

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ConnectType {
    Boolean,
    /// An integer of so many bits.
    Integer(u32),
    Number,
    Bytes,
    Text,
    /// Days since the Unix epoch.
    Date,
    /// A time, and the microseconds of its unit.
    Time(i64),
    /// An unscaled number in Base64, and its scale.
    Decimal(u32),
}

/// What is declared of a column.
#[derive(Clone, Copy)]
pub struct Column {
    pub kind: ConnectType,
    pub optional: bool,
}

pub type ConnectColumns = Declared<Column>;

/// What the schema of a message says of its rows.
#[derive(Default)]
pub struct Connect {
    /// The columns before and after; none if the schema does not declare them.
    pub images: [Option<ConnectColumns>; 2],
    pub fingerprint: Vec<u8>,
    /// Whether it is the empty object, which says nothing.
    pub is_empty: bool,
}

/// Reads schemas.
pub struct ConnectSchemas {
    node: Bound<12>,
}

/// The members of a schema.
struct Said<'s> {
    kind: &'s [u8],
    optional: bool,
    field: Option<&'s [u8]>,
    name: Option<&'s [u8]>,
    parameters: &'s Slot,
    fields: &'s Slot,
}

impl ConnectSchemas {
    pub fn new(table: &Table) -> Option<Self> {
        Some(ConnectSchemas { node: Bound::named(table, "ConnectSchema", PROPERTIES)? })
    }

    pub fn make(&self, known: &Known) -> Done<Connect> {
        let message = known.message();
        let mut made = Connect::default();
        if known.text.iter().all(|c| b"{} \t\r\n".contains(c)) {
            made.is_empty = true;
            return Ok(made);
        }
        made.fingerprint = fingerprint(&known.text);
        let root = self.said(&known.slot, &message)?;
        if root.kind != b"struct" {
            return Err(Why::Schema);
        }
        let mut names: Declared<()> = Declared::default();
        for field in message.elements(root.fields) {
            let said = self.said(field, &message)?;
            let name = said.field.ok_or(Why::Schema)?;
            names.add(name, ())?;
            let columns = self.columns(&said, &message)?;
            let side = match name {
                b"before" => 0,
                b"after" => 1,
                _ => continue,
            };
            made.images[side] = Some(columns.ok_or(Why::Schema)?);
        }
        Ok(made)
    }

    /// Return the columns of a struct of scalars; none if it is a scalar itself.
    fn columns(&self, said: &Said, message: &Message) -> Done<Option<ConnectColumns>> {
        if said.kind != b"struct" {
            return type_of(said, message).map(|_| None).ok_or(Why::Schema);
        }
        if said.name.is_some_and(|name| name.starts_with(b"io.debezium.")) {
            return Err(Why::Schema);
        }
        let mut columns = ConnectColumns::default();
        for field in message.elements(said.fields) {
            let said = self.said(field, message)?;
            let kind = type_of(&said, message).ok_or(Why::Schema)?;
            columns.add(said.field.ok_or(Why::Schema)?, Column { kind, optional: said.optional })?;
        }
        Ok(Some(columns))
    }

    /// Return what a schema says; one with a default, or that holds arrays or maps, is declined.
    fn said<'s>(&self, slot: &Slot, message: &Message<'s>) -> Done<Said<'s>> {
        let [kind, optional, field, name, _, _, parameters, default, fields, items, keys, values] =
            self.node.of(slot, message);
        let has_more = [default, items, keys, values].iter().any(|slot| !slot.is_absent());
        let text = |slot: &Slot| {
            let is_there = slot.is_there().then(|| message.content(slot).ok_or(Why::Schema));
            is_there.transpose()
        };
        let kind = message.content(kind).ok_or(Why::Schema)?;
        if has_more || (kind == b"struct") != (fields.kind == Kind::Array) {
            return Err(Why::Schema);
        }
        let optional = optional.kind == Kind::True;
        Ok(Said { kind, optional, field: text(field)?, name: text(name)?, parameters, fields })
    }
}

/// Return the type of a scalar; none for one whose values are read by rules that are not known.
fn type_of(said: &Said, message: &Message) -> Option<ConnectType> {
    let integer = INTEGERS.iter().find(|(name, _)| *name == said.kind);
    let plain = match said.kind {
        b"boolean" => ConnectType::Boolean,
        b"float" | b"double" => ConnectType::Number,
        b"bytes" => ConnectType::Bytes,
        b"string" => ConnectType::Text,
        _ => ConnectType::Integer(integer?.1),
    };
    let Some(name) = said.name else { return Some(plain) };
    Some(match (name, said.kind) {
        (b"org.apache.kafka.connect.data.Date" | b"io.debezium.time.Date", b"int32") => ConnectType::Date,
        (b"org.apache.kafka.connect.data.Timestamp" | b"io.debezium.time.Timestamp", b"int64") => {
            ConnectType::Time(1000)
        }
        (b"io.debezium.time.MicroTimestamp", b"int64") => ConnectType::Time(1),
        (b"org.apache.kafka.connect.data.Decimal", b"bytes") => ConnectType::Decimal(scale(said, message)?),
        _ => return None,
    })
}

/// Return the scale of a decimal, if it is a plain small number.
fn scale(said: &Said, message: &Message) -> Option<u32> {
    let is_scale = |name: &Slot| message.content(name) == Some(b"scale");
    let (_, value) = message.members(said.parameters).find(|(name, _)| is_scale(name))?;
    let text = message.content(value)?;
    let is_plain = (1..=2).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
    if is_plain { parsed(text) } else { None }
}
