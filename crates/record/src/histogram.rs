//! Durations in whole microseconds with 3 significant digits, based on the `hdrhistogram` crate.

use std::fmt;
use std::num::NonZeroU64;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer, V2Serializer};

use crate::buckets::{Buckets, MOST, plain_count, plain_values_at};

/// Longest duration that is recorded exactly: 1 h, in µs. Longer ones are recorded as this and counted.
pub const LONGEST: u64 = 3_600_000_000;

const SIGNIFICANT_DIGITS: u8 = 3;

/// A histogram of durations: 0 µs to 1 h, with an error below 1 part in 1024. It grows on demand.
#[derive(Clone)]
pub struct Durations {
    counts: Counts,
}

/// A part of a sum.
#[derive(Clone, Copy)]
pub enum Summand<'a> {
    /// A histogram.
    Counted(&'a Durations),
    /// Bytes for which [`Durations::plain_count`] has an answer. To read them once is cheaper than a list of their buckets.
    Plain(&'a [u8]),
}

/// A histogram that was recorded into is dense. One that was read, or added up from such, may be sparse.
#[derive(Clone)]
enum Counts {
    Few(Buckets),
    Many(Box<Histogram<u64>>),
}

impl Default for Durations {
    fn default() -> Self {
        Durations { counts: Counts::Few(Buckets::default()) }
    }
}

impl PartialEq for Durations {
    /// Equal if the values are equal, sparse or dense.
    fn eq(&self, other: &Self) -> bool {
        self.buckets().eq(other.buckets())
    }
}

impl Durations {
    /// Records a duration in ns. Returns false if it was over [`LONGEST`] and recorded as that.
    #[inline]
    pub fn record_ns(&mut self, nanos: u64) -> bool {
        self.record((nanos + 500) / 1000, 1)
    }

    /// Records `count` durations of `micros`. Returns false if they were over [`LONGEST`] and recorded as that.
    #[inline]
    pub fn record(&mut self, micros: u64, count: u64) -> bool {
        self.many().record_n(micros.min(LONGEST), count).expect("an auto-resizing histogram takes any value");
        micros <= LONGEST
    }

    /// Adds every value of `other`.
    pub fn add(&mut self, other: &Durations) {
        match (&mut self.counts, &other.counts) {
            (Counts::Few(own), Counts::Few(more)) if own.len() + more.len() <= MOST => own.add(more),
            (_, Counts::Few(more)) => self.add_buckets(more),
            (_, Counts::Many(more)) => {
                self.many().add(more.as_ref()).expect("an auto-resizing histogram takes any value");
            }
        }
    }

    /// The sum of all parts.
    #[must_use]
    pub fn sum(parts: &[Summand<'_>]) -> Durations {
        if let [Summand::Counted(one)] = parts {
            return (*one).clone();
        }
        let lists = parts.iter().filter_map(|each| match each {
            Summand::Counted(Durations { counts: Counts::Few(few) }) => Some(few),
            _ => None,
        });
        let plain = parts.iter().filter_map(|each| match each {
            Summand::Plain(data) => Some(*data),
            Summand::Counted(_) => None,
        });
        let mut sum = Durations::of(Buckets::sum(lists, plain));
        for each in parts {
            if let Summand::Counted(many @ Durations { counts: Counts::Many(_) }) = each {
                sum.add(many);
            }
        }
        sum
    }

    /// The number of values in bytes that [`Durations::decode`] reads, if they are plain and nothing follows them.
    pub fn plain_count(data: &[u8]) -> Option<u64> {
        plain_count(data)
    }

    /// [`Durations::values_at`] of plain bytes with this [`Durations::plain_count`], without a list of their buckets.
    pub fn plain_values_at(data: &[u8], count: u64, quantiles: &[f64]) -> Vec<u64> {
        if quantiles.is_sorted() && quantiles.first().is_some_and(|&lowest| lowest > 0.0) {
            return plain_values_at(data, count, quantiles);
        }
        Durations::decode(data).map_or_else(|_| Vec::new(), |durations| durations.values_at(quantiles))
    }

    /// Adds a list of buckets.
    pub(crate) fn add_buckets(&mut self, more: &Buckets) {
        let own = self.many();
        // The highest first, so that room is made once.
        for (micros, count) in more.iter().rev() {
            own.record_n(micros, count).expect("an auto-resizing histogram takes any value");
        }
    }

    /// The values as a list of buckets.
    pub(crate) fn to_buckets(&self) -> Buckets {
        // `LONGEST` fits into a bucket of the list.
        Buckets::new(self.buckets())
    }

    #[inline]
    fn many(&mut self) -> &mut Histogram<u64> {
        if let Counts::Few(_) = self.counts {
            self.make_dense();
        }
        match &mut self.counts {
            Counts::Many(counts) => counts,
            Counts::Few(_) => unreachable!("they have just become many"),
        }
    }

    /// Runs once per histogram, so it is kept out of the hot path.
    #[cold]
    #[inline(never)]
    fn make_dense(&mut self) {
        if let Counts::Few(few) = &self.counts {
            self.counts = Counts::Many(Box::new(dense(few)));
        }
    }

    /// The number of values.
    pub fn count(&self) -> u64 {
        match &self.counts {
            Counts::Few(few) => few.total(),
            Counts::Many(counts) => counts.len(),
        }
    }

    /// Smallest value, µs; 0 when empty.
    pub fn min(&self) -> u64 {
        match &self.counts {
            Counts::Few(few) => few.min(),
            Counts::Many(counts) => counts.min(),
        }
    }

    /// Largest value to histogram precision, µs; 0 when empty.
    pub fn max(&self) -> u64 {
        match &self.counts {
            Counts::Few(few) => few.max(),
            Counts::Many(counts) => counts.max(),
        }
    }

    /// Mean to histogram precision, µs; 0 when empty.
    pub fn mean(&self) -> f64 {
        match &self.counts {
            Counts::Few(few) => few.mean(),
            Counts::Many(counts) => counts.mean(),
        }
    }

    /// A modelled copy: the latencies of a client that sends one request per `interval` (µs), by `HdrHistogram`'s
    /// correction for coordinated omission. Each value v adds v - interval, v - 2 · interval, … down to `interval`, for
    /// the requests that were not sent during the wait.
    ///
    /// Values in the same bucket are counted at once, so each value costs at most one step per bucket below it (fewer
    /// than 24,000), for any interval.
    #[must_use]
    pub fn corrected(&self, interval: NonZeroU64) -> Durations {
        let interval = interval.get();
        let mut corrected = self.clone();
        let counts = corrected.many();
        for (value, count) in self.buckets() {
            let mut missing = value.saturating_sub(interval);
            while missing >= interval {
                let lowest = counts.lowest_equivalent(missing).max(interval);
                let steps = (missing - lowest) / interval + 1;
                let counted = counts.record_n(missing, count.saturating_mul(steps));
                counted.expect("below a value that is there");
                missing -= steps * interval; // at least lowest - interval, which is not below 0
            }
        }
        corrected
    }

    /// The value at rank ⌈quantile · count⌉, µs: the highest one in its bucket, but never above `max`. 0 when empty.
    pub fn value_at(&self, quantile: f64) -> u64 {
        match &self.counts {
            Counts::Few(few) => few.value_at(quantile),
            Counts::Many(counts) if counts.is_empty() => 0,
            Counts::Many(counts) => counts.value_at_quantile(quantile).min(counts.max()),
        }
    }

    /// Several of these values; ascending quantiles are fastest.
    pub fn values_at(&self, quantiles: &[f64]) -> Vec<u64> {
        match &self.counts {
            Counts::Few(few) => few.values_at(quantiles),
            Counts::Many(_) => quantiles.iter().map(|&each| self.value_at(each)).collect(),
        }
    }

    /// The number of values above each of these, to histogram precision. `micros`: ascending.
    pub fn counts_above(&self, micros: &[u64]) -> Vec<u64> {
        let mut buckets = self.buckets().peekable();
        let mut left = self.count();
        let above = |&limit: &u64| {
            while let Some((_, count)) = buckets.next_if(|&(value, _)| value <= limit) {
                left -= count;
            }
            left
        };
        micros.iter().map(above).collect()
    }

    /// (value in µs, count) of each non-empty bucket, ascending.
    pub fn buckets(&self) -> Box<dyn Iterator<Item = (u64, u64)> + '_> {
        match &self.counts {
            Counts::Few(few) => Box::new(few.iter()),
            Counts::Many(counts) => {
                Box::new(counts.iter_recorded().map(|v| (v.value_iterated_to(), v.count_since_last_iteration())))
            }
        }
    }

    /// Writes `HdrHistogram` V2; compressed for the store, plain between worker and coordinator.
    pub fn encode(&self, compressed: bool) -> Vec<u8> {
        match &self.counts {
            Counts::Few(few) if few.len() > 0 && !compressed => few.encode(),
            Counts::Few(few) => encoded(&dense(few), compressed),
            Counts::Many(counts) => encoded(counts, compressed),
        }
    }

    /// Reads `HdrHistogram` V2 as [`Durations::encode`] writes it, plain or compressed.
    pub fn decode(data: &[u8]) -> Result<Durations, DecodeError> {
        Ok(Durations::of(Buckets::decode(data).map_err(DecodeError)?))
    }

    /// Of a list, however long.
    fn of(buckets: Buckets) -> Durations {
        let is_few = buckets.len() <= MOST;
        let mut durations = Durations { counts: Counts::Few(buckets) };
        if !is_few {
            durations.make_dense();
        }
        durations
    }
}

fn dense(few: &Buckets) -> Histogram<u64> {
    let mut counts = Histogram::new(SIGNIFICANT_DIGITS).expect("3 digits are within 0..=5");
    // As in `add_buckets`.
    for (micros, count) in few.iter().rev() {
        counts.record_n(micros, count).expect("an auto-resizing histogram takes any value");
    }
    counts
}

fn encoded(counts: &Histogram<u64>, compressed: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let written = if compressed {
        V2DeflateSerializer::new().serialize(counts, &mut out).map_err(|error| error.to_string())
    } else {
        V2Serializer::new().serialize(counts, &mut out).map_err(|error| error.to_string())
    };
    written.expect("writing to memory cannot fail");
    out
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
pub struct DecodeError(&'static str);

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not an HdrHistogram V2 histogram: {}", self.0)
    }
}

impl std::error::Error for DecodeError {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use std::io::Write;
    use std::num::NonZeroU64;

    use super::{Counts, Durations, LONGEST, Summand};

    /// Corrected with an interval above 0.
    fn corrected(durations: &Durations, interval: u64) -> Durations {
        durations.corrected(NonZeroU64::new(interval).expect("an interval above 0"))
    }

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
        assert_eq!(durations.counts_above(&[0, 990, 1000]), [1000, 10, 0]);
    }

    #[test]
    fn a_value_also_stands_for_the_requests_that_it_held_up() {
        for (values, interval, expected, sentence) in [
            (&[100][..], 100, &[(100, 1)][..], "as long as the interval: it held up none"),
            (&[199], 100, &[(199, 1)], "the next one is the one that was sent"),
            (&[200], 100, &[(100, 1), (200, 1)], "two intervals: one was held up"),
            (&[350, 50], 100, &[(50, 1), (150, 1), (250, 1), (350, 1)], "down to the interval"),
            (&[3, 3], 1, &[(1, 2), (2, 2), (3, 2)], "as often as the value is there"),
            (&[], 1, &[], "none: none"),
        ] {
            let mut durations = Durations::default();
            for &value in values {
                durations.record(value, 1);
            }
            assert_eq!(corrected(&durations, interval).buckets().collect::<Vec<_>>(), expected, "{sentence}");
        }
    }

    #[test]
    fn an_hour_at_one_request_a_microsecond_is_corrected_at_once() {
        let mut durations = Durations::default();
        durations.record(LONGEST, 3);
        let longest = durations.buckets().next().expect("one value").0;
        assert_eq!(corrected(&durations, 1).count(), 3 * longest);
    }

    #[test]
    fn garbage_is_an_error() {
        assert!(Durations::decode(b"HISTFAAA").is_err());
        assert!(Durations::decode(b"").is_err());
    }

    #[test]
    fn what_is_not_ours_is_refused_before_room_is_made_for_it() {
        let mut durations = Durations::default();
        durations.record(100, 3);
        let plain = durations.encode(false);
        let with = |at: usize, bytes: &[u8]| {
            let mut changed = plain.clone();
            changed[at..at + bytes.len()].copy_from_slice(bytes);
            changed
        };
        let ours = "only those with 3 significant digits of whole numbers from 1 are read";
        // 2⁶³ empty buckets, then a count of one.
        let beyond = [&with(7, &[10])[..40], &[0xff; 9], &[2]].concat();
        for (damaged, reason) in [
            (with(4, &0xf000_0000_u32.to_be_bytes()), "its end is missing"),
            (with(12, &5_u32.to_be_bytes()), ours),
            (with(16, &8_u64.to_be_bytes()), ours),
            (with(0, b"HISTFAAA"), "it does not begin as one"),
            (plain[..30].to_vec(), "its head is missing"),
            (vec![0; 100 << 20], "it is longer than any of ours"),
            (beyond, "a value in it is over 2³² µs"),
        ] {
            let packed = compressed(&damaged);
            assert!(packed.len() < 200_000);
            let error = Durations::decode(&packed).unwrap_err().to_string();
            assert!(error.ends_with(reason), "{error}, not {reason}");
        }
        let packed = compressed(&plain);
        for end in 0..packed.len() {
            assert!(Durations::decode(&packed[..end]).is_err(), "the first {end} bytes");
        }
    }

    #[test]
    fn plain_is_one_whole_histogram_and_nothing_else() {
        let mut durations = Durations::default();
        (1..100).for_each(|value| _ = durations.record(value * 700, 1));
        let plain = durations.encode(false);
        assert_eq!(Durations::plain_count(&plain), Some(99));
        assert_eq!(Durations::plain_count(&durations.encode(true)), None);
        assert_eq!(Durations::plain_count(&[&plain[..], &[0]].concat()), None);
        for end in 0..plain.len() {
            assert_eq!(Durations::plain_count(&plain[..end]), None, "the first {end} bytes");
        }
    }

    #[test]
    fn counts_that_do_not_add_up_are_refused() {
        let mut durations = Durations::default();
        durations.record(1, i64::MAX as u64);
        durations.record(2, i64::MAX as u64);
        assert!(Durations::decode(&durations.encode(false)).is_ok());
        durations.record(3, i64::MAX as u64);
        let error = Durations::decode(&durations.encode(false)).unwrap_err().to_string();
        assert!(error.ends_with("its counts are too large"), "{error}");
    }

    #[test]
    fn many_lists_add_up_to_a_dense_histogram_and_leave_nothing_for_the_next_sum() {
        let lists: Vec<Durations> = (0..30_u64)
            .map(|number| {
                let mut each = Durations::default();
                (0..100).for_each(|value| _ = each.record(number * 100 + value, 1));
                Durations::decode(&each.encode(false)).unwrap()
            })
            .collect();
        let mut added = Durations::default();
        for each in &lists {
            added.add(each);
        }
        let sum = Durations::sum(&lists.iter().map(Summand::Counted).collect::<Vec<_>>());
        assert!(matches!(sum.counts, Counts::Many(_)));
        assert_eq!((&sum, sum.encode(true)), (&added, added.encode(true)));
        let plain: Vec<_> = lists.iter().map(|each| each.encode(false)).collect();
        assert!(plain.iter().all(|each| Durations::plain_count(each) == Some(100)));
        let mixed = plain.iter().zip(&lists).enumerate().map(|(number, (plain, list))| match number % 2 {
            0 => Summand::Plain(plain),
            _ => Summand::Counted(list),
        });
        assert_eq!(Durations::sum(&mixed.collect::<Vec<_>>()), added);
        assert_eq!(Durations::sum(&[Summand::Counted(&lists[7])]), lists[7]);
        assert_eq!(Durations::sum(&[Summand::Plain(&plain[7])]), lists[7]);
        assert_eq!(Durations::sum(&[]), Durations::default());
    }

    /// The compressed form of a plain histogram.
    fn compressed(plain: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(plain).unwrap();
        let deflated = encoder.finish().unwrap();
        [&0x1c84_9314_u32.to_be_bytes()[..], &(deflated.len() as u32).to_be_bytes(), &deflated].concat()
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
        fn few_values_are_written_as_many_are(
            values in (0..32_u32).prop_flat_map(|bits| {
                prop::collection::vec((0..LONGEST.min(2 << bits), 1..u64::MAX >> 8), 1..200)
            }),
        ) {
            let mut many = Durations::default();
            for &(micros, count) in &values {
                many.record(micros, count);
            }
            let few = Durations { counts: Counts::Few(many.to_buckets()) };
            prop_assert_eq!(few.encode(false), many.encode(false));
        }

        #[test]
        fn the_correction_is_that_of_the_crate(
            values in prop::collection::vec((0..5_000_000_u64, 1..5_u64), 0..50),
            interval in 300..6_000_000_u64,
        ) {
            let mut durations = Durations::default();
            for (value, count) in values {
                durations.record(value, count);
            }
            let model = Durations { counts: Counts::Many(Box::new(durations.many().clone_correct(interval))) };
            let ours = corrected(&durations, interval);
            prop_assert_eq!(ours.buckets().collect::<Vec<_>>(), model.buckets().collect::<Vec<_>>());
            prop_assert_eq!((ours.min(), ours.max(), ours.count()), (model.min(), model.max(), model.count()));
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

    proptest! {
        // Each case has many sums and encodings.
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn few_values_tell_the_same_as_many(
            values in prop::collection::vec((prop_oneof![0..5_000_u64, 0..LONGEST], 1..5_u64), 0..60),
            more in prop::collection::vec(0..LONGEST, 0..60),
            quantile in 0.0..=1.0_f64,
            limit in 0..LONGEST,
        ) {
            let mut many = Durations::default();
            for (value, count) in values {
                many.record(value, count);
            }
            for compressed in [false, true] {
                let few = Durations::decode(&many.encode(compressed)).unwrap();
                prop_assert!(matches!(few.counts, Counts::Few(_)));
                prop_assert_eq!(&few, &many);
                prop_assert_eq!((few.count(), few.min(), few.max()), (many.count(), many.min(), many.max()));
                prop_assert!((few.mean() - many.mean()).abs() <= many.mean() * 1e-12);
                let quantiles = [0.0, 0.5, 0.99, 0.99, 1.0, quantile];
                let expected = quantiles.map(|q| many.value_at(q));
                prop_assert_eq!(quantiles.map(|q| few.value_at(q)), expected);
                prop_assert_eq!((few.values_at(&quantiles), many.values_at(&quantiles)), (expected.into(), expected.into()));
                let plain = many.encode(false);
                let ascending = [0.5, 0.99, 0.99, 1.0];
                for asked in [&quantiles[..], &ascending, &[]] {
                    prop_assert_eq!(Durations::plain_values_at(&plain, many.count(), asked), many.values_at(asked));
                }
                prop_assert_eq!(few.counts_above(&[limit / 2, limit]), many.counts_above(&[limit / 2, limit]));
                prop_assert_eq!(few.encode(false), many.encode(false));
                let mut other = Durations::default();
                for value in &more {
                    other.record(*value, 1);
                }
                let few_more = Durations::decode(&other.encode(true)).unwrap();
                let mut whole = many.clone();
                whole.add(&other);
                for (left, right) in [(&few, &few_more), (&few, &other), (&many, &few_more)] {
                    let mut sum = left.clone();
                    sum.add(right);
                    prop_assert_eq!(&sum, &whole);
                    prop_assert_eq!(&Durations::sum(&[Summand::Counted(left), Summand::Counted(right)]), &whole);
                }
            }
        }
    }
}
