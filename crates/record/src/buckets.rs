//! A sparse histogram as a list of buckets. One second of one endpoint takes 16 bytes a bucket, instead of the tens of
//! kilobytes of a dense [`crate::Durations`].
//!
//! The layout is that of `HdrHistogram` with 3 significant digits and a unit of 1 µs: values up to 2047 each have a bucket,
//! above that, each doubling has 1024 buckets.

use std::cell::RefCell;
use std::mem;

use flate2::{Decompress, FlushDecompress, Status};

use crate::zigzag;

use encoder::Encoder;

mod encoder;

/// Buckets up to which a list is added to. Above that, it becomes dense first.
pub(crate) const MOST: usize = 1024;

/// Number of values in the first part, which is exact. Each further doubling has half as many buckets.
const EXACT: u64 = 2048;
const HALF: u64 = EXACT / 2;

const COOKIE: u32 = 0x1c84_9303 | 0x10;
const COMPRESSED: u32 = 0x1c84_9304 | 0x10;
const HEAD: usize = 40;

/// One more than the number of the bucket that the highest 32-bit value falls into.
const NUMBERS: usize = (u32::BITS - EXACT.ilog2() + 2) as usize * HALF as usize;

/// No histogram of ours is longer, bytes: each bucket has one count of up to 9.
const LONGEST_PLAIN: usize = HEAD + NUMBERS * 9;

/// The buckets that are not empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Buckets {
    /// (highest value in µs that falls into it, count > 0), ascending.
    counts: Vec<(u32, u64)>,
}

impl Buckets {
    /// `buckets`: (value in µs, count > 0), values ascending and at most 2³² - 1.
    pub(crate) fn new(buckets: impl Iterator<Item = (u64, u64)>) -> Buckets {
        Buckets { counts: buckets.map(|(micros, count)| (micros as u32, count)).collect() }
    }

    /// Reads `HdrHistogram` V2, plain or compressed, with 3 significant digits and values from 1 to 2³² - 1. The error
    /// says what is wrong.
    pub(crate) fn decode(data: &[u8]) -> Result<Buckets, &'static str> {
        match inflated(data)? {
            Some(plain) => Buckets::decode_plain(&plain),
            None => Buckets::decode_plain(data),
        }
    }

    fn decode_plain(data: &[u8]) -> Result<Buckets, &'static str> {
        // A bucket takes two bytes or more, except for those of low values that have a neighbour.
        let mut found = Buckets { counts: Vec::with_capacity(MOST.min(data.len() / 2)) };
        read_plain(data, |number, count| {
            if count > 0 {
                found.counts.push((highest(number) as u32, count));
            }
        })?;
        Ok(found)
    }

    /// Writes `HdrHistogram` V2, plain, byte for byte like the crate. There must be a value.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut encoder = Encoder::new(self.counts.len());
        for (micros, count) in self.iter() {
            encoder.push(index(micros), count);
        }
        encoder.finish()
    }

    pub(crate) fn len(&self) -> usize {
        self.counts.len()
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> + '_ {
        self.counts.iter().map(|&(micros, count)| (u64::from(micros), count))
    }

    pub(crate) fn total(&self) -> u64 {
        self.counts.iter().map(|&(_, count)| count).sum()
    }

    /// The lowest value of the first bucket; 0 when empty.
    pub(crate) fn min(&self) -> u64 {
        self.counts.first().map_or(0, |&(micros, _)| lowest(u64::from(micros)))
    }

    pub(crate) fn max(&self) -> u64 {
        self.counts.last().map_or(0, |&(micros, _)| u64::from(micros))
    }

    /// The mean, with each bucket counted at its middle, as in the crate; 0 when empty.
    pub(crate) fn mean(&self) -> f64 {
        let total = self.total() as f64;
        self.iter().fold(0.0, |sum, (micros, count)| {
            let low = lowest(micros);
            sum + (low + (micros - low).div_ceil(2)) as f64 * count as f64 / total
        })
    }

    /// The highest value of the bucket with the ⌈quantile · total⌉th value; 0 when empty.
    pub(crate) fn value_at(&self, quantile: f64) -> u64 {
        self.values_at(&[quantile])[0]
    }

    /// The same of several; one pass if they ascend.
    pub(crate) fn values_at(&self, quantiles: &[f64]) -> Vec<u64> {
        let total = self.total();
        // `seen` values are in the buckets before `place`.
        let (mut place, mut seen) = (0, 0);
        let value = |&quantile: &f64| {
            let rank = rank(quantile, total);
            if rank <= seen {
                (place, seen) = (0, 0);
            }
            while let Some(&(micros, count)) = self.counts.get(place) {
                if seen + count >= rank {
                    let micros = u64::from(micros);
                    // The crate returns the lowest value for a quantile of 0.
                    return if quantile == 0.0 { lowest(micros) } else { micros };
                }
                seen += count;
                place += 1;
            }
            0
        };
        quantiles.iter().map(value).collect()
    }

    /// All of them together. `plain`: as [`plain_count`] accepts it.
    pub(crate) fn sum<'a>(lists: impl Iterator<Item = &'a Buckets>, plain: impl Iterator<Item = &'a [u8]>) -> Buckets {
        TABLE.with_borrow_mut(|table| {
            table.add_all(lists, plain);
            let mut counts = Vec::with_capacity(table.mark());
            table.drain(|number, count| counts.push((highest(number) as u32, count)));
            Buckets { counts }
        })
    }

    /// The same as [`Buckets::encode`] writes it, and the number of values. None if there is none.
    pub(crate) fn encoded_sum<'a>(
        lists: impl Iterator<Item = &'a Buckets>,
        plain: impl Iterator<Item = &'a [u8]>,
    ) -> Option<(Vec<u8>, u64)> {
        TABLE.with_borrow_mut(|table| {
            table.add_all(lists, plain);
            let (mut encoder, mut total) = (Encoder::new(table.mark()), 0);
            table.drain(|number, count| {
                encoder.push(number, count);
                total += count;
            });
            (total > 0).then(|| (encoder.finish(), total))
        })
    }

    pub(crate) fn add(&mut self, other: &Buckets) {
        let mut missing = Vec::new();
        let mut place = 0;
        for &(micros, count) in &other.counts {
            place = self.seek(place, micros);
            match self.counts.get_mut(place) {
                Some((known, sum)) if *known == micros => *sum += count,
                _ => missing.push((place, (micros, count))),
            }
        }
        let mut end = self.counts.len();
        self.counts.resize(end + missing.len(), (0, 0));
        for (before, (place, bucket)) in missing.into_iter().enumerate().rev() {
            self.counts.copy_within(place..end, place + before + 1);
            self.counts[place + before] = bucket;
            end = place;
        }
    }

    /// The first index from `from` on whose value is not below `micros`. It is usually near, so the search doubles its
    /// steps.
    fn seek(&self, from: usize, micros: u32) -> usize {
        let rest = &self.counts[from..];
        let mut step = 1;
        while step < rest.len() && rest[step].0 < micros {
            step *= 2;
        }
        let within = &rest[step / 2..rest.len().min(step)];
        from + step / 2 + within.partition_point(|&(known, _)| known < micros)
    }
}

/// The number of values, if these are the bytes of one plain histogram, as [`Buckets::encode`] writes them, and nothing
/// else.
pub(crate) fn plain_count(data: &[u8]) -> Option<u64> {
    let length = word(data, 4)? as usize;
    if data.len() == HEAD + length { read_plain(data, |_, _| {}).ok() } else { None }
}

/// The plain bytes of a compressed histogram; None for one that is not compressed.
pub(crate) fn inflated(data: &[u8]) -> Result<Option<Vec<u8>>, &'static str> {
    if word(data, 0) != Some(COMPRESSED) {
        return Ok(None);
    }
    let deflated = word(data, 4).and_then(|length| data.get(8..)?.get(..length as usize));
    let deflated = deflated.ok_or("its end is missing")?;
    INFLATER.with_borrow_mut(|inflater| Ok(Some(inflater.inflate(deflated)?.to_vec())))
}

/// As [`Buckets::values_at`], of `total` values that [`plain_count`] has counted. `quantiles`: ascending.
pub(crate) fn plain_values_at(data: &[u8], total: u64, quantiles: &[f64]) -> Vec<u64> {
    let rank_of = |place: usize| quantiles.get(place).map_or(u64::MAX, |&quantile| rank(quantile, total));
    let mut values = Vec::with_capacity(quantiles.len());
    let (mut next, mut seen) = (rank_of(0), 0);
    read_plain(data, |number, count| {
        seen += count;
        if seen < next {
            return;
        }
        while next <= seen && values.len() < quantiles.len() {
            let value = highest(number);
            values.push(if quantiles[values.len()] == 0.0 { lowest(value) } else { value });
            next = rank_of(values.len());
        }
    })
    .expect("it has been checked");
    values.resize(quantiles.len(), 0);
    values
}

/// The place of a quantile's value among `total` values, from 1.
fn rank(quantile: f64, total: u64) -> u64 {
    ((quantile.clamp(0.0, 1.0) * total as f64).ceil() as u64).max(1)
}

/// Calls `each` with (number of a bucket, its count) of a plain histogram, ascending; some counts are 0. The number of
/// values.
#[inline]
fn read_plain(data: &[u8], mut each: impl FnMut(usize, u64)) -> Result<u64, &'static str> {
    // Cookie, length of the payload, offset, digits, lowest, highest, ratio; big-endian.
    let head: &[u8; HEAD] = data.first_chunk().ok_or("its head is missing")?;
    if head[..4] != COOKIE.to_be_bytes() {
        return Err("it does not begin as one");
    }
    let is_ours = head[8..16] == 3_u64.to_be_bytes()
        && head[16..24] == 1_u64.to_be_bytes()
        && head[32..] == 1.0_f64.to_be_bytes();
    if !is_ours {
        return Err("only those with 3 significant digits of whole numbers from 1 are read");
    }
    let length = word(head, 4).unwrap_or_default() as usize;
    let payload = data[HEAD..].get(..length).ok_or("its end is missing")?;
    let (mut at, mut next, mut total) = (0, 0_usize, 0_u64);
    while at < payload.len() {
        let end = payload.len().min(at + PIECE);
        let piece = Piece::of(&payload[at..end]);
        let width = piece.widths.iter().map(|&width| usize::from(width)).sum::<usize>();
        if piece.is_short && next + width < NUMBERS {
            for (&count, &width) in piece.counts.iter().zip(&piece.widths).take(end - at) {
                each(next, u64::from(count));
                next += usize::from(width);
            }
            let count = piece.counts.iter().map(|&count| u32::from(count)).sum::<u32>();
            total = total.checked_add(u64::from(count)).ok_or("its counts are too large")?;
            at = end - usize::from(payload[end - 1] >> 7);
            continue;
        }
        while at < end {
            let (number, length) = zigzag::read(&payload[at..]).ok_or("its end is missing")?;
            at += length;
            let (count, width) = match number {
                // A negative number is a run of empty buckets.
                i64::MIN..0 => (0, number.unsigned_abs() as usize),
                _ => (number.unsigned_abs(), 1),
            };
            if next < NUMBERS {
                total = total.checked_add(count).ok_or("its counts are too large")?;
                each(next, count);
            } else if count > 0 {
                return Err("a value in it is over 2³² µs");
            }
            // Above the last bucket there may be empty ones, however many.
            next = next.saturating_add(width).min(NUMBERS);
        }
    }
    Ok(total)
}

/// Bytes of a payload that are read together.
const PIECE: usize = 64;

/// What each of some bytes of a payload adds, if it is the last one of a number; 0 if the number goes on. Nearly all
/// numbers have one byte or two. Counts and runs of empty buckets come in no order that a processor could guess, so there
/// is no branch between them, and all bytes of a piece are looked at together.
struct Piece {
    counts: [u16; PIECE],
    /// Buckets.
    widths: [u16; PIECE],
    /// Whether these are right: no number is longer than two bytes, and the payload does not end within one.
    is_short: bool,
}

impl Piece {
    /// bytes: up to [`PIECE`], of which the first one begins a number; fewer at the end of a payload.
    #[inline]
    fn of(bytes: &[u8]) -> Piece {
        let own: [u8; PIECE] = bytes.first_chunk().copied().unwrap_or_else(|| {
            let mut padded = [0; PIECE];
            padded[..bytes.len()].copy_from_slice(bytes);
            padded
        });
        let mut before = [0; PIECE];
        before[1..].copy_from_slice(&own[..PIECE - 1]);
        let (mut counts, mut widths) = ([0; PIECE], [0; PIECE]);
        let mut long = 0;
        for place in 0..PIECE {
            let (byte, before) = (own[place], before[place]);
            // All bits set, or none.
            let (goes_on, is_second) = (byte.cast_signed() >> 7, before.cast_signed() >> 7);
            let (goes_on, is_second) = (i16::from(goes_on).cast_unsigned(), i16::from(is_second).cast_unsigned());
            let (byte16, first) = (u16::from(byte), u16::from(before & 0x7f));
            let number = (first | byte16 << 7) & is_second | byte16 & !is_second;
            let (half, of_gap) = (number >> 1, 0_u16.wrapping_sub(number & 1));
            counts[place] = half & !of_gap & !goes_on;
            widths[place] = (half & of_gap).wrapping_add(1) & !goes_on;
            long |= byte & before;
        }
        // The bytes after the last one look like counts of 0.
        widths[bytes.len()..].fill(0);
        let is_cut = bytes.len() < PIECE && own[bytes.len() - 1] > 0x7f;
        Piece { counts, widths, is_short: long < 0x80 && !is_cut }
    }
}

/// The width of a bucket for this value, as a power of two.
fn step(micros: u64) -> u32 {
    (u64::BITS - micros.leading_zeros()).saturating_sub(EXACT.trailing_zeros())
}

/// The lowest value of the bucket of this value.
fn lowest(micros: u64) -> u64 {
    micros >> step(micros) << step(micros)
}

/// The bucket number of this value.
fn index(micros: u64) -> usize {
    (u64::from(step(micros)) * HALF + (micros >> step(micros))) as usize
}

/// The highest value of a bucket by its number.
fn highest(index: usize) -> u64 {
    let index = index as u64;
    if index < EXACT {
        return index;
    }
    let doubling = index / HALF - 1;
    let first = (index % HALF + HALF) << doubling;
    first + (1 << doubling) - 1
}

/// Buckets that are looked at together for those with a count.
const BLOCK: usize = 64;

/// Counts by the number of their bucket. Most are 0, so a mark for each block tells where others are.
struct Table {
    counts: Box<[u64; NUMBERS]>,
    used: Box<[bool; NUMBERS / BLOCK]>,
    /// A bit for each bucket with a count, once they are asked for.
    marks: Box<[u64; NUMBERS / BLOCK]>,
}

impl Table {
    fn new() -> Table {
        let counts = vec![0; NUMBERS].try_into().expect("so many");
        Table { counts, used: Box::new([false; NUMBERS / BLOCK]), marks: Box::new([0; NUMBERS / BLOCK]) }
    }

    /// plain: as [`plain_count`] accepts it.
    fn add_all<'a>(&mut self, lists: impl Iterator<Item = &'a Buckets>, plain: impl Iterator<Item = &'a [u8]>) {
        // The two boxes, read once.
        let (counts, used) = (&mut *self.counts, &mut *self.used);
        let mut each = |number: usize, count| {
            counts[number] += count;
            used[number / BLOCK] = true;
        };
        for (micros, count) in lists.flat_map(Buckets::iter) {
            each(index(micros), count);
        }
        for data in plain {
            read_plain(data, &mut each).expect("it has been checked");
        }
    }

    /// Finds the buckets with a count; their number.
    fn mark(&mut self) -> usize {
        let blocks = self.counts.as_chunks::<BLOCK>().0;
        for ((used, marks), counts) in self.used.iter_mut().zip(self.marks.iter_mut()).zip(blocks) {
            if mem::take(used) {
                *marks = counts.iter().rev().fold(0, |bits, &count| bits << 1 | u64::from(count > 0));
            }
        }
        self.marks.iter().map(|bits| bits.count_ones() as usize).sum()
    }

    /// Calls `each` with (number of a bucket, its count) of those that [`Table::mark`] has found, ascending; the table is
    /// empty after that.
    fn drain(&mut self, mut each: impl FnMut(usize, u64)) {
        let blocks = self.counts.as_chunks_mut::<BLOCK>().0;
        for ((place, bits), counts) in self.marks.iter_mut().enumerate().zip(blocks) {
            while *bits != 0 {
                let at = bits.trailing_zeros() as usize;
                each(place * BLOCK + at, mem::take(&mut counts[at]));
                *bits &= *bits - 1;
            }
        }
    }
}

thread_local! {
    /// Empty between two sums.
    static TABLE: RefCell<Table> = RefCell::new(Table::new());
    static INFLATER: RefCell<Inflater> =
        RefCell::new(Inflater { state: Decompress::new(true), plain: Vec::with_capacity(LONGEST_PLAIN) });
}

/// Reads compressed histograms, one after the other: making its state takes ten times as long as reading a short one.
struct Inflater {
    state: Decompress,
    /// Never has room for more.
    plain: Vec<u8>,
}

impl Inflater {
    fn inflate(&mut self, deflated: &[u8]) -> Result<&[u8], &'static str> {
        self.state.reset(true);
        self.plain.clear();
        match self.state.decompress_vec(deflated, &mut self.plain, FlushDecompress::Finish) {
            Ok(Status::StreamEnd) => Ok(&self.plain),
            Ok(_) if self.plain.len() >= LONGEST_PLAIN => Err("it is longer than any of ours"),
            Ok(_) => Err("its end is missing"),
            Err(_) => Err("its compression is damaged"),
        }
    }
}

fn word(data: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(data.get(at..at + 4)?.try_into().ok()?))
}
