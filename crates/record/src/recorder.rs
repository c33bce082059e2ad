//! The fold: exchanges go in one at a time, whole seconds come out.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::{Durations, Exchange, Outcome, StampSource};

/// Names an endpoint of one recorder; from [`Recorder::endpoint`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EndpointId(pub u32);

/// Most different failure messages kept apart per recorder between two takes; what comes after is filed under
/// [`OTHER_MESSAGES`]. A target that puts a random id into every error must not eat our memory.
const MOST_MESSAGES: usize = 10_000;
const OTHER_MESSAGES: &str = "(other messages)";

/// Longest failure message kept, bytes.
const LONGEST_MESSAGE: usize = 2_000;

/// Exchanges of one endpoint with one outcome that arrived in one second.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// All exchanges.
    pub count: u64,
    /// Of these, the ones without a response time.
    pub untimed: u64,
    /// Of these, the ones longer than a histogram holds.
    pub overflow: u64,
    /// Request bytes on the wire.
    pub bytes_out: u64,
    /// Response bytes on the wire.
    pub bytes_in: u64,
    /// Decoded response bodies.
    pub bytes_body: u64,
    /// Redirects followed.
    pub hops: u64,
    /// Requests sent again.
    pub retries: u64,
    /// Sum of response times, ns.
    pub response_sum: u64,
    /// Smallest response time, ns; meaningful when `count > untimed`, as is the next.
    pub response_min: u64,
    /// Largest response time, ns.
    pub response_max: u64,
    /// Sum of service times, ns.
    pub service_sum: u64,
    /// Response times.
    pub response: Durations,
    /// Service times.
    pub service: Durations,
}

impl Cell {
    fn add(&mut self, exchange: &Exchange, body: u64, timed: bool) {
        let first = self.count == self.untimed;
        self.count += 1;
        self.bytes_out += exchange.bytes_out;
        self.bytes_in += exchange.bytes_in;
        self.bytes_body += body;
        self.hops += u64::from(exchange.hops);
        self.retries += u64::from(exchange.retries);
        if !timed {
            self.untimed += 1;
            return;
        }
        let times = exchange.times();
        self.response_sum += times.response;
        self.service_sum += times.service;
        self.response_min = if first { times.response } else { self.response_min.min(times.response) };
        self.response_max = self.response_max.max(times.response);
        self.overflow += u64::from(!self.response.record_ns(times.response));
        self.service.record_ns(times.service);
    }
}

/// The generator's own honesty in one second.
#[derive(Clone, Debug, Default)]
pub struct HealthSecond {
    /// sent − due of every exchange that was sent.
    pub lag: Durations,
    /// read − arrival of every exchange with an arrival stamp.
    pub delay: Durations,
    /// Exchanges whose arrival is the user-space time.
    pub user_stamps: u64,
    /// Of these, the ones whose kernel stamp contradicted the order of events.
    pub rejected_stamps: u64,
}

/// How often one endpoint failed in one way. Stamps in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Occurrences.
    pub count: u64,
    /// Stamp of the first.
    pub first: u64,
    /// Stamp of the last.
    pub last: u64,
}

/// What [`Recorder::take`] hands over.
#[derive(Debug, Default)]
pub struct Taken {
    /// (second, endpoint, outcome, cell), seconds ascending.
    pub cells: Vec<(u32, EndpointId, Outcome, Cell)>,
    /// (second, health), ascending.
    pub health: Vec<(u32, HealthSecond)>,
    /// Failures since the last take.
    pub failures: Vec<(EndpointId, Outcome, String, Failure)>,
}

#[derive(Default)]
struct Second {
    index: u32,
    /// Cell of (endpoint, outcome) at `endpoint * Outcome::ALL.len() + outcome`: 1 + its place in `cells`, 0 for none.
    slots: Vec<u32>,
    cells: Vec<(EndpointId, Outcome, Cell)>,
    health: HealthSecond,
}

impl Second {
    fn cell(&mut self, endpoint: EndpointId, outcome: Outcome) -> &mut Cell {
        let slot = endpoint.0 as usize * Outcome::ALL.len() + outcome as usize;
        if slot >= self.slots.len() {
            self.slots.resize(slot + Outcome::ALL.len(), 0);
        }
        if self.slots[slot] == 0 {
            self.cells.push((endpoint, outcome, Cell::default()));
            self.slots[slot] = self.cells.len() as u32;
        }
        &mut self.cells[self.slots[slot] as usize - 1].2
    }
}

/// Folds exchanges into one [`Cell`] per second, endpoint and outcome. A sample belongs to the second of its arrival.
pub struct Recorder {
    /// Stamp at which second 0 begins, ns.
    epoch: u64,
    ids: HashMap<String, HashMap<String, EndpointId>>,
    endpoints: Vec<(String, String)>,
    /// Seconds not yet taken, in no order; the newest is nearly always last. One or two in practice.
    open: Vec<Second>,
    failures: HashMap<(EndpointId, Outcome, String), Failure>,
}

impl Recorder {
    /// `epoch`: the stamp at which second 0 begins; whatever arrives earlier belongs to second 0.
    pub fn new(epoch: u64) -> Recorder {
        Recorder { epoch, ids: HashMap::new(), endpoints: Vec::new(), open: Vec::new(), failures: HashMap::new() }
    }

    /// Forgets all that was recorded; second 0 now begins at `epoch`. Endpoints keep their ids.
    pub fn restart(&mut self, epoch: u64) {
        self.epoch = epoch;
        self.open.clear();
        self.failures.clear();
    }

    /// The id of (method, name), the same for every call.
    pub fn endpoint(&mut self, method: &str, name: &str) -> EndpointId {
        if let Some(&id) = self.ids.get(method).and_then(|names| names.get(name)) {
            return id;
        }
        let id = EndpointId(u32::try_from(self.endpoints.len()).expect("fewer than 2^32 endpoints"));
        self.endpoints.push((method.to_owned(), name.to_owned()));
        self.ids.entry(method.to_owned()).or_default().insert(name.to_owned(), id);
        id
    }

    /// (method, name) of an endpoint.
    pub fn name(&self, endpoint: EndpointId) -> Option<(&str, &str)> {
        self.endpoints.get(endpoint.0 as usize).map(|(method, name)| (method.as_str(), name.as_str()))
    }

    /// Records one exchange that the engine stamped. `body`: bytes of the decoded response body.
    pub fn exchange(&mut self, endpoint: EndpointId, exchange: &Exchange, outcome: Outcome, body: u64) {
        let second = self.second(exchange.arrival);
        let timed = outcome.has_duration();
        second.cell(endpoint, outcome).add(exchange, body, timed);
        if timed {
            let times = exchange.times();
            second.health.lag.record_ns(times.lag);
            if !outcome.has_response() {
                return;
            }
            second.health.delay.record_ns(times.delay);
            second.health.user_stamps += u64::from(exchange.source != StampSource::Kernel);
            second.health.rejected_stamps += u64::from(exchange.source == StampSource::Rejected);
        }
    }

    /// Records what was timed elsewhere: `response` in ns, None when it has no response time; `arrival` is its stamp.
    pub fn custom(&mut self, endpoint: EndpointId, arrival: u64, response: Option<u64>, body: u64, outcome: Outcome) {
        let start = arrival.saturating_sub(response.unwrap_or(0));
        let exchange = Exchange { due: start, sent: start, arrival, read: arrival, ..Exchange::default() };
        let timed = response.is_some() && outcome.has_duration();
        self.second(arrival).cell(endpoint, outcome).add(&exchange, body, timed);
    }

    /// Files one failure under its message. The exchange itself is recorded by the calls above.
    pub fn failure(&mut self, endpoint: EndpointId, outcome: Outcome, message: &str, at: u64) {
        let full = self.failures.len() >= MOST_MESSAGES;
        let key = (endpoint, outcome, clip(message).to_owned());
        let failure = match self.failures.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) if !full => new.insert(Failure { count: 0, first: at, last: at }),
            Entry::Vacant(_) => self
                .failures
                .entry((endpoint, outcome, OTHER_MESSAGES.to_owned()))
                .or_insert(Failure { count: 0, first: at, last: at }),
        };
        failure.count += 1;
        failure.last = failure.last.max(at);
    }

    /// Hands over and forgets the seconds before `before` (all of them when None), and every failure so far.
    ///
    /// A sample that arrives in a second after it was taken opens that second again; the parts add up.
    pub fn take(&mut self, before: Option<u32>) -> Taken {
        let mut taken = Taken::default();
        self.open.sort_by_key(|second| second.index);
        let count = self.open.iter().take_while(|second| before.is_none_or(|limit| second.index < limit)).count();
        for second in self.open.drain(..count) {
            taken.cells.extend(
                second.cells.into_iter().map(|(endpoint, outcome, cell)| (second.index, endpoint, outcome, cell)),
            );
            taken.health.push((second.index, second.health));
        }
        taken.failures =
            self.failures.drain().map(|((endpoint, outcome, message), f)| (endpoint, outcome, message, f)).collect();
        taken
    }

    #[inline]
    fn second(&mut self, arrival: u64) -> &mut Second {
        let index = (arrival.saturating_sub(self.epoch) / 1_000_000_000) as u32;
        let place = self.open.iter().rposition(|second| second.index == index).unwrap_or_else(|| {
            self.open.push(Second { index, ..Second::default() });
            self.open.len() - 1
        });
        &mut self.open[place]
    }
}

/// The part of `message` that is kept: whole characters up to [`LONGEST_MESSAGE`] bytes.
fn clip(message: &str) -> &str {
    &message[..message.floor_char_boundary(LONGEST_MESSAGE)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{MOST_MESSAGES, OTHER_MESSAGES, Recorder};
    use crate::{Exchange, Outcome, StampSource};

    const SECOND: u64 = 1_000_000_000;

    fn arrived(at: u64, response: u64) -> Exchange {
        Exchange {
            due: at - response,
            sent: at - response,
            arrival: at,
            read: at,
            source: StampSource::Kernel,
            ..Exchange::default()
        }
    }

    #[test]
    fn a_sample_belongs_to_the_second_of_its_arrival() {
        let mut recorder = Recorder::new(5 * SECOND);
        let endpoint = recorder.endpoint("GET", "/");
        recorder.exchange(endpoint, &arrived(6 * SECOND - 1, 3000), Outcome::Success, 10);
        recorder.exchange(endpoint, &arrived(6 * SECOND, 5000), Outcome::Success, 10);
        let taken = recorder.take(None);
        let seconds: Vec<_> =
            taken.cells.iter().map(|(second, _, _, cell)| (*second, cell.count, cell.response_max)).collect();
        assert_eq!(seconds, [(0, 1, 3000), (1, 1, 5000)]);
    }

    #[test]
    fn only_closed_seconds_are_taken_and_a_late_sample_opens_its_second_again() {
        let mut recorder = Recorder::new(0);
        let endpoint = recorder.endpoint("GET", "/");
        recorder.exchange(endpoint, &arrived(SECOND / 2, 10), Outcome::Success, 0);
        recorder.exchange(endpoint, &arrived(SECOND + 1, 10), Outcome::Success, 0);
        assert_eq!(recorder.take(Some(1)).cells.len(), 1);
        recorder.exchange(endpoint, &arrived(SECOND / 2 + 1, 10), Outcome::Success, 0);
        let rest: Vec<_> = recorder.take(None).cells.iter().map(|(second, ..)| *second).collect();
        assert_eq!(rest, [0, 1]);
        assert!(recorder.take(None).cells.is_empty());
    }

    #[test]
    fn a_cancelled_exchange_is_counted_without_a_time() {
        let mut recorder = Recorder::new(0);
        let endpoint = recorder.endpoint("GET", "/");
        recorder.exchange(endpoint, &arrived(100, 10), Outcome::Cancelled, 0);
        let taken = recorder.take(None);
        let (_, _, outcome, cell) = &taken.cells[0];
        assert_eq!((*outcome, cell.count, cell.untimed, cell.response.count()), (Outcome::Cancelled, 1, 1, 0));
        assert_eq!(taken.health[0].1.lag.count(), 0);
    }

    #[test]
    fn an_untimed_custom_sample_does_not_disturb_the_extremes() {
        let mut recorder = Recorder::new(0);
        let endpoint = recorder.endpoint("WS", "send");
        recorder.custom(endpoint, 9000, None, 3, Outcome::Success);
        recorder.custom(endpoint, 9000, Some(4000), 3, Outcome::Success);
        let taken = recorder.take(None);
        let cell = &taken.cells[0].3;
        assert_eq!((cell.count, cell.untimed, cell.bytes_body), (2, 1, 6));
        assert_eq!((cell.response_min, cell.response_max, cell.response_sum), (4000, 4000, 4000));
    }

    #[test]
    fn stamps_are_judged_per_second() {
        let mut recorder = Recorder::new(0);
        let endpoint = recorder.endpoint("GET", "/");
        for source in [StampSource::Kernel, StampSource::User, StampSource::Rejected] {
            recorder.exchange(endpoint, &Exchange { source, ..arrived(50, 10) }, Outcome::Success, 0);
        }
        // A refusal has no arrival that could have been stamped.
        recorder.exchange(endpoint, &Exchange { source: StampSource::User, ..arrived(50, 10) }, Outcome::Connect, 0);
        let health = &recorder.take(None).health[0].1;
        assert_eq!((health.user_stamps, health.rejected_stamps), (2, 1));
        assert_eq!((health.delay.count(), health.lag.count()), (3, 4));
    }

    #[test]
    fn failures_are_filed_by_message_and_never_lost() {
        let mut recorder = Recorder::new(0);
        let endpoint = recorder.endpoint("GET", "/");
        for n in 0..MOST_MESSAGES as u64 + 5 {
            recorder.failure(endpoint, Outcome::Http, &format!("error {n}"), n);
        }
        recorder.failure(endpoint, Outcome::Http, "error 3", 99_999);
        let failures = recorder.take(None).failures;
        assert_eq!(failures.iter().map(|(.., failure)| failure.count).sum::<u64>(), MOST_MESSAGES as u64 + 6);
        let other = failures.iter().find(|(_, _, message, _)| message == OTHER_MESSAGES).unwrap();
        assert_eq!(other.3.count, 5);
        let third = failures.iter().find(|(_, _, message, _)| message == "error 3").unwrap();
        assert_eq!((third.3.count, third.3.first, third.3.last), (2, 3, 99_999));
        assert!(recorder.take(None).failures.is_empty());
    }

    #[test]
    fn a_message_is_cut_between_characters() {
        let mut recorder = Recorder::new(0);
        let endpoint = recorder.endpoint("GET", "/");
        recorder.failure(endpoint, Outcome::Http, &"é".repeat(2000), 1);
        assert_eq!(recorder.take(None).failures[0].2.len(), 2000);
    }

    #[test]
    fn an_endpoint_keeps_its_id() {
        let mut recorder = Recorder::new(0);
        let first = recorder.endpoint("GET", "/a");
        let second = recorder.endpoint("POST", "/a");
        assert_ne!(first, second);
        assert_eq!(recorder.endpoint("GET", "/a"), first);
        assert_eq!(recorder.name(second), Some(("POST", "/a")));
    }

    proptest! {
        /// However a run is cut into takes, the parts add up to the whole.
        #[test]
        fn nothing_is_lost_between_takes(
            samples in prop::collection::vec((0..10 * SECOND, 0..3u32, 0..SECOND, any::<bool>()), 0..300),
            cut in 0..300usize,
        ) {
            let mut recorder = Recorder::new(0);
            let endpoints: Vec<_> = ["/a", "/b", "/c"].iter().map(|name| recorder.endpoint("GET", name)).collect();
            let mut parts = Vec::new();
            for (place, &(at, endpoint, response, failed)) in samples.iter().enumerate() {
                let outcome = if failed { Outcome::Http } else { Outcome::Success };
                recorder.exchange(endpoints[endpoint as usize], &arrived(at + response, response), outcome, 1);
                if place == cut {
                    parts.extend(recorder.take(Some(5)).cells);
                }
            }
            parts.extend(recorder.take(None).cells);
            prop_assert_eq!(parts.iter().map(|(.., cell)| cell.count).sum::<u64>(), samples.len() as u64);
            prop_assert_eq!(parts.iter().map(|(.., cell)| cell.response.count()).sum::<u64>(), samples.len() as u64);
            let sum: u64 = samples.iter().map(|(_, _, response, _)| response).sum();
            prop_assert_eq!(parts.iter().map(|(.., cell)| cell.response_sum).sum::<u64>(), sum);
        }
    }
}
