//! The fold: exchanges go in one at a time, whole seconds come out.

use crate::cell::{Cell, EndpointId};
use crate::endpoints::Endpoints;
use crate::failures::{Failure, Failures, Filed};
use crate::log::Log;
use crate::parts::{Part, Parts};
use crate::slowest::{Slow, Slowest};
use crate::totals::Totals;
use crate::{Durations, Exchange, Outcome, StampSource, Times};

/// System errors which say that files, ports or memory of the generator ran out: not the target's doing.
const EXHAUSTION: [i32; 5] = [libc::EMFILE, libc::ENFILE, libc::EADDRNOTAVAIL, libc::ENOBUFS, libc::ENOMEM];

/// How well the generator kept to its plan in one second.
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
    /// Arrivals of the open model that were due.
    pub offered: u64,
    /// Of these, the ones that were never sent.
    pub dropped: u64,
    /// Exchanges that failed because files, ports or memory of the generator ran out.
    pub exhausted: u64,
}

impl HealthSecond {
    /// The counters on their way to Python, in this order.
    pub fn counters(&self) -> impl Iterator<Item = u64> {
        [self.user_stamps, self.rejected_stamps, self.offered, self.dropped, self.exhausted].into_iter()
    }
}

/// What [`Recorder::take`] hands over.
#[derive(Debug, Default)]
pub struct Taken {
    /// (second, endpoint, outcome, cell), seconds ascending.
    pub cells: Vec<(u32, EndpointId, Outcome, Cell)>,
    /// (second, health), ascending.
    pub health: Vec<(u32, HealthSecond)>,
    /// Failures since the last take.
    pub failures: Vec<Filed>,
}

#[derive(Default)]
struct Second {
    index: u32,
    /// Cell of (endpoint, outcome) at `endpoint * Outcome::ALL.len() + outcome`: 1 + its place in `cells`, 0 for none.
    slots: Vec<u32>,
    cells: Vec<(EndpointId, Outcome, Cell)>,
    /// Cells that the totals have already; nothing is added to them any more.
    counted: Vec<(EndpointId, Outcome, Cell)>,
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

    /// The cells that the totals do not have yet, of one endpoint or of all.
    fn uncounted(&self, endpoint: Option<EndpointId>) -> impl Iterator<Item = (Outcome, &Cell)> {
        let all = self.cells.iter().filter(move |_| endpoint.is_none()).map(|(_, outcome, cell)| (*outcome, cell));
        let from = endpoint.map_or(self.slots.len(), |one| one.0 as usize * Outcome::ALL.len());
        let slots = self.slots.iter().skip(from).take(Outcome::ALL.len());
        let own = slots.filter(|slot| **slot > 0).map(|slot| {
            let (_, outcome, cell) = &self.cells[*slot as usize - 1];
            (*outcome, cell)
        });
        all.chain(own)
    }

    /// Folds into the totals what they do not have yet.
    fn count(&mut self, totals: &mut Totals) {
        for (endpoint, outcome, cell) in &self.cells {
            totals.add_cell(self.index, *endpoint, *outcome, cell);
        }
        self.counted.append(&mut self.cells);
        self.slots.clear();
    }
}

/// Folds exchanges into one [`Cell`] per second, endpoint and outcome. A sample belongs to the second of its arrival.
pub struct Recorder {
    /// Stamp at which second 0 begins, ns.
    epoch: u64,
    endpoints: Endpoints,
    /// Seconds not yet taken, in no order; the newest is nearly always last. One or two in practice.
    open: Vec<Second>,
    /// Failures not yet taken.
    failures: Failures,
    /// Those of them that the totals have already.
    counted: Failures,
    parts: Parts,
    slowest: Slowest,
    totals: Totals,
    /// Stamp since which the totals count, ns.
    since: u64,
    /// Stamp before which failures are not filed, ns.
    warm: u64,
    /// Whether every exchange gets a row in `log`.
    logging: bool,
    log: Log,
}

impl Recorder {
    /// `epoch`: the stamp at which second 0 begins; whatever arrives earlier belongs to second 0.
    pub fn new(epoch: u64) -> Recorder {
        Recorder {
            epoch,
            endpoints: Endpoints::new(),
            open: Vec::new(),
            failures: Failures::default(),
            counted: Failures::default(),
            parts: Parts::default(),
            slowest: Slowest::default(),
            totals: Totals::default(),
            since: epoch,
            warm: 0,
            logging: false,
            log: Log::default(),
        }
    }

    /// Forgets all that was recorded; second 0 now begins at `epoch`. Endpoints keep their ids, the serials of the log
    /// go on, and what [`warm_until`](Recorder::warm_until) said stays.
    pub fn restart(&mut self, epoch: u64) {
        self.epoch = epoch;
        self.open.clear();
        self.failures.clear();
        self.counted.clear();
        self.parts.take();
        self.slowest.take();
        self.totals = Totals::default();
        self.since = epoch;
        self.log.take();
    }

    /// Failures that arrive before this stamp are counted, but not filed by their message; parts and slow exchanges are
    /// left out.
    pub fn warm_until(&mut self, stamp: u64) {
        self.warm = stamp;
    }

    /// Whether every exchange from now on is kept as a row for [`take_log`](Recorder::take_log).
    pub fn log(&mut self, on: bool) {
        self.logging = on;
    }

    /// Hands over and forgets these rows, in the order in which they were recorded; layout in [`log`](crate::log).
    pub fn take_log(&mut self) -> Vec<u8> {
        self.log.take()
    }

    /// From now on a new name beyond so many is counted under [`OTHERS`](crate::OTHERS).
    pub fn limit_names(&mut self, most: usize) {
        self.endpoints.limit(most);
    }

    /// The id of (method, name), the same for every call; beyond the limit of names that of [`OTHERS`](crate::OTHERS).
    pub fn endpoint(&mut self, method: &str, name: &str) -> EndpointId {
        self.endpoints.number(method, name)
    }

    /// The id of (method, name), if it has one of its own.
    pub fn find(&self, method: &str, name: &str) -> Option<EndpointId> {
        self.endpoints.find(method, name)
    }

    /// The id of [`OTHERS`](crate::OTHERS), once a name is among them.
    pub fn others(&self) -> Option<EndpointId> {
        self.endpoints.known_others()
    }

    /// (method, name) of an endpoint.
    pub fn name(&self, endpoint: EndpointId) -> Option<(&str, &str)> {
        self.endpoints.name(endpoint)
    }

    /// (method, name) of every endpoint, by its id.
    pub fn endpoints(&self) -> impl Iterator<Item = (&str, &str)> {
        self.endpoints.iter()
    }

    /// Records one exchange that the engine stamped. `body`: bytes of the decoded response body.
    pub fn exchange(&mut self, endpoint: EndpointId, exchange: &Exchange, outcome: Outcome, body: u64) {
        let times = outcome.has_duration().then(|| exchange.times());
        if let Some(times) = times
            && exchange.trace != 0
            && exchange.arrival >= self.warm
        {
            self.slowest.add(endpoint, exchange, outcome, times);
        }
        let second = self.fold(endpoint, exchange, outcome, body, times);
        if let Some(times) = times {
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
        let times = (response.is_some() && outcome.has_duration()).then(|| exchange.times());
        self.fold(endpoint, &exchange, outcome, body, times);
    }

    /// Counts an arrival of the open model in the second of its due time.
    pub fn offered(&mut self, due: u64) {
        self.second(due).health.offered += 1;
    }

    /// Counts an arrival that was never sent: in the second of its due time, and as an exchange of this endpoint.
    pub fn dropped(&mut self, endpoint: EndpointId, due: u64) {
        self.custom(endpoint, due, None, 0, Outcome::Dropped);
        self.second(due).health.dropped += 1;
    }

    /// Says which system error an exchange failed with that arrived at `arrival`. Errors which show that the
    /// generator itself ran out of something are counted.
    pub fn errno(&mut self, errno: i32, arrival: u64) {
        if EXHAUSTION.contains(&errno) {
            self.second(arrival).health.exhausted += 1;
        }
    }

    /// Files one failure under what its message has in common with others, unless it belongs to the warm-up. The exchange itself is recorded by the
    /// calls above.
    pub fn failure(&mut self, endpoint: EndpointId, outcome: Outcome, message: &str, at: u64) {
        if at < self.warm {
            return;
        }
        self.failures.add(endpoint, outcome, message, Failure { count: 1, first: at, last: at });
    }

    /// What the response that arrived at `at` says its time was made of, in its header `Server-Timing`.
    #[cold]
    pub fn parts(&mut self, endpoint: EndpointId, header: &[u8], at: u64) {
        if at >= self.warm {
            self.parts.add(endpoint, header);
        }
    }

    /// Hands over and forgets what was said of parts, by endpoint and name.
    pub fn take_parts(&mut self) -> Vec<(EndpointId, Box<str>, Part)> {
        self.parts.take()
    }

    /// Hands over and forgets the slowest exchanges that carry a trace, the slowest one first.
    pub fn take_slowest(&mut self) -> Vec<Slow> {
        self.slowest.take()
    }

    /// Hands over and forgets the seconds before `before` (all of them when None), and every failure so far.
    ///
    /// A sample that arrives in a second after it was taken opens that second again; the parts add up.
    pub fn take(&mut self, before: Option<u32>) -> Taken {
        let mut taken = Taken::default();
        self.open.sort_by_key(|second| second.index);
        let count = self.open.iter().take_while(|second| before.is_none_or(|limit| second.index < limit)).count();
        for mut second in self.open.drain(..count) {
            second.count(&mut self.totals);
            taken.cells.extend(
                second.counted.into_iter().map(|(endpoint, outcome, cell)| (second.index, endpoint, outcome, cell)),
            );
            taken.health.push((second.index, second.health));
        }
        if let Some((newest, _)) = taken.health.last() {
            self.totals.forget(*newest);
        }
        self.count_failures();
        taken.failures = self.counted.drain().collect();
        taken
    }

    /// The one way into a cell, and into the log. Returns the second, for what else belongs to it.
    #[inline]
    fn fold(
        &mut self,
        endpoint: EndpointId,
        exchange: &Exchange,
        outcome: Outcome,
        body: u64,
        times: Option<Times>,
    ) -> &mut Second {
        if self.logging {
            self.log.push(endpoint, exchange, outcome, body);
        }
        let second = self.second(exchange.arrival);
        second.cell(endpoint, outcome).add(exchange, body, times);
        second
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

mod live;
#[cfg(test)]
mod tests;
