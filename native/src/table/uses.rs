//! The leniencies that a message needed, in the order in which Python names them.

use std::sync::Arc;

use super::Table;
use super::node::{Rule, Use};
use super::tape::{Message, Slot};
use super::walk::arm_at;
use crate::json::scan::Kind;
use crate::why::{Done, Why};

/// Stands for properties that a schema does not name.
const UNKNOWN: &str = "unknown-property";

impl Table {
    /// Add the leniencies that a value of a node needed: first its own, then for each of its parts those of
    /// the place where the part stands, and those of the part.
    pub fn uses(&self, node: usize, slot: &Slot, message: &Message, found: &mut Vec<Arc<str>>) -> Done {
        let part = |found: &mut Vec<Arc<str>>, uses: &[Use], node: usize, index: usize| {
            let value = message.field(slot, index);
            if value.is_absent() {
                return Ok(());
            }
            needed(uses, value, message, found)?;
            self.uses(node, value, message, found)
        };
        match &self.nodes[node].rule {
            Rule::Row(row) => {
                needed(&row.uses, slot, message, found)?;
                let mut parts = row.item_uses.iter().zip(&row.items).enumerate();
                parts.try_for_each(|(index, (uses, node))| part(found, uses, *node, index))
            }
            Rule::Union(union) => {
                let arm = arm_at(&union.arms, slot)?;
                needed(&arm.uses, slot, message, found)?;
                if union.is_root && !message.tape.extras.is_empty() {
                    found.push(Arc::from(UNKNOWN));
                }
                let mut nodes = arm.fields.iter().filter_map(|field| Some((*field, arm.nodes[*field]?)));
                nodes.try_for_each(|(field, node)| part(found, &arm.field_uses[field], node, field))
            }
            Rule::Flat(flat) => {
                part(found, &[], flat.of, 0)?;
                let mut entries = message.members(message.field(slot, 1));
                entries.try_for_each(|(_, entry)| self.uses(flat.entries, entry, message, found))
            }
            Rule::Rows(rows) => self.uses(arm_at(&rows.arms, slot)?.node, slot, message, found),
            Rule::List(of) => {
                message.elements(slot).try_for_each(|element| self.uses(*of, element, message, found))
            }
            Rule::Nullable(of) if slot.kind != Kind::Null => self.uses(*of, slot, message, found),
            Rule::Repeated(_) => {
                message.known(slot).into_iter().for_each(|known| found.extend_from_slice(&known.tape.uses));
                Ok(())
            }
            // Values of any type have no leniencies.
            Rule::Map(of) if !matches!(self.nodes[*of].rule, Rule::Any) => {
                message.members(slot).try_for_each(|(_, value)| self.uses(*of, value, message, found))
            }
            _ => Ok(()),
        }
    }
}

/// Add the leniencies whose conditions a value meets.
fn needed(uses: &[Use], slot: &Slot, message: &Message, found: &mut Vec<Arc<str>>) -> Done {
    for each in uses {
        if each.condition.holds(slot, message).ok_or(Why::Meaning)? {
            found.push(Arc::clone(&each.name));
        }
    }
    Ok(())
}
