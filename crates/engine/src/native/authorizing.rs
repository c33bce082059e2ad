//! Requests with credentials: a token, a signature or the answer to a challenge.
//!
//! Other steps take another way from the beginning of [`send`](NativeUsers::send), and pay nothing for this.

use std::mem::take;

use plimsoll_grpc::{Code, Status};
use plimsoll_record::{Exchange, Outcome, Recorder};
use plimsoll_scenario::{Challenge, Prepared, Scheme, add_line};

use super::tokens::{Fetch, Waiting};
use super::user::State;
use super::{Model, NativeUsers};
use crate::call::{Bytes, Finished, Response};
use crate::clock::now;
use crate::engine::Engine;

impl NativeUsers {
    /// Sends the request of a step with a scheme, or has its user wait for a token.
    #[inline(never)]
    pub(super) fn send_authorized(
        &mut self,
        engine: &mut Engine,
        recorder: &mut Recorder,
        place: usize,
        due: u64,
        free: u64,
    ) {
        let step = &self.steps[self.users[place].session.step().index()];
        if !step.is_socket {
            self.budget.take_request();
        }
        if let Some(Scheme::Token(service)) = step.scheme {
            match self.slot(place, service) {
                Err(reason) => return self.not_sent(engine, recorder, place, (due, free), &reason),
                Ok(slot) if !self.has_token(engine, slot) => {
                    let waiting = Waiting { place, due, since: now() };
                    self.users[place].state = State::Authorizing;
                    if let Some(tokens) = &mut self.tokens {
                        tokens.kept[slot].waiting.push(waiting);
                    }
                    return self.fetch(engine, recorder, slot);
                }
                Ok(_) => {}
            }
        }
        self.send_with_token(engine, recorder, place, due, free);
    }

    /// Records a step that cannot be sent. One of a WebSocket has not been counted yet.
    fn not_sent(&mut self, engine: &mut Engine, recorder: &mut Recorder, place: usize, due: (u64, u64), reason: &str) {
        if self.steps[self.users[place].session.step().index()].is_socket {
            self.budget.take_request();
        }
        self.unsendable(engine, recorder, place, due, reason);
    }

    /// Sends the request of a step whose token is there, if it needs one.
    fn send_with_token(&mut self, engine: &mut Engine, recorder: &mut Recorder, place: usize, due: u64, free: u64) {
        let user = &mut self.users[place];
        let index = user.session.step().index();
        if self.steps[index].is_socket {
            return self.socket_step(engine, recorder, place, due, free);
        }
        let target = self.player.scenario().steps()[index].target;
        if let Some(answered) = self.tokens.as_mut().and_then(|tokens| tokens.answered(place, target)) {
            answered.is_second = false;
        }
        self.send_again(engine, recorder, place, due, free);
    }

    /// Sends the request of the user's step, which is counted already.
    pub(super) fn send_again(
        &mut self,
        engine: &mut Engine,
        recorder: &mut Recorder,
        place: usize,
        due: u64,
        free: u64,
    ) {
        let user = &mut self.users[place];
        let mut made = Vec::new();
        let prepared = match self.player.request(&mut user.session, &mut made) {
            Ok(Prepared::Constant(shared)) => {
                made.extend_from_slice(&shared.bytes);
                Ok((shared.head, shared.expect_continue))
            }
            Ok(Prepared::Made { head, expect_continue }) => Ok((head, expect_continue)),
            Err(reason) => Err(reason),
        };
        let authorized = prepared.and_then(|(head, expects)| Ok((self.authorize(place, &mut made, head)?, expects)));
        let (head, expect_continue) = match authorized {
            Ok(head) => head,
            Err(reason) => return self.unsendable(engine, recorder, place, (due, free), &reason),
        };
        let user = &mut self.users[place];
        let step = &self.steps[user.session.step().index()];
        let wire = step.wire(Bytes::Owned(made), head, expect_continue);
        let call = step.call(self.mark | place as u64, wire, due, free);
        user.state = State::Sending(engine.send(user.client, step.origin_of(user.session.user()), call));
    }

    /// Adds what says who sends it to the request of the user's step. Returns the new length of its head.
    pub(super) fn authorize(&mut self, place: usize, request: &mut Vec<u8>, head: usize) -> Result<usize, String> {
        let index = self.users[place].session.step().index();
        match self.steps[index].scheme {
            None => Ok(head),
            Some(Scheme::Token(service)) => {
                let slot = self.slot(place, service)?;
                let token = self.tokens.as_ref().and_then(|tokens| tokens.kept[slot].latest());
                let token = token.ok_or("cannot be sent: its token is no longer valid")?;
                Ok(add_line(request, head, "Authorization", token))
            }
            Some(Scheme::Signature) => self.player.sign(&self.users[place].session, request, head),
            Some(Scheme::Digest) => {
                let target = self.player.scenario().steps()[index].target;
                let Some(answered) = self.tokens.as_mut().and_then(|tokens| tokens.answered(place, target)) else {
                    return Ok(head);
                };
                self.player.answer(&self.users[place].session, &mut answered.challenge, request, head)
            }
        }
    }

    /// The slot of the token that the user's step needs.
    fn slot(&mut self, place: usize, service: usize) -> Result<usize, String> {
        let Some(tokens) = &mut self.tokens else { return Err("cannot be sent: there is no token service".into()) };
        let session = &self.users[place].session;
        self.player.identity(session, &mut tokens.identity)?;
        if let Some(slot) = tokens.find(service) {
            return Ok(slot);
        }
        let refresh_form = self.player.refresh_form(session)?;
        Ok(tokens.add(service, refresh_form))
    }

    /// Whether there is a token now. One that expires soon is replaced meanwhile.
    fn has_token(&mut self, engine: &mut Engine, slot: usize) -> bool {
        let now = now();
        let Some(tokens) = &mut self.tokens else { return false };
        let kept = &tokens.kept[slot];
        if kept.token(now).is_none() {
            return false;
        }
        if kept.is_due(now) && matches!(kept.fetch, Fetch::Nothing) && now >= kept.not_before {
            // Its form could be sent before.
            let _ = self.fetch_now(engine, slot);
        }
        true
    }

    /// Whether the response to a request for a stream is a challenge, which the user answers.
    pub(super) fn denies(
        &mut self,
        engine: &mut Engine,
        recorder: &mut Recorder,
        place: usize,
        finished: &Finished,
    ) -> bool {
        let Ok(head) = &finished.result else { return false };
        let is_denied = head.status == 401 && self.denied(engine, recorder, place, &finished.exchange, head);
        if is_denied {
            engine.hang_up(finished.id);
        }
        is_denied
    }

    /// Sends the request of a user that has waited for a token. In the open model its due time stays, and the wait is part
    /// of its response time; in the closed model the request is due now.
    pub(super) fn resume(&mut self, engine: &mut Engine, recorder: &mut Recorder, waiting: Waiting, now: u64) {
        let Waiting { place, due, .. } = waiting;
        self.users[place].state = State::Idle;
        let (due, free) = if self.model == Model::Open && due != 0 { (due, now) } else { (now, 0) };
        self.send_with_token(engine, recorder, place, due, free);
    }

    /// Records the steps of users that wait for a token that does not come.
    #[cold]
    pub(super) fn token_missing(&mut self, engine: &mut Engine, recorder: &mut Recorder, slot: usize, reason: &str) {
        let waiting = self.tokens.as_mut().map(|tokens| take(&mut tokens.kept[slot].waiting));
        for Waiting { place, due, .. } in waiting.unwrap_or_default() {
            self.users[place].state = State::Idle;
            // It becomes free only now: the wait for the service is no lag of the generator.
            let due = if self.model == Model::Open { (due, u64::MAX) } else { (0, 0) };
            self.not_sent(engine, recorder, place, due, reason);
        }
    }

    /// The target has answered that it does not know who sends the request. Returns whether the step goes on with another
    /// request, which answers a challenge.
    #[cold]
    pub(super) fn denied(
        &mut self,
        engine: &mut Engine,
        recorder: &mut Recorder,
        place: usize,
        exchange: &Exchange,
        response: &Response,
    ) -> bool {
        let step = &self.steps[self.users[place].session.step().index()];
        match step.scheme {
            Some(Scheme::Token(_)) => {
                self.refuse_token(place, exchange);
                false
            }
            Some(Scheme::Digest) => self.challenged(engine, recorder, place, exchange, response),
            Some(Scheme::Signature) | None => false,
        }
    }

    /// A call has ended with this status. One of a sender that the target does not know has another token next time.
    #[cold]
    pub(super) fn call_refused(&mut self, place: usize, exchange: &Exchange, response: &Response) {
        let status = Status::read(response.head(), &response.trailers);
        if response.status == 401 || status.is_ok_and(|status| status.code == Code::Unauthenticated) {
            self.refuse_token(place, exchange);
        }
    }

    /// The target has refused the token of the user's step.
    fn refuse_token(&mut self, place: usize, exchange: &Exchange) {
        let step = &self.steps[self.users[place].session.step().index()];
        if let Some(Scheme::Token(service)) = step.scheme
            && let Ok(slot) = self.slot(place, service)
            && let Some(tokens) = &mut self.tokens
        {
            tokens.refuse(slot, exchange.sent, now());
        }
    }

    /// Answers a challenge, unless the request has answered one already.
    fn challenged(
        &mut self,
        engine: &mut Engine,
        recorder: &mut Recorder,
        place: usize,
        exchange: &Exchange,
        response: &Response,
    ) -> bool {
        let index = self.users[place].session.step().index();
        let target = self.player.scenario().steps()[index].target;
        let (Some(challenge), Some(tokens)) = (Challenge::read(response.head()), &mut self.tokens) else {
            return false;
        };
        let is_stale = challenge.is_stale;
        let before = tokens.answered(place, target).map(|answered| answered.is_second);
        tokens.challenge(place, target, challenge);
        if before.is_some_and(|is_second| is_second || !is_stale) {
            return false;
        }
        if let Some(row) = self.steps[index].challenge_row {
            recorder.auth_exchange(row, exchange, Outcome::Success, response.body_length, "");
        }
        let (due, free) = match self.model {
            Model::Open => (exchange.due, exchange.read),
            _ => (exchange.read, 0),
        };
        self.send_again(engine, recorder, place, due, free);
        true
    }

    /// Users that wait for a token.
    pub(super) fn waiting_for_tokens(&self) -> Vec<usize> {
        self.tokens.as_ref().map(|tokens| tokens.waiting()).unwrap_or_default()
    }

    /// The user no longer waits for a token: its request is unanswered, and so is that for the token if nobody else waits
    /// for it.
    pub(super) fn give_up_token(&mut self, engine: &mut Engine, recorder: &mut Recorder, place: usize) {
        let Some(tokens) = &mut self.tokens else { return };
        let Some((slot, waiting)) = tokens.give_up(place) else { return };
        let now = now();
        if let Some(running) = tokens.end_unwanted(slot) {
            engine.close(running.client);
            if let Some(service) = &tokens.services[tokens.kept[slot].service] {
                let exchange = Exchange { arrival: now, read: now, ..running.exchange };
                recorder.auth_exchange(service.row, &exchange, Outcome::Unanswered, 0, "");
            }
        }
        self.users[place].state = State::Idle;
        let endpoint = self.steps[self.users[place].session.step().index()].endpoint;
        let due = if waiting.due == 0 { waiting.since } else { waiting.due };
        // It was not sent late: the wait is that for the token.
        recorder.unanswered(endpoint, due, due, now);
    }
}
