//! The leniencies that a message needed, in the order in which Python names them.

use super::Table;
use super::node::{Arm, Rule, Use};
use super::tape::{Message, Slot};
use crate::json::scan::Kind;
use crate::why::{Done, Why};

/// Index of the name that stands for properties that a schema does not name.
const UNKNOWN: usize = 0;

/// That name.
pub const UNKNOWN_PROPERTY: &str = "unknown-property";

pub struct Uses<'u> {
    pub table: &'u Table,
    pub found: &'u mut Vec<usize>,
}

impl Uses<'_> {
    /// Add what a value of a node needed.
    pub fn of(&mut self, node: usize, slot: &Slot, message: &Message) -> Done {
        let table = self.table;
        let node = &table.nodes[node];
        if !node.is_lenient || !slot.is_there() {
            return Ok(());
        }
        match &node.rule {
            Rule::Repeated(_) if slot.kind == Kind::Repeated => {
                self.found.extend(&message.known(slot).ok_or(Why::Meaning)?.uses);
                Ok(())
            }
            Rule::Nullable(of) | Rule::Repeated(of) => self.of(*of, slot, message),
            Rule::List(of) => message.elements(slot).try_for_each(|item| self.of(*of, item, message)),
            Rule::Map(of) => message.members(slot).try_for_each(|(_, item)| self.of(*of, item, message)),
            Rule::Flat(flat) => {
                self.of(flat.of, message.field(slot, 0), message)?;
                let mut entries = message.members(message.field(slot, 1));
                entries.try_for_each(|(_, item)| self.of(flat.entries, item, message))
            }
            Rule::Rows(rows) => {
                let arm = arm_at(&rows.arms, slot)?;
                self.of(arm.node, slot, message)
            }
            Rule::Row(row) => {
                self.used(&row.uses, slot, message)?;
                for (i, node) in row.items.iter().enumerate() {
                    let item = message.field(slot, i);
                    self.used(&row.item_uses[i], item, message)?;
                    self.of(*node, item, message)?;
                }
                Ok(())
            }
            Rule::Union(union) => {
                let arm = arm_at(&union.arms, slot)?;
                self.arm(arm, union.is_root, slot, message)
            }
            _ => Ok(()),
        }
    }

    fn arm(&mut self, arm: &Arm, is_root: bool, slot: &Slot, message: &Message) -> Done {
        self.used(&arm.uses, slot, message)?;
        if is_root && !message.tape.extras.is_empty() {
            self.found.push(UNKNOWN);
        }
        for field in &arm.lenient {
            let value = message.field(slot, *field);
            if !value.is_absent() {
                self.used(&arm.field_uses[*field], value, message)?;
            }
            self.of(arm.nodes[*field].ok_or(Why::Meaning)?, value, message)?;
        }
        Ok(())
    }

    fn used(&mut self, uses: &[Use], slot: &Slot, message: &Message) -> Done {
        for each in uses {
            if each.condition.holds(slot, message).ok_or(Why::Meaning)? {
                self.found.push(each.name);
            }
        }
        Ok(())
    }
}

/// Return the arm that a slot says.
pub fn arm_at<'a, T>(arms: &'a [T], slot: &Slot) -> Done<&'a T> {
    usize::try_from(slot.value).ok().and_then(|place| arms.get(place)).ok_or(Why::Meaning)
}
