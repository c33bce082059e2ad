//! Users in Rust: they play a scenario without anybody's help, in the closed model or in the open one.
//!
//! # Layout
//!
//! - `native`: [`NativeUsers`], what its owner sees, and how it ends.
//! - [`script`]: [`Script`], a scenario with the ways to its targets.
//! - `step`: what the engine needs to know of each step, worked out once.
//! - `user`: one user, and what it is doing.
//! - `streams`: the due times of the open model.
//! - `budget`: how many iterations and requests may still begin.
//! - `play`: from the end of one exchange to the beginning of the next: **the hot path**.
//! - `open`: what becomes of an arrival.
//!
//! # What adds up
//!
//! In the open model, at any time: offered = begun + dropped + waiting. In both: begun = ended + active. No arrival is
//! lost, and no exchange: each is recorded once, whatever becomes of it.

mod budget;
mod open;
mod play;
mod script;
mod step;
mod streams;
mod user;

use std::collections::VecDeque;

use plimsoll_record::Recorder;
use plimsoll_scenario::Player;
use slab::Slab;

use crate::engine::{Engine, WakeId};
use budget::Budget;
pub use script::{Script, ScriptError};
use step::Step;
pub use streams::Arrivals;
use streams::Streams;
use user::{State, Then, User};

/// Set in the tokens of wakes for arrivals; the other tokens are places of users.
const ARRIVAL: u64 = 1 << 31;

/// The bits of a token that are ours; those above belong to our owner's mark.
const OURS: u64 = (1 << 32) - 1;

/// What users may do.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Most users at a time in the open model, 1…2^31.
    pub max_users: usize,
    /// Whether an arrival that finds all of them busy is dropped instead of waiting for one.
    pub drop: bool,
    /// How many iterations may begin; None = no limit.
    pub iterations: Option<u64>,
    /// How many requests may begin; None = no limit.
    pub requests: Option<u64>,
    /// Bytes that a response body may have once its content codings are undone.
    pub max_decoded: u64,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules { max_users: 10_000, drop: false, iterations: None, requests: None, max_decoded: 64 << 20 }
    }
}

/// Where new iterations come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Model {
    /// Nothing has been asked for.
    Unset,
    /// Each user begins its next one, as long as there are no more users than this.
    Closed { wanted: usize },
    /// Arrivals begin them.
    Open,
}

/// A caller asked for a number of users and for arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MixedModels;

impl std::fmt::Display for MixedModels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("users are either so many (closed model) or come as arrivals want them (open model)")
    }
}

impl std::error::Error for MixedModels {}

/// Users who play one scenario. Their owner hands over every event whose token has their mark: to
/// [`finished`](NativeUsers::finished) or to [`woken`](NativeUsers::woken).
#[derive(Debug)]
pub struct NativeUsers {
    player: Player,
    /// By the index of their step in the scenario.
    steps: Vec<Step>,
    rules: Rules,
    mark: u64,
    model: Model,
    users: Slab<User>,
    /// Users of the open model without an iteration, the one that was busy last at the end.
    idle: Vec<usize>,
    /// Due times of arrivals for which no user was free yet, in their order.
    waiting: VecDeque<u64>,
    streams: Streams,
    /// The wake that is set for the earliest arrival of `streams`.
    wake: Option<WakeId>,
    budget: Budget,
    /// No iteration begins any more but for arrivals that wait.
    over: bool,
    failure: Option<String>,
}

impl NativeUsers {
    /// No users yet. Tokens of their exchanges and wakes are `mark` with something in the lower 32 bits, which are to be
    /// 0 in `mark`. Endpoints enter the recorder in the order of the scenario's steps.
    pub fn new(script: &Script, recorder: &mut Recorder, rules: Rules, mark: u64) -> NativeUsers {
        let steps = script.steps().map(|(step, origin)| Step::new(step, origin, recorder)).collect();
        NativeUsers {
            player: script.player(),
            steps,
            rules: Rules { max_users: rules.max_users.clamp(1, ARRIVAL as usize), ..rules },
            mark,
            model: Model::Unset,
            users: Slab::new(),
            idle: Vec::new(),
            waiting: VecDeque::new(),
            streams: Streams::default(),
            wake: None,
            budget: Budget::new(rules.iterations, rules.requests),
            over: false,
            failure: None,
        }
    }

    /// Has so many users. New ones begin now; surplus ones end after the iteration they are in.
    pub fn resize(&mut self, engine: &mut Engine, recorder: &mut Recorder, users: usize) -> Result<(), MixedModels> {
        if self.model == Model::Open {
            return Err(MixedModels);
        }
        self.model = Model::Closed { wanted: users };
        let surplus = self.users.len().saturating_sub(users);
        if surplus > 0 {
            for place in self.resting().into_iter().take(surplus) {
                self.end(engine, place);
            }
        }
        while self.users.len() < users && !self.over {
            let place = self.add_user(engine);
            self.iterate(engine, recorder, place, 0);
        }
        Ok(())
    }

    /// Begins an iteration at each due time, counted from the stamp `start` (ns). Several streams add up.
    pub fn arrive(&mut self, engine: &mut Engine, arrivals: Arrivals, start: u64) -> Result<(), MixedModels> {
        if matches!(self.model, Model::Closed { .. }) {
            return Err(MixedModels);
        }
        self.model = Model::Open;
        if !self.over {
            self.streams.add(arrivals, start);
            self.watch(engine);
        }
        Ok(())
    }

    /// Begins an iteration at each of these due times, instead of at those that were to come from the stamp `start` on.
    pub fn arrive_instead(&mut self, engine: &mut Engine, arrivals: Arrivals, start: u64) -> Result<(), MixedModels> {
        self.streams.end_at(start);
        self.arrive(engine, arrivals, start)
    }

    /// No new iterations, and no arrivals that are not due yet. What waits, and what is under way, is carried on.
    pub fn stop(&mut self, engine: &mut Engine, recorder: &mut Recorder) {
        self.take_due(engine, recorder, usize::MAX);
        self.finish(engine);
    }

    /// Cancels what is in flight, and drops the arrivals that wait or are due by now.
    pub fn cut(&mut self, engine: &mut Engine, recorder: &mut Recorder) {
        self.drop_due(recorder);
        self.finish(engine);
        for place in self.users.iter().map(|(place, _)| place).collect::<Vec<_>>() {
            if let State::Sending(id) = self.users[place].state
                && !engine.is_held(id)
                && let Some(finished) = engine.cancel(id)
            {
                self.record(recorder, place, &finished);
            }
            self.end(engine, place);
        }
    }

    /// Users in an iteration, or (closed) between two.
    pub fn active(&self) -> usize {
        self.users.len() - self.idle.len()
    }

    /// Users that exist, idle ones included.
    pub fn users(&self) -> usize {
        self.users.len()
    }

    /// Arrivals that wait for a user.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Nothing is under way, and nothing more will begin by itself.
    pub fn done(&self) -> bool {
        let nothing_comes = self.over || (self.model == Model::Open && self.streams.is_empty());
        nothing_comes && self.active() == 0 && self.waiting.is_empty()
    }

    /// Why the run must end as failed, if it must: a feeder has run out that may not.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// No iteration begins any more but for arrivals that wait; users who have nothing to do end.
    fn finish(&mut self, engine: &mut Engine) {
        self.over = true;
        self.streams.clear();
        self.watch(engine);
        for place in self.resting() {
            self.end(engine, place);
        }
        for place in std::mem::take(&mut self.idle) {
            self.end(engine, place);
        }
    }

    /// Users of the closed model who think between two iterations.
    fn resting(&self) -> Vec<usize> {
        let rests = |user: &User| matches!(user.state, State::Pausing { then: Then::Begin, .. });
        self.users.iter().filter(|(_, user)| rests(user)).map(|(place, _)| place).collect()
    }

    /// A new user.
    fn add_user(&mut self, engine: &mut Engine) -> usize {
        if self.users.len() == self.users.capacity() {
            // Doubling would leave up to half of it unused.
            self.users.reserve_exact(self.users.len() / 4 + 16);
        }
        self.users.insert(User { client: engine.client(), session: self.player.session(), state: State::Idle })
    }

    /// Ends a user. Its connections close, and what was in flight is forgotten.
    fn end(&mut self, engine: &mut Engine, place: usize) {
        let user = self.users.remove(place);
        if let State::Pausing { wake, .. } = user.state {
            engine.cancel_wake(wake);
        }
        engine.close(user.client);
    }
}
