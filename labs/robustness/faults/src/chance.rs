//! Random numbers for all threads of a process, without a lock.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A `SplitMix64` generator (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
pub(crate) struct Chance(AtomicU64);

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    /// True with this probability.
    pub(crate) fn is(&self, share: f64) -> bool {
        let mut bits = self.0.fetch_add(STEP, Relaxed).wrapping_add(STEP);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        // The upper 32 bits are an f64 without loss.
        f64::from(u32::try_from(bits >> 32).unwrap_or(u32::MAX)) < share * 4_294_967_296.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probability_is_correct() {
        let chance = Chance::new(1);
        let found = (0..100_000).filter(|_| chance.is(0.1)).count();
        assert!((9_500..10_500).contains(&found), "{found}");
        assert_eq!((0..1000).filter(|_| chance.is(0.0)).count(), 0);
        assert_eq!((0..1000).filter(|_| chance.is(1.0)).count(), 1000);
    }
}
