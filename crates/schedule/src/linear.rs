//! Levels made of straight lines and jumps. Ramps, steps and stages use this.

use std::sync::Arc;

use crate::error::{self, ShapeError};
use crate::{Shape, rate};

/// One straight line.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Piece {
    /// ns since the start of the shape.
    start: u64,
    /// ns, above 0.
    length: u64,
    /// Level at its start, 0 ..= 1e9.
    from: f64,
    /// Level at its end, 0 ..= 1e9.
    to: f64,
    /// Events before its start.
    before: f64,
    /// Events before its end. Equal to `before` if the piece adds less than the precision of the sum.
    after: f64,
}

impl Piece {
    fn level(&self, at: u64) -> f64 {
        let share = (at - self.start) as f64 / self.length as f64;
        share.mul_add(self.to - self.from, self.from)
    }

    /// Time since its start at which `count` events of the shape are over, ns; `count` is within `before` .. `after`.
    fn time_to(&self, count: f64) -> Option<u64> {
        let seconds = error::seconds(self.length);
        let (own, left) = (count - self.before, self.after - count);
        if self.from < self.to {
            Some(error::nanos(rise(self.from, (self.to - self.from) / seconds, own)))
        } else if self.from > self.to {
            // Where the level falls to 0, the time depends strongly on the count. Measured from the end it keeps its
            // precision.
            let rest = error::nanos(rise(self.to, (self.from - self.to) / seconds, left));
            Some(self.length.saturating_sub(rest))
        } else {
            rate::time_to(own, self.from)
        }
    }
}

/// Seconds until a level that starts at `from` and rises by `slope` per second has produced `count` events: the root of
/// slope / 2 t² + from t = count, in the form without a subtraction, which keeps all digits.
fn rise(from: f64, slope: f64, count: f64) -> f64 {
    let sum = from + from.mul_add(from, 2.0 * slope * count).sqrt();
    if sum > 0.0 { 2.0 * count / sum } else { 0.0 }
}

/// Consecutive straight lines, made by the builder.
#[derive(Debug)]
pub(crate) struct Linear {
    /// Not empty; each starts where the previous one ends.
    pieces: Vec<Piece>,
}

/// Builds the pieces. `argument` is named in the error when they are too long or have too many events.
pub(crate) struct Builder {
    argument: &'static str,
    pieces: Vec<Piece>,
    /// ns so far.
    end: u64,
    /// Events so far.
    total: f64,
}

impl Builder {
    pub(crate) fn new(argument: &'static str) -> Self {
        Self { argument, pieces: Vec::new(), end: 0, total: 0.0 }
    }

    /// Adds a line of `length` ns from one level to the other; 0 ns is a jump. The caller checks levels and length.
    pub(crate) fn line(&mut self, length: u64, from: f64, to: f64) {
        if length > 0 {
            let before = self.total;
            self.total += f64::midpoint(from, to) * error::seconds(length);
            self.pieces.push(Piece { start: self.end, length, from, to, before, after: self.total });
            self.end = self.end.saturating_add(length);
        }
    }

    pub(crate) fn build(self) -> Result<Arc<dyn Shape>, ShapeError> {
        if !(1..=error::nanos(error::LONGEST)).contains(&self.end) {
            let (longest, seconds) = (error::LONGEST, error::seconds(self.end));
            let rule = format!("must last above 0 (1 ns) and at most {longest:e} s in all; it lasts {seconds}");
            return Err(ShapeError::new(self.argument, rule));
        }
        error::total(self.argument, self.total)?;
        Ok(Arc::new(Linear { pieces: self.pieces }))
    }
}

impl Linear {
    fn last(&self) -> &Piece {
        self.pieces.last().expect("the builder refuses an empty shape")
    }
}

impl Shape for Linear {
    fn level(&self, at: u64) -> f64 {
        let next = self.pieces.partition_point(|piece| piece.start <= at);
        let piece = &self.pieces[next - 1];
        if at - piece.start < piece.length { piece.level(at) } else { 0.0 }
    }

    fn reach(&self, count: f64) -> Option<u64> {
        // The first piece that exceeds the count. A pause never does, so an event at its border comes after it.
        let first = self.pieces.partition_point(|piece| piece.after <= count);
        self.pieces[first..].iter().filter(|piece| piece.after > piece.before).find_map(|piece| {
            // An event that rounding puts at the end of a piece belongs to the start of the next one, or to none.
            let offset = piece.time_to(count.max(piece.before))?;
            (offset < piece.length).then_some(piece.start + offset)
        })
    }

    fn length(&self) -> Option<u64> {
        Some(self.last().start + self.last().length)
    }

    fn total(&self) -> Option<f64> {
        Some(self.last().after)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use crate::{Shape, ramp, stages, steps};

    const SECOND: u64 = 1_000_000_000;

    fn up() -> Arc<dyn Shape> {
        ramp(0.0, 1e6, 1000.0).expect("a ramp")
    }

    fn down() -> Arc<dyn Shape> {
        ramp(1e6, 0.0, 1000.0).expect("a ramp")
    }

    #[test]
    fn a_ramp_reaches_a_count_to_the_nanosecond() {
        for (shape, count, expected, sentence) in [
            (up(), 0.0, Some(0), "the first event at once, though the level is 0"),
            (up(), 1.0, Some(44_721_360), "500 t² = 1"),
            (up(), 500.0, Some(SECOND), "500 t² = 500"),
            (
                up(),
                5e8 - 1.0,
                Some(1000 * SECOND - 1000),
                "the last event 1 µs before the end, where 1e6 come in a second",
            ),
            (up(), 5e8, None, "none at the end"),
            (down(), 0.0, Some(0), "the first event at once"),
            (down(), 1.0, Some(1000), "the next one after 1 µs"),
            (down(), 5e8 - 500.0, Some(999 * SECOND), "500 before the end: 1 s before the end"),
            (down(), 5e8 - 1.0, Some(1000 * SECOND - 44_721_360), "the last event, where hardly any come"),
            (down(), 5e8, None, "none at the end"),
        ] {
            assert_eq!(shape.reach(count), expected, "{sentence}");
        }
    }

    #[test]
    fn a_pause_has_no_events_and_those_on_its_border_come_after_it() {
        let shape = steps(&[(1.0, 0.0), (1.0, 10.0), (2.0, 0.0), (3.0, 0.0), (1.0, 5.0), (1.0, 0.0)]).expect("steps");
        for (count, expected, sentence) in [
            (0.0, Some(SECOND), "the first event after the pause at the start"),
            (9.0, Some(1_900_000_000), "the last one before the pause"),
            (10.0, Some(7 * SECOND), "the first one after both pauses"),
            (14.0, Some(7_800_000_000), "the last one"),
            (15.0, None, "the one on the border to the pause at the end does not come"),
        ] {
            assert_eq!(shape.reach(count), expected, "{sentence}");
        }
    }

    #[test]
    fn sums_that_are_not_whole_by_rounding_put_no_event_into_a_pause() {
        // 0.1 and 0.7 have no exact float. 700 such sums are slightly above or below the whole number.
        for pairs in 1..700 {
            let mut list = [(1.0, 0.1), (1.0, 0.7), (1.0, 0.2)].repeat(pairs);
            list.push((10.0, 0.0));
            list.push((1.0, 5.0));
            let shape = steps(&list).expect("steps");
            assert_eq!(shape.reach(pairs as f64), Some((pairs as u64 * 3 + 10) * SECOND), "{pairs}");
        }
    }

    #[test]
    fn a_level_is_on_the_line_and_at_a_jump_the_new_one() {
        let shape = stages(&[(10.0, 100.0), (0.0, 20.0), (5.0, 20.0), (5.0, 0.0)], 50.0).expect("stages");
        for (at, expected, sentence) in [
            (0, 50.0, "the start"),
            (5 * SECOND, 75.0, "half way up"),
            (10 * SECOND, 20.0, "after the jump"),
            (14 * SECOND, 20.0, "held"),
            (16 * SECOND, 16.0, "a fifth of the way down"),
            (20 * SECOND, 0.0, "the end"),
            (u64::MAX, 0.0, "long after the end"),
        ] {
            assert_eq!(shape.level(at).to_bits(), f64::to_bits(expected), "{sentence}");
        }
    }

    proptest! {
        /// 500 t² = n in integers: t is the root of 2 n / 1000 · 10^18 ns².
        #[test]
        fn a_ramp_from_nothing_agrees_with_whole_numbers(n in 0..500_000_000_u64) {
            let exact = (u128::from(n) * 2_000_000_000_000_000).isqrt() as u64;
            let late = 1000 * SECOND - exact;
            prop_assert!(up().reach(n as f64).is_some_and(|at| at.abs_diff(exact) <= 1));
            prop_assert!(n == 0 || down().reach(5e8 - n as f64).is_some_and(|at| at.abs_diff(late) <= 1));
        }

        #[test]
        fn a_slope_that_hardly_rises_is_as_good_as_none(level in 1.0..1e6_f64, n in 0..1_000_000_u64) {
            let flat = steps(&[(1e6, level)]).expect("steps").reach(n as f64);
            let hardly = ramp(level, level * (1.0 + f64::EPSILON), 1e6).expect("a ramp").reach(n as f64);
            prop_assert!(flat.zip(hardly).is_some_and(|(a, b)| a.abs_diff(b) <= 1), "{flat:?} {hardly:?}");
        }
    }
}
