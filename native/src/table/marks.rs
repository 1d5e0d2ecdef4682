//! What follows from all nodes of a table together.

use super::node::{Node, Rule, Use};

/// Mark the nodes at or below which a leniency may be needed, and the fields of such nodes.
pub fn mark_lenient(nodes: &mut [Node]) {
    let below: Vec<(bool, Vec<usize>)> = nodes.iter().map(|node| below(&node.rule)).collect();
    let mut is_new = true;
    while is_new {
        is_new = false;
        for (i, (is_own, of)) in below.iter().enumerate() {
            let is_lenient = *is_own || of.iter().any(|node| nodes[*node].is_lenient);
            is_new |= is_lenient && !nodes[i].is_lenient;
            nodes[i].is_lenient = is_lenient;
        }
    }
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

/// Return whether a leniency may be needed at a rule itself, and the nodes that it is made of.
fn below(rule: &Rule) -> (bool, Vec<usize>) {
    let some = |uses: &Vec<Use>, of: &[Vec<Use>]| !uses.is_empty() || of.iter().any(|uses| !uses.is_empty());
    match rule {
        Rule::Nullable(of) | Rule::Repeated(of) | Rule::List(of) | Rule::Map(of) => (false, vec![*of]),
        Rule::Row(row) => (some(&row.uses, &row.item_uses), row.items.clone()),
        Rule::Flat(flat) => (false, vec![flat.of, flat.entries]),
        Rule::Rows(rows) => (false, rows.arms.iter().map(|arm| arm.node).collect()),
        Rule::Union(union) => {
            let is_own = union.arms.iter().any(|arm| some(&arm.uses, &arm.field_uses));
            let nodes = union.arms.iter().flat_map(|arm| arm.nodes.iter().flatten().copied());
            (union.is_root || is_own, nodes.collect())
        }
        _ => (false, Vec::new()),
    }
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
