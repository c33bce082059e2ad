//! The sums of the run so far, taken or not.

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

    /// Stamp of the start of the sums below: second 0, or the last [`reset_totals`](Self::reset_totals).
    pub fn since(&self) -> u64 {
        self.since
    }

    /// The sums of one endpoint, or of all, taken or not.
    pub fn total(&self, endpoint: Option<EndpointId>) -> Sums {
        let mut sums = self.totals.sums(endpoint);
        for (outcome, cell) in self.open.iter().flat_map(|second| second.uncounted(endpoint, &self.endpoints)) {
            sums.add_cell(outcome, cell);
        }
        sums
    }

    /// The response times of the `timed` requests in [`total`](Self::total).
    pub fn latency(&self, endpoint: Option<EndpointId>) -> Durations {
        let mut durations = Durations::default();
        self.totals.add_response_to(endpoint, &mut durations);
        self.add_uncounted(endpoint, 0, &mut durations);
        durations
    }

    /// (second, requests, failures) of each of the last [`RECENT`] seconds with requests, ascending.
    pub fn recent(&self, endpoint: Option<EndpointId>) -> Vec<(u32, u64, u64)> {
        let mut seconds: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
        let open = self.open.iter().map(|second| {
            let mut sums = Sums::default();
            second.uncounted(endpoint, &self.endpoints).for_each(|(outcome, cell)| sums.add_cell(outcome, cell));
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

    /// The response times of the recent seconds from `since` on.
    pub fn recent_latency(&self, endpoint: Option<EndpointId>, since: u32) -> Durations {
        let mut durations = Durations::default();
        self.totals.add_recent_response_to(endpoint, since, &mut durations);
        self.add_uncounted(endpoint, since, &mut durations);
        durations
    }

    /// All failures so far, taken or not.
    pub fn filed(&self) -> Vec<Filed> {
        let mut all = Failures::default();
        all.add_all(&self.totals.failures);
        all.add_all(&self.failures);
        all.drain().collect()
    }

    /// Restarts the sums above at this stamp. Data that was not taken yet stays.
    pub fn reset_totals(&mut self, at: u64) {
        self.settle();
        self.totals = Totals::default();
        self.since = at;
    }

    /// Restarts [`total`](Self::total) and [`latency`](Self::latency) of one endpoint, or of all together. The rest
    /// stays.
    pub fn reset_total(&mut self, endpoint: Option<EndpointId>) {
        self.settle();
        self.totals.reset(endpoint);
    }

    /// Adds data recorded elsewhere to the sums above only. `second`: of the data, if it is all from one second.
    pub fn absorb(&mut self, endpoint: EndpointId, sums: &Sums, response: &Durations, second: Option<u32>) {
        let is_counted = self.endpoints.counts_requests(endpoint);
        self.totals.add(endpoint, sums, response.to_buckets(), second, is_counted);
        if let Some(second) = second {
            self.totals.forget(second);
        }
    }

    /// Adds failures of one kind that were recorded elsewhere.
    pub fn absorb_failure(&mut self, endpoint: EndpointId, outcome: Outcome, message: &Message, failure: Failure) {
        self.totals.failures.add_kind(endpoint, outcome, message, failure);
    }

    /// Adds to the totals what they do not have yet.
    fn settle(&mut self) {
        for second in &mut self.open {
            second.count(&mut self.totals, &self.endpoints);
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
        for (outcome, cell) in recent.flat_map(|second| second.uncounted(endpoint, &self.endpoints)) {
            if outcome.is_timed() {
                durations.add(&cell.response);
            }
        }
    }
}

#[cfg(test)]
mod tests;
