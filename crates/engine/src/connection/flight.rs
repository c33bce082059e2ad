//! The exchange in flight on a connection, from the call to the result.

use plimsoll_record::{Exchange, Outcome, StampSource};

use super::streaming::Stream;
use crate::call::{Bytes, Call, ExchangeId, Failure, Finished, Keep, Response};
use crate::clock::now;
use crate::protocol::Collector;

/// How long a body waits for 100 (Continue), ns. The same as curl.
const CONTINUE_WAIT: u64 = 1_000_000_000;

/// A call in progress.
#[derive(Debug)]
pub(crate) struct Flight {
    pub(super) call: Call,
    pub(super) exchange: Exchange,
    pub(super) response: Response,
    /// Bytes of this exchange written to the socket or to TLS.
    pub(super) written: usize,
    /// The body still waits for 100 (Continue).
    pub(super) held: bool,
    /// Deadline of the current wait, monotonic ns; 0 = never.
    pub(super) deadline: u64,
    /// Deadline of the whole exchange, monotonic ns; 0 = never. `deadline` is never later.
    pub(super) end: u64,
    /// Start of the current setup phase, monotonic ns.
    pub(super) phase: u64,
    /// State of a streamed body after its head was returned.
    pub(super) stream: Option<Box<Stream>>,
}

impl Flight {
    /// Starts on a kept connection, at `sent` (monotonic ns).
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

    /// Starts on a connection that is not open yet.
    pub(super) fn before_connecting(call: Call, sent: u64) -> Flight {
        let mut flight = Flight::new(call, sent);
        flight.wait_for_connection();
        flight
    }

    /// Starts the connect timeout at `phase`.
    fn wait_for_connection(&mut self) {
        self.deadline = sooner(after(self.phase, self.call.connect_timeout), self.end);
    }

    /// Delays the request until `until` (monotonic ns).
    pub(super) fn hold(&mut self, until: u64) {
        self.deadline = until;
    }

    /// Ends the delay: the exchange becomes due and is sent now. Returns the length of the delay, ns.
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

    /// Sets the time at which it is sent, monotonic ns.
    pub(super) fn leaves_at(&mut self, sent: u64) {
        self.exchange.sent = sent;
        self.phase = sent;
        self.wait(sent);
    }

    /// Restarts on a new connection.
    pub(super) fn restart(&mut self) {
        self.exchange.retries += 1;
        self.written = 0;
        self.held = self.call.wire.expect_continue;
        self.phase = now();
        self.wait_for_connection();
    }

    /// Sets the trace of the request.
    pub(crate) fn carries(&mut self, trace: u64) {
        self.exchange.trace = trace;
    }

    /// When it was sent, monotonic ns.
    pub(crate) fn sent(&self) -> u64 {
        self.exchange.sent
    }

    /// When its reply arrived, monotonic ns.
    pub(crate) fn arrival(&self) -> u64 {
        self.exchange.arrival
    }

    pub(crate) fn token(&self) -> u64 {
        self.call.token
    }

    /// The part of the request that may be sent now, or was sent.
    #[inline]
    pub(super) fn sendable(&self) -> &[u8] {
        let wire = &self.call.wire;
        let bytes = wire.bytes.as_slice();
        if self.held { &bytes[..wire.head] } else { bytes }
    }

    /// Whether everything that may be sent was passed to the transport.
    pub(super) fn is_written(&self) -> bool {
        self.written == self.sendable().len()
    }

    /// Adds bytes of an upgraded connection that the transport has not accepted yet.
    pub(super) fn append(&mut self, bytes: &[u8]) {
        let rest = [&self.sendable()[self.written..], bytes].concat();
        self.call.wire.bytes = Bytes::Owned(rest);
        self.written = 0;
    }

    /// Whether the peer has responded.
    #[inline]
    pub(super) fn is_answered(&self) -> bool {
        self.exchange.bytes_in > 0
    }

    /// Whether the body waits for 100 (Continue). A final response ends the wait: the peer does not want the body.
    #[inline]
    pub(super) fn waits_for_continue(&self) -> bool {
        self.held && self.response.status == 0
    }

    /// Releases the body.
    pub(super) fn release(&mut self) {
        self.held = false;
    }

    /// Restarts the read timeout.
    #[inline]
    pub(super) fn wait(&mut self, from: u64) {
        let limit = if self.waits_for_continue() { CONTINUE_WAIT } else { self.call.read_timeout };
        self.deadline = sooner(after(from, limit), self.end);
    }

    /// The failure after a passed deadline, with the name and limit (ns) of the wait.
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

    /// Whether the timeout of the whole exchange has passed.
    pub(super) fn is_over(&self) -> bool {
        self.end != 0 && self.end <= self.deadline
    }

    /// The collector for the protocol's output.
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

    /// Stamps the failure. A timeout ends at its limit (a censored time). Other failures end when they are detected.
    pub(super) fn fail(&mut self, failure: &Failure) {
        let end = if failure.outcome == Outcome::Timeout { self.deadline } else { now() };
        self.exchange.arrival = end.max(self.exchange.sent);
        self.exchange.source = StampSource::User;
        self.exchange.read = now().max(self.exchange.arrival);
    }

    /// The result for the caller.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as a call it copies the exchange once more (docs/performance.md)
    pub(crate) fn finish(mut self, id: ExchangeId, failure: Option<Failure>) -> Finished {
        self.exchange.bytes_out = self.written as u64;
        let result = match failure {
            None => {
                self.exchange.status = self.response.status;
                self.response.streamed = self.call.keep == Keep::Stream;
                Ok(self.response)
            }
            Some(failure) => {
                self.fail(&failure);
                Err(failure)
            }
        };
        Finished { id, token: self.call.token, exchange: self.exchange, result, wire: self.call.wire }
    }
}

/// The earlier of two deadlines; 0 is never.
#[inline]
fn sooner(one: u64, other: u64) -> u64 {
    // Subtracting 1 makes 0 (never) the latest.
    one.wrapping_sub(1).min(other.wrapping_sub(1)).wrapping_add(1)
}

/// The deadline of a limit that starts at `from`; 0 is none.
#[inline]
fn after(from: u64, limit: u64) -> u64 {
    if limit == 0 { 0 } else { from.saturating_add(limit) }
}
