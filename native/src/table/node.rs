//! Nodes of a table: one for each place of a schema.

use std::sync::Arc;

use super::condition::Condition;

pub struct Node {
    pub rule: Rule,
    /// What counts of declined messages call it.
    pub label: String,
}

pub enum Rule {
    Any,
    Null,
    Boolean,
    Integer(Integers),
    Number,
    /// A number that is written as a float.
    Double,
    Text,
    Base64(usize, usize),
    /// Bytes that are no text.
    Bytes(usize, usize),
    Enum(Vec<Vec<u8>>),
    Choice(Vec<usize>),
    Nullable(usize),
    List(usize),
    Map(usize),
    /// A map with any keys, of any values.
    Pairs,
    Row(RowNode),
    Rows(RowsNode),
    Union(Union),
    Flat(Flat),
    /// A value whose text is the same in many messages.
    Repeated(usize),
    /// What the kernel has no rule for.
    Declined,
}

pub struct Integers {
    pub least: i64,
    pub most: i64,
    /// Those that it may be; none for all.
    pub of: Option<Vec<i64>>,
}

impl Integers {
    pub fn has(&self, value: i64) -> bool {
        (self.least..=self.most).contains(&value) && self.of.as_ref().is_none_or(|of| of.contains(&value))
    }
}

/// An object in which the entries of a map stand, beside one property of any name.
pub struct Flat {
    /// The node of that property.
    pub of: usize,
    /// The names of the properties by which it is found.
    pub needed: Vec<Vec<u8>>,
    /// The node of an entry.
    pub entries: usize,
}

/// A leniency, and when it is needed.
pub struct Use {
    pub name: Arc<str>,
    pub condition: Condition,
}

/// An array whose positions have nodes.
pub struct RowNode {
    pub names: Vec<Vec<u8>>,
    pub items: Vec<usize>,
    pub uses: Vec<Use>,
    pub item_uses: Vec<Vec<Use>>,
}

/// One of several rows, by the integers at some positions.
pub struct RowsNode {
    pub at: Vec<usize>,
    pub arms: Vec<RowArm>,
}

/// The integers at the positions of tags, which are two at most.
pub type Tags = [i64; 2];

pub struct RowArm {
    /// The values that the tags have together; none in the arm of all others.
    pub tags: Vec<Tags>,
    /// The node of the row.
    pub node: usize,
}

/// Objects that a tag distinguishes; an object alone is a union of one arm without a tag.
pub struct Union {
    /// Index of the tag's name.
    pub tag: Option<usize>,
    /// The names of all arms; fields of messages are numbered by them.
    pub names: Vec<Vec<u8>>,
    pub arms: Vec<Arm>,
    /// The node of each name, where it is the same in all arms.
    pub same: Vec<Option<usize>>,
    /// Whether it is what a message is: then it may have unknown properties.
    pub is_root: bool,
    /// Whether unknown properties are passed over.
    pub is_loose: bool,
}

pub struct Arm {
    pub title: String,
    /// Its tag; none in the arm of all other tags.
    pub word: Option<Vec<u8>>,
    /// The node of each name; none where the arm has no such field.
    pub nodes: Vec<Option<usize>>,
    /// The fields that it must have.
    pub required: Vec<usize>,
    /// Its fields, in the order of the schema.
    pub fields: Vec<usize>,
    pub uses: Vec<Use>,
    pub field_uses: Vec<Vec<Use>>,
}

impl Union {
    pub fn field(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|other| other == name.as_bytes())
    }
}
