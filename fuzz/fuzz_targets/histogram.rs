//! Any bytes as a histogram: no panic, never more room than ours may need, and what is read is written and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_record::Durations;

fuzz_target!(|input: &[u8]| {
    let Ok(durations) = Durations::decode(input) else { return };
    for quantile in [0.0, 0.5, 0.999, 1.0] {
        durations.value_at(quantile);
    }
    let buckets: Vec<_> = durations.buckets().collect();
    assert!(buckets.len() <= 23 * 1024);
    for compressed in [false, true] {
        let again = Durations::decode(&durations.encode(compressed)).expect("what we have written");
        assert_eq!(again, durations);
    }
});
