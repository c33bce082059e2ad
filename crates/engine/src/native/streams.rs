//! The due times of the open model: several streams merged in order.

use std::fmt::{self, Debug, Formatter};

/// Due times of one stream, ns since its start, never decreasing.
pub type Arrivals = Box<dyn Iterator<Item = u64> + Send + Sync>;

struct Stream {
    arrivals: Arrivals,
    /// The stamp that due times are relative to, ns.
    start: u64,
    /// The stamp of the next arrival, ns.
    next: u64,
}

/// Merged streams of arrivals. A stream is removed at its end.
#[derive(Default)]
pub(super) struct Streams {
    streams: Vec<Stream>,
}

impl Streams {
    /// Adds a stream whose due times are counted from the stamp `start`.
    pub(super) fn add(&mut self, mut arrivals: Arrivals, start: u64) {
        if let Some(first) = arrivals.next() {
            self.streams.push(Stream { arrivals, start, next: start.saturating_add(first) });
        }
    }

    /// Removes all arrivals at or after `stamp` from the current streams.
    pub(super) fn end_at(&mut self, stamp: u64) {
        self.streams.retain(|stream| stream.next < stamp);
        for stream in &mut self.streams {
            let start = stream.start;
            let arrivals = std::mem::replace(&mut stream.arrivals, Box::new(std::iter::empty()));
            stream.arrivals = Box::new(arrivals.take_while(move |due| start.saturating_add(*due) < stamp));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.streams.clear();
    }

    /// When the next arrival is due; None at the end.
    #[inline]
    pub(super) fn next(&self) -> Option<u64> {
        self.streams.iter().map(|stream| stream.next).min()
    }

    /// Takes the earliest arrival that is due at `now`.
    #[inline]
    pub(super) fn take(&mut self, now: u64) -> Option<u64> {
        let due = self.next().filter(|due| *due <= now)?;
        let place = self.streams.iter().position(|stream| stream.next == due)?;
        let stream = &mut self.streams[place];
        match stream.arrivals.next() {
            Some(next) => stream.next = stream.start.saturating_add(next),
            None => drop(self.streams.swap_remove(place)),
        }
        Some(due)
    }
}

impl Debug for Streams {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streams").field("streams", &self.streams.len()).field("next", &self.next()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{Arrivals, Streams};

    fn at(times: &'static [u64]) -> Arrivals {
        Box::new(times.iter().copied())
    }

    fn all(streams: &mut Streams, now: u64) -> Vec<u64> {
        std::iter::from_fn(|| streams.take(now)).collect()
    }

    #[test]
    fn arrivals_of_all_streams_come_in_the_order_of_their_due_times() {
        let mut streams = Streams::default();
        streams.add(at(&[0, 10, 10, 40]), 100);
        streams.add(at(&[5, 10]), 103);
        assert_eq!(streams.next(), Some(100));
        assert_eq!(all(&mut streams, 1000), [100, 108, 110, 110, 113, 140]);
        assert!(streams.is_empty());
    }

    #[test]
    fn what_is_not_due_stays() {
        let mut streams = Streams::default();
        streams.add(at(&[0, 10, 20]), 100);
        assert!(all(&mut streams, 99).is_empty());
        assert_eq!(all(&mut streams, 110), [100, 110]);
        assert_eq!((streams.next(), streams.is_empty()), (Some(120), false));
        streams.clear();
        assert_eq!((streams.next(), streams.is_empty()), (None, true));
    }

    #[test]
    fn a_stream_that_is_ended_brings_what_is_due_before() {
        let mut streams = Streams::default();
        streams.add(at(&[0, 10, 20, 30]), 100);
        streams.add(at(&[25]), 100);
        streams.end_at(120);
        assert_eq!(all(&mut streams, 1000), [100, 110]);
        assert!(streams.is_empty());
    }

    #[test]
    fn a_stream_that_is_added_later_is_not_ended() {
        let mut streams = Streams::default();
        streams.add(at(&[0, 10, 20]), 100);
        streams.end_at(115);
        streams.add(at(&[0, 5]), 115);
        streams.end_at(120);
        assert_eq!(all(&mut streams, 1000), [100, 110, 115]);
    }

    #[test]
    fn a_stream_without_arrivals_is_none() {
        let mut streams = Streams::default();
        streams.add(at(&[]), 100);
        assert!(streams.is_empty());
    }
}
