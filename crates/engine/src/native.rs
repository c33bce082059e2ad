//! Users in Rust. They play a scenario in the closed or the open model.
//!
//! # Layout
//!
//! - `native`: [`NativeUsers`], the interface, and how users end.
//! - [`script`]: [`Script`], a scenario with its origins.
//! - `step`: what the engine needs of each step, prepared once.
//! - `user`: one user and its state. `clients`: whose connections it takes.
//! - `certificates`: users with client certificates of their own.
//! - `streams`: the due times of the open model.
//! - `budget`: how many iterations and requests may still begin.
//! - `play`: from the end of one exchange to the start of the next: **the hot path**.
//! - `open`: handles arrivals.
//! - `events`: responses that are streams. `unpacking`: responses that are decoded. `late`: deadlines of both.
//! - `authorizing`: requests with a token, a signature or the answer to a challenge. `fetching`: requests for tokens.
//!   `tokens`: the tokens that users share.
//! - `sockets`: users with a WebSocket; `socket`: its state; `refused`: the answers of servers that open none.
//!
//! Invariants
//!
//! In the open model, at any time: offered = begun + dropped + waiting. In both models: begun = ended + active. No
//! arrival and no exchange is lost: each is recorded exactly once.

mod authorizing;
mod budget;
mod certificates;
mod clients;
mod events;
mod fetching;
mod late;
mod open;
mod play;
mod refused;
mod script;
mod socket;
mod sockets;
mod step;
mod streams;
mod tokens;
mod unpacking;
mod user;

use std::collections::{HashMap, VecDeque};

use plimsoll_record::Recorder;
use plimsoll_scenario::Player;
use slab::Slab;

use crate::call::ExchangeId;
use crate::engine::{Engine, WakeId, make_room};
use budget::Budget;
use clients::Clients;
use events::Reading;
use refused::{Answer, Backoff};
pub use script::{Script, ScriptError};
use socket::{Socket, Waiting};
use step::Step;
pub use streams::Arrivals;
use streams::Streams;
use tokens::{Service, Tokens};
use unpacking::Packed;
use user::{State, Then, User};

/// Marks tokens of arrival wakes. The other tokens are user slots.
const ARRIVAL: u64 = 1 << 31;

/// Marks tokens of readers of WebSockets; the rest is the user's slot.
const SOCKET: u64 = 1 << 30;

/// The token of the wake for responses that are decoded.
const UNPACKING: u64 = ARRIVAL | SOCKET;

/// Marks tokens of requests for tokens of OAuth 2.0; the rest is the slot of the token. No user has a slot so high.
const FETCHING: u64 = SOCKET | 1 << 29;

/// Most users of the open model.
const MOST_USERS: usize = 1 << 29;

/// The bits of a token that native users set. The higher bits are the owner's mark.
const OURS: u64 = (1 << 32) - 1;

/// The limits of the users.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Maximum number of users in the open model, 1…2^29.
    pub max_users: usize,
    /// Whether an arrival is dropped if all users are busy. Otherwise it waits.
    pub drop: bool,
    /// Maximum number of iterations; None = no limit.
    pub iterations: Option<u64>,
    /// Maximum number of requests; None = no limit.
    pub requests: Option<u64>,
    /// Maximum length of a response body after content decoding, bytes.
    pub max_decoded: u64,
    /// Users that share their connections, at least 1. With HTTP/2: the users of one connection.
    pub users_per_connection: usize,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            max_users: 10_000,
            drop: false,
            iterations: None,
            requests: None,
            max_decoded: 64 << 20,
            users_per_connection: 1,
        }
    }
}

/// What starts new iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Model {
    /// No load was set.
    Unset,
    /// Each user starts its next iteration, up to this number of users.
    Closed { wanted: usize },
    /// Each arrival starts an iteration.
    Open,
}

/// The caller set both a number of users and arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MixedModels;

impl std::fmt::Display for MixedModels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("users are either so many (closed model) or come as arrivals want them (open model)")
    }
}

impl std::error::Error for MixedModels {}

/// Users that play one scenario. The owner passes every event whose token has their mark to
/// [`finished`](NativeUsers::finished) or [`woken`](NativeUsers::woken).
#[derive(Debug)]
pub struct NativeUsers {
    player: Player,
    /// By step index of the scenario.
    steps: Vec<Step>,
    rules: Rules,
    mark: u64,
    model: Model,
    users: Slab<User>,
    clients: Clients,
    /// The streams that users read, by the users' places.
    reading: HashMap<usize, Reading>,
    /// Responses that are decoded, one after another.
    packed: VecDeque<Packed>,
    /// The WebSockets of users, by their places; shorter than needed for the rest.
    sockets: Vec<Option<Box<Socket>>>,
    /// Answers of servers that refuse a WebSocket, by the places of its users, and the users' waits after such answers.
    refused: HashMap<usize, Answer>,
    backoffs: HashMap<usize, Backoff>,
    /// Boxed, and absent in a scenario whose requests need none of it.
    tokens: Option<Box<Tokens>>,
    /// Users that have ended, apart from their WebSocket.
    leaving: usize,
    /// Idle users of the open model; the last one to become idle is at the end.
    idle: Vec<usize>,
    /// Due times of arrivals that wait for a user, in order.
    waiting: VecDeque<u64>,
    streams: Streams,
    /// The wake for the earliest arrival of `streams`.
    wake: Option<WakeId>,
    budget: Budget,
    /// No new iterations begin, except for waiting arrivals.
    over: bool,
    failure: Option<String>,
    /// The feeder that had no row for an iteration.
    ended_feeder: Option<String>,
}

impl NativeUsers {
    /// Starts without users. Tokens of their exchanges and wakes are `mark` plus the lower 32 bits, which must be 0 in
    /// `mark`. Endpoints enter the recorder in the order of the scenario's steps.
    pub fn new(script: &Script, recorder: &mut Recorder, rules: Rules, mark: u64) -> NativeUsers {
        let steps = script.steps();
        let steps = steps.map(|(step, origin)| Step::new(step, origin, script.own_origins(step, origin), recorder));
        let steps: Vec<Step> = steps.collect();
        let services = script.token_services();
        let services = services.map(|of| of.map(|(service, origin)| Service::new(service, origin, recorder)));
        let tokens = steps.iter().any(|step| step.scheme.is_some()).then(|| Box::new(Tokens::new(services.collect())));
        NativeUsers {
            player: script.player(),
            steps,
            rules: Rules { max_users: rules.max_users.clamp(1, MOST_USERS), ..rules },
            mark,
            model: Model::Unset,
            users: Slab::new(),
            clients: Clients::new(rules.users_per_connection),
            reading: HashMap::new(),
            packed: VecDeque::new(),
            sockets: Vec::new(),
            refused: HashMap::new(),
            backoffs: HashMap::new(),
            tokens,
            leaving: 0,
            idle: Vec::new(),
            waiting: VecDeque::new(),
            streams: Streams::default(),
            wake: None,
            budget: Budget::new(rules.iterations, rules.requests),
            over: false,
            failure: None,
            ended_feeder: None,
        }
    }

    /// Sets the number of users. New ones begin now; surplus ones end after their current iteration.
    pub fn resize(&mut self, engine: &mut Engine, recorder: &mut Recorder, users: usize) -> Result<(), MixedModels> {
        if self.model == Model::Open {
            return Err(MixedModels);
        }
        self.model = Model::Closed { wanted: users };
        let surplus = self.living().saturating_sub(users);
        if surplus > 0 {
            for place in self.resting().into_iter().take(surplus) {
                self.end(engine, place);
            }
        }
        while self.living() < users && !self.over {
            let place = self.add_user(engine);
            self.iterate(engine, recorder, place, 0);
        }
        Ok(())
    }

    /// Starts an iteration at each due time, counted from the stamp `start` (ns). Several streams add up.
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

    /// Removes all arrivals at or after the stamp (ns).
    pub fn end_arrivals(&mut self, engine: &mut Engine, stamp: u64) {
        self.streams.end_at(stamp);
        self.watch(engine);
    }

    /// Starts no new iterations except for arrivals that are due. Waiting arrivals and running iterations continue. In
    /// the closed model a request that waits for the end of a backoff is given up: nothing was sent for it. One that waits
    /// for a token is unanswered.
    pub fn stop(&mut self, engine: &mut Engine, recorder: &mut Recorder) {
        self.take_due(engine, recorder, usize::MAX);
        self.finish(engine);
        if self.model != Model::Open {
            for (place, id) in self.held(engine) {
                engine.cancel(id);
                self.users[place].state = State::Idle;
                self.end(engine, place);
            }
            for place in self.waiting_for_tokens() {
                self.give_up_token(engine, recorder, place);
                self.end(engine, place);
            }
        }
    }

    /// Users whose requests wait for the end of a backoff, with these.
    fn held(&self, engine: &Engine) -> Vec<(usize, ExchangeId)> {
        let sending = self.users.iter().filter_map(|(place, user)| match user.state {
            State::Sending(id) => Some((place, id)),
            _ => None,
        });
        sending.filter(|(_, id)| engine.is_held(*id)).collect()
    }

    /// Cancels exchanges in flight, and drops arrivals that wait or are due.
    pub fn cut(&mut self, engine: &mut Engine, recorder: &mut Recorder) {
        self.drop_due(recorder);
        self.finish(engine);
        for place in self.users.iter().map(|(place, _)| place).collect::<Vec<_>>() {
            if let State::Sending(id) = self.users[place].state
                && !engine.is_held(id)
                && let Some(finished) = engine.cancel(id)
            {
                self.record(engine, recorder, place, &finished);
            }
            self.give_up_token(engine, recorder, place);
            self.cancel_stream(engine, recorder, place);
            self.cancel_packed(recorder, place);
            self.cancel_socket(recorder, place);
            self.end_refusal(engine, recorder, place);
            self.remove(engine, place);
        }
        self.leaving = 0;
    }

    /// Users that have not ended.
    #[inline]
    fn living(&self) -> usize {
        self.users.len() - self.leaving
    }

    /// Users in an iteration or (closed model) between two.
    pub fn active(&self) -> usize {
        self.users.len() - self.idle.len()
    }

    /// Users that exist, idle ones included.
    pub fn users(&self) -> usize {
        self.users.len()
    }

    /// Users that read a stream, whose response is being decoded, or who wait for something of their WebSocket. Its exchange is no longer in flight for the
    /// engine.
    pub fn streaming(&self) -> usize {
        let waits = |socket: &Socket| !matches!(socket.inbox.waiting, Waiting::Nothing);
        let others = self.reading.len() + self.packed.len() + self.refused.len();
        others + self.sockets.iter().flatten().filter(|socket| waits(socket)).count()
    }

    /// Arrivals that wait for a user.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Whether nothing is running, and nothing more will start.
    pub fn done(&self) -> bool {
        let nothing_comes = self.over || (self.model == Model::Open && self.streams.is_empty());
        nothing_comes && self.active() == 0 && self.waiting.is_empty()
    }

    /// Why the run must fail, if it must: a feeder with `at_end: fail` is exhausted.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// The feeder whose rows have run out, so that no iteration can start.
    pub fn ended_feeder(&self) -> Option<&str> {
        self.ended_feeder.as_deref()
    }

    /// Users that wait for a token. Their requests are not sent yet.
    pub fn authorizing(&self) -> usize {
        self.tokens.as_ref().map_or(0, |tokens| tokens.kept.iter().map(|(_, kept)| kept.waiting.len()).sum())
    }

    /// Starts no new iterations, except for waiting arrivals. Idle users end.
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

    /// Users of the closed model that think between two iterations.
    fn resting(&self) -> Vec<usize> {
        let rests = |user: &User| matches!(user.state, State::Pausing { then: Then::Begin, .. });
        self.users.iter().filter(|(_, user)| rests(user)).map(|(place, _)| place).collect()
    }

    /// Adds a user.
    fn add_user(&mut self, engine: &mut Engine) -> usize {
        make_room(&mut self.users);
        let client = self.clients.join(engine);
        self.users.insert(User { client, session: self.player.session(), state: State::Idle })
    }

    /// Ends a user; one with a WebSocket when that is closed.
    fn end(&mut self, engine: &mut Engine, place: usize) {
        if !self.begins_to_close(engine, place) {
            self.remove(engine, place);
        }
    }

    /// Removes a user. Discards its exchange, and closes its connections if nobody shares them.
    fn remove(&mut self, engine: &mut Engine, place: usize) {
        self.leave(engine, place);
        self.backoffs.remove(&place);
        let user = self.users.remove(place);
        match user.state {
            State::Pausing { wake, .. } => drop(engine.cancel_wake(wake)),
            State::Sending(id) => drop(engine.cancel(id)),
            State::Idle | State::Streaming | State::Authorizing => {}
        }
        self.clients.leave(engine, user.client);
        if let Some(tokens) = &mut self.tokens {
            tokens.leave(place);
            if self.users.is_empty() {
                self.end_fetches(engine);
            }
        }
    }
}
