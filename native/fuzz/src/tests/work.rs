use std::fmt::Write;

use arrow_array::BinaryArray;

use crate::builders::MOST_BYTES;
use crate::json::names::MOST;
use crate::json::scan::LEVELS;
use crate::msgpack::transcode;
use crate::state;
use crate::steps::STEPS;
use crate::why::Why;

const HEAD: &str =
    r#"{"msg":"write","key":["n","s","AAAAAAAAAAAAAAAAAAAAAAAAAAA=",1],"gen":1,"exp":0,"lut":1"#;

/// Return how much work a message is, and whether it was declined.
fn work(target: &'static str, message: &str) -> (usize, bool) {
    let mut state = state(target, 0);
    let values = BinaryArray::from(vec![message.as_bytes()]);
    STEPS.set(0);
    let (_, sizes) = state.decode(&values, None);
    (STEPS.get(), sizes.value(0) < 0)
}

/// Messages of one kind, of about so many bytes.
type Kind = (&'static str, fn(usize) -> String);

fn joined(bytes: usize, each: impl Fn(usize) -> String) -> String {
    let mut found = String::new();
    for number in 0.. {
        if found.len() >= bytes {
            break;
        }
        let comma = if number == 0 { "" } else { "," };
        write!(found, "{comma}{}", each(number)).unwrap();
    }
    found
}

const KINDS: [Kind; 8] = [
    ("aerospike_json", |bytes| {
        let unknown = joined(bytes, |number| format!("\"a{number:06}\":0"));
        format!("{HEAD},\"bins\":[],{unknown}}}")
    }),
    ("aerospike_json", |bytes| {
        let bins = joined(bytes, |number| format!(r#"{{"value": 1, "type": "int", "name": "b{number}"}}"#));
        format!("{HEAD},\"bins\":[{bins}]}}")
    }),
    ("aerospike_json", |bytes| {
        let bins = joined(bytes, |number| format!(r#"{{"value":1,"type":"int","name":"b{number}"}}"#));
        format!("{HEAD},\"bins\":[{bins}]}}")
    }),
    ("aerospike_json", |bytes| {
        let map = joined(bytes, |number| format!("\"k{number}\":{number}"));
        format!("{HEAD},\"bins\":[{{\"name\":\"m\",\"type\":\"map\",\"value\":{{{map}}}}}]}}")
    }),
    ("aerospike_json", |bytes| {
        let lists = joined(bytes, |_| format!("{}{}", "[".repeat(50), "]".repeat(50)));
        format!("{HEAD},\"bins\":[{{\"name\":\"l\",\"type\":\"list\",\"value\":[{lists}]}}]}}")
    }),
    ("aerospike_json", |bytes| {
        let all = joined(bytes, |_| format!("{HEAD},\"bins\":[]}}"));
        format!("[{all}]")
    }),
    ("lindorm_json", |bytes| {
        let row = joined(bytes, |number| format!("\"c{number}\":\"x\""));
        let source = r#"{"version":"1","db":"d","namespace":"n","table":"t","ts_ms":1}"#;
        format!(r#"{{"payload":{{"op":"c","ts_ms":1,"before":null,"after":{{{row}}},"source":{source}}}}}"#)
    }),
    ("dataworks_json", |bytes| {
        let row = joined(bytes, |number| format!("\"c{number}\":\"x\""));
        let times = r#"{"eventTime":1,"systemTime":1,"checkpointTime":1}"#;
        let after = format!(r#"{{"dataColumn":{{{row}}}}}"#);
        format!(
            r#"{{"schema":{{"dataColumn":[],"primaryKey":[]}},"payload":{{"before":null,"after":{after},"timestamp":{times},"op":"INSERT"}},"version":"0.0.1"}}"#
        )
    }),
];

/// Twice as long a message is about twice the work, of every kind, up to a megabyte.
#[test]
fn work_grows_with_messages() {
    for (place, (target, message)) in KINDS.into_iter().enumerate() {
        for bytes in [1 << 17, 1 << 19] {
            let (one, two) = (work(target, &message(bytes)).0, work(target, &message(2 * bytes)).0);
            assert!(two <= 2 * one + one / 5, "kind {place}: {one} steps, then {two}");
            assert!(one <= 60 * bytes, "kind {place}: {one} steps of {bytes} bytes");
        }
    }
}

/// An object of more names than are compared is declined, and one of as many is not.
#[test]
fn names_at_the_root_are_bounded() {
    let message = |count: usize| {
        let unknown: String = (0..count).map(|number| format!(",\"a{number}\":0")).collect();
        format!("{HEAD},\"bins\":[]{unknown}}}")
    };
    assert!(!work("aerospike_json", &message(MOST)).1);
    assert!(work("aerospike_json", &message(MOST + 1)).1);
}

/// The text of MessagePack has a bound, whatever its bytes become.
#[test]
fn the_text_of_messagepack_is_bounded() {
    let controls = [&[0xda, 0x01, 0x00][..], &[1; 256]].concat();
    let array = [&[0xdc, 0x01, 0x00][..], &[0xc0; 256]].concat();
    for (packed, size) in [(controls, 256 * 6 + 2), (array, 256 * 5 + 1)] {
        let mut text = Vec::new();
        assert_eq!(transcode(&packed, LEVELS, MOST_BYTES, &mut text), Ok(()));
        assert_eq!(text.len(), size);
        assert_eq!(transcode(&packed, LEVELS, size / 2, &mut Vec::new()), Err(Why::Size));
    }
    let huge = [0xdb, 0x40, 0, 0, 0];
    assert_eq!(transcode(&huge, LEVELS, MOST_BYTES, &mut Vec::new()), Err(Why::Size));
}
