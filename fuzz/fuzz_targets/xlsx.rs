//! See `banach_fuzz::xlsx`.
#![no_main]

libfuzzer_sys::fuzz_target!(init: banach_fuzz::on_one_thread(), |data: &[u8]| {
    banach_fuzz::xlsx(data);
});
