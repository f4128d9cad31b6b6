#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::patch_sequences(bytes));
