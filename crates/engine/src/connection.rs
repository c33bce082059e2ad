//! One connection as a state machine over readiness. It has its socket and its exchange, but no event loop.

mod flight;
mod setup;
mod streaming;

use std::io::{self, ErrorKind};
use std::sync::Arc;

use plimsoll_http::{Decoder, Limits};
use plimsoll_record::{Outcome, StampSource};

use crate::call::{Call, Failure, Keep};
use crate::clock::{StampClock, now};
use crate::dial::Dial;
use crate::origin::Origin;
use crate::protocol::{Http1, Progress, Protocol};
use crate::socket::Socket;
use crate::tls::words;
use crate::transport::Transport;
pub(crate) use flight::Flight;
pub(crate) use streaming::closed;

/// A kept connection that was idle for longer than this is checked before reuse, ns.
const CHECK_AFTER_IDLE: u64 = 10_000_000;

/// Shared by all connections of an engine.
pub(crate) struct Io {
    /// Buffer for bytes from the socket.
    scratch: Vec<u8>,
    /// Buffer for bytes from TLS.
    plain: Vec<u8>,
    clock: StampClock,
    pub(crate) limits: Limits,
}

impl Io {
    pub(crate) fn new(limits: Limits) -> Io {
        Io { scratch: vec![0; 64 << 10], plain: vec![0; 32 << 10], clock: StampClock::default(), limits }
    }
}

/// A readiness event of a socket. It is edge-triggered: there is no second event for unread bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Readiness {
    pub readable: bool,
    pub writable: bool,
    /// The peer has closed the stream, or the stream is broken. Unread bytes may still be available.
    pub ended: bool,
}

/// The stage of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Waiting for the end of a backoff.
    BackingOff,
    /// Waiting for the resolver.
    Resolving,
    /// Waiting for the TCP connection.
    Connecting,
    /// Waiting for the proxy's response to CONNECT.
    Tunnelling,
    /// In the TLS handshake.
    Handshaking,
    /// Sending a request or waiting for its response.
    Exchanging,
    /// The same, with a response that is streamed.
    Streaming,
    /// Kept for the next request.
    Idle,
}

impl Stage {
    /// The stage after the request may be sent.
    #[inline]
    fn of(call: &Call) -> Stage {
        if call.keep == Keep::Stream { Stage::Streaming } else { Stage::Exchanging }
    }
}

/// The next action for a connection.
#[derive(Debug)]
pub(crate) enum Step {
    /// Wait for readiness.
    Wait,
    /// The response is complete. `keep`: the connection may be reused.
    Done { keep: bool },
    /// The exchange has failed; the connection cannot be reused.
    Failed(Failure),
    /// The peer had closed the kept connection; send the request again on a new one.
    Redial,
    /// This address failed; try the next one.
    NextAddress(io::Error),
    /// Connect, after a backoff of `waited` ns.
    Dial { waited: u64 },
    /// The idle connection is unusable.
    Close,
    /// A streamed exchange has progress: its head has arrived, or there is something to read.
    Streamed,
}

/// One connection of one client to one origin with protocol `P`.
#[derive(Debug)]
pub(crate) struct Connection<P = Http1> {
    pub(crate) client: usize,
    pub(crate) origin: Arc<Origin>,
    /// Distinguishes events of this socket from those of an earlier one in the same slot.
    pub(crate) generation: u32,
    /// Distinguishes the exchange in flight from earlier ones.
    pub(crate) serial: u32,
    /// Earliest timer entry of this connection, monotonic ns; 0 = none.
    pub(crate) timer: u64,
    pub(crate) dial: Dial,
    pub(crate) flight: Option<Flight>,
    stage: Stage,
    transport: Option<Transport>,
    protocol: P,
    /// Decodes the proxy's response to CONNECT.
    proxy: Option<Box<Decoder>>,
    /// The socket has carried an earlier exchange.
    reused: bool,
    /// Start of the idle time, monotonic ns.
    idle_since: u64,
}

impl<P: Protocol> Connection<P> {
    /// A connection that is not open yet, with its first exchange.
    pub(crate) fn new(client: usize, origin: Arc<Origin>, call: Call, sent: u64) -> Connection<P> {
        Connection {
            client,
            origin,
            generation: 0,
            serial: 0,
            timer: 0,
            dial: Dial::default(),
            flight: Some(Flight::before_connecting(call, sent)),
            stage: Stage::Resolving,
            transport: None,
            protocol: P::default(),
            proxy: None,
            reused: false,
            idle_since: 0,
        }
    }

    /// Drops the socket and restarts the same exchange. An exchange is sent at most twice.
    pub(crate) fn restart(&mut self) {
        self.transport = None;
        self.protocol = P::default();
        self.reused = false;
        self.stage = Stage::Resolving;
        if let Some(flight) = &mut self.flight {
            flight.restart();
        }
    }

    /// Deadline of the exchange, monotonic ns; 0 = never.
    pub(crate) fn deadline(&self) -> u64 {
        self.flight.as_ref().map_or(0, |flight| flight.deadline)
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.stage == Stage::Idle
    }

    pub(crate) fn is_resolving(&self) -> bool {
        self.stage == Stage::Resolving
    }

    /// Whether the connection was established, even if it has broken since.
    pub(crate) fn is_made(&self) -> bool {
        matches!(self.stage, Stage::Exchanging | Stage::Streaming | Stage::Idle)
    }

    /// Whether its exchange waits for the end of a backoff.
    pub(crate) fn is_held(&self) -> bool {
        self.stage == Stage::BackingOff
    }

    /// Delays its start until `until` (monotonic ns).
    pub(crate) fn hold(&mut self, until: u64) {
        self.stage = Stage::BackingOff;
        if let Some(flight) = &mut self.flight {
            flight.hold(until);
        }
    }

    /// Whether the connection can be reused at `at` (monotonic ns), as far as is known. The check may take time:
    /// returns the time after it.
    #[inline]
    pub(crate) fn usable_at(&self, at: u64) -> Option<u64> {
        if at.saturating_sub(self.idle_since) < CHECK_AFTER_IDLE {
            return Some(at);
        }
        (!self.is_stale()).then(now)
    }

    fn is_stale(&self) -> bool {
        self.transport.as_ref().is_none_or(|transport| transport.socket.is_stale())
    }

    /// Makes the connection idle and returns the finished exchange.
    pub(crate) fn rest(&mut self) -> Option<Flight> {
        self.stage = Stage::Idle;
        self.reused = true;
        let flight = self.flight.take()?;
        self.idle_since = flight.exchange.read;
        Some(flight)
    }

    /// Sends a request on a kept connection. `sent`: monotonic ns.
    #[inline]
    pub(crate) fn start(&mut self, call: Call, sent: u64, io: &mut Io) -> Step {
        self.protocol.begin(&call.wire);
        self.stage = Stage::of(&call);
        let flight = self.flight.insert(Flight::new(call, sent));
        flight.wait(sent);
        self.transmit(io)
    }

    /// Ends the resolving phase: the addresses are known.
    pub(crate) fn resolved(&mut self) {
        if let Some(flight) = &mut self.flight {
            flight.exchange.dns += flight.lap();
        }
    }

    /// Takes over a socket that is connecting.
    pub(crate) fn connecting(&mut self, socket: Socket) -> &mut Socket {
        self.stage = Stage::Connecting;
        &mut self.transport.insert(Transport::new(socket)).socket
    }

    /// Whether the peer has already accepted.
    pub(crate) fn is_through(&self) -> bool {
        self.transport.as_ref().is_some_and(|transport| transport.socket.is_through())
    }

    /// Handles a passed deadline.
    #[cold]
    pub(crate) fn expire(&mut self, io: &mut Io) -> Step {
        if self.is_streaming() {
            // The next read returns the failure.
            return Step::Streamed;
        }
        let stage = self.stage;
        let is_connected = self.is_made();
        let Some(flight) = &mut self.flight else { return Step::Wait };
        if stage == Stage::BackingOff {
            self.stage = Stage::Resolving;
            return Step::Dial { waited: flight.release_held() };
        }
        if flight.waits_for_continue() && is_connected && !flight.is_over() {
            flight.release();
            flight.wait(now());
            return self.transmit(io);
        }
        let (what, limit) = flight.passed(is_connected);
        Step::Failed(late(what, limit))
    }

    /// Handles a readiness event.
    #[inline]
    pub(crate) fn ready(&mut self, io: &mut Io, ready: Readiness) -> Step {
        let stage = self.stage;
        let step = match stage {
            Stage::Exchanging => return self.exchange(io, ready),
            Stage::Idle if ready.readable => return Step::Close,
            Stage::Idle | Stage::Resolving | Stage::BackingOff => return Step::Wait,
            Stage::Connecting => self.connected(io),
            Stage::Tunnelling => self.tunnel(io),
            Stage::Handshaking => self.handshake(io),
            Stage::Streaming => return self.stream_on(io, ready),
        };
        match step {
            // The bytes that are available may belong to the next stage.
            Step::Wait if ready.readable && self.stage != stage => self.ready(io, ready),
            step => step,
        }
    }

    #[inline]
    fn exchange(&mut self, io: &mut Io, ready: Readiness) -> Step {
        if ready.writable && self.has_output() {
            match self.send_on(io) {
                Step::Wait => {}
                step => return step,
            }
        }
        if ready.readable { self.receive(io, ready.ended) } else { Step::Wait }
    }

    /// Continues to send the request.
    #[inline(never)]
    fn send_on(&mut self, io: &mut Io) -> Step {
        if let Some(flight) = &mut self.flight {
            // The peer reads our bytes, so the read timeout starts again.
            flight.wait(now());
        }
        self.transmit(io)
    }

    fn has_output(&mut self) -> bool {
        self.has_unsent() || self.transport.as_ref().is_some_and(Transport::has_output)
    }

    /// Whether the protocol has unsent bytes.
    #[inline]
    fn has_unsent(&mut self) -> bool {
        let Some(flight) = &self.flight else { return false };
        !self.protocol.output(flight.sendable(), flight.written).is_empty()
    }

    /// Writes as much of the request as the socket accepts.
    #[inline]
    fn transmit(&mut self, io: &mut Io) -> Step {
        match self.write() {
            Ok(()) => Step::Wait,
            // The peer may have responded before it closed.
            Err(error) => match self.receive(io, true) {
                Step::Wait => self.lost(Failure::io(Outcome::Reset, &error)),
                step => step,
            },
        }
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // as a call it costs more than what it does (docs/decisions/0022)
    fn write(&mut self) -> io::Result<()> {
        let (Some(flight), Some(transport)) = (&mut self.flight, &mut self.transport) else { return Ok(()) };
        loop {
            let unsent = self.protocol.output(flight.sendable(), flight.written);
            let wrote = if unsent.is_empty() { transport.flush().map(|()| 0) } else { transport.write(unsent) };
            match wrote {
                Ok(0) => return Ok(()),
                Ok(length) => flight.written += length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads and stamps the available bytes. This is the only place that takes an arrival time.
    ///
    /// A read that does not fill the buffer has drained the socket. Later bytes cause a new event. The end of the
    /// stream is different: its event (`ended`) is the last one.
    #[inline]
    fn receive(&mut self, io: &mut Io, ended: bool) -> Step {
        loop {
            let Some(transport) = &mut self.transport else { return Step::Close };
            let received = match transport.receive(&mut io.scratch) {
                Ok(received) => received,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return self.send_rest(io),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return self.lost(Failure::io(Outcome::Reset, &error)),
            };
            let read = now();
            if received.length == 0 {
                return self.cut_off(read, &io.limits);
            }
            let emptied = received.length < io.scratch.len();
            let fresh = &io.scratch[..received.length];
            let step = if transport.is_secure() {
                self.take_sealed(fresh, received.stamp, read, &mut io.plain, &io.limits, &mut io.clock)
            } else {
                self.take(fresh, received.stamp, read, &io.limits, &mut io.clock)
            };
            match step {
                Step::Wait if ended || !emptied => {}
                Step::Wait => return self.send_rest(io),
                Step::Done { keep: true } if ended || !emptied => {
                    return Step::Done { keep: !ended && !self.is_stale() };
                }
                step => return step,
            }
        }
    }

    /// Writes what the input has released: the body after 100 (Continue), or a response of the protocol itself.
    #[inline]
    fn send_rest(&mut self, io: &mut Io) -> Step {
        if self.has_unsent() { self.transmit(io) } else { Step::Wait }
    }

    /// Passes encrypted bytes to TLS, in portions that TLS can decrypt.
    #[inline(never)]
    fn take_sealed(
        &mut self,
        mut sealed: &[u8],
        stamp: Option<u64>,
        read: u64,
        plain: &mut [u8],
        limits: &Limits,
        clock: &mut StampClock,
    ) -> Step {
        while !sealed.is_empty() {
            let Some(transport) = &mut self.transport else { return Step::Close };
            if let Err(error) = transport.unseal(&mut sealed) {
                return Step::Failed(Failure::new(Outcome::Tls, words(&error, self.origin.port())));
            }
            match self.take_opened(stamp, read, plain, limits, clock) {
                Step::Wait => {}
                Step::Done { keep: true } => {
                    let clean = self.transport.as_mut().is_some_and(|transport| transport.is_clean(sealed));
                    return Step::Done { keep: clean };
                }
                step => return step,
            }
        }
        Step::Wait
    }

    /// Passes decrypted bytes to the protocol.
    fn take_opened(
        &mut self,
        stamp: Option<u64>,
        read: u64,
        plain: &mut [u8],
        limits: &Limits,
        clock: &mut StampClock,
    ) -> Step {
        loop {
            let Some(transport) = &mut self.transport else { return Step::Close };
            match transport.open(plain) {
                Ok(0) => return self.ended(read, limits),
                Ok(length) => match self.take(&plain[..length], stamp, read, limits, clock) {
                    Step::Wait => {}
                    step => return step,
                },
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Step::Wait,
                Err(error) => return self.lost(Failure::io(Outcome::Reset, &error)),
            }
        }
    }

    /// Passes response bytes to the protocol. `stamp` belongs to the segment with the last byte.
    #[inline]
    fn take(&mut self, fresh: &[u8], stamp: Option<u64>, read: u64, limits: &Limits, clock: &mut StampClock) -> Step {
        let Some(flight) = &mut self.flight else { return Step::Close };
        flight.exchange.bytes_in += fresh.len() as u64;
        let headless = flight.response.status == 0;
        let progress = match self.protocol.input(limits, fresh, &mut flight.collector()) {
            Ok(progress) => progress,
            Err(failure) => return Step::Failed(failure),
        };
        let has_head = headless && flight.response.status != 0;
        if has_head || progress != Progress::More || flight.stream.is_some() {
            let (arrival, source) = clock.arrival(stamp, flight.exchange.sent, read);
            if has_head {
                flight.exchange.first_byte = arrival;
            }
            // After a clock correction, two stamps may be out of order.
            flight.exchange.arrival = arrival.max(flight.exchange.first_byte);
            flight.exchange.source = source;
        }
        let Progress::Done { reusable } = progress else {
            flight.wait(read);
            return Step::Wait;
        };
        flight.exchange.read = read;
        if !self.reused {
            self.origin.answers();
        }
        // The peer did not read the whole request: never reuse the connection.
        let is_sent = self.protocol.output(flight.call.wire.bytes.as_slice(), flight.written).is_empty();
        Step::Done { keep: reusable && is_sent }
    }

    /// Handles the end of the stream. It is correct if it ends the body.
    #[cold]
    fn ended(&mut self, read: u64, limits: &Limits) -> Step {
        let Some(flight) = &mut self.flight else { return Step::Close };
        if !flight.is_answered() {
            return self.lost(Failure::new(Outcome::Reset, "connection closed without a response"));
        }
        match self.protocol.input(limits, &[], &mut flight.collector()) {
            Ok(_) => {
                flight.exchange.arrival = read;
                flight.exchange.source = StampSource::User;
                flight.exchange.read = read;
                Step::Done { keep: false }
            }
            Err(failure) => Step::Failed(failure),
        }
    }

    /// Handles the end of the socket. TLS must have announced it; otherwise a third party may have cut the connection.
    #[cold]
    fn cut_off(&mut self, read: u64, limits: &Limits) -> Step {
        let is_secure = self.transport.as_ref().is_some_and(Transport::is_secure);
        match self.ended(read, limits) {
            Step::Done { .. } if is_secure => Step::Failed(Failure::new(
                Outcome::Reset,
                "the connection was closed without the end of TLS (close_notify): the response may be incomplete",
            )),
            step => step,
        }
    }

    /// Handles a broken connection. If a kept one never responded, the peer had closed it before the request arrived.
    /// The retry uses a new connection, so a request is sent at most twice.
    #[cold]
    fn lost(&self, mut failure: Failure) -> Step {
        let Some(flight) = &self.flight else { return Step::Close };
        if self.reused && !flight.is_answered() && flight.call.wire.idempotent {
            return Step::Redial;
        }
        if !flight.is_answered() && self.origin.may_want_tls() {
            failure.message.push_str("; is it https?");
        }
        Step::Failed(failure)
    }
}

/// The failure after a timeout of `limit` ns.
fn late(what: &str, limit: u64) -> Failure {
    Failure::new(Outcome::Timeout, format!("{what} within {} s", limit as f64 / 1e9))
}

#[cfg(test)]
mod tests;
