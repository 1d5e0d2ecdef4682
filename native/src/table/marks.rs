//! What follows from all nodes of a table together.

use super::node::{Arm, Node, Rule};

/// Mark the nodes at or below which a leniency may be needed, and the fields of such nodes.
pub fn mark_lenient(nodes: &mut [Node]) {
    mark_nodes(nodes);
    let marked: Vec<bool> = nodes.iter().map(|node| node.is_lenient).collect();
    for node in nodes {
        let Rule::Union(union) = &mut node.rule else { continue };
        for arm in &mut union.arms {
            let (uses, nodes) = (&arm.field_uses, &arm.nodes);
            let is_lenient =
                |field: &usize| !uses[*field].is_empty() || nodes[*field].is_some_and(|node| marked[node]);
            arm.lenient.retain(is_lenient);
        }
    }
}

fn mark_nodes(nodes: &mut [Node]) {
    let mut is_new = true;
    while is_new {
        is_new = false;
        for i in 0..nodes.len() {
            let is_lenient = match &nodes[i].rule {
                Rule::Nullable(of) | Rule::Repeated(of) | Rule::List(of) | Rule::Map(of) => {
                    nodes[*of].is_lenient
                }
                Rule::Row(row) => {
                    !row.uses.is_empty()
                        || row.item_uses.iter().any(|uses| !uses.is_empty())
                        || row.items.iter().any(|item| nodes[*item].is_lenient)
                }
                Rule::Flat(flat) => nodes[flat.of].is_lenient || nodes[flat.entries].is_lenient,
                Rule::Rows(rows) => rows.arms.iter().any(|arm| nodes[arm.node].is_lenient),
                Rule::Union(union) => {
                    union.is_root || union.arms.iter().any(|arm| is_lenient_arm(arm, nodes))
                }
                _ => false,
            };
            is_new |= is_lenient && !nodes[i].is_lenient;
            nodes[i].is_lenient |= is_lenient;
        }
    }
}

fn is_lenient_arm(arm: &Arm, nodes: &[Node]) -> bool {
    !arm.uses.is_empty()
        || arm.field_uses.iter().any(|uses| !uses.is_empty())
        || arm.nodes.iter().flatten().any(|node| nodes[*node].is_lenient)
}

/// Name each node that is a field of an object after both.
pub fn name_places(nodes: &mut [Node]) {
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
