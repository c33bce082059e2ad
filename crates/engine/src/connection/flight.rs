//! The exchange that a connection is busy with, from the call to what goes back to the caller.

use plimsoll_record::{Exchange, Outcome, StampSource};

use super::streaming::Stream;
use crate::call::{Call, ExchangeId, Failure, Finished, Keep, Response};
use crate::clock::now;
use crate::protocol::Collector;

/// How long a body waits for its 100 (Continue), ns. As curl does.
const CONTINUE_WAIT: u64 = 1_000_000_000;

/// A call under way.
#[derive(Debug)]
pub(crate) struct Flight {
    pub(super) call: Call,
    pub(super) exchange: Exchange,
    pub(super) response: Response,
    /// Bytes of this exchange handed to the socket or to TLS.
    pub(super) written: usize,
    /// No 100 (Continue) has come, nor the time to do without it.
    held: bool,
    /// When to give up waiting, monotonic ns; 0 = never.
    pub(super) deadline: u64,
    /// When to give up whatever comes, monotonic ns; 0 = never. No deadline is later.
    pub(super) end: u64,
    /// Start of the set-up phase that is being timed, monotonic ns.
    pub(super) phase: u64,
    /// What there is to know of it if its head has been handed over and its body is still to come.
    pub(super) stream: Option<Box<Stream>>,
}

impl Flight {
    /// On a kept connection, at `sent` (monotonic ns).
    #[inline]
    pub(super) fn new(call: Call, sent: u64) -> Flight {
        let due = if call.due == 0 { sent } else { call.due.min(sent) };
        let exchange = Exchange { due, free: call.free.min(sent), sent, ..Exchange::default() };
        let held = call.wire.expect_continue;
        let end = after(if call.since == 0 { sent } else { call.since }, call.timeout);
        Flight {
            call,
            exchange,
            response: Response::default(),
            written: 0,
            held,
            deadline: 0,
            end,
            phase: sent,
            stream: None,
        }
    }

    /// On a connection that has yet to be made.
    pub(super) fn before_connecting(call: Call, sent: u64) -> Flight {
        let mut flight = Flight::new(call, sent);
        flight.wait_for_connection();
        flight
    }

    /// From `phase` on there is so much time to connect.
    fn wait_for_connection(&mut self) {
        self.deadline = sooner(after(self.phase, self.call.connect_timeout), self.end);
    }

    /// Is not to be sent before `until` (monotonic ns).
    pub(super) fn hold(&mut self, until: u64) {
        self.deadline = until;
    }

    /// The time that it was held until has come: it is due then, and sent now. Returns how long it was held, ns.
    pub(super) fn release_held(&mut self) -> u64 {
        let (until, now) = (self.deadline, now());
        let held = now - self.exchange.sent;
        self.exchange.due = self.exchange.due.max(until);
        self.exchange.sent = now;
        self.phase = now;
        if self.call.since == 0 {
            self.end = after(now, self.call.timeout);
        }
        self.wait_for_connection();
        held
    }

    /// Begins again on a new connection.
    pub(super) fn restart(&mut self) {
        self.exchange.retries += 1;
        self.written = 0;
        self.held = self.call.wire.expect_continue;
        self.phase = now();
        self.wait_for_connection();
    }

    /// Its request has this trace.
    pub(crate) fn carries(&mut self, trace: u64) {
        self.exchange.trace = trace;
    }

    pub(crate) fn token(&self) -> u64 {
        self.call.token
    }

    /// Ends the set-up phase that began at `phase`, and returns how long it took.
    pub(super) fn lap(&mut self) -> u64 {
        let now = now();
        let took = now - self.phase;
        self.phase = now;
        took
    }

    /// The part of the request that may go out now, or has gone out.
    #[inline]
    pub(super) fn sendable(&self) -> &[u8] {
        let wire = &self.call.wire;
        let bytes = wire.bytes.as_slice();
        if self.held { &bytes[..wire.head] } else { bytes }
    }

    /// Whether the peer has answered.
    #[inline]
    pub(super) fn is_answered(&self) -> bool {
        self.exchange.bytes_in > 0
    }

    /// Whether the body is being kept back. A final response says that it is not wanted, and the wait is over.
    #[inline]
    pub(super) fn waits_for_continue(&self) -> bool {
        self.held && self.response.status == 0
    }

    /// Lets the body go out.
    pub(super) fn release(&mut self) {
        self.held = false;
    }

    /// From now on the peer has its time to send something, or to take something.
    #[inline]
    pub(super) fn wait(&mut self, from: u64) {
        let limit = if self.waits_for_continue() { CONTINUE_WAIT } else { self.call.read_timeout };
        self.deadline = sooner(after(from, limit), self.end);
    }

    /// What has passed when a deadline has: what there was to wait for, and its limit in ns.
    #[cold]
    pub(super) fn passed(&self, is_connected: bool) -> (&'static str, u64) {
        let Call { timeout, connect_timeout, read_timeout, .. } = self.call;
        match (is_connected, self.is_over()) {
            (false, true) => ("no connection", timeout),
            (false, false) => ("no connection", connect_timeout),
            (true, true) => ("no complete response", timeout),
            (true, false) => ("no data", read_timeout),
        }
    }

    /// Whether the limit of the whole exchange has passed.
    pub(super) fn is_over(&self) -> bool {
        self.end != 0 && self.end <= self.deadline
    }

    /// What the protocol's findings go into.
    #[inline]
    pub(super) fn collector(&mut self) -> Collector<'_> {
        Collector {
            response: &mut self.response,
            keep: self.call.keep,
            wire: &self.call.wire,
            held: &mut self.held,
            refused: false,
        }
    }

    /// What goes to the caller.
    pub(crate) fn finish(mut self, id: ExchangeId, failure: Option<Failure>) -> Finished {
        self.exchange.bytes_out = self.written as u64;
        let result = match failure {
            None => {
                self.exchange.status = self.response.status;
                self.response.streamed = self.call.keep == Keep::Stream;
                Ok(self.response)
            }
            Some(failure) => {
                // A censored time is kept at its limit; every other failure ends when it is known.
                let end = if failure.outcome == Outcome::Timeout { self.deadline } else { now() };
                self.exchange.arrival = end.max(self.exchange.sent);
                self.exchange.source = StampSource::User;
                self.exchange.read = now().max(self.exchange.arrival);
                Err(failure)
            }
        };
        Finished { id, token: self.call.token, exchange: self.exchange, result, wire: self.call.wire }
    }
}

/// The sooner of two deadlines, of which 0 is never.
#[inline]
fn sooner(one: u64, other: u64) -> u64 {
    // One less, and never is the latest of all.
    one.wrapping_sub(1).min(other.wrapping_sub(1)).wrapping_add(1)
}

/// The deadline of a limit that starts at `from`; a limit of 0 is none.
#[inline]
fn after(from: u64, limit: u64) -> u64 {
    if limit == 0 { 0 } else { from.saturating_add(limit) }
}
