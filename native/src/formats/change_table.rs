//! Where the parts of a change stand in messages, as the schemas say.

use serde_json::Value;

use super::by_name::ByName;
use super::members::{extras, members};
use super::{Input, Notes, Options};
use crate::columns::{Columns, Name, Rest, RowImage};
use crate::json::scan::Kind;
use crate::json::times::TIMES;
use crate::json::writing::{named, word};
use crate::table::Table;
use crate::table::node::Rule;
use crate::table::tape::{Message, Slot};
use crate::why::{Done, Why};

/// Operation of an update whose message has only the row before it.
pub const BEFORE: &str = "update-before";

/// Columns of the place of a row, and what a table calls them.
const PLACES: [(Name, &str); 3] =
    [(Name::Database, "database"), (Name::Schema, "schema"), (Name::Table, "table")];

/// Indices of fields, from a value to one within it.
type Path = Vec<usize>;

/// Where parts stand, as far as messages of a variant have them.
struct Parts {
    /// Database, schema and table.
    source: [Option<Path>; 3],
    attributes: Vec<(String, Path)>,
    time: Option<Path>,
    order: Vec<Path>,
}

pub struct ChangeTable {
    pub system: String,
    /// The operation of each arm by which messages differ; none for one that has none.
    pub ops: Vec<Option<String>>,
    unit: i64,
    unknown: Vec<i64>,
    /// By the arm of a message, if arms hold parts at other positions; else the one of all.
    parts: Vec<Parts>,
    /// Columns that name rows, in order, and the parts of rows that writes have.
    pub keys: ByName<Vec<Vec<u8>>>,
    pub images: ByName<RowImage>,
}

impl ChangeTable {
    pub fn new(table: &Table, options: &Options) -> Option<Self> {
        let given = &table.change;
        let arms = match &table.nodes.get(table.root)?.rule {
            Rule::Rows(rows) => rows.arms.iter().map(|arm| arm.node).collect(),
            _ => vec![table.root],
        };
        let parts_of = |node: &usize| {
            let find = |given: &Value| path(table, *node, given.as_array()?);
            let named = given.get("attributes").and_then(Value::as_object).into_iter().flatten();
            let order = given.get("sequence").and_then(Value::as_array).into_iter().flatten();
            Parts {
                source: PLACES.map(|(_, name)| find(given.get("source")?.get(name)?)),
                attributes: named.filter_map(|(name, path)| Some((name.clone(), find(path)?))).collect(),
                time: given.get("event_time").and_then(find),
                order: order.filter_map(find).collect(),
            }
        };
        let unknown = given.get("unknown")?.as_array()?.iter();
        Some(ChangeTable {
            system: given.get("system")?.as_str()?.to_owned(),
            ops: ops(table)?,
            unit: given.get("unit")?.as_i64()?,
            unknown: unknown.map(Value::as_i64).collect::<Option<_>>()?,
            parts: arms.iter().map(parts_of).collect(),
            keys: ByName::keys(&options.key_columns)?,
            images: ByName::images(&options.row_image)?,
        })
    }

    /// Write system and place of a row.
    pub fn source(&self, message: &Message, root: &Slot, columns: &mut Columns) -> Done {
        columns.of(Name::System).put(self.system.as_bytes());
        for ((column, _), name) in PLACES.into_iter().zip(self.place(message, root)?) {
            columns.put(column, name);
        }
        Ok(())
    }

    /// Return database, schema and table of a row; names have no escapes.
    pub fn place<'m>(&self, message: &Message<'m>, root: &Slot) -> Done<[Option<&'m [u8]>; 3]> {
        let mut place = [None; 3];
        for (found, path) in place.iter_mut().zip(&self.parts(root).source) {
            let Some(path) = path else { continue };
            let (name, message) = at(path, root, message);
            if name.is_there() {
                *found = Some(message.content(&name).ok_or(Why::Name)?);
            }
        }
        Ok(place)
    }

    /// Write the attributes that a message has.
    pub fn attributes(&self, message: &Message, root: &Slot, out: &mut Vec<u8>) -> Done {
        self.parts(root).attributes.iter().try_for_each(|(name, path)| {
            let (slot, message) = at(path, root, message);
            members(&[(name.as_str(), &slot)], &message, out)
        })
    }

    /// Write all attributes of a change: those that the message has, and beside them what its row was found
    /// to be.
    pub fn all_attributes(
        &self,
        input: &Input,
        image: Option<RowImage>,
        notes: &Notes,
        columns: &mut Columns,
    ) -> Done {
        let out = columns.of(Name::Attributes).open();
        out.push(b'{');
        self.attributes(&input.message, &input.root, out)?;
        if let Some(image) = image {
            word("row_image", image.name(), out);
        }
        if !notes.is_empty() {
            named(b"leniencies", out);
            serde_json::to_writer(&mut *out, notes).map_err(|_| Why::Value)?;
        }
        extras(&input.message, out)?;
        out.push(b'}');
        Ok(())
    }

    /// Return the time of a change, and its place in the order of changes, as far as they are known.
    pub fn rest(&self, message: &Message, root: &Slot) -> Rest {
        let parts = self.parts(root);
        let number = |path: &Path| {
            let (slot, _) = at(path, root, message);
            (slot.kind == Kind::Integer && !self.unknown.contains(&slot.value)).then_some(slot.value)
        };
        let time = parts.time.as_ref().and_then(number).and_then(|time| time.checked_mul(self.unit));
        let mut order = parts.order.iter().map(number);
        let major = order.next().flatten();
        let minor = order.next().flatten().unwrap_or_default();
        Rest {
            event_time: time.filter(|time| TIMES.contains(time)),
            sequence: major.map(|major| (major, minor)),
            ..Rest::default()
        }
    }

    fn parts(&self, root: &Slot) -> &Parts {
        let arm = usize::try_from(root.value).ok().filter(|_| self.parts.len() > 1);
        &self.parts[arm.unwrap_or_default()]
    }
}

/// Return the value to which a path leads, perhaps into a text that messages repeat, and what it is of.
fn at<'m>(path: &[usize], from: &Slot, message: &Message<'m>) -> (Slot, Message<'m>) {
    path.iter().fold((*from, *message), |(slot, message), index| {
        let known = message.known(&slot).map(|known| (known.slot, known.message()));
        let (slot, message) = known.unwrap_or((slot, message));
        (*message.field(&slot, *index), message)
    })
}

/// Return a path from a node, or `None` without one.
fn path(table: &Table, node: usize, steps: &[Value]) -> Option<Path> {
    let Some((step, rest)) = steps.split_first() else { return Some(Path::new()) };
    if let Rule::Nullable(of) | Rule::Repeated(of) = &table.nodes.get(node)?.rule {
        return path(table, *of, steps);
    }
    let (index, nodes) = below(table, node, step.as_str()?)?;
    let mut found = nodes.into_iter().find_map(|node| path(table, node, rest))?;
    found.insert(0, index);
    Some(found)
}

/// Return the index of a field, and its nodes in the arms that have it, or `None` without one.
fn below(table: &Table, node: usize, step: &str) -> Option<(usize, Vec<usize>)> {
    match &table.nodes.get(node)?.rule {
        Rule::Union(union) => {
            let index = union.field(step)?;
            Some((index, union.arms.iter().filter_map(|arm| arm.nodes[index]).collect()))
        }
        Rule::Row(row) => {
            let index = row.names.iter().position(|name| name == step.as_bytes())?;
            Some((index, vec![row.items[index]]))
        }
        Rule::Flat(flat) => Some((0, vec![flat.of])),
        _ => None,
    }
}

/// Return the operation of each arm of the union that has the tag.
fn ops(table: &Table) -> Option<Vec<Option<String>>> {
    let given = table.change.get("ops")?.as_object()?;
    let op_of = |tag: &str| Some(given.get(tag)?.as_str()?.to_owned());
    let steps = table.change.get("op")?.as_array()?;
    let (tag, holder) = steps.split_last()?;
    if let Rule::Rows(rows) = &table.nodes.get(table.root)?.rule {
        let Rule::Row(row) = &table.nodes.get(rows.arms.first()?.node)?.rule else { return None };
        let index =
            row.names.iter().position(|name| Some(name.as_slice()) == tag.as_str().map(str::as_bytes))?;
        let place = rows.at.iter().position(|at| *at == index)?;
        return Some(rows.arms.iter().map(|arm| op_of(&arm.tags.first()?[place].to_string())).collect());
    }
    let mut node = table.root;
    for step in holder {
        node = *below(table, node, step.as_str()?)?.1.first()?;
    }
    let union = table.union(node)?;
    let word = |word: &Option<Vec<u8>>| op_of(std::str::from_utf8(word.as_ref()?).ok()?);
    Some(union.arms.iter().map(|arm| word(&arm.word)).collect())
}
