//! The slowest exchanges that have a trace.

use crate::{EndpointId, Exchange, Outcome, Times};

/// How many are kept between two takes.
const MOST: usize = 20;

/// A slow exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slow {
    /// Its endpoint.
    pub endpoint: EndpointId,
    /// Its outcome.
    pub outcome: Outcome,
    /// The second half of its trace, not 0.
    pub trace: u64,
    /// Stamp of its arrival, ns.
    pub arrival: u64,
    /// Its times.
    pub times: Times,
}

/// The exchanges with the longest response times.
#[derive(Debug, Default)]
pub(crate) struct Slowest {
    /// The slowest first.
    kept: Vec<Slow>,
}

impl Slowest {
    /// Keeps an exchange if it has a trace and is slow enough.
    pub(crate) fn add(&mut self, endpoint: EndpointId, exchange: &Exchange, outcome: Outcome, times: Times) {
        let is_full = self.kept.len() >= MOST;
        if is_full && self.kept.last().is_some_and(|last| last.times.response >= times.response) {
            return;
        }
        let place = self.kept.partition_point(|each| each.times.response >= times.response);
        self.kept.truncate(MOST - 1);
        let (trace, arrival) = (exchange.trace, exchange.arrival);
        self.kept.insert(place, Slow { endpoint, outcome, trace, arrival, times });
    }

    /// Takes them, slowest first.
    pub(crate) fn take(&mut self) -> Vec<Slow> {
        std::mem::take(&mut self.kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(slowest: &mut Slowest, response: u64) {
        let exchange =
            Exchange { due: 1000, sent: 1000, arrival: 1000 + response, trace: response, ..Exchange::default() };
        slowest.add(EndpointId(0), &exchange, Outcome::Success, exchange.times());
    }

    #[test]
    fn the_slowest_are_kept_in_their_order() {
        let mut slowest = Slowest::default();
        for number in 0..100 {
            add(&mut slowest, (number * 37) % 100 + 1);
        }
        let kept: Vec<u64> = slowest.take().iter().map(|each| each.times.response).collect();
        assert_eq!(kept, (81..=100).rev().collect::<Vec<_>>());
        assert!(slowest.take().is_empty());
    }

    #[test]
    fn fewer_than_there_is_room_for_are_all_kept() {
        let mut slowest = Slowest::default();
        for response in [3, 1, 2, 3] {
            add(&mut slowest, response);
        }
        assert_eq!(slowest.take().iter().map(|each| each.trace).collect::<Vec<_>>(), [3, 3, 2, 1]);
    }
}
