//! Moves users through a scenario.

use std::sync::Arc;

use crate::DefinitionError;
use crate::auth::sigv4::DayKey;
use crate::date::Clock;
use crate::feeder::{Feed, Feeder};
use crate::filling::{Filling, Sources};
use crate::grpc::Reply;
use crate::random::Random;
use crate::request::{Cookies, Refusal, Scratch};
use crate::scenario::{Flow, Scenario, Step, Turn};
use crate::session::{Session, StepId};
use crate::template::{Context, Missing};
use crate::verdict::Verdict;

/// A constant request, encoded once.
#[derive(Debug, Clone)]
pub struct Constant {
    /// Head and body.
    pub bytes: Arc<[u8]>,
    /// Offset of the body.
    pub head: usize,
    /// The body waits for 100 (Continue).
    pub expect_continue: bool,
}

/// The location of a request's bytes.
#[derive(Debug, Clone, Copy)]
pub enum Prepared<'a> {
    /// These bytes. The buffer is unchanged.
    Constant(&'a Constant),
    /// Appended to the buffer.
    Made {
        /// Length of the head; the body follows.
        head: usize,
        /// The body waits for 100 (Continue).
        expect_continue: bool,
    },
}

/// A feeder has no more rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exhausted {
    /// Its name.
    pub feeder: String,
    /// The run must fail. Otherwise only its users stop.
    pub fail: bool,
}

fn exhausted(feeder: &Feeder) -> Exhausted {
    Exhausted { feeder: feeder.name.clone(), fail: feeder.fails_at_end() }
}

/// The action after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Another step of the iteration, after a pause.
    Step {
        /// ns
        think: u64,
    },
    /// The iteration is over. Pause before the next one.
    End {
        /// ns
        think: u64,
    },
}

/// The state of all users of one worker, except their sessions.
///
/// Each user repeats: [`begin`](Player::begin), then for every step [`request`](Player::request),
/// [`judge`](Player::judge) if there is a response, and [`advance`](Player::advance) until that says [`Next::End`].
#[derive(Debug)]
pub struct Player {
    scenario: Arc<Scenario>,
    /// The Host header of each target.
    authorities: Box<[Box<str>]>,
    /// By step.
    constants: Box<[Option<Constant>]>,
    /// By feeder.
    feeds: Box<[Feed]>,
    random: Random,
    scratch: Scratch,
    /// A text of an expectation with its values.
    filled: String,
    clock: Clock,
    day_key: DayKey,
    /// Number of users of this player.
    users: u64,
    /// Number of iterations of this player.
    iterations: u64,
}

impl Player {
    /// `authorities`: the Host header of each target (`host[:port]`), in order. `clock`: milliseconds since 1970,
    /// for variables and for cookies that expire.
    ///
    /// Fails for an authority that is invalid in HTTP.
    pub fn new(scenario: Arc<Scenario>, authorities: &[&str], clock: fn() -> i64) -> Result<Self, DefinitionError> {
        assert_eq!(authorities.len(), scenario.targets.len(), "one authority for each target");
        let worker = scenario.worker;
        let mut player = Self {
            authorities: authorities.iter().map(|&authority| authority.into()).collect(),
            constants: Box::default(),
            feeds: scenario.feeders.iter().map(|feeder| Feed::new(feeder, worker.index, worker.of)).collect(),
            random: Random::new(worker.seed, worker.index),
            scratch: Scratch::default(),
            filled: String::new(),
            clock,
            day_key: DayKey::default(),
            users: 0,
            iterations: 0,
            scenario,
        };
        let scenario = player.scenario.clone();
        let constants: Result<_, _> = scenario.steps.iter().map(|step| player.constant(step)).collect();
        player.constants = constants?;
        Ok(player)
    }

    /// The step's bytes, if it has no variables.
    fn constant(&mut self, step: &Step) -> Result<Option<Constant>, DefinitionError> {
        if !step.is_constant {
            return Ok(None);
        }
        let (nobody, mut bytes) = (Session::new(0), Vec::new());
        let mut context = Context { feeders: &[], session: &nobody, random: &mut self.random, clock: self.clock };
        let authority = &self.authorities[step.target];
        match step.blueprint.encode(authority, &mut context, None, &mut self.scratch, &mut bytes) {
            Ok(encoded) => {
                let (head, expect_continue) = (encoded.head, encoded.expect_continue);
                Ok(Some(Constant { bytes: bytes.into(), head, expect_continue }))
            }
            // Everything else was checked when the scenario was compiled.
            Err(Refusal::Forbidden(error)) => Err(DefinitionError::new(format!("targets[{}].url", step.target), error)),
            Err(Refusal::Missing(_) | Refusal::Message(_)) => unreachable!("it has no variables"),
        }
    }

    /// The scenario.
    pub fn scenario(&self) -> &Arc<Scenario> {
        &self.scenario
    }

    /// A new user, before its first iteration.
    pub fn session(&mut self) -> Session {
        let user = self.scenario.worker.number(self.users);
        self.users += 1;
        Session::new(user)
    }

    /// Starts the user's next iteration: chooses a flow, draws a row of each feeder that it uses, and clears extracted
    /// values. The user keeps its cookies. After an error, do not use the session.
    #[inline]
    pub fn begin(&mut self, session: &mut Session) -> Result<(), Exhausted> {
        let scenario = &*self.scenario;
        let iteration = scenario.worker.number(self.iterations);
        if let Some(number) = scenario.choice.exhausted(iteration) {
            return Err(exhausted(&scenario.feeders[number as usize]));
        }
        let flow = &scenario.flows[scenario.choice.pick(iteration, &mut self.random)];
        for &number in &flow.feeders {
            let row = match scenario.choice.row(number, iteration) {
                Some(row) => Some(row),
                None => match scenario.feeders[number as usize].kept_row(session.user()) {
                    Some(row) => Some(row),
                    None => self.feeds[number as usize].draw(&mut self.random),
                },
            };
            let Some(row) = row else {
                return Err(exhausted(&scenario.feeders[number as usize]));
            };
            session.set_row(number, row, scenario.feeders.len());
        }
        self.iterations += 1;
        session.begin(iteration, StepId(flow.steps.start as u32));
        if !flow.beginnings.is_empty() {
            set_beginnings(flow, session);
        }
        Ok(())
    }

    /// Skips an iteration: returns the first step of its flow. Its number is not used again, and no rows are drawn.
    pub fn skip(&mut self) -> StepId {
        let iteration = self.scenario.worker.number(self.iterations);
        self.iterations += 1;
        let flow = &self.scenario.flows[self.scenario.choice.pick(iteration, &mut self.random)];
        StepId(flow.steps.start as u32)
    }

    /// The request of the session's step: constant, or appended to `into`.
    ///
    /// The error says why it cannot be sent: `cannot be sent: …`. Then nothing was appended.
    #[inline]
    pub fn request(&mut self, session: &mut Session, into: &mut Vec<u8>) -> Result<Prepared<'_>, String> {
        let step = session.step().index();
        if session.jar().is_none() && self.constants[step].is_some() {
            return Ok(Prepared::Constant(self.constants[step].as_ref().expect("it is there")));
        }
        self.make(session, into)
    }

    fn make(&mut self, session: &mut Session, into: &mut Vec<u8>) -> Result<Prepared<'_>, String> {
        let scenario = &*self.scenario;
        let step = scenario.step(session.step());
        let target = &scenario.targets[step.target];
        let cookies = session.jar().map(|jar| Cookies { jar, site: &target.site });
        let (random, clock) = (&mut self.random, self.clock);
        let mut context = Context { feeders: &scenario.feeders, session, random, clock };
        let authority = &self.authorities[step.target];
        match step.blueprint.encode(authority, &mut context, cookies, &mut self.scratch, into) {
            Ok(encoded) => {
                if step.keeps_directory {
                    session.set_directory(step.blueprint.target(&self.scratch));
                }
                Ok(Prepared::Made { head: encoded.head, expect_continue: encoded.expect_continue })
            }
            Err(Refusal::Missing(Missing(number))) => {
                let name = &scenario.flows[step.flow as usize].variables[number as usize];
                Err(no_value(name))
            }
            Err(Refusal::Forbidden(error)) => Err(format!("cannot be sent: {error}")),
            Err(Refusal::Message(error)) => Err(format!("cannot be sent: {error}")),
        }
    }

    /// The message of the session's step, which sends one on a WebSocket. The error is as in [`request`](Player::request).
    pub fn message(&mut self, session: &Session) -> Result<&[u8], String> {
        let step = self.scenario.step(session.step());
        let (random, clock) = (&mut self.random, self.clock);
        let mut context = Context { feeders: &self.scenario.feeders, session, random, clock };
        let missing = |Missing(number)| no_value(&self.scenario.flows[step.flow as usize].variables[number as usize]);
        step.blueprint.message(&mut context, &mut self.scratch).map_err(missing)
    }

    /// Whether a message of a WebSocket is one that the session's step waits for.
    pub fn awaits(&mut self, session: &Session, message: &[u8]) -> bool {
        let Self { scenario, random, filled, .. } = self;
        let sources = Sources { feeders: &scenario.feeders, random, text: filled };
        scenario.step(session.step()).rules.as_ref().is_none_or(|rules| rules.fits(session, sources, message))
    }

    /// Why no message can be the one that the session's step waits for, if a variable of its expectations has no value.
    pub fn cannot_await(&self, session: &Session) -> Option<String> {
        let rules = self.scenario.step(session.step()).rules.as_ref()?;
        rules.unfilled(session).map(|why| format!("cannot be awaited: {why}"))
    }

    /// Checks the response to the session's step. Stores extracted values and cookies.
    ///
    /// `head`: raw; may be empty unless the step `needs_head`. `body`: decoded; may be empty unless the step
    /// `needs_body`. `response`: the response time, ns.
    #[inline]
    pub fn judge(&mut self, session: &mut Session, status: u16, head: &[u8], body: &[u8], response: u64) -> Verdict {
        let Self { scenario, random, filled, clock, .. } = self;
        let step = scenario.step(session.step());
        match &step.rules {
            None => Verdict::plain(status),
            Some(rules) => {
                let sources = Sources { feeders: &scenario.feeders, random, text: filled };
                let verdict = rules.judge(session, sources, status, (head, body), response, *clock);
                if step.repetition.is_some() { self.limited(session, verdict) } else { verdict }
            }
        }
    }

    /// Checks the response to the session's step, which is a call of gRPC, as [`judge`](Player::judge) does it.
    /// `limit`: maximum bytes of a message. `response`: the response time, ns.
    pub fn judge_call(&mut self, session: &mut Session, reply: &Reply<'_>, limit: u64, response: u64) -> Verdict {
        let Self { scenario, random, filled, clock, .. } = self;
        let step = scenario.step(session.step());
        let grpc = step.grpc.as_ref().expect("the step is a call");
        let wants_json = step.rules.as_ref().is_some_and(|rules| rules.needs_body());
        match grpc.read(reply, wants_json, limit) {
            Err(verdict) => verdict,
            Ok((json, _held)) => match &step.rules {
                None => Verdict::Success,
                Some(rules) => {
                    let sources = Sources { feeders: &scenario.feeders, random, text: filled };
                    let found = (reply.head, json.as_bytes());
                    let verdict = rules.judge(session, sources, reply.status, found, response, *clock);
                    self.limited(session, verdict)
                }
            },
        }
    }

    /// Leaves the step after its exchange, successful or not. After [`Next::End`] call [`begin`](Player::begin) next.
    #[inline]
    pub fn advance(&mut self, session: &mut Session) -> Next {
        let step = self.scenario.step(session.step());
        if let Some(rules) = &step.rules {
            rules.fall_back(session);
        }
        let think = step.think.draw(&mut self.random);
        match step.turn {
            Turn::Next => {
                session.go_to(StepId(session.step().0 + 1));
                Next::Step { think }
            }
            Turn::End => Next::End { think },
            Turn::Asks => self.ask(session, think),
        }
    }

    /// Leaves a step that ends a repetition, or whose next step has a condition.
    #[cold]
    fn ask(&mut self, session: &mut Session, mut think: u64) -> Next {
        let Self { scenario, random, filled, .. } = self;
        let mut next = StepId(session.step().0 + 1);
        let mut is_over = false;
        let step = scenario.step(session.step());
        if let Some(repetition) = &step.repetition {
            let done = session.done(repetition.number) + 1;
            let sources = Sources { feeders: &scenario.feeders, random, text: filled };
            if repetition.goes_on(done, &mut Filling { session, sources }) {
                session.set_done(repetition.number, done);
                next = repetition.first;
                think = repetition.pause.map_or(think, |pause| pause.draw(random));
            } else {
                session.set_done(repetition.number, 0);
            }
        }
        let end = scenario.flows[step.flow as usize].steps.end;
        while !is_over {
            if next.index() == end {
                return Next::End { think };
            }
            let step = scenario.step(next);
            let sources = Sources { feeders: &scenario.feeders, random, text: filled };
            is_over =
                step.condition.as_ref().is_none_or(|condition| condition.holds(&mut Filling { session, sources }));
            if !is_over {
                if let Some(rules) = &step.rules {
                    rules.fall_back(session);
                }
                next = StepId(next.0 + 1);
            }
        }
        session.go_to(next);
        Next::Step { think }
    }

    /// The verdict, or that a repetition has reached its limit.
    #[cold]
    fn limited(&mut self, session: &Session, verdict: Verdict) -> Verdict {
        let Self { scenario, random, filled, .. } = self;
        let repetition = scenario.step(session.step()).repetition.as_ref().filter(|_| verdict == Verdict::Success);
        let Some(repetition) = repetition else { return verdict };
        let sources = Sources { feeders: &scenario.feeders, random, text: filled };
        let done = session.done(repetition.number) + 1;
        repetition.over_limit(done, &mut Filling { session, sources }).map_or(verdict, Verdict::Assertion)
    }
}

mod authorizing;

/// Sets what variables are before steps of repetitions have extracted them.
#[cold]
fn set_beginnings(flow: &Flow, session: &mut Session) {
    for (number, text) in &flow.beginnings {
        // It is as short as the plan has it.
        let _ = session.set_value(*number, flow.variables.len(), Some(text));
    }
}

#[cold]
fn no_value(name: &str) -> String {
    format!("cannot be sent: ${{{name}}} has no value, no earlier response had one")
}
