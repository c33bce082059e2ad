//! One event after another at even distances.

use crate::{RateError, Schedule, rate::Rate};

/// Event n is due n / rate seconds after the start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constant {
    rate: Rate,
    total: Option<u64>,
}

impl Constant {
    /// `rate`: events per second, above 0 and at most 1e9. `total`: how many there are; `None` = no end.
    pub fn new(rate: f64, total: Option<u64>) -> Result<Self, RateError> {
        Ok(Self { rate: Rate::new(rate)?, total })
    }
}

impl Schedule for Constant {
    fn due(&self, n: u64) -> Option<u64> {
        if self.total.is_some_and(|total| n >= total) { None } else { self.rate.time_of(n) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn constant(rate: f64, total: Option<u64>) -> Constant {
        Constant::new(rate, total).expect("a rate in range")
    }

    #[test]
    fn events_are_evenly_spaced_and_end_with_the_total() {
        for (rate, total, n, expected, sentence) in [
            (10.0, None, 1, Some(100_000_000), "10/s: the event 1 after 100 ms"),
            (10.0, None, 25, Some(2_500_000_000), "10/s: the event 25 after 2.5 s"),
            (0.1, None, 3, Some(30_000_000_000), "one in 10 s: the event 3 after 30 s"),
            (1e9, None, 1_000_000_007, Some(1_000_000_007), "1e9/s: event n after n ns"),
            (10.0, Some(2), 1, Some(100_000_000), "two events: the second is there"),
            (10.0, Some(2), 2, None, "two events: there is no third"),
            (10.0, Some(0), 0, None, "no events: not even a first"),
        ] {
            assert_eq!(constant(rate, total).due(n), expected, "{sentence}");
        }
    }

    proptest! {
        #[test]
        fn in_any_time_there_are_rate_times_time_events_but_for_one(rate in 0.001..1e9_f64, seconds in 0.0..1e6_f64) {
            let offered = rate * seconds;
            let due = |n: f64| constant(rate, None).due(n as u64);
            let nanos = (seconds * 1e9) as u64;
            prop_assert!(offered < 1.0 || due((offered - 1.0).floor()).is_some_and(|due| due <= nanos));
            prop_assert!(due((offered + 1.0).ceil()).is_some_and(|due| due >= nanos));
        }
    }
}
