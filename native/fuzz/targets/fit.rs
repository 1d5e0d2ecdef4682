#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| changewire_native_fuzz::check("fit", data));
