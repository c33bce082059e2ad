//! When each connection continues.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Slots of connections by the time at which they continue, monotonic ns. A slot may occur more than once, or its
/// connection may be closed. Continuing it without need has no effect.
#[derive(Debug, Default)]
pub(crate) struct Timers(BinaryHeap<Reverse<(u64, usize)>>);

impl Timers {
    pub(crate) fn add(&mut self, at: u64, place: usize) {
        self.0.push(Reverse((at, place)));
    }

    /// The earliest time.
    pub(crate) fn next(&self) -> Option<u64> {
        self.0.peek().map(|Reverse((at, _))| *at)
    }

    /// The earliest slot, if its time has come.
    pub(crate) fn take(&mut self, now: u64) -> Option<usize> {
        if self.next()? > now {
            return None;
        }
        self.0.pop().map(|Reverse((_, place))| place)
    }
}

#[cfg(test)]
mod tests {
    use super::Timers;

    #[test]
    fn places_come_by_their_time_and_not_before() {
        let mut timers = Timers::default();
        for (at, place) in [(30, 3), (10, 1), (20, 2)] {
            timers.add(at, place);
        }
        assert_eq!((timers.next(), timers.take(9)), (Some(10), None));
        let taken: Vec<_> = std::iter::from_fn(|| timers.take(25)).collect();
        assert_eq!((taken, timers.next()), (vec![1, 2], Some(30)));
    }
}
