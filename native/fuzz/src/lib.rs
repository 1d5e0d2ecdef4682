//! What must hold for any bytes: checks that fuzzers run.
//!
//! These are the kernel's own modules, all but its border to Python. Whether rows are those of Python
//! is what the tests in Python compare.
#![allow(dead_code)] // what only the border calls

#[path = "../../src/border.rs"]
mod border;
#[path = "../../src/builders.rs"]
mod builders;
#[path = "../../src/cache.rs"]
mod cache;
#[path = "../../src/columns.rs"]
mod columns;
#[path = "../../src/effects.rs"]
mod effects;
#[path = "../../src/formats/mod.rs"]
mod formats;
#[path = "../../src/json/mod.rs"]
mod json;
#[path = "../../src/kernel.rs"]
mod kernel;
#[path = "../../src/msgpack/mod.rs"]
mod msgpack;
#[path = "../../src/reader.rs"]
mod reader;
#[path = "../../src/rows.rs"]
mod rows;
#[path = "../../src/steps.rs"]
mod steps;
#[path = "../../src/table/mod.rs"]
mod table;
#[path = "../../src/typed/mod.rs"]
mod typed;
#[path = "../../src/why.rs"]
mod why;

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::HashMap;

use arrow_array::cast::AsArray;
use arrow_array::{Array, BinaryArray};
use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};
use serde_json::value::RawValue;

use formats::Options;
use json::names::Names;
use json::scan::{LEVELS, Scan};
use json::times::Clocks;
use kernel::State;
use typed::FitType;

/// Tables of the formats, as the generator wrote them, by the names of targets.
const TABLES: [(&str, &str, &str); 5] = [
    (
        "aerospike_flat_json",
        "aerospike-flat-json",
        include_str!("../../../generated/changewire_messages/aerospike_flat_json/kernel.jsonl"),
    ),
    (
        "aerospike_json",
        "aerospike-json",
        include_str!("../../../generated/changewire_messages/aerospike_json/kernel.jsonl"),
    ),
    (
        "aerospike_msgpack",
        "aerospike-msgpack",
        include_str!("../../../generated/changewire_messages/aerospike_msgpack/kernel.jsonl"),
    ),
    (
        "dataworks_json",
        "dataworks-json",
        include_str!("../../../generated/changewire_messages/dataworks_json/kernel.jsonl"),
    ),
    (
        "lindorm_json",
        "lindorm-json",
        include_str!("../../../generated/changewire_messages/lindorm_json/kernel.jsonl"),
    ),
];

/// Bits of the options that `state` heeds.
const OPTIONS: u8 = 0b1_1001;

thread_local! {
    /// Kernels by target and options: they keep what messages repeat, as in a stream.
    static STATES: RefCell<HashMap<(&'static str, u8), State>> = RefCell::default();
}

/// Check what must hold for some bytes.
///
/// # Panics
/// It does not hold.
pub fn check(target: &'static str, data: &[u8]) {
    match target {
        "scan" => scanner(data),
        "msgpack" => packed(data),
        "fit" => fitted(data),
        _ => {
            // The first byte chooses options, and the others are a message.
            let Some((options, message)) = data.split_first() else { return };
            STATES.with_borrow_mut(|states| {
                let options = options & OPTIONS;
                let state = states.entry((target, options)).or_insert_with(|| state(target, options));
                message_of(state, message);
            });
        }
    }
}

/// What the scanner accepts is JSON; what it writes is read as the same again.
fn scanner(data: &[u8]) {
    if std::str::from_utf8(data).is_err() {
        return;
    }
    let mut scan = Scan::new(data);
    scan.blanks();
    let (start, untidy) = (scan.at, scan.untidy);
    if scan.skip(&mut Names::default(), LEVELS).is_err() {
        return;
    }
    let text = &data[start..scan.at];
    assert!(serde_json::from_slice::<&RawValue>(text).is_ok(), "accepted what is no JSON");
    let once = written(text);
    assert!(scan.untidy > untidy || once == text, "what is plain is written otherwise");
    assert_eq!(once, written(&once), "what was written is written otherwise");
}

/// The text of MessagePack is read, or written as JSON.
fn packed(data: &[u8]) {
    let mut text = Vec::new();
    if msgpack::transcode(data, LEVELS, 1 << 20, &mut text).is_err() {
        return;
    }
    let mut scan = Scan { is_marked: true, ..Scan::new(&text) };
    if scan.skip(&mut Names::default(), LEVELS).is_ok() {
        assert_eq!(scan.at, text.len(), "not all of the text was read");
        let json = written(&text);
        assert!(serde_json::from_slice::<&RawValue>(&json).is_ok(), "wrote what is no JSON");
    }
}

/// A key and a row, which are lines, have whole columns; a key that was written is written so again.
fn fitted(data: &[u8]) {
    let end = data.iter().position(|c| *c == b'\n').unwrap_or(data.len());
    let (key, after) = (&data[..end], data.get(end + 1..));
    let row = fields();
    let of_key = Fields::from([&row[..2], &row[5..]].concat());
    // The row has a struct of one field.
    let of_json = [of_key.len(), row.len() + 1].map(|count| vec![false; count]);
    let kind = FitType::new(&Schema::new(of_key.clone()), &Schema::new(row.clone()), of_json);
    let kind = kind.expect("columns of keys and rows");
    let rows = BinaryArray::from(vec![after]);
    let fit = |key: Option<&[u8]>| {
        let keys = key.map(|key| BinaryArray::from(vec![key]));
        let found = kind.fitted(keys.as_ref(), &rows);
        let Ok(found) = found else { return None };
        found
            .columns()
            .iter()
            .for_each(|column| column.to_data().validate_full().expect("columns are whole"));
        let text = found.column(if key.is_some() { 0 } else { 3 }).as_string::<i32>();
        text.is_valid(0).then(|| text.value(0).to_owned())
    };
    if let Some(text) = fit(Some(key)) {
        assert_eq!(fit(Some(text.as_bytes())).as_ref(), Some(&text), "a key is written otherwise");
    }
    if let Some(others) = fit(None) {
        assert!(serde_json::from_str::<&RawValue>(&others).is_ok(), "wrote what is no JSON");
    }
}

fn written(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    Scan::new(text).write(&mut out).expect("what was read is written");
    out
}

/// A message does not make the kernel panic; its columns are whole, and the same the second time.
fn message_of(state: &mut State, message: &[u8]) {
    let values = BinaryArray::from(vec![Some(message), None, Some(message)]);
    let (rows, sizes) = state.decode(&values, Some(&values));
    assert!(!state.declined.contains_key("panic"), "the kernel panicked");
    let each: Vec<usize> = sizes.values().iter().map(|size| size.unsigned_abs() as usize).collect();
    assert_eq!(each.iter().sum::<usize>(), rows.num_rows());
    assert_eq!((sizes.value(0), each[1], sizes.value(1)), (sizes.value(2), 1, -1));
    for column in rows.columns() {
        column.to_data().validate_full().expect("columns are whole");
    }
    let again = rows.slice(each[0] + 1, each[2]);
    let is_dead = sizes.value(0) < 0;
    assert!(is_dead || rows.slice(0, each[0]) == again, "read otherwise the second time");
}

fn state(target: &str, options: u8) -> State {
    let is_it = |name: &str| name == target || target == "auto";
    let tables = TABLES.into_iter().filter(|(name, ..)| is_it(name));
    let tables: Vec<_> = tables.map(|(_, format, table)| (format.to_owned(), table.to_owned())).collect();
    let is_set = |bit: u8| options >> bit & 1 == 1;
    let options = Options {
        row_image: vec![("*".to_owned(), if is_set(0) { "full" } else { "patch" }.to_owned())],
        key_columns: if is_set(3) { vec![("*".to_owned(), vec!["id".to_owned()])] } else { Vec::new() },
        column_families: is_set(4).then(|| vec!["f".to_owned()]),
        time_zone: is_set(5).then(|| Clocks(vec![(0, Some(480)), (1_700_000_000, None)])),
    };
    State::new(&tables, &options).expect("a kernel")
}

/// Columns of most types, by names that examples have.
fn fields() -> Fields {
    let integers = DataType::List(Field::new("element", DataType::Int64, true).into());
    let pair = Fields::from(vec![
        Field::new("key", DataType::Utf8, false),
        Field::new("value", DataType::Utf8, true),
    ]);
    let map = DataType::Map(Field::new("entries", DataType::Struct(pair), false).into(), false);
    let object = DataType::Struct(Fields::from(vec![Field::new("n", integers.clone(), true)]));
    let columns = [
        ("id", DataType::Int64),
        ("name", DataType::Utf8),
        ("a", integers),
        ("tags", map),
        ("v", object),
        ("price", DataType::Decimal128(12, 2)),
        ("score", DataType::Float64),
        ("payload", DataType::Binary),
        ("created_at", DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))),
        ("active", DataType::Boolean),
    ];
    columns.into_iter().map(|(name, kind)| Field::new(name, kind, true)).collect()
}
