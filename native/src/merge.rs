//! Rows of several batches in one, copied run by run.

use arrow_array::{Array, RecordBatch, make_array};
use arrow_data::transform::MutableArrayData;

/// Return some rows of batches of one schema: of each piece, which batch it is of, its first row and
/// the one behind its last. None if there are no such rows, or they have no room.
pub fn merged(batches: &[RecordBatch], pieces: &[(usize, usize, usize)]) -> Option<RecordBatch> {
    let schema = batches.first()?.schema();
    let is_one_schema = batches.iter().all(|batch| batch.schema_ref().fields() == schema.fields());
    let is_within = |(batch, start, stop): &(usize, usize, usize)| {
        start <= stop && batches.get(*batch).is_some_and(|batch| *stop <= batch.num_rows())
    };
    if !is_one_schema || !pieces.iter().all(is_within) {
        return None;
    }
    let rows = pieces.iter().map(|(_, start, stop)| stop - start).sum();
    let mut columns = Vec::with_capacity(schema.fields().len());
    for place in 0..schema.fields().len() {
        let data: Vec<_> = batches.iter().map(|batch| batch.column(place).to_data()).collect();
        let mut merged = MutableArrayData::new(data.iter().collect(), false, rows);
        for (batch, start, stop) in pieces {
            merged.try_extend(*batch, *start, *stop).ok()?;
        }
        columns.push(make_array(merged.freeze()));
    }
    RecordBatch::try_new(schema, columns).ok()
}
