//! Schemas of Kafka Connect that stand in messages.

use super::bound::Bound;
use super::declared::{Declared, fingerprint};
use crate::json::number::parsed;
use crate::json::scan::Kind;
use crate::table::Table;
use crate::table::tape::{Known, Message, Slot};
use crate::why::{Done, Why};

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
    /// Names of the types that hold no others.
    types: Vec<(Vec<u8>, ConnectType)>,
    /// Logical types by name and base type; none for one that is declined.
    logical: Vec<([Vec<u8>; 2], Option<ConnectType>)>,
    /// Name of the type that has fields.
    holder: Vec<u8>,
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
        let known = table.values("ConnectSchema.type")?;
        let name = |value: &serde_json::Value| Some(value.as_str()?.as_bytes().to_vec());
        let holder = known.iter().find(|known| known.means == "struct")?.value;
        let mut types = Vec::new();
        for known in &known {
            let bits = u32::try_from(known.bits).ok()?;
            if let Some(kind) = scalar(known.means, bits) {
                types.push((name(known.value)?, kind));
            }
        }
        let logical = table
            .values("ConnectSchema.name")?
            .into_iter()
            .map(|known| Some(([name(known.value)?, known.of.as_bytes().to_vec()], logical(known.means))));
        Some(ConnectSchemas {
            node: Bound::named(table, "ConnectSchema", PROPERTIES)?,
            types,
            logical: logical.collect::<Option<_>>()?,
            holder: name(holder)?,
        })
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
        if root.kind != self.holder {
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
        if said.kind != self.holder {
            return self.type_of(said, message).map(|_| None).ok_or(Why::Schema);
        }
        if said.name.is_some_and(|name| self.logical.iter().any(|(known, _)| known[0] == name)) {
            return Err(Why::Schema);
        }
        let mut columns = ConnectColumns::default();
        for field in message.elements(said.fields) {
            let said = self.said(field, message)?;
            let kind = self.type_of(&said, message).ok_or(Why::Schema)?;
            columns.add(said.field.ok_or(Why::Schema)?, Column { kind, optional: said.optional })?;
        }
        Ok(Some(columns))
    }

    /// Return the type of a scalar; none for one whose values are read by rules that are not known.
    fn type_of(&self, said: &Said, message: &Message) -> Option<ConnectType> {
        let Some(name) = said.name else {
            return self.types.iter().find(|(known, _)| known == said.kind).map(|(_, kind)| *kind);
        };
        let (_, kind) = self.logical.iter().find(|(known, _)| known[0] == name && known[1] == said.kind)?;
        match (*kind)? {
            ConnectType::Decimal(_) => Some(ConnectType::Decimal(scale(said, message)?)),
            kind => Some(kind),
        }
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
        if has_more || (kind == self.holder) != (fields.kind == Kind::Array) {
            return Err(Why::Schema);
        }
        let optional = optional.kind == Kind::True;
        Ok(Said { kind, optional, field: text(field)?, name: text(name)?, parameters, fields })
    }
}

/// Return the type of values that do not have a logical type; `None` for a type that contains others.
fn scalar(means: &str, bits: u32) -> Option<ConnectType> {
    Some(match means {
        "boolean" => ConnectType::Boolean,
        "integer" => ConnectType::Integer(bits),
        "number" => ConnectType::Number,
        "base64" => ConnectType::Bytes,
        "text" => ConnectType::Text,
        _ => return None,
    })
}

/// Return a logical type; none for one whose values are read by rules that are not known.
fn logical(means: &str) -> Option<ConnectType> {
    Some(match means {
        "date-days" => ConnectType::Date,
        "timestamp-milliseconds" => ConnectType::Time(1000),
        "timestamp-microseconds" => ConnectType::Time(1),
        "decimal" => ConnectType::Decimal(0),
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
