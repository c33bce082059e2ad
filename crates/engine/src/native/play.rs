//! From the end of one exchange to the start of the next.

use std::sync::Arc;

use plimsoll_record::{Exchange, Outcome, Recorder};
use plimsoll_scenario::{Next, Prepared, Reply, Verdict};

use super::user::{State, Then};
use super::{ARRIVAL, FETCHING, Model, NativeUsers, OURS, SOCKET, UNPACKING};
use crate::call::{Bytes, Failure, Finished, Response};
use crate::clock::now;
use crate::engine::Engine;

impl NativeUsers {
    /// Records an exchange and continues its user; takes the response of a stream.
    #[inline]
    pub fn finished(&mut self, engine: &mut Engine, recorder: &mut Recorder, finished: &mut Finished) {
        if finished.result.as_ref().is_ok_and(|response| response.streamed) {
            return self.stream_begins(engine, recorder, finished);
        }
        let place = (finished.token & OURS) as usize;
        if Self::may_be_packed(finished) && self.unpack(engine, recorder, place, finished) {
            return;
        }
        if self.record(engine, recorder, place, finished) {
            self.advance(engine, recorder, place, finished.exchange.read);
        }
    }

    /// Handles a wake.
    pub fn woken(&mut self, engine: &mut Engine, recorder: &mut Recorder, token: u64) {
        if token & OURS == UNPACKING {
            return self.unpack_on(engine, recorder);
        }
        if token & ARRIVAL != 0 {
            return self.arrivals_due(engine, recorder);
        }
        if token & SOCKET != 0 {
            if token & FETCHING == FETCHING {
                return self.token_woken(engine, recorder, token);
            }
            return self.read_socket(engine, recorder, (token & OURS & !SOCKET) as usize);
        }
        let place = (token & OURS) as usize;
        let State::Pausing { due, then, .. } = self.users[place].state else {
            if self.refused.contains_key(&place) {
                return self.read_refusal(engine, recorder, place);
            }
            return self.read_on(engine, recorder, place);
        };
        self.users[place].state = State::Idle;
        match then {
            Then::Send => self.follow(engine, recorder, place, due, 0),
            Then::Advance => self.advance(engine, recorder, place, due),
            Then::Begin => self.iterate(engine, recorder, place, due),
            Then::Connect => {
                self.backed_off(engine, place);
                self.ask_for_socket(engine, recorder, place, due, 0);
            }
        }
    }

    /// Leaves a step whose exchange ended at `read`: starts the next step, or ends the iteration.
    #[inline]
    pub(super) fn advance(&mut self, engine: &mut Engine, recorder: &mut Recorder, place: usize, read: u64) {
        match self.player.advance(&mut self.users[place].session) {
            Next::Step { think: 0 } => self.follow(engine, recorder, place, read, 0),
            Next::Step { think } => self.pause(engine, place, read + think, Then::Send),
            Next::End { think } => self.end_iteration(engine, recorder, place, read, think),
        }
    }

    /// Leaves a step that did nothing: there is no pause, and the next step has its `due` and `free`.
    pub(super) fn skip(&mut self, engine: &mut Engine, recorder: &mut Recorder, place: usize, due: u64, free: u64) {
        match self.player.advance(&mut self.users[place].session) {
            Next::Step { .. } => self.follow(engine, recorder, place, due, free),
            Next::End { think } => self.end_iteration(engine, recorder, place, due, think),
        }
    }

    #[inline]
    fn end_iteration(&mut self, engine: &mut Engine, recorder: &mut Recorder, place: usize, read: u64, think: u64) {
        match self.model {
            Model::Open | Model::Unset => self.release(engine, recorder, place, read),
            // Without a next iteration there is no think time.
            Model::Closed { wanted } if self.over || self.living() > wanted => self.end(engine, place),
            Model::Closed { .. } if think == 0 => self.iterate(engine, recorder, place, read),
            Model::Closed { .. } => self.pause(engine, place, read + think, Then::Begin),
        }
    }

    /// Begins a user's next iteration in the closed model, or ends the user.
    #[inline]
    pub(super) fn iterate(&mut self, engine: &mut Engine, recorder: &mut Recorder, place: usize, due: u64) {
        if !self.budget.allows_iteration(0) {
            self.finish(engine);
        }
        if !self.over && self.begin(engine, place) {
            self.send(engine, recorder, place, due, 0);
        } else {
            self.end(engine, place);
        }
    }

    /// Starts a user's next iteration. Returns false if a feeder has no row for it: then no other iteration can start.
    #[inline]
    pub(super) fn begin(&mut self, engine: &mut Engine, place: usize) -> bool {
        match self.player.begin(&mut self.users[place].session) {
            Ok(()) => {
                self.budget.take_iteration();
                true
            }
            Err(exhausted) => {
                if exhausted.fail {
                    self.failure.get_or_insert(format!("feeder {:?} has run out of rows", exhausted.feeder));
                }
                self.ended_feeder.get_or_insert(exhausted.feeder);
                self.finish(engine);
                false
            }
        }
    }

    /// Sends the request of a later step if the budget allows. Otherwise the iteration ends here.
    #[inline]
    fn follow(&mut self, engine: &mut Engine, recorder: &mut Recorder, place: usize, due: u64, free: u64) {
        if self.budget.allows_request(self.waiting.len()) {
            return self.send(engine, recorder, place, due, free);
        }
        self.finish(engine);
        match self.model {
            Model::Open => self.release(engine, recorder, place, due),
            _ => self.end(engine, place),
        }
    }

    /// Sends the request of the user's step. free: when the user became free, for an arrival that had to wait; else 0.
    #[inline]
    pub(super) fn send(&mut self, engine: &mut Engine, recorder: &mut Recorder, place: usize, due: u64, free: u64) {
        let user = &mut self.users[place];
        let step = &self.steps[user.session.step().index()];
        if step.is_special {
            return self.send_otherwise(engine, recorder, place, due, free);
        }
        self.budget.take_request();
        let mut made = Vec::new();
        let wire = match self.player.request(&mut user.session, &mut made) {
            Ok(Prepared::Constant(shared)) => {
                step.wire(Bytes::Shared(Arc::clone(&shared.bytes)), shared.head, shared.expect_continue)
            }
            Ok(Prepared::Made { head, expect_continue }) => step.wire(Bytes::Owned(made), head, expect_continue),
            Err(reason) => return self.unsendable(engine, recorder, place, (due, free), &reason),
        };
        let call = step.call(self.mark | place as u64, wire, due, free);
        user.state = State::Sending(engine.send(user.client, &step.origin, call));
    }

    /// Begins a step of a WebSocket, or one whose request or connection says who sends it.
    #[inline(never)]
    fn send_otherwise(&mut self, engine: &mut Engine, recorder: &mut Recorder, place: usize, due: u64, free: u64) {
        let step = &self.steps[self.users[place].session.step().index()];
        if step.scheme.is_some() {
            self.send_authorized(engine, recorder, place, due, free);
        } else if step.is_socket {
            self.socket_step(engine, recorder, place, due, free);
        } else {
            self.budget.take_request();
            self.send_again(engine, recorder, place, due, free);
        }
    }

    /// Records an exchange that could not be sent. `due`: when it was due, and when the user became free for it, as for
    /// [`send`](Self::send).
    #[cold]
    pub(super) fn unsendable(
        &mut self,
        engine: &mut Engine,
        recorder: &mut Recorder,
        place: usize,
        due: (u64, u64),
        reason: &str,
    ) {
        self.impossible(engine, recorder, place, due, Outcome::Protocol, reason);
    }

    /// Records a step that could not begin. The user continues in the next turn. Otherwise a user whose steps can never
    /// begin would keep the loop in this turn.
    #[cold]
    pub(super) fn impossible(
        &mut self,
        engine: &mut Engine,
        recorder: &mut Recorder,
        place: usize,
        (due, free): (u64, u64),
        outcome: Outcome,
        reason: &str,
    ) {
        let now = now();
        let due = if due == 0 { now } else { due.min(now) };
        let exchange = Exchange { due, free: free.min(now), sent: now, arrival: now, read: now, ..Exchange::default() };
        let step = &self.steps[self.users[place].session.step().index()];
        step.faulty(recorder, &exchange, outcome, 0, reason);
        self.pause(engine, place, now, Then::Advance);
    }

    pub(super) fn pause(&mut self, engine: &mut Engine, place: usize, due: u64, then: Then) {
        let wake = engine.wake(self.mark | place as u64, due);
        self.users[place].state = State::Pausing { wake, due, then };
    }

    /// Makes the user idle.
    pub(super) fn rest(&mut self, place: usize) {
        self.users[place].state = State::Idle;
        self.idle.push(place);
    }

    /// Checks and records the result of the user's request. Returns false if the step has not ended.
    #[inline]
    pub(super) fn record(
        &mut self,
        engine: &mut Engine,
        recorder: &mut Recorder,
        place: usize,
        finished: &Finished,
    ) -> bool {
        match &finished.result {
            Ok(response) => self.record_response(engine, recorder, place, &finished.exchange, response, None),
            Err(failure) => self.failed(engine, recorder, place, finished, failure),
        }
    }

    /// Records a request without a response. Returns false if it was one for a token.
    #[cold]
    fn failed(
        &mut self,
        engine: &mut Engine,
        recorder: &mut Recorder,
        place: usize,
        finished: &Finished,
        failure: &Failure,
    ) -> bool {
        if finished.token & FETCHING == FETCHING {
            self.token_failed(engine, recorder, finished, failure);
            return false;
        }
        let step = &self.steps[self.users[place].session.step().index()];
        step.failed(recorder, &finished.exchange, failure);
        true
    }

    /// Checks and records a response. Returns false if the step has not ended. `decoded`: its body, if it was encoded.
    #[inline(always)]
    #[allow(clippy::inline_always)] // it is the hot path for `record`, and rare for the other caller
    pub(super) fn record_response(
        &mut self,
        engine: &mut Engine,
        recorder: &mut Recorder,
        place: usize,
        exchange: &Exchange,
        response: &Response,
        decoded: Option<&[u8]>,
    ) -> bool {
        let session = &mut self.users[place].session;
        let step = &self.steps[session.step().index()];
        if let Some(parts) = &response.timing {
            recorder.parts(step.endpoint, parts, recorder.counted_at(exchange));
        }
        let body = decoded.unwrap_or(response.body());
        if step.is_call {
            self.record_call(recorder, place, exchange, response, body);
            return true;
        }
        let size = decoded.map_or(response.body_length, |body| body.len() as u64);
        let verdict = self.player.judge(session, response.status, response.head(), body, exchange.times().response);
        if verdict == Verdict::Success {
            recorder.exchange(step.endpoint, exchange, Outcome::Success, size);
            return true;
        }
        self.unsuccessful(engine, recorder, place, exchange, response, verdict, size)
    }

    /// Records a response that is not as expected, unless it is a challenge that the step answers: then it returns false.
    #[cold]
    #[allow(clippy::too_many_arguments)] // of the hot path, from which it is taken out
    fn unsuccessful(
        &mut self,
        engine: &mut Engine,
        recorder: &mut Recorder,
        place: usize,
        exchange: &Exchange,
        response: &Response,
        verdict: Verdict,
        size: u64,
    ) -> bool {
        if response.status == 401 && self.denied(engine, recorder, place, exchange, response) {
            return false;
        }
        let step = &self.steps[self.users[place].session.step().index()];
        step.judged(recorder, exchange, verdict, size);
        true
    }

    /// Checks and records the response to a call of gRPC. `body`: its messages, not compressed.
    #[cold]
    fn record_call(
        &mut self,
        recorder: &mut Recorder,
        place: usize,
        exchange: &Exchange,
        response: &Response,
        body: &[u8],
    ) {
        let session = &mut self.users[place].session;
        let step = &self.steps[session.step().index()];
        let reply = Reply { status: response.status, head: response.head(), body, trailers: &response.trailers };
        let verdict = self.player.judge_call(session, &reply, self.rules.max_decoded, exchange.times().response);
        let is_refused = verdict != Verdict::Success;
        step.judged(recorder, exchange, verdict, response.body_length);
        if is_refused && step.scheme.is_some() {
            self.call_refused(place, exchange, response);
        }
    }
}
