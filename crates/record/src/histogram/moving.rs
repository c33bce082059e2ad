//! Quantiles of many sums that have most of their parts in common.

use super::{Counts, Durations, Summand};
use crate::buckets::{Moving, index, read_plain};

/// A sum that moves along a row of histograms: each part enters it once and leaves it once.
pub struct MovingSum<'a> {
    parts: &'a [Summand<'a>],
    /// The first part within it, and the one after the last.
    first: usize,
    end: usize,
    sum: Moving,
}

impl<'a> MovingSum<'a> {
    /// A sum of nothing yet.
    #[must_use]
    pub fn new(parts: &'a [Summand<'a>]) -> MovingSum<'a> {
        MovingSum { parts, first: 0, end: 0, sum: Moving::new() }
    }

    /// Makes it the sum of `parts[first..end]`. False, and it stays, if these are not there or one of both goes back.
    pub fn move_to(&mut self, first: usize, end: usize) -> bool {
        if first < self.first || end < self.end || first > end || end > self.parts.len() {
            return false;
        }
        if first >= self.end {
            self.sum.clear();
            (self.first, self.end) = (first, first);
        }
        for part in &self.parts[self.first..first] {
            each_bucket(part, |number, count| self.sum.remove(number, count));
        }
        for part in &self.parts[self.end..end] {
            each_bucket(part, |number, count| self.sum.add(number, count));
        }
        (self.first, self.end) = (first, end);
        true
    }

    /// The same as [`Durations::values_at`] of the sum.
    pub fn values_at(&self, quantiles: &[f64]) -> impl Iterator<Item = u64> {
        self.sum.values_at(quantiles)
    }
}

#[inline]
fn each_bucket(part: &Summand<'_>, mut each: impl FnMut(usize, u64)) {
    match part {
        Summand::Plain(data) => {
            read_plain(data, each).expect("it has been checked");
        }
        Summand::Counted(Durations { counts: Counts::Few(few) }) => {
            few.iter().for_each(|(micros, count)| each(index(micros), count));
        }
        Summand::Counted(durations) => durations.buckets().for_each(|(micros, count)| each(index(micros), count)),
    }
}
