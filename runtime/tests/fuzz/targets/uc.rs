#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| alcedo_fuzz::uc(bytes));
