//! Aerospike messages in flat JSON: what stands beside the metadata become columns.

use super::aerospike::{bins_and_image, record, times};
use super::bound::{Bound, arms};
use super::members::members;
use super::{Adapter, Input, Options, Scratch};
use crate::columns::{Columns, Name, Rest};
use crate::rows::{Means, write_row};
use crate::table::Table;
use crate::table::node::Rule;
use crate::why::{Done, Why};

pub struct AerospikeFlatJson {
    metadata: Bound<9>,
    write: i64,
    image: String,
}

impl AerospikeFlatJson {
    pub fn new(table: &Table, options: &Options) -> Option<Self> {
        let Rule::Flat(flat) = &table.nodes.get(table.root)?.rule else { return None };
        let metadata = table.union(flat.of)?;
        let [write, _] = arms(metadata, ["Write", "Delete"])?;
        if metadata.arms.len() > 2 {
            return None;
        }
        let names = ["msg", "namespace", "set", "userKey", "digest", "gen", "lut", "exp", "durable"];
        Some(AerospikeFlatJson {
            metadata: Bound::new(metadata, names)?,
            write,
            image: options.row_image.clone(),
        })
    }
}

impl Adapter for AerospikeFlatJson {
    fn row(&self, input: &Input, scratch: &mut Scratch, columns: &mut Columns) -> Done<Rest> {
        let message = &input.message;
        let [metadata, bins] = std::array::from_fn(|i| message.field(&input.root, i));
        let [_, namespace, set, user_key, digest, generation, lut, exp, durable] =
            self.metadata.of(metadata, message)?;
        let is_write = metadata.value == self.write;
        if is_write {
            let out = columns.of(Name::After).open();
            write_row(bins, message, &mut scratch.rows[1], out, |_, value, out| {
                message.write(value, out).map(|()| Means::Json)
            })?;
        } else if message.members(bins).next().is_some() {
            return Err(Why::Meaning);
        }
        let is_empty = columns.text(Name::After) == Some(b"{}");
        let key = [namespace, set, digest, user_key];
        let out = record(is_write, key, [generation, exp, lut], message, columns)?;
        if is_write {
            bins_and_image(&[], if is_empty { "keys" } else { &self.image }, out);
        } else {
            members(&[("durable", durable)], message, out)?;
        }
        out.push(b'}');
        Ok(Rest { is_empty_image: is_write && is_empty, ..times(generation, lut) })
    }
}
