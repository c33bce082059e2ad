//! Durations in whole microseconds with 3 significant digits, based on the `hdrhistogram` crate.

use std::fmt;
use std::num::NonZeroU64;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer, V2Serializer};

use crate::buckets::{Buckets, MOST, inflated, plain_count, plain_values_at};

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

/// A histogram that was recorded into is dense. One that was read, or added up from such, is a list until it changes.
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
            (Counts::Few(own), all) if own.len() == 0 => self.counts = all.clone(),
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
        let mut sum = Durations { counts: Counts::Few(Buckets::sum(lists_of(parts), plain_of(parts))) };
        for each in parts {
            if let Summand::Counted(many @ Durations { counts: Counts::Many(_) }) = each {
                sum.add(many);
            }
        }
        sum
    }

    /// The same as [`Durations::encode`] writes it, plain, and the number of values. Without a list of its buckets, if no
    /// part is dense.
    pub fn encoded_sum(parts: &[Summand<'_>]) -> (Vec<u8>, u64) {
        let is_dense = |each: &Summand<'_>| matches!(each, Summand::Counted(Durations { counts: Counts::Many(_) }));
        let found =
            if parts.iter().any(is_dense) { None } else { Buckets::encoded_sum(lists_of(parts), plain_of(parts)) };
        found.unwrap_or_else(|| {
            let sum = Durations::sum(parts);
            (sum.encode(false), sum.count())
        })
    }

    /// The number of values in bytes that [`Durations::decode`] reads, if they are plain and nothing follows them.
    pub fn plain_count(data: &[u8]) -> Option<u64> {
        plain_count(data)
    }

    /// The plain form of compressed bytes; None for those that are not compressed.
    pub fn inflated(data: &[u8]) -> Result<Option<Vec<u8>>, DecodeError> {
        inflated(data).map_err(DecodeError)
    }

    /// [`Durations::values_at`] of plain bytes with this [`Durations::plain_count`], without a list of their buckets.
    pub fn plain_values_at(data: &[u8], count: u64, quantiles: &[f64]) -> Vec<u64> {
        if quantiles.is_sorted() {
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
        Ok(Durations { counts: Counts::Few(Buckets::decode(data).map_err(DecodeError)?) })
    }
}

fn lists_of<'a>(parts: &[Summand<'a>]) -> impl Iterator<Item = &'a Buckets> {
    parts.iter().filter_map(|each| match each {
        Summand::Counted(Durations { counts: Counts::Few(few) }) => Some(few),
        _ => None,
    })
}

fn plain_of<'a>(parts: &[Summand<'a>]) -> impl Iterator<Item = &'a [u8]> {
    parts.iter().filter_map(|each| match each {
        Summand::Plain(data) => Some(*data),
        Summand::Counted(_) => None,
    })
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
mod tests;
