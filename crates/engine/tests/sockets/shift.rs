//! Runs native users and collects their records.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use plimsoll_engine::native::Arrivals;
use plimsoll_engine::{Engine, Event, Finished, Limits, NativeUsers, Rules, Script, now};
use plimsoll_record::log::columns::{Columns, columns};
use plimsoll_record::{Cell, Outcome, Recorder, Taken};
use plimsoll_scenario::Scenario;

use crate::peer::LIMIT;

const MARK: u64 = 1 << 63;

/// A scenario of one flow for `url`, with these steps (JSON).
pub(crate) fn flow(url: &str, steps: &str) -> String {
    definition(url, "[]", steps)
}

/// The same with feeders.
pub(crate) fn definition(url: &str, feeders: &str, steps: &str) -> String {
    format!(
        r#"{{"targets": [{{"url": "{url}"}}], "feeders": {feeders}, "flows": [{{"name": "flow", "steps": [{steps}]}}]}}"#
    )
}

/// A step that GETs `path`, with further fields.
pub(crate) fn get(path: &str, fields: &str) -> String {
    format!(r#"{{"name": "{path}", "method": "GET", "path": "{path}", "timeout": 60.0{fields}}}"#)
}

/// GET / and nothing else.
pub(crate) fn plain(url: &str) -> String {
    flow(url, &get("/", ""))
}

/// Given due times, ns since the start.
pub(crate) fn arrivals(times: impl IntoIterator<Item = u64, IntoIter: Send + Sync + 'static>) -> Arrivals {
    Box::new(times.into_iter())
}

/// Running users.
pub(crate) struct Shift {
    pub(crate) engine: Engine,
    pub(crate) recorder: Recorder,
    pub(crate) users: NativeUsers,
    /// Number of finished exchanges.
    pub(crate) finished: u64,
}

impl Shift {
    pub(crate) fn new(definition: &str) -> Shift {
        Shift::with(definition, Rules::default())
    }

    pub(crate) fn with(definition: &str, rules: Rules) -> Shift {
        let script = Script::new(Scenario::new(definition, 0, 1, 7).unwrap()).unwrap();
        let mut recorder = Recorder::new(now());
        recorder.log(true);
        let users = NativeUsers::new(&script, &mut recorder, rules, MARK);
        Shift { engine: Engine::new(Limits::default()).unwrap(), recorder, users, finished: 0 }
    }

    pub(crate) fn resize(&mut self, users: usize) {
        self.users.resize(&mut self.engine, &mut self.recorder, users).unwrap();
    }

    pub(crate) fn arrive(&mut self, arrivals: Arrivals, start: u64) {
        self.users.arrive(&mut self.engine, arrivals, start).unwrap();
    }

    pub(crate) fn stop(&mut self) {
        self.users.stop(&mut self.engine, &mut self.recorder);
    }

    pub(crate) fn cut(&mut self) {
        self.users.cut(&mut self.engine, &mut self.recorder);
        assert_eq!((self.users.users(), self.users.active(), self.users.waiting()), (0, 0, 0));
        assert!(self.users.done());
    }

    /// Passes one event to the users. Waits for it at most until `end`.
    fn event(&mut self, end: Instant) {
        assert!(Instant::now() < end, "they do not come to an end: {:?}", self.users);
        self.engine.poll(Some(Duration::from_millis(10))).unwrap();
        while let Some(event) = self.engine.next_event() {
            match event {
                Event::Finished(mut finished) => self.exchange(&mut finished),
                Event::Woken(token) => {
                    assert_eq!(token & MARK, MARK);
                    self.users.woken(&mut self.engine, &mut self.recorder, token);
                }
            }
        }
    }

    fn exchange(&mut self, finished: &mut Finished) {
        assert_eq!(finished.token & MARK, MARK);
        self.finished += 1;
        self.users.finished(&mut self.engine, &mut self.recorder, finished);
    }

    /// Runs until a condition is met.
    pub(crate) fn until(&mut self, so: impl Fn(&Shift) -> bool) {
        let end = Instant::now() + LIMIT;
        while !so(self) {
            self.event(end);
        }
    }

    /// Runs until everything is done. Nothing is left then.
    pub(crate) fn work(&mut self) {
        self.until(|shift| shift.users.done());
        self.stop();
        // Users with a WebSocket close it first.
        self.until(|shift| shift.users.users() == 0);
        assert_eq!((self.users.users(), self.users.active(), self.users.waiting()), (0, 0, 0));
        assert_eq!((self.engine.in_flight(), self.engine.connections()), (0, 0));
    }

    /// Runs until `exchanges` have finished, stops, and runs until all users have ended.
    pub(crate) fn work_for(&mut self, exchanges: u64) {
        self.until(|shift| shift.finished >= exchanges);
        self.stop();
        self.work();
    }

    /// Everything recorded since the last call.
    pub(crate) fn account(&mut self) -> Account {
        Account { taken: self.recorder.take(None), names: names(&self.recorder) }
    }

    /// Every exchange since the last call, in the order of recording.
    pub(crate) fn rows(&mut self) -> Vec<Row> {
        let columns = self.recorder.take_log(|packed| columns(packed, 0)).expect("rows of a log");
        (0..columns.rows).map(|place| Row::new(&columns, place)).collect()
    }
}

/// A row of the exchange log.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) due: u64,
    pub(crate) sent: u64,
    pub(crate) arrival: u64,
    pub(crate) read: u64,
    pub(crate) bytes_in: u64,
    pub(crate) body: u64,
    pub(crate) endpoint: u32,
    pub(crate) status: u16,
    pub(crate) outcome: Outcome,
    pub(crate) serial: u64,
}

impl Row {
    fn new(columns: &Columns, place: usize) -> Row {
        let number = |name: &str| {
            let (_, values) = columns.columns.iter().find(|column| column.0 == name).expect("a column");
            let size = values.len() / columns.rows;
            values[place * size..][..size].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
        };
        Row {
            due: number("due"),
            sent: number("sent"),
            arrival: number("arrival"),
            read: number("read"),
            bytes_in: number("bytes_in"),
            body: number("bytes_body"),
            endpoint: number("endpoint") as u32,
            status: number("status") as u16,
            outcome: Outcome::ALL[number("outcome") as usize],
            serial: number("serial"),
        }
    }
}

fn names(recorder: &Recorder) -> Vec<String> {
    recorder.endpoints().map(|(_, name)| name.to_owned()).collect()
}

/// The records.
pub(crate) struct Account {
    pub(crate) taken: Taken,
    names: Vec<String>,
}

impl Account {
    /// Exchanges per outcome.
    pub(crate) fn counts(&self) -> HashMap<Outcome, u64> {
        let mut counts = HashMap::new();
        for (_, _, outcome, cell) in &self.taken.cells {
            *counts.entry(*outcome).or_default() += cell.count;
        }
        counts
    }

    /// Exchanges of this endpoint with this outcome.
    pub(crate) fn count(&self, name: &str, outcome: Outcome) -> u64 {
        self.of(name, outcome).map(|cell| cell.count).sum()
    }

    /// Their cells.
    pub(crate) fn of(&self, name: &str, outcome: Outcome) -> impl Iterator<Item = &Cell> {
        let cells = self.taken.cells.iter();
        cells
            .filter(move |(_, id, ended, _)| self.names[id.0 as usize] == name && *ended == outcome)
            .map(|part| &part.3)
    }

    pub(crate) fn retries(&self) -> u64 {
        self.taken.cells.iter().map(|(.., cell)| cell.retries).sum()
    }

    /// (offered, dropped) in the health records.
    pub(crate) fn arrivals(&self) -> (u64, u64) {
        let health = self.taken.health.iter().map(|(_, health)| (health.offered, health.dropped));
        health.fold((0, 0), |sum, each| (sum.0 + each.0, sum.1 + each.1))
    }

    /// The first message of each kind of failure, with its count, sorted.
    pub(crate) fn messages(&self) -> Vec<(String, u64)> {
        let failures = self.taken.failures.iter();
        let mut messages: Vec<_> = failures
            .map(|(_, _, message, failure)| {
                let first = if message.example.is_empty() { &message.group } else { &message.example };
                (first.clone(), failure.count)
            })
            .collect();
        messages.sort();
        messages
    }
}
