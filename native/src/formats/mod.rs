//! What messages mean for rows: one adapter for each format, as in Python.

mod aerospike;
mod aerospike_flat_json;
mod aerospike_msgpack;
mod bound;
mod by_name;
mod change_table;
mod connect;
mod dataworks;
mod dataworks_schema;
mod lindorm;
mod members;
mod record_key;
mod values;

use crate::columns::{Columns, Rest};
use crate::json::names::Names;
use crate::json::times::Clocks;
use crate::rows::Row;
use crate::table::Table;
use crate::table::tape::{Message, Slot};
use crate::why::Done;
use record_key::RecordKey;

/// The key of a Kafka record, if it has one.
pub type Key<'k> = Option<&'k [u8]>;

/// A message to be made a row of.
pub struct Input<'i> {
    pub message: Message<'i>,
    pub root: Slot,
    pub key: Key<'i>,
}

/// Names of leniencies that an adapter found.
pub type Notes = Vec<&'static str>;

/// What adapters write beside columns; nothing of it outlives a message.
#[derive(Default)]
pub struct Scratch {
    /// The images before and after of the row that was written last, where columns have them.
    rows: [Row; 2],
    pub notes: Notes,
    names: Names,
    /// What the values of bins do not show, as members of an object.
    bins: Vec<u8>,
    key: RecordKey,
}

pub trait Adapter: Send {
    /// Whether keys of records have a part in the rows.
    fn needs_keys(&self) -> bool {
        false
    }

    /// Write the row of a message to columns, and its images and leniencies to the scratch.
    fn row(&self, input: &Input, scratch: &mut Scratch, columns: &mut Columns) -> Done<Rest>;
}

/// The options of decoding that a kernel heeds.
pub struct Options {
    /// Images of rows by globs of sources; the first glob that matches counts.
    pub row_image: Vec<(String, String)>,
    /// Columns of keys by globs of sources; the first glob that matches counts.
    pub key_columns: Vec<(String, Vec<String>)>,
    pub column_families: Option<Vec<String>>,
    /// The clocks that made times which have no zone.
    pub time_zone: Option<Clocks>,
}

/// Return the adapter of a format; none if the kernel has none, or not for such a table.
pub fn adapter(format: &str, table: &Table, options: &Options) -> Option<Box<dyn Adapter>> {
    Some(match format {
        "aerospike-flat-json" => Box::new(aerospike_flat_json::AerospikeFlatJson::new(table, options)?),
        "aerospike-json" => Box::new(aerospike::Aerospike::new(table, options)?),
        "aerospike-msgpack" => Box::new(aerospike_msgpack::AerospikeMsgpack::new(table, options)?),
        "dataworks-json" => Box::new(dataworks::DataWorks::new(table, options)?),
        "lindorm-json" => Box::new(lindorm::Lindorm::new(table, options)?),
        _ => return None,
    })
}
