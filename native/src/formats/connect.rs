//! Schemas of Kafka Connect that stand in messages.

use super::Notes;
use super::bound::Bound;
use super::values::{Declared, NamedType, ValueType, fingerprint, types, write_value};
use crate::json::number::parsed;
use crate::json::scan::Kind;
use crate::table::Table;
use crate::table::tape::{Known, Message, Slot};
use crate::why::{Done, Why};

/// The properties of a schema that say what values are.
const PROPERTIES: [&str; 10] =
    ["type", "optional", "field", "name", "parameters", "fields", "default", "items", "keys", "values"];

/// What is declared of a column.
#[derive(Clone, Copy)]
pub struct Column {
    pub kind: ValueType,
    pub optional: bool,
}

pub type ConnectColumns = Declared<Column>;

/// What the schema of a message says of its rows.
#[derive(Default)]
pub struct Connect {
    /// The columns before and after; none if the schema does not declare them.
    pub images: [Option<ConnectColumns>; 2],
    /// Without digits for the empty object, which says nothing.
    pub fingerprint: Vec<u8>,
}

/// Reads schemas.
pub struct ConnectSchemas {
    node: Bound<10>,
    types: Vec<NamedType>,
    /// Logical types, each of a base type.
    logical: Vec<NamedType>,
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
        let named = table.values.get("ConnectSchema.type")?;
        let holder = named.iter().find(|known| known.means == "struct")?.value.as_str()?;
        Some(ConnectSchemas {
            node: Bound::named(table, "ConnectSchema", PROPERTIES)?,
            types: types(table, "ConnectSchema.type")?,
            logical: types(table, "ConnectSchema.name")?,
            holder: holder.as_bytes().to_vec(),
        })
    }

    pub fn make(&self, known: &Known) -> Done<Connect> {
        let message = known.message();
        let mut made = Connect::default();
        if known.text.iter().all(|c| b"{} \t\r\n".contains(c)) {
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
        if said.name.is_some_and(|name| self.logical.iter().any(|known| known.word == name)) {
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
    fn type_of(&self, said: &Said, message: &Message) -> Option<ValueType> {
        let Some(name) = said.name else {
            return self.types.iter().find(|known| known.word == said.kind)?.kind;
        };
        match self.logical.iter().find(|known| known.word == name && known.of == said.kind)?.kind? {
            ValueType::Decimal(_) => Some(ValueType::Decimal(scale(said, message)?)),
            kind => Some(kind),
        }
    }

    /// Return what a schema says; one with a default, or that holds arrays or maps, is declined.
    fn said<'s>(&self, slot: &Slot, message: &Message<'s>) -> Done<Said<'s>> {
        let [kind, optional, field, name, parameters, fields, more @ ..] = self.node.of(slot, message);
        let has_more = more.iter().any(|slot| !slot.is_absent());
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

/// Return the scale of a decimal, if it is a plain small number.
fn scale(said: &Said, message: &Message) -> Option<u32> {
    let is_scale = |name: &Slot| message.content(name) == Some(b"scale");
    let (_, value) = message.members(said.parameters).find(|(name, _)| is_scale(name))?;
    let text = message.content(value)?;
    let is_plain = (1..=2).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
    if is_plain { parsed(text) } else { None }
}

/// Write the value of a column that the schema may declare, and tell whether it is the text of a
/// decimal; notes get what is accepted beyond the schema.
pub fn write_declared(
    column: Option<&Column>,
    slot: &Slot,
    message: &Message,
    out: &mut Vec<u8>,
    notes: &mut Notes,
) -> Done<bool> {
    match column {
        None => notes.push("undeclared-field"),
        Some(column) if slot.kind == Kind::Null && !column.optional => return Err(Why::Value),
        Some(column) if slot.kind != Kind::Null => {
            return write_value(column.kind, slot, message, out).ok_or(Why::Value);
        }
        Some(_) => {}
    }
    message.write(slot, out).map(|()| false)
}
