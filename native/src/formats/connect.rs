//! Schemas of Kafka Connect that stand in messages.

use std::collections::HashMap;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::bound::Bound;
use crate::json::scan::Kind;
use crate::table::Table;
use crate::table::parse::hex;
use crate::table::tape::{Message, Slot};
use crate::texts::{Known, Texts};

/// Schemas that are kept; then all are forgotten.
const MOST: usize = 256;

/// Hex digits of a fingerprint.
const DIGITS: usize = 32;

/// Types that hold no others, with the bits of integers.
const INTEGERS: [(&[u8], u32); 4] = [(b"int8", 8), (b"int16", 16), (b"int32", 32), (b"int64", 64)];

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Type {
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

#[derive(Clone)]
pub struct Column {
    name: Vec<u8>,
    pub kind: Type,
    pub optional: bool,
}

/// What the schema of a message says of its rows.
#[derive(Default)]
pub struct Connect {
    /// The columns before and after; none if the schema does not declare them.
    pub images: [Option<Vec<Column>>; 2],
    pub fingerprint: Vec<u8>,
    /// Whether it is the empty object, which says nothing.
    pub is_empty: bool,
}

/// Schemas by the number of their text; none for one that is declined.
pub struct Schemas {
    node: Bound<12>,
    made: HashMap<i64, Option<Arc<Connect>>>,
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

impl Schemas {
    pub fn new(table: &Table) -> Option<Self> {
        let names = [
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
        Some(Schemas { node: Bound::named(table, "ConnectSchema", names)?, made: HashMap::new() })
    }

    pub fn get(&mut self, number: i64, texts: &Texts) -> Option<Arc<Connect>> {
        if let Some(found) = self.made.get(&number) {
            return found.clone();
        }
        let made = self.make(texts.get(number)?).map(Arc::new);
        if self.made.len() >= MOST {
            self.made.clear();
        }
        self.made.insert(number, made.clone());
        made
    }

    fn make(&self, known: &Known) -> Option<Connect> {
        let message = Message { text: &known.text, tape: &known.tape, exact: true };
        let mut made = Connect::default();
        if is_empty(&known.text) {
            made.is_empty = true;
            return Some(made);
        }
        made.fingerprint = hex(&Sha256::digest(&known.text)).into_bytes();
        made.fingerprint.truncate(DIGITS);
        let root = self.said(&known.slot, &message)?;
        if root.kind != b"struct" {
            return None;
        }
        let mut names: Vec<&[u8]> = Vec::new();
        for (_, field) in message.elements(root.fields) {
            let said = self.said(field, &message)?;
            let name = said.field?;
            if names.contains(&name) {
                return None;
            }
            names.push(name);
            let columns = self.columns(&said, &message)?;
            match (name, columns) {
                (b"before", Some(columns)) => made.images[0] = Some(columns),
                (b"after", Some(columns)) => made.images[1] = Some(columns),
                (b"before" | b"after", None) => return None,
                _ => {}
            }
        }
        Some(made)
    }

    /// Return the columns of a struct of scalars; none if it is a scalar itself.
    fn columns(&self, said: &Said, message: &Message) -> Option<Option<Vec<Column>>> {
        if said.kind != b"struct" {
            return type_of(said, message).map(|_| None);
        }
        if said.name.is_some_and(|name| name.starts_with(b"io.debezium.")) {
            return None;
        }
        let mut columns: Vec<Column> = Vec::new();
        for (_, field) in message.elements(said.fields) {
            let said = self.said(field, message)?;
            let name = said.field?.to_vec();
            if columns.iter().any(|other| other.name == name) {
                return None;
            }
            columns.push(Column { name, kind: type_of(&said, message)?, optional: said.optional });
        }
        Some(Some(columns))
    }

    /// Return what a schema says; one with a default, or that holds arrays or maps, is declined.
    fn said<'s>(&self, slot: &Slot, message: &Message<'s>) -> Option<Said<'s>> {
        let [kind, optional, field, name, _, _, parameters, default, fields, items, keys, values] =
            self.node.of(slot, message)?;
        let has_more = [default, items, keys, values].iter().any(|slot| !slot.is_absent());
        let text = |slot: &Slot| {
            if slot.is_there() { message.content(slot).map(Some) } else { Some(None) }
        };
        if has_more || (message.content(kind)? == b"struct") != (fields.kind == Kind::Array) {
            return None;
        }
        Some(Said {
            kind: message.content(kind)?,
            optional: optional.kind == Kind::True,
            field: text(field)?,
            name: text(name)?,
            parameters,
            fields,
        })
    }
}

/// Tell whether the text of an object has no member.
fn is_empty(text: &[u8]) -> bool {
    text.iter().all(|c| b"{} \t\r\n".contains(c))
}

/// Return the type of a scalar; one whose values are read by rules that are not known is declined.
fn type_of(said: &Said, message: &Message) -> Option<Type> {
    let integer = INTEGERS.iter().find(|(name, _)| *name == said.kind);
    let plain = match said.kind {
        b"boolean" => Type::Boolean,
        b"float" | b"double" => Type::Number,
        b"bytes" => Type::Bytes,
        b"string" => Type::Text,
        _ => Type::Integer(integer?.1),
    };
    let Some(name) = said.name else { return Some(plain) };
    Some(match (name, said.kind) {
        (b"org.apache.kafka.connect.data.Date" | b"io.debezium.time.Date", b"int32") => Type::Date,
        (b"org.apache.kafka.connect.data.Timestamp" | b"io.debezium.time.Timestamp", b"int64") => {
            Type::Time(1000)
        }
        (b"io.debezium.time.MicroTimestamp", b"int64") => Type::Time(1),
        (b"org.apache.kafka.connect.data.Decimal", b"bytes") => Type::Decimal(scale(said, message)?),
        _ => return None,
    })
}

/// Return the scale of a decimal, if it is a plain small number.
fn scale(said: &Said, message: &Message) -> Option<u32> {
    let (place, _) =
        message.elements(said.parameters).find(|(_, name)| message.content(name) == Some(b"scale"))?;
    let text = message.content(message.tape.slots.get(place + 1)?)?;
    let is_plain = (1..=2).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
    if is_plain { std::str::from_utf8(text).ok()?.parse().ok() } else { None }
}

/// Return the column of a name; rows mostly have them in the order of the schema.
pub fn column_of<'c>(columns: &'c [Column], name: &[u8], next: &mut usize) -> Option<&'c Column> {
    if columns.get(*next).is_none_or(|column| column.name != name) {
        *next = columns.iter().position(|column| column.name == name)?;
    }
    *next += 1;
    columns.get(*next - 1)
}

/// Return the type that columns declare for a name; none if they declare none.
pub fn kind_of(columns: Option<&[Column]>, name: &[u8]) -> Option<Type> {
    columns?.iter().find(|column| column.name == name).map(|column| column.kind)
}
