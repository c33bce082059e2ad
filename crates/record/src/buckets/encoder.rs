//! Writes `HdrHistogram` V2, plain, byte for byte like the crate.

use crate::zigzag;

use super::{COOKIE, EXACT, HEAD, PIECE, highest, step};

/// Writes a plain histogram, bucket by bucket.
pub(super) struct Encoder {
    data: Vec<u8>,
    /// The latest numbers, which are short.
    short: [u8; PIECE],
    /// How many these are.
    length: usize,
    /// One more than the number of the last bucket.
    next: usize,
}

impl Encoder {
    /// buckets: about as many as will come.
    pub(super) fn new(buckets: usize) -> Encoder {
        let mut data = Vec::with_capacity(HEAD + 2 * PIECE + 2 * buckets);
        for word in [COOKIE, 0, 0, 3] {
            data.extend(word.to_be_bytes());
        }
        data.extend(1_u64.to_be_bytes());
        data.extend(0_u64.to_be_bytes());
        data.extend(1.0_f64.to_be_bytes());
        Encoder { data, short: [0; PIECE], length: 0, next: 0 }
    }

    /// number: above that of the bucket before. count: above 0.
    #[inline]
    pub(super) fn push(&mut self, number: usize, count: u64) {
        let gap = number - self.next;
        self.next = number + 1;
        // One empty bucket is a count of 0, several are a negative number.
        let run = if gap == 1 { 0 } else { (2 * gap).wrapping_sub(1) };
        if gap > 64 || count > 63 || self.length + 2 > PIECE {
            self.push_long(gap, count);
            return;
        }
        // As in `Piece`: there is no branch between a run and none.
        self.short[self.length] = run as u8;
        self.length += usize::from(gap > 0);
        self.short[self.length] = (count << 1) as u8;
        self.length += 1;
    }

    #[inline(never)]
    fn push_long(&mut self, gap: usize, count: u64) {
        self.flush();
        match gap {
            0 => {}
            1 => zigzag::push(&mut self.data, 0),
            _ => zigzag::push(&mut self.data, -(gap as u64).cast_signed()),
        }
        zigzag::push(&mut self.data, i64::try_from(count).unwrap_or(i64::MAX));
    }

    fn flush(&mut self) {
        self.data.extend_from_slice(&self.short[..self.length]);
        self.length = 0;
    }

    /// There must be a bucket.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.flush();
        let length = (self.data.len() - HEAD) as u32;
        self.data[4..8].copy_from_slice(&length.to_be_bytes());
        // The crate first allocates 2 parts, which hold all exact values, and then whole doublings.
        let max = highest(self.next - 1);
        let top = if max < EXACT { 2 } else { (EXACT << step(max)) - 1 };
        self.data[24..32].copy_from_slice(&top.to_be_bytes());
        self.data
    }
}
