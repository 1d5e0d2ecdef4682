//! Aerospike messages in flat JSON: the properties next to the metadata become columns.

use super::bound::{Bound, known_arm};
use super::change_table::ChangeTable;
use super::{Adapter, Input, Options, Scratch};
use crate::columns::{Columns, Name, Rest};
use crate::rows::write_row;
use crate::table::Table;
use crate::table::node::Rule;
use crate::why::{Done, Why};

pub struct AerospikeFlatJson {
    metadata: Bound<3>,
    table: ChangeTable,
}

impl AerospikeFlatJson {
    pub fn new(table: &Table, options: &Options) -> Option<Self> {
        let Rule::Flat(flat) = &table.nodes.get(table.root)?.rule else { return None };
        Some(AerospikeFlatJson {
            metadata: Bound::new(table.union(flat.of)?, ["digest", "set", "userKey"])?,
            table: ChangeTable::new(table, options)?,
        })
    }
}

impl Adapter for AerospikeFlatJson {
    fn row(&self, input: &Input, scratch: &mut Scratch, columns: &mut Columns) -> Done<Rest> {
        let message = &input.message;
        let [metadata, bins] = std::array::from_fn(|i| message.field(&input.root, i));
        let [digest, set, user_key] = self.metadata.of(metadata, message);
        let op = known_arm(&self.table.ops, metadata)?;
        if op != "delete" {
            let out = columns.of(Name::After).open();
            write_row(bins, message, &mut scratch.rows[1], out, |_, value, out| {
                message.write(value, out).map(|()| false)
            })?;
        } else if message.members(bins).next().is_some() {
            return Err(Why::Meaning);
        }
        let absent = [("set", set), ("user_key", user_key)].into_iter().filter(|(_, slot)| slot.is_absent());
        let absent: Vec<&str> = absent.map(|(name, _)| name).collect();
        let rest = self.table.record(op, digest, &[], &absent, input, columns)?;
        columns.of(Name::Attributes).open().push(b'}');
        Ok(rest)
    }
}
