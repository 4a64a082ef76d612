//! See `banach_fuzz::plink`.
#![no_main]

libfuzzer_sys::fuzz_target!(init: banach_fuzz::on_one_thread(), |data: &[u8]| {
    banach_fuzz::plink(data);
});
