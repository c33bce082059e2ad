//! Events per second, and the exact time of the n-th.

use std::fmt;

use crate::error::SECOND;

/// Events per second: finite, above 0, at most 1e9 (one per ns).
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub(crate) struct Rate(f64);

impl Rate {
    /// The highest rate, events per second.
    const MAX: f64 = 1e9;

    /// A rate within its range.
    pub(crate) fn new(per_second: f64) -> Result<Self, RateError> {
        if per_second > 0.0 && per_second <= Self::MAX { Ok(Self(per_second)) } else { Err(RateError(per_second)) }
    }

    /// Events per second.
    pub(crate) fn per_second(self) -> f64 {
        self.0
    }

    /// n / rate in ns, rounded once; `None` after the 584 years that 64 bits of ns can represent.
    pub(crate) fn time_of(self, n: u64) -> Option<u64> {
        time_to(n as f64, self.0)
    }
}

/// count / per second in ns, rounded once; `None` after the 584 years that 64 bits of ns can represent, and at a rate
/// of 0.
///
/// Whole seconds are subtracted before the conversion to ns, with a fused multiply-add that does not round. So the
/// result is exact to the ns for counts up to 2^53, where `count / per_second * 1e9` would drift.
pub(crate) fn time_to(count: f64, per_second: f64) -> Option<u64> {
    match (count / per_second).floor() {
        seconds if seconds < (u64::MAX / SECOND) as f64 => {
            // The division may have rounded up to the next second. Then this is slightly below 0.
            let remainder = seconds.mul_add(-per_second, count);
            let nanos = (remainder / per_second * SECOND as f64).round() as i64;
            (seconds as u64 * SECOND).checked_add_signed(nanos)
        }
        _ => None, // too late, infinite, or not a number
    }
}

/// A rate that is not finite, not above 0, or above 1e9.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateError(f64);

impl fmt::Display for RateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a rate must be above 0 and at most {} per second; it is {}", Rate::MAX, self.0)
    }
}

impl std::error::Error for RateError {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rate(per_second: f64) -> Rate {
        Rate::new(per_second).expect("a rate in range")
    }

    #[test]
    fn the_time_of_an_event_is_exact_to_the_nanosecond() {
        for (per_second, n, expected, sentence) in [
            (1.0, 1, 1_000_000_000, "1/s: the event 1 comes after 1 s"),
            (3.0, 1, 333_333_333, "3/s: a third of a second, rounded down"),
            (3.0, 2, 666_666_667, "3/s: two thirds, rounded up"),
            (3.0, 3, 1_000_000_000, "3/s: the roundings do not add up"),
            (1e9, 7, 7, "1e9/s: one per ns"),
            (0.001, 2, 2_000_000_000_000, "one in 1000 s"),
            (1000.0, 1_000_000_001, 1_000_000_001_000_000, "1000/s: exact after 1e9 events"),
            (3.0, 3_000_000_001, 1_000_000_000_333_333_333, "3/s: exact after 3e9 events"),
            (7.0, 70_000_000_003, 10_000_000_000_428_571_429, "7/s: exact after 300 years"),
        ] {
            assert_eq!(rate(per_second).time_of(n), Some(expected), "{sentence}");
        }
    }

    #[test]
    fn a_time_past_64_bits_of_nanoseconds_is_none() {
        assert_eq!(rate(1.0).time_of(u64::MAX / 1_000_000_000 - 1), Some(18_446_744_072_000_000_000));
        assert_eq!(rate(1.0).time_of(u64::MAX / 1_000_000_000 + 1), None);
        assert_eq!(rate(f64::MIN_POSITIVE).time_of(1), None);
    }

    #[test]
    fn a_rate_out_of_range_is_refused_with_its_value() {
        for bad in [0.0, -0.0, -1.0, 1e9 + 1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            let error = Rate::new(bad).expect_err("a rate out of range").to_string();
            assert_eq!(error, format!("a rate must be above 0 and at most 1000000000 per second; it is {bad}"));
        }
    }

    /// n / rate in ns, rounded, in integers: every float is mantissa * 2^exponent.
    fn exact(per_second: f64, n: u64) -> u128 {
        let mantissa = u128::from(per_second.to_bits() & ((1 << 52) - 1) | (1 << 52));
        let halvings = 1075 - (per_second.to_bits() >> 52);
        (((u128::from(n) * 1_000_000_000) << halvings) + mantissa / 2) / mantissa
    }

    proptest! {
        #[test]
        fn there_is_no_drift_in_five_hundred_years(exponent in 0.0..3.0_f64, seconds in 0.0..1.8e10_f64) {
            let per_second = 10_f64.powf(exponent);
            let n = (seconds * per_second) as u64;
            let exact = exact(per_second, n);
            let got = rate(per_second).time_of(n).map(u128::from);
            prop_assert!(got.is_some_and(|got| got.abs_diff(exact) <= 1), "{got:?} instead of {exact}");
        }
    }
}
