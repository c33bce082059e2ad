//! What was recorded so far in a run that goes on, handed over or not.

use std::collections::BTreeMap;

use super::Recorder;
use crate::failures::Failures;
use crate::totals::{RECENT, Sums, Totals};
use crate::{Durations, EndpointId, Failure, Filed, Message, Outcome};

impl Recorder {
    /// Stamp of second 0.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Stamp since which the sums below count: that of second 0, or of the last [`reset_totals`](Self::reset_totals).
    pub fn since(&self) -> u64 {
        self.since
    }

    /// What was recorded so far for an endpoint, or for all: handed over or not.
    pub fn total(&self, endpoint: Option<EndpointId>) -> Sums {
        let mut sums = self.totals.sums(endpoint);
        for (outcome, cell) in self.open.iter().flat_map(|second| second.uncounted(endpoint)) {
            sums.add_cell(outcome, cell);
        }
        sums
    }

    /// The response times that [`total`](Self::total) has as `timed`.
    pub fn latency(&self, endpoint: Option<EndpointId>) -> Durations {
        let mut durations = Durations::default();
        self.totals.add_response_to(endpoint, &mut durations);
        self.add_uncounted(endpoint, 0, &mut durations);
        durations
    }

    /// (second, requests, failures) of each of the last [`RECENT`] seconds in which there was any, ascending.
    pub fn recent(&self, endpoint: Option<EndpointId>) -> Vec<(u32, u64, u64)> {
        let mut seconds: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
        let open = self.open.iter().map(|second| {
            let mut sums = Sums::default();
            second.uncounted(endpoint).for_each(|(outcome, cell)| sums.add_cell(outcome, cell));
            (second.index, sums.requests, sums.failures)
        });
        for (second, requests, failures) in self.totals.recent(endpoint).chain(open) {
            if requests > 0 {
                let sums = seconds.entry(second).or_default();
                *sums = (sums.0 + requests, sums.1 + failures);
            }
        }
        let newest = seconds.keys().next_back().copied().unwrap_or(0);
        let recent = seconds.into_iter().filter(|(second, _)| second + RECENT > newest);
        recent.map(|(second, (requests, failures))| (second, requests, failures)).collect()
    }

    /// The response times of the seconds from `since` on, as far as they are recent.
    pub fn recent_latency(&self, endpoint: Option<EndpointId>, since: u32) -> Durations {
        let mut durations = Durations::default();
        self.totals.add_recent_response_to(endpoint, since, &mut durations);
        self.add_uncounted(endpoint, since, &mut durations);
        durations
    }

    /// Every failure filed so far, handed over or not.
    pub fn filed(&self) -> Vec<Filed> {
        let mut all = Failures::default();
        all.add_all(&self.totals.failures);
        all.add_all(&self.failures);
        all.drain().collect()
    }

    /// Resets the sums above to begin at this stamp. What is still to be handed over stays as it is.
    pub fn reset_totals(&mut self, at: u64) {
        self.settle();
        self.totals = Totals::default();
        self.since = at;
    }

    /// [`total`](Self::total) and [`latency`](Self::latency) of one endpoint, or of all together, begin again; the rest stays.
    pub fn reset_total(&mut self, endpoint: Option<EndpointId>) {
        self.settle();
        self.totals.reset(endpoint);
    }

    /// Adds to the sums above, and to nothing else, what was recorded elsewhere. `second`: when that was, if all of it
    /// was within one second.
    pub fn absorb(&mut self, endpoint: EndpointId, sums: &Sums, response: &Durations, second: Option<u32>) {
        self.totals.add(endpoint, sums, response.to_buckets(), second);
        if let Some(second) = second {
            self.totals.forget(second);
        }
    }

    /// The same with failures of one kind.
    pub fn absorb_failure(&mut self, endpoint: EndpointId, outcome: Outcome, message: &Message, failure: Failure) {
        self.totals.failures.add_kind(endpoint, outcome, message, failure);
    }

    /// The totals get all that they do not have yet.
    fn settle(&mut self) {
        for second in &mut self.open {
            second.count(&mut self.totals);
        }
        self.count_failures();
    }

    pub(super) fn count_failures(&mut self) {
        self.totals.failures.add_all(&self.failures);
        if self.counted.is_empty() {
            std::mem::swap(&mut self.counted, &mut self.failures);
        } else {
            self.counted.add_all(&self.failures);
            self.failures.clear();
        }
    }

    fn add_uncounted(&self, endpoint: Option<EndpointId>, since: u32, durations: &mut Durations) {
        let recent = self.open.iter().filter(|second| second.index >= since);
        for (outcome, cell) in recent.flat_map(|second| second.uncounted(endpoint)) {
            if outcome.is_timed() {
                durations.add(&cell.response);
            }
        }
    }
}

#[cfg(test)]
mod tests;
