//! The native kernel of changewire: bytes of messages straight into Arrow columns.
//!
//! Python is the only definition of what messages mean. For each message the kernel yields the very
//! rows that Python yields, or declines it, and then Python reads it. It reports no errors.

#![forbid(unsafe_code)]

mod border;
mod builders;
mod cache;
mod columns;
mod effects;
mod formats;
mod json;
mod kernel;
mod merge;
mod msgpack;
mod reader;
mod rows;
mod shown;
mod steps;
mod table;
mod typed;
mod why;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use arrow_array::{Array, BinaryArray, RecordBatch};
use arrow_pyarrow::PyArrowType;
use arrow_schema::Schema;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use border::guarded;
use formats::Options;
use json::times::Clocks;
use kernel::State;
use typed::FitType;

/// An array, and columns, as Python has them.
type PyArray = PyArrowType<arrow_data::ArrayData>;
type PyColumns = PyArrowType<RecordBatch>;

/// Decodes batches of messages of one format.
#[pyclass(frozen)]
struct Kernel {
    state: Mutex<State>,
}

#[pymethods]
impl Kernel {
    /// Read tables, as the generator wrote them, of the formats that messages may have, by name.
    ///
    /// Raises ValueError: the kernel does not read a format, or not by its table.
    #[new]
    #[pyo3(signature = (tables, *, row_image=Vec::new(), key_columns=Vec::new(), column_families=None, time_zone=None))]
    #[allow(clippy::needless_pass_by_value)] // Python names and makes them
    fn new(
        tables: Vec<(String, String)>,
        row_image: Vec<(String, String)>,
        key_columns: Vec<(String, Vec<String>)>,
        column_families: Option<Vec<String>>,
        time_zone: Option<Vec<(i64, Option<i32>)>>,
    ) -> PyResult<Self> {
        let none = || PyValueError::new_err("no kernel for this table");
        let time_zone = time_zone.map(Clocks);
        let options = Options { row_image, key_columns, column_families, time_zone };
        let state = guarded(|| State::new(&tables, &options)).flatten().ok_or_else(none)?;
        Ok(Kernel { state: Mutex::new(state) })
    }

    /// Return the columns of the changes of all messages, in their order, and for each message how
    /// many rows it has: less than 0 if it is declined, and then so many rows are to be left out.
    ///
    /// Raises ValueError: values or keys are no arrays of bytes.
    #[pyo3(signature = (values, keys=None))]
    fn decode(&self, py: Python, values: PyArray, keys: Option<PyArray>) -> PyResult<(PyColumns, PyArray)> {
        let values = binary(values)?;
        let keys = keys.map(binary).transpose()?;
        let (rows, sizes) = py.detach(|| self.state().decode(&values, keys.as_ref()));
        Ok((PyArrowType(rows), PyArrowType(sizes.into_data())))
    }

    /// How many messages were declined, by the node of the schema that declined them.
    #[getter]
    fn declined(&self) -> HashMap<String, u64> {
        self.state().declined.clone()
    }

    /// How many messages there were.
    #[getter]
    fn messages(&self) -> u64 {
        self.state().messages
    }

    /// Whether keys of records have a part in the rows.
    #[getter]
    fn needs_keys(&self) -> bool {
        self.state().needs_keys()
    }
}

impl Kernel {
    fn state(&self) -> MutexGuard<'_, State> {
        // A panic is caught before it leaves the state, and the next message clears what it left.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Fits keys and rows, which are JSON text, into columns of a type.
#[pyclass(frozen)]
struct Fit {
    kind: FitType,
}

#[pymethods]
impl Fit {
    /// Take the columns of keys and of rows, and which of these columns and of the fields of structs in them
    /// hold any value as JSON text.
    ///
    /// Raises ValueError: rows of such a type are not supported, or a column of the key is not a scalar.
    #[new]
    #[allow(clippy::needless_pass_by_value)] // Python makes them
    fn new(
        key: PyArrowType<Schema>,
        row: PyArrowType<Schema>,
        json_in_key: Vec<bool>,
        json_in_row: Vec<bool>,
    ) -> PyResult<Self> {
        let kind = guarded(|| FitType::new(&key.0, &row.0, [json_in_key, json_in_row])).flatten();
        kind.map(|kind| Fit { kind }).ok_or_else(|| PyValueError::new_err("no kernel for these columns"))
    }

    /// Return the columns `key`, `named`, `content`, `others` and `declined`: what a pair that is declined
    /// has of the others is of no use. Without keys, `others` has of each row the members that no column
    /// names, as JSON text. None if there is no room.
    ///
    /// Raises ValueError: keys or rows are not arrays of bytes.
    fn fitted(&self, py: Python, keys: Option<PyArray>, rows: PyArray) -> PyResult<Option<PyColumns>> {
        let (keys, rows) = (keys.map(binary).transpose()?, binary(rows)?);
        let found = py.detach(|| guarded(|| self.kind.fitted(keys.as_ref(), &rows).ok())).flatten();
        Ok(found.map(PyArrowType))
    }
}

/// Return some rows of batches of one schema as one batch.
///
/// `pieces` says of each run of rows which batch it is of, its first row and the one behind its last.
///
/// Raises ValueError: schemas differ, a piece is not of a batch, or all of them are too long.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // Python makes them
fn merged(py: Python, batches: Vec<PyColumns>, pieces: Vec<(usize, usize, usize)>) -> PyResult<PyColumns> {
    let batches: Vec<RecordBatch> = batches.into_iter().map(|batch| batch.0).collect();
    let found = py.detach(|| guarded(|| merge::merged(&batches, &pieces))).flatten();
    found.map(PyArrowType).ok_or_else(|| PyValueError::new_err("expected rows of batches of one schema"))
}

/// Return the columns that rows show by their values, and which rows are declined: `columns` and `declined`.
/// None if all are declined.
///
/// Raises ValueError: rows or attributes are not arrays of bytes.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // Python makes them
fn carried(py: Python, afters: PyArray, attributes: PyArray) -> PyResult<Option<PyColumns>> {
    let (afters, attributes) = (binary(afters)?, binary(attributes)?);
    let found = py.detach(|| guarded(|| shown::carried(&afters, &attributes).ok())).flatten();
    Ok(found.map(PyArrowType))
}

fn binary(array: PyArray) -> PyResult<BinaryArray> {
    if array.0.data_type() != &arrow_schema::DataType::Binary {
        return Err(PyValueError::new_err("expected an array of bytes"));
    }
    Ok(BinaryArray::from(array.0))
}

#[pymodule]
fn changewire_native(module: &Bound<PyModule>) -> PyResult<()> {
    // What panics is declined and counted; its text could hold values of messages.
    std::panic::set_hook(Box::new(|_| {}));
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add("ADAPTERS", env!("CHANGEWIRE_ADAPTERS"))?;
    if cfg!(feature = "panics") {
        module.add("PANIC_ON", border::PANIC_ON)?;
    }
    module.add_function(wrap_pyfunction!(carried, module)?)?;
    module.add_function(wrap_pyfunction!(merged, module)?)?;
    module.add_class::<Fit>()?;
    module.add_class::<Kernel>()
}
