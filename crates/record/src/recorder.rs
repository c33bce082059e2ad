//! Aggregates exchanges one at a time and returns whole seconds.

use crate::cell::{Cell, EndpointId, sum_of};
use crate::endpoints::Endpoints;
use crate::failures::{Failure, Failures, Filed};
use crate::log::Log;
use crate::parts::{Part, Parts};
use crate::totals::Totals;
use crate::traced::{Sampling, Traced, TracedExchanges};
use crate::{Durations, Exchange, Outcome, StampSource, Times};

/// System errors that mean that the generator ran out of files, ports or memory. They are not the target's fault.
const EXHAUSTION: [i32; 5] = [libc::EMFILE, libc::ENFILE, libc::EADDRNOTAVAIL, libc::ENOBUFS, libc::ENOMEM];

/// How well the generator kept to the schedule in one second.
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
    /// Exchanges that failed because the generator ran out of files, ports or memory.
    pub exhausted: u64,
}

impl HealthSecond {
    /// The counters, in the order in which Python expects them.
    pub fn counters(&self) -> impl Iterator<Item = u64> {
        [self.user_stamps, self.rejected_stamps, self.offered, self.dropped, self.exhausted].into_iter()
    }
}

/// The result of [`Recorder::take`].
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
    /// Cell of (endpoint, outcome) at `endpoint * Outcome::ALL.len() + outcome`: 1 + its index in `cells`, 0 for none.
    slots: Vec<u32>,
    cells: Vec<(EndpointId, Outcome, Cell)>,
    /// Cells that are in the totals already. Nothing is added to them.
    counted: Vec<(EndpointId, Outcome, Cell)>,
    health: HealthSecond,
}

impl Second {
    #[inline(always)]
    #[allow(clippy::inline_always)] // as a call, and with `Cell::add` as another, an exchange costs 30 instructions more
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

    /// The cells that are not in the totals yet, of one endpoint or of all that count requests.
    fn uncounted<'a>(
        &'a self,
        endpoint: Option<EndpointId>,
        endpoints: &'a Endpoints,
    ) -> impl Iterator<Item = (Outcome, &'a Cell)> {
        let all = self.cells.iter().filter(move |(id, ..)| endpoint.is_none() && endpoints.counts_requests(*id));
        let all = all.map(|(_, outcome, cell)| (*outcome, cell));
        let from = endpoint.map_or(self.slots.len(), |one| one.0 as usize * Outcome::ALL.len());
        let slots = self.slots.iter().skip(from).take(Outcome::ALL.len());
        let own = slots.filter(|slot| **slot > 0).map(|slot| {
            let (_, outcome, cell) = &self.cells[*slot as usize - 1];
            (*outcome, cell)
        });
        all.chain(own)
    }

    /// Adds to the totals what they do not have yet.
    fn count(&mut self, totals: &mut Totals, endpoints: &Endpoints) {
        for (endpoint, outcome, cell) in &self.cells {
            totals.add_cell(self.index, *endpoint, *outcome, cell, endpoints.counts_requests(*endpoint));
        }
        self.counted.append(&mut self.cells);
        self.slots.clear();
    }
}

/// Aggregates exchanges in one [`Cell`] per second, endpoint and outcome. A sample belongs to the second of its
/// arrival. In the open model, what was due in the warm-up stays in it: [`counted_at`](Recorder::counted_at).
pub struct Recorder {
    /// Stamp of the start of second 0, ns.
    epoch: u64,
    endpoints: Endpoints,
    /// Seconds that were not taken yet, unordered; the newest is nearly always the last. Usually one or two.
    open: Vec<Second>,
    /// Failures that were not taken yet.
    failures: Failures,
    /// Those of them that are in the totals already.
    counted: Failures,
    parts: Parts,
    traced: TracedExchanges,
    totals: Totals,
    /// Stamp of the start of the totals, ns.
    since: u64,
    /// End of the warm-up, ns: earlier failures are not grouped by message.
    warm: u64,
    /// The same once there was an arrival of the open model; 0 before.
    warm_arrivals: u64,
    /// Whether every exchange gets a row in `log`.
    logging: bool,
    log: Log,
}

impl Recorder {
    /// `epoch`: the stamp of the start of second 0. Earlier arrivals belong to second 0.
    pub fn new(epoch: u64) -> Recorder {
        Recorder {
            epoch,
            endpoints: Endpoints::new(),
            open: Vec::new(),
            failures: Failures::default(),
            counted: Failures::default(),
            parts: Parts::default(),
            traced: TracedExchanges::default(),
            totals: Totals::default(),
            since: epoch,
            warm: 0,
            warm_arrivals: 0,
            logging: false,
            log: Log::default(),
        }
    }

    /// Discards everything recorded; second 0 now begins at `epoch`. Endpoints keep their ids, the serials of the log
    /// continue, and [`warm_until`](Recorder::warm_until) stays set.
    pub fn restart(&mut self, epoch: u64) {
        self.epoch = epoch;
        self.open.clear();
        self.failures.clear();
        self.counted.clear();
        self.parts.take();
        self.traced.take();
        self.totals = Totals::default();
        self.since = epoch;
        self.log.take(|_| ());
    }

    /// Sets the end of the warm-up. Failures before it are counted, but not grouped by message. Its metrics and traces
    /// are not recorded.
    pub fn warm_until(&mut self, stamp: u64) {
        self.warm = stamp;
    }

    /// Switches the log on or off: one row per exchange for [`take_log`](Recorder::take_log).
    pub fn log(&mut self, on: bool) {
        self.logging = on;
    }

    /// Hands the rows since the last call to `to`, and forgets them; layout in [`log`](crate::log).
    pub fn take_log<T>(&mut self, to: impl FnOnce(&[u8]) -> T) -> T {
        self.log.take(to)
    }

    /// Sets the maximum number of names. Further new names are counted under [`OTHERS`](crate::OTHERS).
    pub fn limit_names(&mut self, most: usize) {
        self.endpoints.limit(most);
    }

    /// The id of (method, name), the same for every call; over the limit the id of [`OTHERS`](crate::OTHERS).
    pub fn endpoint(&mut self, method: &str, name: &str) -> EndpointId {
        self.endpoints.number(method, name)
    }

    /// The id of (method, name), if it has its own.
    pub fn find(&self, method: &str, name: &str) -> Option<EndpointId> {
        self.endpoints.find(method, name)
    }

    /// The id of [`OTHERS`](crate::OTHERS), if it exists.
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
            && self.counted_at(exchange) >= self.warm
        {
            self.traced.add(endpoint, exchange, outcome, times);
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

    /// Records an exchange that was timed elsewhere: `response` in ns, None without a response time; `arrival` is its
    /// stamp.
    pub fn custom(&mut self, endpoint: EndpointId, arrival: u64, response: Option<u64>, body: u64, outcome: Outcome) {
        let start = arrival.saturating_sub(response.unwrap_or(0));
        let exchange = Exchange { due: start, sent: start, arrival, read: arrival, ..Exchange::default() };
        let times = (response.is_some() && outcome.has_duration()).then(|| exchange.times());
        self.fold(endpoint, &exchange, outcome, body, times);
    }

    /// Records the end of the wait for a response that was given up now. `due`, `sent`: stamps of the request.
    pub fn unanswered(&mut self, endpoint: EndpointId, due: u64, sent: u64, now: u64) {
        let exchange = Exchange { due, sent, arrival: now, read: now, ..Exchange::default() };
        self.exchange(endpoint, &exchange, Outcome::Unanswered, 0);
    }

    /// Records an event of a stream, which is no exchange. `is_timed`: its time counts.
    pub(crate) fn add_event(&mut self, endpoint: EndpointId, exchange: &Exchange, body: u64, is_timed: bool) {
        self.add_outcome(endpoint, exchange, Outcome::Success, body, is_timed.then(|| exchange.times()));
    }

    /// The same for what may fail.
    pub(crate) fn add_outcome(
        &mut self,
        endpoint: EndpointId,
        exchange: &Exchange,
        outcome: Outcome,
        body: u64,
        times: Option<Times>,
    ) {
        self.second(self.counted_at(exchange)).cell(endpoint, outcome).add(exchange, body, times);
    }

    /// Counts so many more without a time in the row of a stream.
    pub(crate) fn add_untimed(&mut self, endpoint: EndpointId, arrival: u64, count: u64) {
        let cell = self.second(arrival).cell(endpoint, Outcome::Success);
        cell.count = sum_of(cell.count, count);
        cell.untimed = sum_of(cell.untimed, count);
    }

    /// Counts an arrival of the open model in the second of its due time.
    pub fn offered(&mut self, due: u64) {
        self.warm_arrivals = self.warm;
        self.second(due).health.offered += 1;
    }

    /// Counts an arrival that was never sent: in the second of its due time, and as an exchange of this endpoint.
    pub fn dropped(&mut self, endpoint: EndpointId, due: u64) {
        self.custom(endpoint, due, None, 0, Outcome::Dropped);
        self.second(due).health.dropped += 1;
    }

    /// Counts the system error of an exchange that failed at `arrival`, if it means that the generator ran out of
    /// something.
    pub fn errno(&mut self, errno: i32, arrival: u64) {
        if EXHAUSTION.contains(&errno) {
            self.second(arrival).health.exhausted += 1;
        }
    }

    /// The stamp whose second has the exchange: its arrival. An arrival of the open model that was due in the warm-up
    /// belongs to the end of the warm-up even if it is answered later. Otherwise answered, failed, unanswered and dropped
    /// would be more than offered.
    #[inline]
    pub fn counted_at(&self, exchange: &Exchange) -> u64 {
        if exchange.due < self.warm_arrivals {
            return exchange.arrival.min(self.warm_arrivals - 1);
        }
        exchange.arrival
    }

    /// Counts one failure by its message, except in the warm-up. The calls above record the exchange itself. `at`: see
    /// [`counted_at`](Recorder::counted_at).
    pub fn failure(&mut self, endpoint: EndpointId, outcome: Outcome, message: &str, at: u64) {
        if at < self.warm {
            return;
        }
        self.failures.add(endpoint, outcome, message, Failure { count: 1, first: at, last: at });
    }

    /// Records the `Server-Timing` header of a response. `at`: see [`counted_at`](Recorder::counted_at).
    #[cold]
    pub fn parts(&mut self, endpoint: EndpointId, header: &[u8], at: u64) {
        if at >= self.warm {
            self.parts.add(endpoint, header);
        }
    }

    /// Takes the metrics of the target, by endpoint and name.
    pub fn take_parts(&mut self) -> Vec<(EndpointId, Box<str>, Part)> {
        self.parts.take()
    }

    /// Sets which exchanges with a trace are kept besides the slowest and the failed ones. None, as at first: no others.
    pub fn sample_traces(&mut self, sampling: Option<Sampling>) {
        self.traced.sampling = sampling;
    }

    /// Takes the exchanges with a trace that were kept, and the number of those in the sample and failed ones for which
    /// there was no room.
    pub fn take_traced(&mut self) -> (Vec<Traced>, u64) {
        self.traced.take()
    }

    /// Takes the seconds before `before` (all if None), and all failures so far.
    ///
    /// A sample that arrives in a second that was taken opens that second again; the parts add up.
    pub fn take(&mut self, before: Option<u32>) -> Taken {
        let mut taken = Taken::default();
        self.open.sort_by_key(|second| second.index);
        let count = self.open.iter().take_while(|second| before.is_none_or(|limit| second.index < limit)).count();
        for mut second in self.open.drain(..count) {
            second.count(&mut self.totals, &self.endpoints);
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

    /// The only function that writes an exchange to a cell and to the log. Returns the second.
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
        let second = self.second(self.counted_at(exchange));
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
