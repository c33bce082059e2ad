//! A compiled definition: shared by all users of a worker, and immutable.

use std::ops::Range;
use std::sync::Arc;

use plimsoll_http::EventFormat;

use crate::auth::token::TokenService;
use crate::auth::{Auth, Scheme};
use crate::choice::Choice;
use crate::condition::Condition;
use crate::feeder::Feeder;
use crate::grpc::Grpc;
use crate::llm::Objectives;
use crate::repetition::Repetition;
use crate::request::Blueprint;
use crate::session::StepId;
use crate::target::Target;
use crate::template::Template;
use crate::time::Think;
use crate::verdict::Rules;
use crate::websocket::WebSocket;

/// What is in the body of a response that is a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Events of any kind.
    Events(EventFormat),
    /// A chat completion in `OpenAI`'s format, as server-sent events, and what a good request is, if that was given.
    Text(Option<Objectives>),
}

impl Stream {
    /// How its events are written.
    pub fn format(self) -> EventFormat {
        match self {
            Stream::Events(format) => format,
            Stream::Text(_) => EventFormat::Sse,
        }
    }
}

/// What follows a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The next step.
    Next,
    /// The end of the iteration.
    End,
    /// It depends on a repetition that the step ends, or on the condition of the next step.
    Asks,
}

/// One request of a flow, and the rules for its response.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "four independent facts, not a state")]
pub struct Step {
    /// Name of the endpoint, together with the method.
    pub name: String,
    /// The method; for a WebSocket or gRPC that of its row.
    pub method: String,
    /// Indexes [`Scenario::targets`].
    pub target: usize,
    /// Timeout of the exchange, ns; 0 = none.
    pub timeout: u64,
    /// Timeout of connecting, and of each wait for bytes, ns; 0 = none.
    pub idle_timeout: u64,
    /// The response is a stream.
    pub stream: Option<Stream>,
    /// The step is one of a WebSocket.
    pub websocket: Option<WebSocket>,
    /// The step is a call of gRPC.
    pub(crate) grpc: Option<Arc<Grpc>>,
    /// [`Player::judge`](crate::Player::judge) needs the raw head of the response.
    pub needs_head: bool,
    /// [`Player::judge`](crate::Player::judge) needs the decoded body of the response.
    pub needs_body: bool,
    /// The request always has the same bytes, while the user has no cookies.
    pub is_constant: bool,
    /// Sessions keep the directory of its path, which has variables, for cookies.
    pub(crate) keeps_directory: bool,
    pub(crate) blueprint: Blueprint,
    /// Boxed: it is rare.
    pub(crate) auth: Option<Box<Auth>>,
    /// `None`: only the status is checked.
    pub(crate) rules: Option<Box<Rules>>,
    pub(crate) think: Think,
    /// What follows it.
    pub(crate) turn: Turn,
    /// The step is left out unless this holds.
    pub(crate) condition: Option<Box<Condition>>,
    /// The step ends one.
    pub(crate) repetition: Option<Box<Repetition>>,
    /// Indexes [`Scenario::flows`].
    pub(crate) flow: u32,
}

impl Step {
    /// The step is a call of gRPC: its response is for [`Player::judge_call`](crate::Player::judge_call).
    pub fn is_call(&self) -> bool {
        self.grpc.is_some()
    }

    /// How its request says who sends it, if that is made anew for each.
    pub fn scheme(&self) -> Option<Scheme> {
        self.auth.as_ref().map(|auth| auth.scheme())
    }

    /// The feeders whose cells it uses.
    pub(crate) fn feeders(&self) -> Vec<u32> {
        let of_rules = self.rules.iter().flat_map(|rules| rules.feeders());
        let of_auth = self.auth.iter().flat_map(|auth| auth.templates()).flat_map(Template::feeders);
        let of_condition = self.condition.iter().flat_map(|condition| condition.feeders());
        let of_repetition = self.repetition.iter().flat_map(|repetition| repetition.feeders());
        let of_request = self.blueprint.feeders().chain(of_auth);
        of_request.chain(of_rules).chain(of_condition).chain(of_repetition).collect()
    }

    /// The step is a call whose server streams.
    pub fn has_streamed_replies(&self) -> bool {
        self.grpc.as_ref().is_some_and(|grpc| grpc.has_streamed_replies())
    }
}

/// A sequence of steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// Unique.
    pub name: String,
    /// The indexes of its steps in [`Scenario::steps`]; not empty.
    pub steps: Range<usize>,
    /// Feeders whose cells it uses, ascending: an iteration draws one row of each.
    pub(crate) feeders: Box<[u32]>,
    /// Names of the variables that its steps extract. The index is the variable's number.
    pub(crate) variables: Box<[String]>,
    /// Values of variables before steps of repetitions have extracted them, by number.
    pub(crate) beginnings: Box<[(u32, String)]>,
}

/// The worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Worker {
    /// Below `of`.
    pub(crate) index: u32,
    pub(crate) of: u32,
    pub(crate) seed: u64,
}

impl Worker {
    /// The number, over all workers, of this worker's n-th iteration or user.
    #[inline]
    pub(crate) fn number(self, n: u64) -> u64 {
        n * u64::from(self.of) + u64::from(self.index)
    }
}

/// The behaviour of one worker's users. Immutable; a [`Player`](crate::Player) has the state.
#[derive(Debug)]
pub struct Scenario {
    pub(crate) targets: Box<[Target]>,
    pub(crate) feeders: Box<[Feeder]>,
    pub(crate) choice: Choice,
    pub(crate) flows: Box<[Flow]>,
    pub(crate) steps: Box<[Step]>,
    /// By the number of the definition's `auths`.
    pub(crate) token_services: Box<[Option<TokenService>]>,
    pub(crate) worker: Worker,
}

impl Scenario {
    /// The targets; at least one.
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// The steps of all flows, flow after flow. The endpoint of each is its (method, name).
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The step with this id.
    #[inline]
    pub fn step(&self, id: StepId) -> &Step {
        &self.steps[id.index()]
    }

    /// Where tokens come from; None for other ways to say who sends a request.
    pub fn token_services(&self) -> &[Option<TokenService>] {
        &self.token_services
    }

    /// At least one, each with at least one step.
    pub fn flows(&self) -> &[Flow] {
        &self.flows
    }
}
