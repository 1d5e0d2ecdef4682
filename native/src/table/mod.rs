//! What the generator wrote of a family's schemas: nodes, by which bytes are validated.

mod collections;
pub mod condition;
pub mod node;
mod objects;
pub mod parse;
pub mod pattern;
pub mod tape;
pub mod uses;
pub mod walk;

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

use node::{Node, Rule, Union};

#[derive(Default)]
pub struct Table {
    pub nodes: Vec<Node>,
    /// The node of a message.
    pub root: usize,
    /// Whether an array of messages is a batch of them.
    pub has_batches: bool,
    /// Whether messages are MessagePack, and not JSON.
    pub is_msgpack: bool,
    pub by_name: HashMap<String, usize>,
    /// Where the parts of a change stand in messages, as JSON; null if the schemas do not say.
    pub change: Value,
    /// By property the values that have a meaning, as the schemas say it.
    pub values: HashMap<String, Vec<Meaning>>,
}

/// A value that has a meaning, of a number or beside another value.
#[derive(Deserialize)]
pub struct Meaning {
    pub value: Value,
    pub means: String,
    #[serde(default)]
    pub of: String,
    #[serde(default)]
    pub bits: u32,
}

impl Table {
    /// Return the index of each of some positions, which is the same in all rows of these names.
    pub fn positions<const N: usize>(&self, rows: &[&str], names: [&str; N]) -> Option<[usize; N]> {
        let of_row = |row: &&str| {
            let Rule::Row(row) = &self.nodes.get(*self.by_name.get(*row)?)?.rule else { return None };
            names.iter().map(|name| row.names.iter().position(|other| other == name.as_bytes())).collect()
        };
        let found: Vec<Vec<usize>> = rows.iter().map(of_row).collect::<Option<_>>()?;
        let first = found.first()?;
        found.iter().all(|other| other == first).then(|| std::array::from_fn(|i| first[i]))
    }

    /// Return the label and the first tag of each arm of the rows of a name; none of an open arm.
    pub fn arms_of_rows(&self, name: &str) -> Option<Vec<(&str, Option<i64>)>> {
        let Rule::Rows(rows) = &self.nodes.get(*self.by_name.get(name)?)?.rule else { return None };
        let arms = rows.arms.iter().map(|arm| {
            let tag = arm.tags.first().and_then(|tags| tags.first()).copied();
            Some((self.nodes.get(arm.node)?.label.as_str(), tag))
        });
        arms.collect()
    }

    /// Return the union or object that is the node of a name, or that a nullable node is of.
    pub fn union(&self, node: usize) -> Option<&Union> {
        match &self.nodes.get(node)?.rule {
            Rule::Union(union) => Some(union),
            Rule::Nullable(of) | Rule::Repeated(of) => self.union(*of),
            _ => None,
        }
    }
}
