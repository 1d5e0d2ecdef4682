//! The corpus of every target, without a fuzzer: what Miri runs.

/// Inputs of a target that Miri reads: it is some thousand times slower, most of all where it reads a table.
const FEW: usize = 3;

/// Names and inputs of targets; an input is a line of hex digits.
const CORPORA: [(&str, &str); 7] = [
    ("scan", include_str!("../corpus/scan.txt")),
    ("msgpack", include_str!("../corpus/msgpack.txt")),
    ("auto", include_str!("../corpus/auto.txt")),
    ("aerospike_json", include_str!("../corpus/aerospike_json.txt")),
    ("aerospike_msgpack", include_str!("../corpus/aerospike_msgpack.txt")),
    ("dataworks_json", include_str!("../corpus/dataworks_json.txt")),
    ("lindorm_json", include_str!("../corpus/lindorm_json.txt")),
];

#[test]
fn corpora() {
    for (target, lines) in CORPORA {
        let count = lines.lines().count();
        assert!(count > 0);
        let step = if cfg!(miri) { count.div_ceil(FEW) } else { 1 };
        for line in lines.lines().step_by(step) {
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
