//! The corpus of every target, without a fuzzer: `cargo test --no-default-features`.

/// Names and inputs of targets; an input is a line of hex digits.
const CORPORA: [(&str, &str); 9] = [
    ("scan", include_str!("../corpus/scan.txt")),
    ("msgpack", include_str!("../corpus/msgpack.txt")),
    ("fit", include_str!("../corpus/fit.txt")),
    ("auto", include_str!("../corpus/auto.txt")),
    ("aerospike_flat_json", include_str!("../corpus/aerospike_flat_json.txt")),
    ("aerospike_json", include_str!("../corpus/aerospike_json.txt")),
    ("aerospike_msgpack", include_str!("../corpus/aerospike_msgpack.txt")),
    ("dataworks_json", include_str!("../corpus/dataworks_json.txt")),
    ("lindorm_json", include_str!("../corpus/lindorm_json.txt")),
];

#[test]
fn corpora() {
    for (target, lines) in CORPORA {
        assert!(!lines.is_empty());
        for line in lines.lines() {
            changewire_native_fuzz::check(target, &bytes(line));
        }
    }
}

fn bytes(line: &str) -> Vec<u8> {
    line.as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}
