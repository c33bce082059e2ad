//! Batches of events at equal distances, as Locust spawns users.

use crate::{RateError, rate::Rate};

/// One batch of max(1, floor(rate)) events every size / rate seconds. The last batch may be smaller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Batches {
    rate: Rate,
    total: Option<u64>,
}

impl Batches {
    /// `rate`: events per second, above 0 and at most 1e9. `total`: number of events; `None` = no end.
    pub fn new(rate: f64, total: Option<u64>) -> Result<Self, RateError> {
        Ok(Self { rate: Rate::new(rate)?, total })
    }

    /// Events in a batch.
    pub fn size(&self) -> u64 {
        (self.rate.per_second() as u64).max(1)
    }

    /// Due time in ns of the n-th event (from 0) since the start; `None` past the last, and past 584 years.
    pub fn due(&self, n: u64) -> Option<u64> {
        if self.total.is_some_and(|total| n >= total) { None } else { self.rate.time_of(n - n % self.size()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Due times in ms.
    fn millis(rate: f64, total: u64) -> Vec<u64> {
        let batches = Batches::new(rate, Some(total)).expect("a rate in range");
        (0..).map_while(|n| batches.due(n)).map(|due| due / 1_000_000).collect()
    }

    #[test]
    fn batches_have_the_whole_part_of_the_rate_and_keep_the_rate() {
        for (rate, total, expected, sentence) in [
            (2.0, 5, &[0, 0, 1000, 1000, 2000][..], "2/s: two at once each second, then the one that is left"),
            (2.4, 6, &[0, 0, 833, 833, 1666, 1666], "2.4/s: two at once each 2 / 2.4 s"),
            (0.5, 3, &[0, 2000, 4000], "one in 2 s: one at a time"),
            (1.0, 3, &[0, 1000, 2000], "1/s: one at a time"),
            (100.0, 3, &[0, 0, 0], "fewer than a batch: all at once"),
            (1.0, 0, &[], "none: none"),
        ] {
            assert_eq!(millis(rate, total), expected, "{sentence}");
        }
    }

    #[test]
    fn batches_do_not_drift() {
        let batches = Batches::new(3.0, None).expect("a rate in range");
        assert_eq!(batches.due(3_000_000_002), Some(1_000_000_000_000_000_000));
    }
}
