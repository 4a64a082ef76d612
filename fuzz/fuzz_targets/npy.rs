//! See `banach_fuzz::npy`.
#![no_main]

libfuzzer_sys::fuzz_target!(init: banach_fuzz::on_one_thread(), |data: &[u8]| {
    banach_fuzz::npy(data);
});
