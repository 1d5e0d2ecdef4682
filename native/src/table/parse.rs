//! The text of a table to its nodes.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::Table;
use super::condition::condition_of;
use super::node::{Arm, Flat, Integers, Node, RowArm, RowNode, RowsNode, Rule, Tags, Union, Use};

/// The form of tables that this kernel reads.
const FORM: u64 = 1;

/// Return the table that a text holds: a line with the digest of the one behind it. `None` if it is
/// another form, or was changed after it was written.
pub fn table(text: &str) -> Option<Table> {
    let (head, body) = text.split_once('\n')?;
    let head: Value = serde_json::from_str(head).ok()?;
    let digest = hex(body.trim_end().as_bytes());
    if head.get("form")?.as_u64()? != FORM || head.get("sha256")?.as_str()? != digest {
        return None;
    }
    let body: Value = serde_json::from_str(body).ok()?;
    let given = list(body.get("nodes"), Value::as_object)?;
    let mut nodes = given.iter().map(|node| node_of(node, &given)).collect::<Option<Vec<_>>>()?;
    let by_name = nodes.iter().enumerate().map(|(place, node)| (node.label.clone(), place)).collect();
    name_places(&mut nodes);
    Some(Table {
        nodes,
        root: index(body.get("root")?)?,
        has_batches: body.get("batches")?.as_bool()?,
        is_msgpack: body.get("encoding")?.as_str()? == "msgpack",
        by_name,
        change: body.get("change")?.clone(),
        values: HashMap::deserialize(body.get("values")?).ok()?,
    })
}

/// Return the SHA-256 digest of bytes, in hex.
pub fn hex(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    let digits = digest.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

type Given = Map<String, Value>;

/// Return a node; `all` has what is given of each node.
fn node_of(given: &Given, all: &[&Given]) -> Option<Node> {
    let of = || index(given.get("of")?);
    let number = |name: &str| index(given.get(name)?);
    let rule = match given.get("kind")?.as_str()? {
        "any" => Rule::Any,
        "null" => Rule::Null,
        "boolean" => Rule::Boolean,
        "integer" if given.get("not").is_none() => Rule::Integer(Integers {
            least: given.get("least")?.as_i64()?,
            most: given.get("most")?.as_i64()?,
            of: list(given.get("of"), Value::as_i64),
        }),
        "number" => Rule::Number,
        "double" => Rule::Double,
        "string" => Rule::Text,
        "base64" => Rule::Base64(number("least")?, number("most")?),
        "bytes" => Rule::Bytes(number("least")?, number("most")?),
        "enum" => Rule::Enum(list(given.get("of"), bytes)?),
        "choice" => Rule::Choice(list(given.get("of"), index)?),
        "nullable" => Rule::Nullable(of()?),
        "repeated" => Rule::Repeated(of()?),
        "list" => Rule::List(of()?),
        "map" => Rule::Map(of()?),
        "pairs" if all.get(of()?)?.get("kind")? == "any" => Rule::Pairs,
        "row" => Rule::Row(row(given)?),
        "rows" => Rule::Rows(rows(given)?),
        "object" => Rule::Union(union(given, &[given])?),
        "union" => {
            let arms = list(given.get("of"), |arm| all.get(index(arm)?).copied())?;
            Rule::Union(union(given, &arms)?)
        }
        "flat" => {
            let needed = list(given.get("needed"), bytes)?;
            Rule::Flat(Flat { of: of()?, needed, entries: number("entries")? })
        }
        _ => Rule::Declined,
    };
    let label = given.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    Some(Node { rule, label })
}

fn row(given: &Given) -> Option<RowNode> {
    let fields = given.get("fields");
    Some(RowNode {
        names: list(fields, |field| bytes(field.get("name")?))?,
        items: list(fields, |field| index(field.get("node")?))?,
        uses: uses(given.get("uses"), &[])?,
        item_uses: list(fields, |field| uses(field.get("uses"), &[]))?,
    })
}

fn union(given: &Given, arms: &[&Given]) -> Option<Union> {
    let mut names: Vec<Vec<u8>> = Vec::new();
    for arm in arms {
        for name in list(arm.get("fields"), |field| bytes(field.get("name")?))? {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let tag = given.get("tag").and_then(bytes);
    let tag = tag.and_then(|tag| names.iter().position(|other| *other == tag));
    let arms: Vec<Arm> = arms.iter().map(|arm| arm_of(arm, &names)).collect::<Option<_>>()?;
    let same = |i: usize| {
        let first = arms.first()?.nodes[i];
        arms.iter().all(|arm| arm.nodes[i] == first).then_some(first)?
    };
    let same = (0..names.len()).map(same).collect();
    let is = |what: &str| given.get(what).and_then(Value::as_bool).unwrap_or_default();
    Some(Union { tag, same, is_root: is("root"), is_loose: is("loose"), names, arms })
}

fn arm_of(given: &Given, names: &[Vec<u8>]) -> Option<Arm> {
    let mut arm = Arm {
        title: given.get("name")?.as_str()?.to_owned(),
        word: given.get("word").and_then(bytes),
        nodes: vec![None; names.len()],
        required: Vec::new(),
        fields: Vec::new(),
        uses: uses(given.get("uses"), names)?,
        field_uses: names.iter().map(|_| Vec::new()).collect(),
    };
    for field in given.get("fields")?.as_array()? {
        let name = bytes(field.get("name")?)?;
        let place = names.iter().position(|other| *other == name)?;
        arm.nodes[place] = Some(index(field.get("node")?)?);
        arm.fields.push(place);
        arm.field_uses[place] = uses(field.get("uses"), &[])?;
        if field.get("required")?.as_bool()? {
            arm.required.push(place);
        }
    }
    Some(arm)
}

/// Return leniencies; `names` are those that their conditions may name.
fn uses(given: Option<&Value>, names: &[Vec<u8>]) -> Option<Vec<Use>> {
    let given = given.and_then(Value::as_object).into_iter().flatten();
    let uses = given.map(|(name, condition)| {
        Some(Use { name: Arc::from(name.as_str()), condition: condition_of(condition, names)? })
    });
    uses.collect()
}

fn rows(given: &Given) -> Option<RowsNode> {
    let tags = list(given.get("tags"), |arm| list(Some(arm), tags_of))?.into_iter();
    let nodes = list(given.get("of"), index)?;
    let arms = tags.zip(nodes).map(|(tags, node)| RowArm { tags, node });
    Some(RowsNode { at: list(given.get("at"), index)?, arms: arms.collect() })
}

fn list<'v, T>(value: Option<&'v Value>, each: impl FnMut(&'v Value) -> Option<T>) -> Option<Vec<T>> {
    value?.as_array()?.iter().map(each).collect()
}

fn index(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}

/// Return tags; none where there are more than `Tags` has room for.
fn tags_of(value: &Value) -> Option<Tags> {
    let mut tags = list(Some(value), Value::as_i64)?;
    tags.resize(tags.len().max(Tags::default().len()), 0);
    tags.try_into().ok()
}

fn bytes(value: &Value) -> Option<Vec<u8>> {
    Some(value.as_str()?.as_bytes().to_vec())
}

/// Name each node that is a field of an object after both.
fn name_places(nodes: &mut [Node]) {
    let mut found: Vec<(usize, String)> = Vec::new();
    for node in nodes.iter() {
        let Rule::Union(union) = &node.rule else { continue };
        for arm in &union.arms {
            for (field, child) in arm.nodes.iter().enumerate() {
                let name = String::from_utf8_lossy(&union.names[field]);
                found.extend(child.map(|child| (child, format!("{}.{name}", arm.title))));
            }
        }
    }
    for (node, name) in found {
        if nodes[node].label.is_empty() {
            nodes[node].label = name;
        }
    }
}
