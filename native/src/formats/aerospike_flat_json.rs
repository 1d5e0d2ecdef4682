//! Aerospike messages in flat JSON: the properties next to the metadata become columns.

use super::aerospike::{bins_and_image, record};
use super::bound::{Bound, known_arm};
use super::by_name::RowImages;
use super::change_table::ChangeTable;
use super::{Adapter, Input, Options, Scratch};
use crate::columns::{Columns, Name, Rest, RowImage};
use crate::rows::{Means, write_row};
use crate::table::Table;
use crate::table::node::Rule;
use crate::why::{Done, Why};

pub struct AerospikeFlatJson {
    metadata: Bound<3>,
    table: ChangeTable,
    images: RowImages,
}

impl AerospikeFlatJson {
    pub fn new(table: &Table, options: &Options) -> Option<Self> {
        let Rule::Flat(flat) = &table.nodes.get(table.root)?.rule else { return None };
        Some(AerospikeFlatJson {
            metadata: Bound::new(table.union(flat.of)?, ["digest", "set", "userKey"])?,
            table: ChangeTable::new(table)?,
            images: RowImages::new(&options.row_image)?,
        })
    }
}

impl Adapter for AerospikeFlatJson {
    fn row(&self, input: &Input, scratch: &mut Scratch, columns: &mut Columns) -> Done<Rest> {
        let message = &input.message;
        let [metadata, bins] = std::array::from_fn(|i| message.field(&input.root, i));
        let [digest, set, user_key] = self.metadata.of(metadata, message);
        let op = known_arm(&self.table.ops, metadata)?;
        let is_write = op != "delete";
        if is_write {
            let out = columns.of(Name::After).open();
            write_row(bins, message, &mut scratch.rows[1], out, |_, value, out| {
                message.write(value, out).map(|()| Means::Json)
            })?;
        } else if message.members(bins).next().is_some() {
            return Err(Why::Meaning);
        }
        let is_empty = columns.text(Name::After) == Some(b"{}");
        let absent: Vec<&str> = [("set", set), ("user_key", user_key)]
            .iter()
            .filter(|(_, slot)| slot.is_absent())
            .map(|(name, _)| *name)
            .collect();
        record(&self.table, op, digest, &absent, input, columns)?;
        let image = if is_empty { RowImage::Keys } else { self.images.of(columns)? };
        let out = columns.of(Name::Attributes).open();
        if is_write {
            bins_and_image(&[], image, out);
        }
        out.push(b'}');
        let rest = self.table.rest(message, &input.root);
        Ok(Rest { image, is_empty_image: is_write && is_empty, ..rest })
    }
}
