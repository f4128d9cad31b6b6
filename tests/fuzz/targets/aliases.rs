#![no_main]

libfuzzer_sys::fuzz_target!(init: fuzz::ignore_panics_of("libyaml-safer"), |bytes: &[u8]| fuzz::aliases(bytes));
