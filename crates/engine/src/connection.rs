//! One connection as a state machine over readiness. It knows its socket and its exchange, not the loop around it.

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

/// A kept connection that was idle for longer than this is checked before it is used again, ns.
const CHECK_AFTER_IDLE: u64 = 10_000_000;

/// What all connections of an engine share.
pub(crate) struct Io {
    /// Bytes fresh from a socket.
    scratch: Vec<u8>,
    /// Bytes fresh from TLS.
    plain: Vec<u8>,
    clock: StampClock,
    pub(crate) limits: Limits,
}

impl Io {
    pub(crate) fn new(limits: Limits) -> Io {
        Io { scratch: vec![0; 64 << 10], plain: vec![0; 32 << 10], clock: StampClock::default(), limits }
    }
}

/// What a readiness event says about a socket. The system reports it once: no second event comes for what is not read then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Readiness {
    pub readable: bool,
    pub writable: bool,
    /// The peer has ended the stream, or it is broken: behind what is there to be read comes the end.
    pub ended: bool,
}

/// Where a connection is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Waiting for the time to try again, because connecting failed before.
    BackingOff,
    /// Waiting for addresses.
    Resolving,
    /// Waiting for the peer to accept.
    Connecting,
    /// Waiting for a proxy to let us through.
    Tunnelling,
    /// In the TLS handshake.
    Handshaking,
    /// A request is out, or on its way out.
    Exchanging,
    /// The same, and the response is handed over as it comes.
    Streaming,
    /// Kept for the next request.
    Idle,
}

impl Stage {
    /// Once the call's request may go out.
    #[inline]
    fn of(call: &Call) -> Stage {
        if call.keep == Keep::Stream { Stage::Streaming } else { Stage::Exchanging }
    }
}

/// What has to happen next to a connection.
#[derive(Debug)]
pub(crate) enum Step {
    /// Nothing until it is ready again.
    Wait,
    /// Its exchange has a complete response; the connection may be kept or not.
    Done { keep: bool },
    /// Its exchange has failed; the connection cannot be used again.
    Failed(Failure),
    /// The peer had closed the kept connection; the request can go out again on a new one.
    Redial,
    /// The address did not work; another may.
    NextAddress(io::Error),
    /// It may try to connect, after a wait of so many ns.
    Dial { waited: u64 },
    /// It was idle and cannot be used again.
    Close,
    /// The caller that streams its exchange can go on: the head is there, or later something to read.
    Streamed,
}

/// One connection of one client to one origin, which speaks the protocol `P`.
#[derive(Debug)]
pub(crate) struct Connection<P = Http1> {
    pub(crate) client: usize,
    pub(crate) origin: Arc<Origin>,
    /// Distinguishes events of this socket from those of an earlier one in the same place.
    pub(crate) generation: u32,
    /// Distinguishes the exchange in flight from earlier ones.
    pub(crate) serial: u32,
    /// Earliest entry of this connection among the timers, monotonic ns; 0 = none.
    pub(crate) timer: u64,
    pub(crate) dial: Dial,
    pub(crate) flight: Option<Flight>,
    stage: Stage,
    transport: Option<Transport>,
    protocol: P,
    /// Of the answer of a proxy that is asked for a tunnel.
    proxy: Option<Box<Decoder>>,
    /// The socket carried an exchange before this one.
    reused: bool,
    /// Since when it is idle, monotonic ns.
    idle_since: u64,
}

impl<P: Protocol> Connection<P> {
    /// A connection yet to be made, with the exchange it is made for.
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

    /// Forgets the socket and begins again with the same exchange; it is sent at most twice.
    pub(crate) fn restart(&mut self) {
        self.transport = None;
        self.protocol = P::default();
        self.reused = false;
        self.stage = Stage::Resolving;
        if let Some(flight) = &mut self.flight {
            flight.restart();
        }
    }

    /// When its exchange gives up waiting, monotonic ns; 0 = never.
    pub(crate) fn deadline(&self) -> u64 {
        self.flight.as_ref().map_or(0, |flight| flight.deadline)
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.stage == Stage::Idle
    }

    pub(crate) fn is_resolving(&self) -> bool {
        self.stage == Stage::Resolving
    }

    /// Whether it can carry requests, or could until it broke.
    pub(crate) fn is_made(&self) -> bool {
        matches!(self.stage, Stage::Exchanging | Stage::Streaming | Stage::Idle)
    }

    /// Whether its exchange waits for the time to try again.
    pub(crate) fn is_held(&self) -> bool {
        self.stage == Stage::BackingOff
    }

    /// Lets it begin no sooner than at `until` (monotonic ns).
    pub(crate) fn hold(&mut self, until: u64) {
        self.stage = Stage::BackingOff;
        if let Some(flight) = &mut self.flight {
            flight.hold(until);
        }
    }

    /// Whether it can carry another exchange at `at` (monotonic ns), as far as can be known. Finding out may take time:
    /// returns when that is over.
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

    /// Keeps the connection for the next exchange and hands over the finished one.
    pub(crate) fn rest(&mut self) -> Option<Flight> {
        self.stage = Stage::Idle;
        self.reused = true;
        let flight = self.flight.take()?;
        self.idle_since = flight.exchange.read;
        Some(flight)
    }

    /// Sends a request on a kept connection. `sent`: the time, monotonic ns.
    #[inline]
    pub(crate) fn start(&mut self, call: Call, sent: u64, io: &mut Io) -> Step {
        self.protocol.begin(&call.wire);
        self.stage = Stage::of(&call);
        let flight = self.flight.insert(Flight::new(call, sent));
        flight.wait(sent);
        self.transmit(io)
    }

    /// The addresses are known: the time that took is over.
    pub(crate) fn resolved(&mut self) {
        if let Some(flight) = &mut self.flight {
            flight.exchange.dns += flight.lap();
        }
    }

    /// Goes on with a socket that is being connected.
    pub(crate) fn connecting(&mut self, socket: Socket) -> &mut Socket {
        self.stage = Stage::Connecting;
        &mut self.transport.insert(Transport::new(socket)).socket
    }

    /// Whether the peer has accepted it already.
    pub(crate) fn is_through(&self) -> bool {
        self.transport.as_ref().is_some_and(|transport| transport.socket.is_through())
    }

    /// Its deadline has passed.
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

    /// Its socket is ready.
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
            // What is there to be read may be for the next stage already.
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

    /// Goes on with the request.
    #[inline(never)]
    fn send_on(&mut self, io: &mut Io) -> Step {
        if let Some(flight) = &mut self.flight {
            // The peer takes what we send: that is no silence.
            flight.wait(now());
        }
        self.transmit(io)
    }

    fn has_output(&mut self) -> bool {
        self.has_unsent() || self.transport.as_ref().is_some_and(Transport::has_output)
    }

    /// Whether the protocol has bytes that may go out and have not gone.
    #[inline]
    fn has_unsent(&mut self) -> bool {
        let Some(flight) = &self.flight else { return false };
        !self.protocol.output(flight.sendable(), flight.written).is_empty()
    }

    /// Writes as much of the request as the socket takes.
    #[inline]
    fn transmit(&mut self, io: &mut Io) -> Step {
        match self.write() {
            Ok(()) => Step::Wait,
            // The peer may have answered before it closed.
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

    /// Reads what is there and stamps it: the one place in which an arrival is taken.
    ///
    /// A read that does not fill the buffer has emptied the socket, and what comes later is an event of its own. Only
    /// the end of the stream is different: its event (`ended`) is the last one.
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

    /// What came in may have set something free to go out: the body after a 100 (Continue), or an answer of the protocol
    /// itself.
    #[inline]
    fn send_rest(&mut self, io: &mut Io) -> Step {
        if self.has_unsent() { self.transmit(io) } else { Step::Wait }
    }

    /// Feeds bytes of TLS, in the portions in which it opens them.
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

    /// Feeds what TLS has opened.
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

    /// Hands response bytes to the protocol. `stamp` belongs to the segment that carried the last of them.
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
        if has_head || progress != Progress::More {
            let (arrival, source) = clock.arrival(stamp, flight.exchange.sent, read);
            if has_head {
                flight.exchange.first_byte = arrival;
            }
            // Two stamps on either side of a correction of the clock may be out of order.
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
        // A request that the peer did not want to the end: never reuse such a connection.
        let is_sent = self.protocol.output(flight.call.wire.bytes.as_slice(), flight.written).is_empty();
        Step::Done { keep: reusable && is_sent }
    }

    /// The peer ended the stream: fine if that is how the body ends.
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

    /// The socket has come to its end. TLS says so before that, or else somebody in between may have cut it off.
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

    /// The connection broke. On a kept one that never answered, the peer had closed it before our request came. The new
    /// one is not a kept one: nothing goes out more than twice.
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

/// The failure of who has waited for so long, ns.
fn late(what: &str, limit: u64) -> Failure {
    Failure::new(Outcome::Timeout, format!("{what} within {} s", limit as f64 / 1e9))
}

#[cfg(test)]
mod tests;
