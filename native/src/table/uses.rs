//! The leniencies that a message needed, in the order in which Python names them.

use super::Table;
use super::node::{Arm, Rule, Use};
use super::tape::{Message, Slot};
use crate::json::scan::Kind;
use crate::texts::Texts;

/// Index of the name that stands for properties that a schema does not name.
const UNKNOWN: usize = 0;

/// That name.
pub const UNKNOWN_PROPERTY: &str = "unknown-property";

pub struct Uses<'u> {
    pub table: &'u Table,
    pub texts: &'u Texts,
    pub found: &'u mut Vec<usize>,
}

impl Uses<'_> {
    /// Add what a value of a node needed.
    pub fn of(&mut self, node: usize, slot: &Slot, message: &Message) -> Option<()> {
        let table = self.table;
        let node = table.nodes.get(node)?;
        if !node.is_lenient || !slot.is_there() {
            return Some(());
        }
        match &node.rule {
            Rule::Repeated(_) if slot.kind == Kind::Repeated => {
                self.found.extend(&self.texts.get(slot.value)?.uses);
                Some(())
            }
            Rule::Nullable(of) | Rule::Repeated(of) => self.of(*of, slot, message),
            Rule::List(of) => {
                for (_, item) in message.elements(slot) {
                    self.of(*of, item, message)?;
                }
                Some(())
            }
            Rule::Map(of) => {
                for (name, _) in message.elements(slot) {
                    self.of(*of, message.tape.slots.get(name + 1)?, message)?;
                }
                Some(())
            }
            Rule::Rows(rows) => {
                let arm = rows.arms.get(usize::try_from(slot.value).ok()?)?;
                self.of(arm.node, slot, message)
            }
            Rule::Row(row) => {
                self.used(&row.uses, slot, message)?;
                for (i, node) in row.items.iter().enumerate() {
                    let item = message.field(slot, i);
                    self.used(&row.item_uses[i], item, message)?;
                    self.of(*node, item, message)?;
                }
                Some(())
            }
            Rule::Union(union) => {
                let arm = union.arms.get(usize::try_from(slot.value).ok()?)?;
                self.arm(arm, union.is_root, slot, message)
            }
            _ => Some(()),
        }
    }

    fn arm(&mut self, arm: &Arm, is_root: bool, slot: &Slot, message: &Message) -> Option<()> {
        self.used(&arm.uses, slot, message)?;
        if is_root && !message.tape.extras.is_empty() {
            self.found.push(UNKNOWN);
        }
        for field in &arm.lenient {
            let value = message.field(slot, *field);
            if !value.is_absent() {
                self.used(&arm.field_uses[*field], value, message)?;
            }
            self.of(arm.nodes[*field]?, value, message)?;
        }
        Some(())
    }

    fn used(&mut self, uses: &[Use], slot: &Slot, message: &Message) -> Option<()> {
        for each in uses {
            if each.condition.holds(slot, message)? {
                self.found.push(each.name);
            }
        }
        Some(())
    }
}
