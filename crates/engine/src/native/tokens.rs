//! Tokens that users share: who waits for one, when it is fetched, and when another one is.
//!
//! Users with the same credentials share a token. It is fetched when the first of them needs it, and again before it
//! expires, while they still use it.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use plimsoll_record::{EndpointId, Exchange, Recorder};
use plimsoll_scenario::{Challenge, Token, TokenService, form_of, with_refresh_token};
use slab::Slab;

use crate::call::{ExchangeId, Response, Then};
use crate::engine::{ClientId, WakeId};
use crate::origin::Origin;

/// Most requests for tokens at a time. All users of a worker may need one of their own at once.
pub(super) const MOST_AT_ONCE: usize = 32;
/// Most tokens that are kept.
const MOST_KEPT: usize = 100_000;
/// The wait after a failure, ns. Each further failure doubles it.
const FIRST_WAIT: u64 = 500_000_000;
/// The longest wait after a failure, ns.
const LONGEST_WAIT: u64 = 30_000_000_000;

/// A service that gives tokens.
#[derive(Debug)]
pub(super) struct Service {
    pub(super) origin: Arc<Origin>,
    /// Where its requests are counted.
    pub(super) row: EndpointId,
    pub(super) name: String,
    pub(super) timeout: u64,
    refresh_before: u64,
    /// Tokens by what tells them apart.
    slots: HashMap<Box<str>, usize>,
}

/// A user that waits for a token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) place: usize,
    /// As [`send`](super::NativeUsers) has them.
    /// When its request is due, monotonic ns; 0 = now.
    pub(super) due: u64,
    /// When it began to wait.
    pub(super) since: u64,
}

/// What is done to get a token.
#[derive(Debug)]
pub(super) enum Fetch {
    Nothing,
    /// Others are fetched first.
    Queued,
    /// The service has failed: the wake at the end of the wait.
    Held(WakeId),
    Running(Box<Running>),
}

/// A request for a token.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) id: ExchangeId,
    /// It has a client of its own, and so a connection of its own.
    pub(super) client: ClientId,
    pub(super) exchange: Exchange,
    pub(super) head: Response,
    pub(super) body: Vec<u8>,
    pub(super) then: Then,
    /// It asks with a refresh token.
    pub(super) is_refresh: bool,
}

/// One token, or the wait for it.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) service: usize,
    pub(super) identity: Box<str>,
    refresh_form: Box<str>,
    token: Option<Box<str>>,
    /// When the token came, and when it is replaced and expires, monotonic ns.
    received: u64,
    refresh_at: u64,
    expires_at: u64,
    refresh_token: Option<Box<str>>,
    pub(super) fetch: Fetch,
    pub(super) waiting: Vec<Waiting>,
    /// Consecutive failures, and until when none is fetched after them.
    failures: u32,
    pub(super) not_before: u64,
    /// Consecutive refusals of the target soon after one another, and until when further ones change nothing.
    refusals: u32,
    refused_until: u64,
}

/// What one user has of a target that asks with challenges.
#[derive(Debug)]
pub(super) struct Answered {
    target: usize,
    pub(super) challenge: Challenge,
    /// The request in flight answers a challenge to itself.
    pub(super) is_second: bool,
}

/// All tokens and challenges of a worker.
#[derive(Debug)]
pub(super) struct Tokens {
    /// By the number of the scenario's services.
    pub(super) services: Vec<Option<Service>>,
    pub(super) kept: Slab<Kept>,
    pub(super) queue: VecDeque<usize>,
    pub(super) running: usize,
    /// By the place of the user.
    answered: HashMap<usize, Vec<Answered>>,
    /// A buffer.
    pub(super) identity: String,
}

impl Service {
    pub(super) fn new(service: &TokenService, origin: &Arc<Origin>, recorder: &mut Recorder) -> Service {
        Service {
            origin: Arc::clone(origin),
            row: recorder.token_row(&service.name),
            name: service.name.clone(),
            timeout: service.timeout,
            refresh_before: service.refresh_before,
            slots: HashMap::new(),
        }
    }
}

impl Kept {
    /// The token, if it is valid.
    pub(super) fn token(&self, now: u64) -> Option<&str> {
        self.token.as_deref().filter(|_| now < self.expires_at)
    }

    /// The token, for those who have waited for it, however short its life is.
    pub(super) fn latest(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Whether another one has to be fetched.
    pub(super) fn is_due(&self, now: u64) -> bool {
        self.token.is_none() || now >= self.refresh_at
    }

    /// The form of the next request for a token, and whether it has a refresh token.
    pub(super) fn form(&self) -> (String, bool) {
        match &self.refresh_token {
            Some(token) => (with_refresh_token(&self.refresh_form, token), true),
            None => (form_of(&self.identity).to_owned(), false),
        }
    }

    /// A token has come.
    fn take(&mut self, token: Token, refresh_before: u64, now: u64) {
        self.failures = 0;
        self.not_before = 0;
        self.received = now;
        self.expires_at = now.saturating_add(token.lifetime);
        // A short life is not refreshed all the time.
        let before = refresh_before.min(token.lifetime / 2);
        self.refresh_at = if token.lifetime == u64::MAX { u64::MAX } else { self.expires_at - before };
        self.token = Some(token.authorization);
        if token.refresh_token.is_some() {
            self.refresh_token = token.refresh_token;
        }
    }

    /// None has come. Returns whether the next request may follow at once: the refresh token alone was refused.
    fn fail(&mut self, was_refresh: bool, is_answered: bool, now: u64) -> bool {
        if was_refresh && is_answered {
            self.refresh_token = None;
            return true;
        }
        self.not_before = now.saturating_add(wait_after(self.failures, FIRST_WAIT));
        self.failures += 1;
        false
    }

    /// The target has refused a request that was sent then. The token is not used again, unless it is newer. Refusals that
    /// follow one another change less and less: another token may not help.
    fn refuse(&mut self, sent: u64, now: u64) {
        if self.token.is_none() || self.received > sent || now < self.refused_until {
            return;
        }
        if now > self.refused_until.saturating_add(LONGEST_WAIT) {
            self.refusals = 0;
        }
        self.refused_until = now.saturating_add(wait_after(self.refusals, 2 * FIRST_WAIT));
        self.refusals += 1;
        self.token = None;
    }

    fn is_idle(&self) -> bool {
        matches!(self.fetch, Fetch::Nothing) && self.waiting.is_empty()
    }
}

fn wait_after(failures: u32, first: u64) -> u64 {
    first.saturating_mul(1 << failures.min(16)).min(LONGEST_WAIT)
}

impl Tokens {
    pub(super) fn new(services: Vec<Option<Service>>) -> Tokens {
        Tokens {
            services,
            kept: Slab::new(),
            queue: VecDeque::new(),
            running: 0,
            answered: HashMap::new(),
            identity: String::new(),
        }
    }

    /// The slot of the token with the identity in the buffer, if there is one.
    pub(super) fn find(&self, service: usize) -> Option<usize> {
        self.services[service].as_ref()?.slots.get(self.identity.as_str()).copied()
    }

    /// A new slot for the identity in the buffer.
    pub(super) fn add(&mut self, service: usize, refresh_form: String) -> usize {
        if self.kept.len() >= MOST_KEPT {
            self.forget_idle();
        }
        let identity: Box<str> = self.identity.as_str().into();
        let slot = self.kept.insert(Kept {
            service,
            identity: identity.clone(),
            refresh_form: refresh_form.into(),
            token: None,
            received: 0,
            refresh_at: 0,
            expires_at: 0,
            refresh_token: None,
            fetch: Fetch::Nothing,
            waiting: Vec::new(),
            failures: 0,
            not_before: 0,
            refusals: 0,
            refused_until: 0,
        });
        if let Some(service) = &mut self.services[service] {
            service.slots.insert(identity, slot);
        }
        slot
    }

    /// Forgets the tokens that nobody waits for. They are fetched again when they are needed.
    fn forget_idle(&mut self) {
        let Tokens { services, kept, .. } = self;
        kept.retain(|_, kept| !kept.is_idle());
        for service in services.iter_mut().flatten() {
            service.slots.retain(|_, slot| kept.contains(*slot));
        }
    }

    pub(super) fn take(&mut self, slot: usize, token: Token, now: u64) {
        let kept = &mut self.kept[slot];
        let before = self.services[kept.service].as_ref().map_or(0, |service| service.refresh_before);
        kept.take(token, before, now);
    }

    /// `is_answered`: the service has replied that it gives none. Returns whether the next request may follow at once.
    pub(super) fn fail(&mut self, slot: usize, was_refresh: bool, is_answered: bool, now: u64) -> bool {
        self.kept[slot].fail(was_refresh, is_answered, now)
    }

    pub(super) fn refuse(&mut self, slot: usize, sent: u64, now: u64) {
        self.kept[slot].refuse(sent, now);
    }

    /// What a user has of the challenges of a target.
    pub(super) fn answered(&mut self, place: usize, target: usize) -> Option<&mut Answered> {
        self.answered.get_mut(&place)?.iter_mut().find(|answered| answered.target == target)
    }

    /// The user's next request to this target answers this challenge.
    pub(super) fn challenge(&mut self, place: usize, target: usize, challenge: Challenge) {
        let answered = self.answered.entry(place).or_default();
        answered.retain(|answered| answered.target != target);
        answered.push(Answered { target, challenge, is_second: true });
    }

    /// Forgets a user.
    pub(super) fn leave(&mut self, place: usize) {
        self.answered.remove(&place);
    }

    /// A user no longer waits. Returns the slot of the token, and what it has waited with.
    pub(super) fn give_up(&mut self, place: usize) -> Option<(usize, Waiting)> {
        self.kept.iter_mut().find_map(|(slot, kept)| {
            let at = kept.waiting.iter().position(|waiting| waiting.place == place)?;
            Some((slot, kept.waiting.swap_remove(at)))
        })
    }

    /// Ends a fetch for which nobody waits any more. Returns it, if its request was under way.
    pub(super) fn end_unwanted(&mut self, slot: usize) -> Option<Box<Running>> {
        let kept = &mut self.kept[slot];
        if !kept.waiting.is_empty() || !matches!(kept.fetch, Fetch::Running(_)) {
            return None;
        }
        let Fetch::Running(running) = std::mem::replace(&mut kept.fetch, Fetch::Nothing) else { return None };
        self.running -= 1;
        Some(running)
    }

    /// The places of users that wait for a token.
    pub(super) fn waiting(&self) -> Vec<usize> {
        self.kept.iter().flat_map(|(_, kept)| kept.waiting.iter().map(|waiting| waiting.place)).collect()
    }
}
