//! The text of a table to its nodes.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::Table;
use super::condition_parse::condition_of;
use super::node::{Arm, Flat, Integers, Node, RowArm, RowNode, RowsNode, Rule, Tags, Union, Use};
use super::uses::UNKNOWN_PROPERTY;

/// The form of tables that this kernel reads.
const FORM: u64 = 1;

/// Fields of an object at most: each has a bit.
const FIELDS: usize = 64;

/// Return the table that a text holds: a line with the digest of the one behind it. `None` if it is
/// another form, or was changed after it was written.
pub fn table(text: &str) -> Option<Table> {
    let (head, body) = text.split_once('\n')?;
    let head: Value = serde_json::from_str(head).ok()?;
    let digest = hex(&Sha256::digest(body.trim_end().as_bytes()));
    if head.get("form")?.as_u64()? != FORM || head.get("sha256")?.as_str()? != digest {
        return None;
    }
    let body: Value = serde_json::from_str(body).ok()?;
    let mut found = Parser::default();
    found.leniencies.push(UNKNOWN_PROPERTY.to_owned());
    let listed = body.get("nodes")?.as_array()?;
    found.given = listed.iter().map(Value::as_object).collect::<Option<_>>()?;
    let nodes = found.given.clone().iter().map(|node| found.node(node)).collect::<Option<Vec<_>>>()?;
    let mut table = Table {
        nodes,
        root: index(body.get("root")?)?,
        has_batches: body.get("batches")?.as_bool()?,
        is_msgpack: body.get("encoding")?.as_str()? == "msgpack",
        digest,
        leniencies: found.leniencies,
        by_name: found.names,
        change: body.get("change")?.clone(),
        values: body.get("values")?.clone(),
    };
    name_places(&mut table.nodes);
    Some(table)
}

pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

type Given = Map<String, Value>;

#[derive(Default)]
struct Parser<'p> {
    given: Vec<&'p Given>,
    leniencies: Vec<String>,
    names: std::collections::HashMap<String, usize>,
}

impl Parser<'_> {
    fn node(&mut self, given: &Given) -> Option<Node> {
        let label = given.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        if !label.is_empty() {
            let place = self.given.iter().position(|other| std::ptr::eq(*other, given))?;
            self.names.insert(label.clone(), place);
        }
        let rule = self.rule(given)?;
        Some(Node { rule, label })
    }

    fn rule(&mut self, given: &Given) -> Option<Rule> {
        let of = || index(given.get("of")?);
        Some(match given.get("kind")?.as_str()? {
            "any" => Rule::Any,
            "null" => Rule::Null,
            "boolean" => Rule::Boolean,
            "integer" => Rule::Integer(Integers {
                least: given.get("least")?.as_i64()?,
                most: given.get("most")?.as_i64()?,
                of: list(given.get("of"), Value::as_i64),
                not: list(given.get("not"), Value::as_i64).unwrap_or_default(),
            }),
            "number" => Rule::Number,
            "double" => Rule::Double,
            "string" => Rule::Text,
            "base64" => Rule::Base64(index(given.get("least")?)?, index(given.get("most")?)?),
            "bytes" => Rule::Bytes(index(given.get("least")?)?, index(given.get("most")?)?),
            "enum" => Rule::Enum(list(given.get("of"), word)?),
            "choice" => Rule::Choice(list(given.get("of"), index)?),
            "nullable" => Rule::Nullable(of()?),
            "repeated" => Rule::Repeated(of()?),
            "list" => Rule::List(of()?),
            "map" => Rule::Map(of()?),
            "pairs" if self.given.get(of()?)?.get("kind")? == "any" => Rule::Pairs,
            "row" => Rule::Row(self.row(given)?),
            "rows" => Rule::Rows(rows(given)?),
            "object" => Rule::Union(self.union(given, &[given])?),
            "union" => {
                let arms = list(given.get("of"), |arm| self.given.get(index(arm)?).copied())?;
                Rule::Union(self.union(given, &arms)?)
            }
            "flat" => Rule::Flat(Flat {
                of: of()?,
                needed: list(given.get("needed"), word)?,
                entries: index(given.get("entries")?)?,
            }),
            _ => Rule::Declined,
        })
    }

    fn row(&mut self, given: &Given) -> Option<RowNode> {
        let fields = fields(given)?;
        let uses = self.uses(given.get("uses"), &[])?;
        let item_uses =
            fields.iter().map(|field| self.uses(field.get("uses"), &[])).collect::<Option<_>>()?;
        let items = fields.iter().map(|field| index(field.get("node")?)).collect::<Option<_>>()?;
        let names = fields.iter().map(|field| Some(field.get("name")?.as_str()?.to_owned()));
        Some(RowNode { names: names.collect::<Option<_>>()?, items, uses, item_uses })
    }

    fn union(&mut self, given: &Given, arms: &[&Given]) -> Option<Union> {
        let mut names: Vec<Vec<u8>> = Vec::new();
        for arm in arms {
            for field in fields(arm)? {
                let name = field.get("name")?.as_str()?.as_bytes().to_vec();
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        if names.len() > FIELDS {
            return None;
        }
        let tag = given.get("tag").and_then(Value::as_str);
        let place = |name: &str| names.iter().position(|other| other == name.as_bytes());
        let tag = tag.map(place).unwrap_or_default();
        let arms: Vec<Arm> = arms.iter().map(|arm| self.arm(arm, &names)).collect::<Option<_>>()?;
        let same = |i: usize| {
            let first = arms.first()?.nodes[i];
            arms.iter().all(|arm| arm.nodes[i] == first).then_some(first)?
        };
        let same = (0..names.len()).map(same).collect();
        let is = |what: &str| given.get(what).and_then(Value::as_bool).unwrap_or_default();
        Some(Union { tag, same, is_root: is("root"), is_loose: is("loose"), names, arms })
    }

    fn arm(&mut self, given: &Given, names: &[Vec<u8>]) -> Option<Arm> {
        let mut arm = Arm {
            title: given.get("name")?.as_str()?.to_owned(),
            word: given.get("word").and_then(Value::as_str).map(|word| word.as_bytes().to_vec()),
            nodes: vec![None; names.len()],
            required: 0,
            known: 0,
            fields: Vec::new(),
            uses: self.uses(given.get("uses"), names)?,
            field_uses: names.iter().map(|_| Vec::new()).collect(),
        };
        for field in fields(given)? {
            let name = field.get("name")?.as_str()?;
            let place = names.iter().position(|other| other == name.as_bytes())?;
            arm.nodes[place] = Some(index(field.get("node")?)?);
            arm.fields.push(place);
            arm.known |= 1 << place;
            arm.field_uses[place] = self.uses(field.get("uses"), &[])?;
            if field.get("required")?.as_bool()? {
                arm.required |= 1 << place;
            }
        }
        Some(arm)
    }

    /// Return leniencies; `names` are those that their conditions may name.
    fn uses(&mut self, given: Option<&Value>, names: &[Vec<u8>]) -> Option<Vec<Use>> {
        let mut found = Vec::new();
        for (name, condition) in given.and_then(Value::as_object).into_iter().flatten() {
            let known = self.leniencies.iter().position(|other| other == name);
            let place = known.unwrap_or_else(|| {
                self.leniencies.push(name.clone());
                self.leniencies.len() - 1
            });
            found.push(Use { name: place, condition: condition_of(condition, names)? });
        }
        Some(found)
    }
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

fn fields(given: &Given) -> Option<Vec<&Given>> {
    list(given.get("fields"), Value::as_object)
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

fn word(value: &Value) -> Option<Vec<u8>> {
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
