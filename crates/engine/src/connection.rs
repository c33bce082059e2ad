//! One connection as a state machine over readiness. It has its socket and its exchange, but no event loop.

mod answers;
mod flight;
mod input;
mod session;
mod setup;
mod sharing;
mod streaming;
mod tunnel;
mod uploading;

use std::io::{self, ErrorKind};
use std::sync::Arc;

use plimsoll_http::{Heads, Limits};
use plimsoll_record::{Exchange, Outcome};

use crate::call::{Call, Failure, Keep};
use crate::clock::{StampClock, now};
use crate::dial::Dial;
use crate::origin::Origin;
use crate::protocol::{Http1, Protocol};
use crate::socket::Socket;
use crate::transport::Transport;
pub(crate) use flight::Flight;
pub(crate) use session::Session;
pub(crate) use sharing::Share;
pub(crate) use streaming::closed;
use tunnel::Passage;

/// A kept connection that was idle for longer than this is checked before reuse, ns.
pub(crate) const CHECK_AFTER_IDLE: u64 = 10_000_000;

/// Reads of one event. A peer that sends faster than they are handled would keep other users from running.
const READS: usize = 16;

/// Shared by all connections of an engine.
pub(crate) struct Io {
    /// Buffer for bytes from the socket.
    scratch: Vec<u8>,
    /// Buffer for bytes from TLS.
    plain: Vec<u8>,
    clock: StampClock,
    pub(crate) heads: Heads,
}

impl Io {
    pub(crate) fn new(limits: Limits) -> Io {
        Io {
            scratch: vec![0; 64 << 10],
            plain: vec![0; 32 << 10],
            clock: StampClock::default(),
            heads: Heads::new(limits),
        }
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

/// Something may have arrived.
pub(crate) const READABLE: Readiness = Readiness { readable: true, writable: false, ended: false };

/// The stage of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Waiting for the end of a backoff.
    BackingOff,
    /// Waiting for the resolver.
    Resolving,
    /// Waiting for the TCP connection.
    Connecting,
    /// Waiting for the proxy's answer.
    Tunnelling,
    /// In the TLS handshake.
    Handshaking,
    /// Carrying the exchanges of others (HTTP/2).
    Shared,
    /// Waiting for a stream of a shared connection.
    Queued,
    /// Sending a request or waiting for its response.
    Exchanging,
    /// The same, with a response that is streamed.
    Streaming,
    /// Sending a request in parts, or waiting for its response.
    Uploading,
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
    /// The socket may have more than one turn reads, of which no event will tell. `ended`: its last event has come.
    Unread { ended: bool },
    /// The idle connection is unusable.
    Close,
    /// A streamed exchange has progress: its head has arrived, or there is something to read.
    Streamed,
    /// A shared connection is ready for exchanges.
    Made,
    /// A shared connection has this event.
    Shared(Readiness),
    /// The body of an exchange on a shared connection need not wait for 100 (Continue) any longer.
    Continue,
    /// The peer promises that it has not acted on the request: send it again.
    Again,
    /// The parts of a request are in the socket: its caller can write the next one.
    Written,
}

/// One connection of one client to one origin with protocol `P`, and the exchange in flight on it.
///
/// With HTTP/2 these are apart: a connection with a `session` carries many exchanges. Each of them is a `Connection`
/// without a socket that has a `share` in the session.
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
    /// The addresses to try, until it is connected.
    pub(crate) dial: Option<Box<Dial>>,
    pub(crate) flight: Option<Flight>,
    stage: Stage,
    transport: Option<Transport>,
    protocol: P,
    /// The way through a proxy, until the tunnel is open.
    passage: Option<Box<Passage>>,
    /// It is read again in the next turn.
    pub(crate) is_unread: bool,
    /// The socket has carried an earlier exchange.
    reused: bool,
    /// Start of the idle time, monotonic ns.
    idle_since: u64,
    /// Segments that the kernel had sent again on this socket when it was last asked.
    retransmitted: u32,
    /// What it carries, if it is shared.
    pub(crate) session: Option<Box<Session>>,
    /// What carries its exchange, if that is a shared connection.
    pub(crate) share: Option<Share>,
}

impl<P: Protocol> Connection<P> {
    /// A connection that is not open yet, with its first exchange.
    pub(crate) fn new(client: usize, origin: Arc<Origin>, call: Call, sent: u64) -> Connection<P> {
        let mut flight = Flight::before_connecting(call, sent);
        if !origin.http2 {
            flight.expect_parts();
        }
        Connection { flight: Some(flight), ..Connection::empty(client, origin) }
    }

    fn empty(client: usize, origin: Arc<Origin>) -> Connection<P> {
        Connection {
            client,
            origin,
            generation: 0,
            serial: 0,
            timer: 0,
            dial: None,
            flight: None,
            stage: Stage::Resolving,
            transport: None,
            protocol: P::default(),
            passage: None,
            is_unread: false,
            reused: false,
            idle_since: 0,
            retransmitted: 0,
            session: None,
            share: None,
        }
    }

    /// Drops the socket and restarts the same exchange. An exchange is sent at most twice.
    pub(crate) fn restart(&mut self) {
        (self.transport, self.passage) = (None, None);
        self.protocol = P::default();
        (self.reused, self.is_unread) = (false, false);
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
        matches!(self.stage, Stage::Exchanging | Stage::Streaming | Stage::Uploading | Stage::Idle | Stage::Shared)
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

    /// Starts an exchange on a kept connection; [`transmit`](Connection::transmit) comes next. `sent`: monotonic ns.
    #[inline]
    pub(crate) fn prepare(&mut self, call: Call, sent: u64) {
        if call.wire.continues {
            return self.prepare_to_continue(call, sent);
        }
        self.protocol.begin(&call.wire);
        self.stage = Stage::of(&call);
        let flight = self.flight.insert(Flight::new(call, sent));
        flight.wait(sent);
    }

    /// Sends a request that was prepared and has waited, at `sent` (monotonic ns), unless it was begun again meanwhile.
    pub(crate) fn transmit_late(&mut self, sent: u64, io: &mut Io) -> Step {
        match &mut self.flight {
            Some(flight) if self.stage == Stage::Exchanging && flight.written == 0 => {
                flight.leaves_at(sent);
                self.transmit(io)
            }
            _ => Step::Wait,
        }
    }

    /// Ends the resolving phase: the addresses are known.
    pub(crate) fn resolved(&mut self) {
        self.lap(|exchange| &mut exchange.dns);
    }

    /// Ends a phase of the setup. `of`: where its length is added, ns.
    fn lap(&mut self, of: impl FnOnce(&mut Exchange) -> &mut u64) {
        let (exchange, phase) = match (&mut self.flight, &mut self.session) {
            (Some(flight), _) => (&mut flight.exchange, &mut flight.phase),
            (None, Some(session)) => (&mut session.setup, &mut session.phase),
            (None, None) => return,
        };
        let now = now();
        *of(exchange) += now - *phase;
        *phase = now;
    }

    /// Takes over a socket that is connecting.
    pub(crate) fn connecting(&mut self, socket: Socket) -> &mut Socket {
        self.stage = Stage::Connecting;
        self.retransmitted = 0;
        &mut self.transport.insert(Transport::new(socket)).socket
    }

    /// How many segments the kernel has sent again on its socket since the last call, or None if it does not say.
    pub(crate) fn newly_retransmitted(&mut self) -> Option<u32> {
        let shared = self.session.as_ref().and_then(|session| session.transport.as_ref());
        let total = self.transport.as_ref().or(shared)?.socket.retransmissions()?;
        Some(total.wrapping_sub(std::mem::replace(&mut self.retransmitted, total)))
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
            self.expire_upload();
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
            if self.share.is_some() {
                return Step::Continue;
            }
            let step = self.transmit(io);
            return self.go_on(io, step);
        }
        let (what, limit) = flight.passed(is_connected);
        Step::Failed(late(if stage == Stage::Queued { "no free stream of a connection" } else { what }, limit))
    }

    /// Handles a readiness event.
    #[inline]
    pub(crate) fn ready(&mut self, io: &mut Io, ready: Readiness) -> Step {
        let stage = self.stage;
        let step = match stage {
            Stage::Exchanging => return self.exchange(io, ready),
            Stage::Idle if ready.readable => return Step::Close,
            Stage::Idle | Stage::Resolving | Stage::BackingOff | Stage::Queued => return Step::Wait,
            Stage::Shared => return Step::Shared(ready),
            Stage::Connecting => self.connected(io),
            Stage::Tunnelling => self.tunnel(io),
            Stage::Handshaking => self.handshake(io),
            Stage::Streaming => return self.stream_on(io, ready),
            Stage::Uploading => return self.upload_on(io, ready),
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
    pub(crate) fn transmit(&mut self, io: &mut Io) -> Step {
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
    #[allow(clippy::inline_always)] // as a call it costs more than what it does (docs/performance.md)
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
}

/// The failure after a timeout of `limit` ns.
fn late(what: &str, limit: u64) -> Failure {
    Failure::new(Outcome::Timeout, format!("{what} within {} s", limit as f64 / 1e9))
}

#[cfg(test)]
mod tests;
