//! Quantiles of a sum whose parts change.

use super::{BLOCK, NUMBERS, highest, lowest, rank};

/// A dense sum with a second sum over each block of buckets: a quantile is looked for by blocks first.
pub(crate) struct Moving {
    counts: Box<[u64; NUMBERS]>,
    blocks: Box<[u64; NUMBERS / BLOCK]>,
    total: u64,
}

impl Moving {
    pub(crate) fn new() -> Moving {
        let counts = vec![0; NUMBERS].try_into().expect("so many");
        Moving { counts, blocks: Box::new([0; NUMBERS / BLOCK]), total: 0 }
    }

    /// Adds to a bucket by its number.
    #[inline]
    pub(crate) fn add(&mut self, number: usize, count: u64) {
        self.counts[number] += count;
        self.blocks[number / BLOCK] += count;
        self.total += count;
    }

    /// Takes away what was added.
    #[inline]
    pub(crate) fn remove(&mut self, number: usize, count: u64) {
        self.counts[number] -= count;
        self.blocks[number / BLOCK] -= count;
        self.total -= count;
    }

    pub(crate) fn clear(&mut self) {
        for (sum, counts) in self.blocks.iter_mut().zip(self.counts.as_chunks_mut::<BLOCK>().0) {
            if *sum > 0 {
                counts.fill(0);
                *sum = 0;
            }
        }
        self.total = 0;
    }

    /// As [`super::Buckets::values_at`]; one pass if they ascend.
    pub(crate) fn values_at(&self, quantiles: &[f64]) -> impl Iterator<Item = u64> {
        let blocks = self.counts.as_chunks::<BLOCK>().0;
        // `seen` values are in the blocks before `place`.
        let (mut place, mut seen) = (0, 0);
        quantiles.iter().map(move |&quantile| {
            let rank = rank(quantile, self.total);
            if rank <= seen {
                (place, seen) = (0, 0);
            }
            while let Some(&sum) = self.blocks.get(place)
                && seen + sum < rank
            {
                seen += sum;
                place += 1;
            }
            let mut left = rank - seen;
            let reaches = |&count: &u64| {
                let found = left <= count;
                left = left.saturating_sub(count);
                found
            };
            let at = blocks.get(place).and_then(|counts| counts.iter().position(reaches));
            let value = at.map_or(0, |at| highest(place * BLOCK + at));
            if quantile == 0.0 { lowest(value) } else { value }
        })
    }
}
