//! What the generator wrote of a family's schemas: nodes, by which bytes are validated.

mod collections;
pub mod condition;
mod condition_parse;
mod flat;
mod marks;
pub mod node;
mod objects;
pub mod parse;
mod pattern;
pub mod tape;
pub mod uses;
pub mod walk;

use std::collections::HashMap;

use node::{Node, Rule, Union};

pub struct Table {
    pub nodes: Vec<Node>,
    /// The node of a message.
    pub root: usize,
    /// Whether an array of messages is a batch of them.
    pub has_batches: bool,
    /// Whether messages are MessagePack, and not JSON.
    pub is_msgpack: bool,
    /// Whether numbers that binary64 does not hold are decimals.
    pub is_exact: bool,
    /// SHA-256 of the text, as hex.
    pub digest: String,
    /// Names of leniencies.
    pub leniencies: Vec<String>,
    pub by_name: HashMap<String, usize>,
    /// Where the parts of a change stand in messages, as JSON; null if the schemas do not say.
    pub change: serde_json::Value,
}

impl Table {
    /// Tell whether the node of a name is a row of such positions.
    pub fn is_row(&self, name: &str, positions: &[&str]) -> bool {
        let node = self.by_name.get(name).and_then(|node| self.nodes.get(*node));
        matches!(node.map(|node| &node.rule), Some(Rule::Row(row)) if row.names == positions)
    }

    /// Return the labels of the arms of the rows of a name.
    pub fn arms_of_rows(&self, name: &str) -> Option<Vec<&str>> {
        let Rule::Rows(rows) = &self.nodes.get(*self.by_name.get(name)?)?.rule else { return None };
        rows.arms.iter().map(|arm| Some(self.nodes.get(arm.node)?.label.as_str())).collect()
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
