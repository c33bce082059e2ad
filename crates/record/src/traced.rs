//! The exchanges that become spans: of those that have a trace, a sample, the failed ones and the slowest.

use crate::{EndpointId, Exchange, Outcome, Times};

/// Of the slowest exchanges, how many are kept between two takes.
const MOST_SLOWEST: usize = 20;
/// Of failed exchanges that are not in the sample.
const MOST_FAILED: usize = 50;
/// Of exchanges in the sample.
const MOST_SAMPLED: usize = 200;
/// The bits of a trace that are random for those that sample traces.
const RANDOM_BITS: u32 = 56;

/// Which traces are in the sample: by their last 56 bits, as OpenTelemetry's samplers decide
/// (<https://opentelemetry.io/docs/specs/otel/trace/tracestate-probability-sampling/>).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// The least number of the last 56 bits that is in the sample.
    least: u64,
}

impl Sampling {
    /// All traces are in the sample.
    pub const ALL: Sampling = Sampling { least: 0 };

    /// `share`: of the traces, 0…1.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // it is 0…2^56
    pub fn of(share: f64) -> Sampling {
        Sampling { least: ((1.0 - share.clamp(0.0, 1.0)) * (1_u64 << RANDOM_BITS) as f64) as u64 }
    }

    /// Whether a trace is in the sample, by its second half.
    #[must_use]
    pub const fn takes(self, trace: u64) -> bool {
        trace & ((1 << RANDOM_BITS) - 1) >= self.least
    }
}

/// An exchange with a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traced {
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

/// Exchanges with a trace, each of them once.
#[derive(Debug, Default)]
pub(crate) struct TracedExchanges {
    /// None: there is no sample.
    pub(crate) sampling: Option<Sampling>,
    sampled: Vec<Traced>,
    failed: Vec<Traced>,
    /// Of the others, the slowest first.
    slowest: Vec<Traced>,
    /// Exchanges in the sample, and failed ones, since the last take.
    wanted: u64,
}

impl TracedExchanges {
    /// Keeps an exchange with a trace if it is in the sample, has failed or is slow enough.
    pub(crate) fn add(&mut self, endpoint: EndpointId, exchange: &Exchange, outcome: Outcome, times: Times) {
        let traced = Traced { endpoint, outcome, trace: exchange.trace, arrival: exchange.arrival, times };
        self.wanted += u64::from(self.wants(&traced));
        if self.samples(&traced) && self.sampled.len() < MOST_SAMPLED {
            self.sampled.push(traced);
        } else if outcome.is_failure() && self.failed.len() < MOST_FAILED {
            self.failed.push(traced);
        } else {
            self.add_slow(traced);
        }
    }

    fn samples(&self, traced: &Traced) -> bool {
        self.sampling.is_some_and(|sampling| sampling.takes(traced.trace))
    }

    /// Whether it is to be kept however long it took.
    fn wants(&self, traced: &Traced) -> bool {
        traced.outcome.is_failure() || self.samples(traced)
    }

    fn add_slow(&mut self, traced: Traced) {
        let response = traced.times.response;
        let is_full = self.slowest.len() >= MOST_SLOWEST;
        if is_full && self.slowest.last().is_some_and(|last| last.times.response >= response) {
            return;
        }
        let place = self.slowest.partition_point(|known| known.times.response >= response);
        self.slowest.truncate(MOST_SLOWEST - 1);
        self.slowest.insert(place, traced);
    }

    /// Takes them, and the number of exchanges in the sample and failed ones that were not kept.
    pub(crate) fn take(&mut self) -> (Vec<Traced>, u64) {
        let mut taken = std::mem::take(&mut self.slowest);
        taken.append(&mut self.failed);
        taken.append(&mut self.sampled);
        let kept = taken.iter().filter(|traced| self.wants(traced)).count();
        (taken, std::mem::take(&mut self.wanted) - kept as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(exchanges: &mut TracedExchanges, response: u64, outcome: Outcome) {
        let exchange =
            Exchange { due: 1000, sent: 1000, arrival: 1000 + response, trace: response, ..Exchange::default() };
        exchanges.add(EndpointId(0), &exchange, outcome, exchange.times());
    }

    fn traces(taken: &[Traced]) -> Vec<u64> {
        taken.iter().map(|traced| traced.trace).collect()
    }

    #[test]
    fn the_slowest_are_kept_in_their_order() {
        let mut exchanges = TracedExchanges::default();
        for number in 0..100 {
            add(&mut exchanges, (number * 37) % 100 + 1, Outcome::Success);
        }
        let (taken, left_out) = exchanges.take();
        assert_eq!((traces(&taken), left_out), ((81..=100).rev().collect(), 0));
        assert!(exchanges.take().0.is_empty());
    }

    #[test]
    fn fewer_than_there_is_room_for_are_all_kept() {
        let mut exchanges = TracedExchanges::default();
        for response in [3, 1, 2, 3] {
            add(&mut exchanges, response, Outcome::Success);
        }
        assert_eq!(traces(&exchanges.take().0), [3, 3, 2, 1]);
    }

    #[test]
    fn failed_ones_are_kept_however_fast_they_were_and_those_beyond_the_limit_are_counted() {
        let mut exchanges = TracedExchanges::default();
        for response in 1001..=1100 {
            add(&mut exchanges, response, Outcome::Success);
        }
        for response in 1..=100 {
            add(&mut exchanges, response, Outcome::Http);
        }
        let (taken, left_out) = exchanges.take();
        assert_eq!(traces(&taken), (1081..=1100).rev().chain(1..=50).collect::<Vec<_>>());
        assert_eq!(left_out, 50);
        add(&mut exchanges, 7, Outcome::Http);
        assert_eq!((traces(&exchanges.take().0), exchanges.take().1), (vec![7], 0));
    }

    #[test]
    fn a_failed_one_beyond_the_limit_that_is_one_of_the_slowest_is_not_left_out() {
        let mut exchanges = TracedExchanges::default();
        for response in 1..=51 {
            add(&mut exchanges, response, Outcome::Timeout);
        }
        let (taken, left_out) = exchanges.take();
        assert_eq!((taken.len(), left_out), (51, 0));
    }

    #[test]
    fn a_sample_is_kept_up_to_its_limit_and_each_exchange_once() {
        let mut exchanges = TracedExchanges { sampling: Some(Sampling::ALL), ..TracedExchanges::default() };
        for response in 1..=300 {
            add(&mut exchanges, response, if response % 2 == 0 { Outcome::Http } else { Outcome::Success });
        }
        let (taken, left_out) = exchanges.take();
        let mut kept = traces(&taken);
        kept.sort_unstable();
        kept.dedup();
        // 200 of the sample, 50 failures beyond it, and the 20 slowest of the 50 that are left.
        assert_eq!((kept.len(), taken.len(), left_out), (270, 270, 30));
    }

    #[test]
    fn a_share_of_the_traces_is_in_the_sample() {
        let step = (1_u64 << RANDOM_BITS) / 1000;
        for (share, expected) in [(0.0, 0), (0.01, 10), (0.5, 500), (1.0, 1000)] {
            let sampling = Sampling::of(share);
            // The first eight bits do not matter.
            let taken = (0..1000).filter(|number| sampling.takes((0xab << RANDOM_BITS) + number * step + step / 2));
            assert_eq!(taken.count(), expected, "{share}");
        }
    }
}
