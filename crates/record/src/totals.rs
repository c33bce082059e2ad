//! The sums of a running test, whether its seconds were taken or not.

use crate::buckets::Buckets;
use crate::cell::sum_of;
use crate::failures::Failures;
use crate::{Cell, Durations, EndpointId, Outcome};

/// Number of recent seconds with separate counts and times, for values of "now".
pub const RECENT: u32 = 60;

/// The sums of one endpoint, or of all, for one row of a table. Unanswered and unsent exchanges are not requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Exchanges that ended by themselves: neither unanswered nor dropped.
    pub requests: u64,
    /// Of these, the ones that failed.
    pub failures: u64,
    /// Of these, the ones whose response time counts in the latency percentiles.
    pub timed: u64,
    /// Bytes of decoded response bodies.
    pub bytes_body: u64,
    /// Sum of response times of the timed ones, ns; the next two are also of the timed ones.
    pub response_sum: u64,
    /// Smallest response time, ns; meaningful when `timed > 0`.
    pub response_min: u64,
    /// Largest response time, ns.
    pub response_max: u64,
    /// Stamp of the first arrival; meaningful when `requests > 0`, like the next.
    pub first: u64,
    /// Stamp of the last arrival.
    pub last: u64,
    /// Requests without a response time. Others may also be untimed: a refusal has a time, but not that of a response.
    pub untimed: u64,
}

impl Sums {
    /// The sums of a cell; None if it contains no request.
    fn of(outcome: Outcome, cell: &Cell) -> Option<Sums> {
        let timed = if outcome.is_timed() { cell.count - cell.untimed } else { 0 };
        let times = |value| if timed > 0 { value } else { 0 };
        (outcome.is_request() && cell.count > 0).then(|| Sums {
            requests: cell.count,
            failures: if outcome.is_failure() { cell.count } else { 0 },
            timed,
            bytes_body: cell.bytes_body,
            response_sum: times(cell.response_sum),
            response_min: times(cell.response_min),
            response_max: times(cell.response_max),
            first: cell.first,
            last: cell.last,
            untimed: cell.untimed,
        })
    }

    /// Adds what a cell has.
    pub(crate) fn add_cell(&mut self, outcome: Outcome, cell: &Cell) {
        if let Some(sums) = Sums::of(outcome, cell) {
            self.add(&sums);
        }
    }

    /// Adds other exchanges.
    pub fn add(&mut self, other: &Sums) {
        if other.timed > 0 {
            let smallest = if self.timed > 0 { self.response_min } else { other.response_min };
            self.response_min = smallest.min(other.response_min);
            self.response_max = self.response_max.max(other.response_max);
        }
        if other.requests > 0 {
            let first = if self.requests > 0 { self.first } else { other.first };
            self.first = first.min(other.first);
            self.last = self.last.max(other.last);
        }
        self.requests = sum_of(self.requests, other.requests);
        self.failures = sum_of(self.failures, other.failures);
        self.timed = sum_of(self.timed, other.timed);
        self.bytes_body = sum_of(self.bytes_body, other.bytes_body);
        self.response_sum = sum_of(self.response_sum, other.response_sum);
        self.untimed = sum_of(self.untimed, other.untimed);
    }
}

#[derive(Clone, Debug, Default)]
struct Total {
    sums: Sums,
    response: Buckets,
}

/// The data of one endpoint in one second, or in a part of it.
#[derive(Debug)]
struct Recent {
    second: u32,
    endpoint: EndpointId,
    requests: u64,
    failures: u64,
    response: Buckets,
    /// It is in the sum of all endpoints.
    is_counted: bool,
}

/// The sums of all cells since the last reset.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    whole: Total,
    /// By endpoint number.
    endpoints: Vec<Total>,
    /// The last [`RECENT`] seconds, in the order of arrival.
    recent: Vec<Recent>,
    /// The sums of failures.
    pub(crate) failures: Failures,
}

impl Totals {
    /// Adds a cell of this second. This runs once per second and endpoint, not per exchange. `is_counted`: it is in the
    /// sum of all endpoints.
    pub(crate) fn add_cell(
        &mut self,
        second: u32,
        endpoint: EndpointId,
        outcome: Outcome,
        cell: &Cell,
        is_counted: bool,
    ) {
        if let Some(sums) = Sums::of(outcome, cell) {
            let response = if sums.timed > 0 { cell.response.to_buckets() } else { Buckets::default() };
            self.add(endpoint, &sums, response, Some(second), is_counted);
        }
    }

    /// Adds sums from elsewhere; `second`: of the data, if it is all from one second.
    pub(crate) fn add(
        &mut self,
        endpoint: EndpointId,
        sums: &Sums,
        response: Buckets,
        second: Option<u32>,
        is_counted: bool,
    ) {
        let place = endpoint.0 as usize;
        if place >= self.endpoints.len() {
            self.endpoints.resize_with(place + 1, Total::default);
        }
        let whole = is_counted.then_some(&mut self.whole);
        for total in [&mut self.endpoints[place]].into_iter().chain(whole) {
            total.sums.add(sums);
            total.response.add(&response);
        }
        if let Some(second) = second {
            let (requests, failures) = (sums.requests, sums.failures);
            self.recent.push(Recent { second, endpoint, requests, failures, response, is_counted });
        }
    }

    /// Removes seconds that are no longer recent.
    pub(crate) fn forget(&mut self, now: u32) {
        self.recent.retain(|each| each.second + RECENT > now);
    }

    /// Resets one endpoint, or the sum of all.
    pub(crate) fn reset(&mut self, endpoint: Option<EndpointId>) {
        match endpoint {
            None => self.whole = Total::default(),
            Some(endpoint) => {
                if let Some(total) = self.endpoints.get_mut(endpoint.0 as usize) {
                    *total = Total::default();
                }
            }
        }
    }

    fn total(&self, endpoint: Option<EndpointId>) -> Option<&Total> {
        match endpoint {
            None => Some(&self.whole),
            Some(endpoint) => self.endpoints.get(endpoint.0 as usize),
        }
    }

    pub(crate) fn sums(&self, endpoint: Option<EndpointId>) -> Sums {
        self.total(endpoint).map(|total| total.sums).unwrap_or_default()
    }

    pub(crate) fn add_response_to(&self, endpoint: Option<EndpointId>, into: &mut Durations) {
        if let Some(total) = self.total(endpoint) {
            into.add_buckets(&total.response);
        }
    }

    /// (second, requests, failures); a second may occur several times.
    pub(crate) fn recent(&self, endpoint: Option<EndpointId>) -> impl Iterator<Item = (u32, u64, u64)> + '_ {
        self.recent_of(endpoint).map(|each| (each.second, each.requests, each.failures))
    }

    pub(crate) fn add_recent_response_to(&self, endpoint: Option<EndpointId>, since: u32, into: &mut Durations) {
        for each in self.recent_of(endpoint).filter(|each| each.second >= since) {
            into.add_buckets(&each.response);
        }
    }

    fn recent_of(&self, endpoint: Option<EndpointId>) -> impl Iterator<Item = &Recent> {
        let is_wanted = move |each: &&Recent| endpoint.map_or(each.is_counted, |wanted| wanted == each.endpoint);
        self.recent.iter().filter(is_wanted)
    }
}
