//! What messages mean for rows: one adapter for each format, as in Python.

pub mod aerospike;
pub mod aerospike_msgpack;
pub mod bound;
pub mod connect;
mod connect_values;
pub mod dataworks;
mod dataworks_ops;
pub mod dataworks_schema;
mod dataworks_values;
mod hbase;
pub mod lindorm;
pub mod record_key;
pub mod rows;
pub mod times;
pub mod writing;

use crate::columns::{Columns, Rest};
use crate::formats::rows::Row;
use crate::table::Table;
use crate::table::tape::{Message, Slot};
use crate::texts::Texts;
use crate::typed::RowType;

/// A message to be made a row of.
pub struct Input<'i> {
    pub message: Message<'i>,
    pub root: Slot,
    /// Key of the Kafka record.
    pub key: Option<&'i [u8]>,
    pub texts: &'i Texts,
}

/// Names of leniencies that an adapter found.
pub type Notes = Vec<&'static str>;

pub trait Adapter: Send {
    /// Whether keys of records have a part in the rows.
    fn needs_keys(&self) -> bool {
        false
    }

    /// The images before and after of the row that was written last, where columns have them.
    fn rows(&self) -> &[Row; 2];

    /// Write the row of a message to columns; `None` declines it, whatever was written.
    fn row(&mut self, input: &Input, columns: &mut Columns, notes: &mut Notes) -> Option<Rest>;
}

/// The options of decoding that a kernel heeds.
pub struct Options {
    pub image: String,
    pub keys: Option<Vec<String>>,
    pub families: Option<Vec<String>>,
    /// Name of the zone whose clocks made times that have no zone.
    pub time_zone: String,
    /// Whether the effects of changes on tables are made as well.
    pub effects: bool,
    /// The type that rows must fit; none if rows are JSON text.
    pub row: Option<RowType>,
}

/// Return the adapter of a format; none if the kernel has none, or not for such a table.
pub fn adapter(format: &str, table: &Table, options: &Options) -> Option<Box<dyn Adapter>> {
    Some(match format {
        "aerospike-json" => Box::new(aerospike::Aerospike::new(table, options)?),
        "aerospike-msgpack" => Box::new(aerospike_msgpack::AerospikeMsgpack::new(table, options)?),
        "dataworks-json" => Box::new(dataworks::DataWorks::new(table, options)?),
        "lindorm-json" => Box::new(lindorm::Lindorm::new(table, options)?),
        _ => return None,
    })
}
