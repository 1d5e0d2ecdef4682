//! Rows of several batches in one, copied run by run.

use arrow_array::RecordBatch;
use arrow_select::concat::concat_batches;

/// Return some rows of batches of one schema: of each piece, which batch it is of, its first row and
/// the one behind its last. None if there are no such rows, or they have no room.
pub fn merged(batches: &[RecordBatch], pieces: &[(usize, usize, usize)]) -> Option<RecordBatch> {
    let schema = batches.first()?.schema();
    let slice = |(batch, start, stop): &(usize, usize, usize)| {
        let batch = batches.get(*batch).filter(|batch| *stop <= batch.num_rows())?;
        Some(batch.slice(*start, stop.checked_sub(*start)?))
    };
    let slices: Vec<RecordBatch> = pieces.iter().map(slice).collect::<Option<_>>()?;
    let is_one_schema = slices.iter().all(|one| one.schema_ref().fields() == schema.fields());
    if is_one_schema { concat_batches(&schema, &slices).ok() } else { None }
}
