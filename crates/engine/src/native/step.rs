//! What the engine needs of each step, prepared once, and how its exchanges are recorded.

use std::sync::Arc;

use plimsoll_record::{EndpointId, Exchange, Outcome, Recorder, SocketRows, StreamRows};
use plimsoll_scenario::{self as scenario, Scheme, Verdict};

use super::certificates::OwnOrigins;
use crate::call::{Bytes, Call, Failure, Keep, Wire, is_idempotent};
use crate::event_reader::EventRows;
use crate::origin::Origin;

/// One step.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "seven independent facts, not a state")]
pub(super) struct Step {
    pub(super) endpoint: EndpointId,
    /// Of all users; see [`origin_of`](Step::origin_of).
    pub(super) origin: Arc<Origin>,
    /// Of users with certificates of their own.
    pub(super) own: Option<Arc<OwnOrigins>>,
    /// Timeout of the exchange, ns; 0 = none.
    pub(super) timeout: u64,
    /// Timeout of connecting and of each wait for bytes, ns; 0 = none.
    pub(super) idle_timeout: u64,
    pub(super) keep: Keep,
    /// Boxed: it is rare, and steps are read for each exchange.
    pub(super) stream: Option<Box<EventRows>>,
    /// Of a call whose server streams; None also for a name over the limit of names.
    pub(super) replies: Option<StreamRows>,
    /// The expectations or extractions need the decoded body.
    pub(super) needs_body: bool,
    /// Of the step that opens a WebSocket; None also for a name over the limit of names.
    pub(super) socket_rows: Option<SocketRows>,
    /// Of the step that sends a message of a WebSocket.
    pub(super) message_row: Option<EndpointId>,
    /// The step is one of a WebSocket.
    pub(super) is_socket: bool,
    /// Its request takes another way: the step is one of a WebSocket, has a scheme, or users have certificates.
    pub(super) is_special: bool,
    /// How its request says who sends it, if that is made anew for each.
    pub(super) scheme: Option<Scheme>,
    /// Of challenges that are answered; None also for a name over the limit of names.
    pub(super) challenge_row: Option<EndpointId>,
    /// The step is a call of gRPC.
    pub(super) is_call: bool,
    head_request: bool,
    continues: bool,
    idempotent: bool,
}

impl Step {
    /// Adds the step's endpoint to the recorder.
    pub(super) fn new(
        step: &scenario::Step,
        origin: &Arc<Origin>,
        own: Option<Arc<OwnOrigins>>,
        recorder: &mut Recorder,
    ) -> Step {
        let endpoint = recorder.endpoint(&step.method, &step.name);
        let keep = match step.stream {
            Some(_) => Keep::Stream,
            None if step.has_streamed_replies() => Keep::Stream,
            None if step.needs_head || step.needs_body => Keep::All,
            // The challenge is in the head.
            None if step.scheme() == Some(Scheme::Digest) => Keep::All,
            None => Keep::Nothing,
        };
        let scheme = step.scheme();
        let is_connect = matches!(step.websocket, Some(scenario::WebSocket::Connect(_)));
        let is_send = matches!(step.websocket, Some(scenario::WebSocket::Send { .. }));
        Step {
            endpoint,
            origin: Arc::clone(origin),
            timeout: step.timeout,
            idle_timeout: step.idle_timeout,
            keep,
            stream: step.stream.map(|stream| Box::new(EventRows::new(stream, endpoint, recorder))),
            replies: step.has_streamed_replies().then(|| recorder.stream_rows(endpoint)).flatten(),
            needs_body: step.needs_body,
            is_call: step.is_call(),
            head_request: step.method == "HEAD",
            continues: is_connect,
            socket_rows: is_connect.then(|| recorder.socket_rows(endpoint)).flatten(),
            message_row: is_send.then(|| recorder.message_row(endpoint)).flatten(),
            is_socket: step.websocket.is_some(),
            is_special: step.websocket.is_some() || scheme.is_some() || own.is_some(),
            own,
            scheme,
            challenge_row: (scheme == Some(Scheme::Digest)).then(|| recorder.challenge_row(endpoint)).flatten(),
            // A WebSocket is opened with GET.
            idempotent: is_connect || is_idempotent(&step.method),
        }
    }

    /// The origin for the user with this number.
    pub(super) fn origin_of(&self, user: u64) -> &Arc<Origin> {
        self.own.as_ref().map_or(&self.origin, |own| own.of(user))
    }

    /// Encodes a request of this step.
    #[inline]
    pub(super) fn wire(&self, bytes: Bytes, head: usize, expect_continue: bool) -> Wire {
        let Step { head_request, continues, idempotent, .. } = *self;
        Wire { bytes, head, expect_continue, head_request, continues, idempotent }
    }

    /// A request of this step. `due`, `free`: as in [`Call`].
    #[inline]
    pub(super) fn call(&self, token: u64, wire: Wire, due: u64, free: u64) -> Call {
        Call {
            token,
            wire,
            due,
            free,
            timeout: self.timeout,
            since: 0,
            connect_timeout: self.idle_timeout,
            read_timeout: self.idle_timeout,
            keep: self.keep,
        }
    }

    /// Records an exchange with a complete response.
    #[inline]
    pub(super) fn judged(&self, recorder: &mut Recorder, exchange: &Exchange, verdict: Verdict, body: u64) {
        if verdict == Verdict::Success {
            return recorder.exchange(self.endpoint, exchange, Outcome::Success, body);
        }
        let (outcome, message) = outcome(verdict);
        self.faulty(recorder, exchange, outcome, body, &message);
    }

    /// Records an exchange without a complete response.
    #[cold]
    pub(super) fn failed(&self, recorder: &mut Recorder, exchange: &Exchange, failure: &Failure) {
        if let Some(errno) = failure.errno {
            recorder.errno(errno, exchange.arrival);
        }
        // A call has no other protocol.
        let hint = if self.is_call { "; leave out --http2" } else { "" };
        let message = failure.message.strip_suffix(hint).unwrap_or(&failure.message);
        self.faulty(recorder, exchange, failure.outcome, 0, message);
    }

    /// Records an exchange that is not a success, with the reason of a failure.
    #[cold]
    pub(super) fn faulty(
        &self,
        recorder: &mut Recorder,
        exchange: &Exchange,
        outcome: Outcome,
        body: u64,
        message: &str,
    ) {
        if outcome.is_failure() {
            recorder.failure(self.endpoint, outcome, message, recorder.counted_at(exchange));
        }
        recorder.exchange(self.endpoint, exchange, outcome, body);
    }
}

/// The outcome that a verdict is recorded as, and the reason of a failure.
#[inline]
pub(super) fn outcome(verdict: Verdict) -> (Outcome, String) {
    match verdict {
        Verdict::Success => (Outcome::Success, String::new()),
        Verdict::Http(reason) => (Outcome::Http, reason),
        Verdict::Assertion(reason) => (Outcome::Assertion, reason),
        Verdict::Timeout(reason) => (Outcome::Timeout, reason),
        Verdict::Protocol(reason) => (Outcome::Protocol, reason),
    }
}
