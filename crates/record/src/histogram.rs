//! Durations in whole microseconds with 3 significant digits, on the `hdrhistogram` crate.

use std::fmt;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer, V2Serializer};

/// Longest duration a histogram tells apart: 1 h, in µs. Longer ones are kept as this and counted.
pub const LONGEST: u64 = 3_600_000_000;

const SIGNIFICANT_DIGITS: u8 = 3;

/// A histogram of durations: 0 µs to 1 h, each value kept to better than 1 part in 1024. Grows as values need it.
#[derive(Clone, PartialEq)]
pub struct Durations {
    counts: Histogram<u64>,
}

impl Default for Durations {
    fn default() -> Self {
        Durations { counts: Histogram::new(SIGNIFICANT_DIGITS).expect("3 digits are within 0..=5") }
    }
}

impl Durations {
    /// Records a duration in ns. Returns false when it was over [`LONGEST`] and kept as that.
    #[inline]
    pub fn record_ns(&mut self, nanos: u64) -> bool {
        self.record((nanos + 500) / 1000, 1)
    }

    /// Records `count` durations of `micros`. Returns false when they were over [`LONGEST`] and kept as that.
    #[inline]
    pub fn record(&mut self, micros: u64, count: u64) -> bool {
        self.counts.record_n(micros.min(LONGEST), count).expect("an auto-resizing histogram takes any value");
        micros <= LONGEST
    }

    /// Adds every value of `other`.
    pub fn add(&mut self, other: &Durations) {
        self.counts.add(&other.counts).expect("an auto-resizing histogram takes any value");
    }

    /// How many values there are.
    pub fn count(&self) -> u64 {
        self.counts.len()
    }

    /// Smallest value, µs; 0 when empty.
    pub fn min(&self) -> u64 {
        self.counts.min()
    }

    /// Largest value to histogram precision, µs; 0 when empty.
    pub fn max(&self) -> u64 {
        self.counts.max()
    }

    /// Mean to histogram precision, µs; 0 when empty.
    pub fn mean(&self) -> f64 {
        self.counts.mean()
    }

    /// The value at rank ⌈quantile · count⌉, µs: the highest one that the histogram cannot tell from it, but never
    /// above `max`. 0 when empty.
    pub fn value_at(&self, quantile: f64) -> u64 {
        if self.counts.is_empty() {
            return 0;
        }
        self.counts.value_at_quantile(quantile).min(self.counts.max())
    }

    /// How many values are above `micros`, to histogram precision.
    pub fn count_above(&self, micros: u64) -> u64 {
        self.counts
            .iter_recorded()
            .filter(|v| v.value_iterated_to() > micros)
            .map(|v| v.count_since_last_iteration())
            .sum()
    }

    /// (value in µs, count) of each bucket that is not empty, ascending.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.counts.iter_recorded().map(|v| (v.value_iterated_to(), v.count_since_last_iteration()))
    }

    /// `HdrHistogram` V2; compressed for keeping, plain for the way from a worker to its coordinator.
    pub fn encode(&self, compressed: bool) -> Vec<u8> {
        let mut out = Vec::new();
        let written = if compressed {
            V2DeflateSerializer::new().serialize(&self.counts, &mut out).map_err(|error| error.to_string())
        } else {
            V2Serializer::new().serialize(&self.counts, &mut out).map_err(|error| error.to_string())
        };
        written.expect("writing to memory cannot fail");
        out
    }

    /// Reads `HdrHistogram` V2, plain or compressed, of any precision.
    pub fn decode(data: &[u8]) -> Result<Durations, DecodeError> {
        let mut reader = data;
        let mut counts: Histogram<u64> =
            Deserializer::new().deserialize(&mut reader).map_err(|error| DecodeError(error.to_string()))?;
        counts.auto(true);
        Ok(Durations { counts })
    }
}

impl fmt::Debug for Durations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Durations")
            .field("count", &self.count())
            .field("min", &self.min())
            .field("max", &self.max())
            .finish()
    }
}

/// Bytes that are not a histogram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError(String);

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not an HdrHistogram V2 histogram: {}", self.0)
    }
}

impl std::error::Error for DecodeError {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Durations, LONGEST};

    #[test]
    fn nanoseconds_are_kept_to_the_nearest_microsecond() {
        let mut durations = Durations::default();
        for nanos in [0, 499, 500, 1_499, 1_500] {
            assert!(durations.record_ns(nanos));
        }
        assert_eq!(durations.buckets().collect::<Vec<_>>(), [(0, 2), (1, 2), (2, 1)]);
    }

    #[test]
    fn longer_than_an_hour_is_kept_as_an_hour_and_said() {
        let mut durations = Durations::default();
        assert!(durations.record(LONGEST, 1));
        assert!(!durations.record(LONGEST + 1, 1));
        assert_eq!(durations.count(), 2);
        assert!(durations.max().abs_diff(LONGEST) <= LONGEST / 1000);
    }

    #[test]
    fn an_empty_histogram_has_no_values_to_report() {
        let durations = Durations::default();
        assert_eq!((durations.count(), durations.min(), durations.max(), durations.value_at(0.99)), (0, 0, 0, 0));
    }

    #[test]
    fn ranks_are_rounded_up() {
        let mut durations = Durations::default();
        for micros in 1..=1000 {
            durations.record(micros, 1);
        }
        assert_eq!([0.5, 0.99, 0.999, 1.0].map(|q| durations.value_at(q)), [500, 990, 999, 1000]);
        assert_eq!(durations.count_above(990), 10);
    }

    #[test]
    fn garbage_is_an_error() {
        assert!(Durations::decode(b"HISTFAAA").is_err());
        assert!(Durations::decode(b"").is_err());
    }

    proptest! {
        #[test]
        fn both_encodings_bring_everything_back(values in prop::collection::vec(0..LONGEST * 2, 0..200)) {
            let mut durations = Durations::default();
            for value in values {
                durations.record(value, 1);
            }
            for compressed in [false, true] {
                let back = Durations::decode(&durations.encode(compressed)).unwrap();
                prop_assert_eq!(back.buckets().collect::<Vec<_>>(), durations.buckets().collect::<Vec<_>>());
            }
        }

        #[test]
        fn a_sum_holds_the_values_of_both(left in prop::collection::vec(0..LONGEST, 0..100), right in prop::collection::vec(0..LONGEST, 0..100)) {
            let (mut a, mut b, mut whole) = (Durations::default(), Durations::default(), Durations::default());
            for value in &left { a.record(*value, 1); whole.record(*value, 1); }
            for value in &right { b.record(*value, 1); whole.record(*value, 1); }
            a.add(&b);
            prop_assert_eq!(a.buckets().collect::<Vec<_>>(), whole.buckets().collect::<Vec<_>>());
        }
    }
}
