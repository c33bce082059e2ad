//! A definition, compiled: what all users of a worker share, and nothing changes.

use std::ops::Range;

use crate::choice::Choice;
use crate::feeder::Feeder;
use crate::request::Blueprint;
use crate::session::StepId;
use crate::target::Target;
use crate::time::Think;
use crate::verdict::Rules;

/// One request of a flow, and what follows from its response.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "four independent facts, not a state")]
pub struct Step {
    /// Of the endpoint, together with the method.
    pub name: String,
    /// As it is sent.
    pub method: String,
    /// Indexes [`Scenario::targets`].
    pub target: usize,
    /// Limit of the exchange, ns; 0 = none.
    pub timeout: u64,
    /// Limit of connecting, and of each wait for the next bytes, ns; 0 = none.
    pub idle_timeout: u64,
    /// [`Player::judge`](crate::Player::judge) looks at the raw head of the response.
    pub needs_head: bool,
    /// [`Player::judge`](crate::Player::judge) looks at the body of the response, its content codings undone.
    pub needs_body: bool,
    /// The request is the same bytes every time, as long as the user has no cookies.
    pub is_constant: bool,
    pub(crate) blueprint: Blueprint,
    /// `None`: only the status counts.
    pub(crate) rules: Option<Box<Rules>>,
    pub(crate) think: Think,
    /// The iteration ends with it.
    pub(crate) is_last: bool,
    /// Indexes [`Scenario::flows`].
    pub(crate) flow: u32,
}

/// Steps one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// Unique.
    pub name: String,
    /// Where its steps stand in [`Scenario::steps`]; not empty.
    pub steps: Range<usize>,
    /// Feeders whose cells it uses, in rising order: an iteration draws one row of each.
    pub(crate) feeders: Box<[u32]>,
    /// Names of what its steps extract; a variable's place here is its number.
    pub(crate) variables: Box<[String]>,
}

/// Which worker plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Worker {
    /// Below `of`.
    pub(crate) index: u32,
    pub(crate) of: u32,
    pub(crate) seed: u64,
}

impl Worker {
    /// The number over all workers of this worker's n-th iteration or user.
    #[inline]
    pub(crate) fn number(self, n: u64) -> u64 {
        n * u64::from(self.of) + u64::from(self.index)
    }
}

/// What the users of one worker do. Immutable; a [`Player`](crate::Player) has what changes.
#[derive(Debug)]
pub struct Scenario {
    pub(crate) targets: Box<[Target]>,
    pub(crate) feeders: Box<[Feeder]>,
    pub(crate) choice: Choice,
    pub(crate) flows: Box<[Flow]>,
    pub(crate) steps: Box<[Step]>,
    pub(crate) worker: Worker,
}

impl Scenario {
    /// Where requests go; at least one.
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// The steps of all flows, flow after flow. The endpoint of each is its (method, name).
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The step of this id.
    #[inline]
    pub fn step(&self, id: StepId) -> &Step {
        &self.steps[id.index()]
    }

    /// At least one, each with at least one step.
    pub fn flows(&self) -> &[Flow] {
        &self.flows
    }
}
