//! One connection as a state machine over readiness. It knows its socket and its exchange, not the loop around it.

use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;

use plimsoll_http::{Decoder, Done, Head, Limits, Sink};
use plimsoll_record::{Exchange, Outcome};
use rustls::ClientConnection;

use crate::call::{Call, ExchangeId, Failure, Finished, Keep, Response};
use crate::clock::{StampClock, now};
use crate::dial::Dial;
use crate::origin::{Origin, Tunnel};
use crate::socket::{Received, Socket};

/// How long a body waits for its 100 (Continue), ns. As curl does.
const CONTINUE_WAIT: u64 = 1_000_000_000;

/// A body of announced length gets its memory at once up to this size; beyond it grows as it arrives.
const RESERVE_AT_MOST: u64 = 1 << 20;

/// A kept connection that was idle for longer than this is checked before it is used again, ns.
const CHECK_AFTER_IDLE: u64 = 10_000_000;

/// What all connections of an engine share.
pub(crate) struct Io {
    /// Bytes fresh from a socket.
    scratch: Vec<u8>,
    /// Bytes fresh from TLS.
    plain: Vec<u8>,
    clock: StampClock,
    limits: Limits,
}

impl Io {
    pub(crate) fn new(limits: Limits) -> Io {
        Io { scratch: vec![0; 64 << 10], plain: vec![0; 32 << 10], clock: StampClock::default(), limits }
    }
}

/// Where a connection is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
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
    /// Kept for the next request.
    Idle,
}

/// What has to happen next to a connection.
#[derive(Debug)]
pub(crate) enum Step {
    /// Nothing until it is ready again.
    Wait,
    /// Its exchange has a complete response; the connection may be kept or not.
    Done { keep: bool },
    /// Its exchange has failed; the connection is of no more use.
    Failed(Failure),
    /// The peer had closed the kept connection; the request can go out again on a new one.
    Redial,
    /// The address did not work; another may.
    NextAddress(io::Error),
    /// It was idle and is of no more use.
    Close,
}

/// The exchange that a connection is busy with.
#[derive(Debug)]
pub(crate) struct Flight {
    call: Call,
    exchange: Exchange,
    response: Response,
    /// Bytes of the request handed to the socket or to TLS.
    written: usize,
    /// The body waits for 100 (Continue).
    held: bool,
    /// When to give up waiting, monotonic ns; 0 = never.
    deadline: u64,
    /// Start of the set-up phase that is being timed, monotonic ns.
    phase: u64,
}

impl Flight {
    fn new(call: Call) -> Flight {
        let sent = now();
        let due = if call.due == 0 { sent } else { call.due.min(sent) };
        let exchange = Exchange { due, sent, ..Exchange::default() };
        let held = call.wire.expect_continue;
        Flight { call, exchange, response: Response::default(), written: 0, held, deadline: 0, phase: sent }
    }

    pub(crate) fn token(&self) -> u64 {
        self.call.token
    }

    /// Ends the set-up phase that began at `phase`, and returns how long it took.
    fn lap(&mut self) -> u64 {
        let now = now();
        let took = now - self.phase;
        self.phase = now;
        took
    }

    fn wait_for_bytes(&mut self, from: u64) {
        self.deadline = if self.held { from + CONTINUE_WAIT } else { after(from, self.call.read_timeout) };
    }

    /// What goes to the caller.
    pub(crate) fn finish(mut self, id: ExchangeId, failure: Option<Failure>) -> Finished {
        self.exchange.bytes_out = self.written as u64;
        let result = match failure {
            None => Ok(self.response),
            Some(failure) => {
                // A censored time is kept at its limit; every other failure ends when it is known.
                let end = if failure.outcome == Outcome::Timeout { self.deadline } else { now() };
                self.exchange.arrival = end.max(self.exchange.sent);
                self.exchange.read = now().max(self.exchange.arrival);
                Err(failure)
            }
        };
        Finished { id, token: self.call.token, exchange: self.exchange, result, wire: self.call.wire }
    }
}

/// Eats what the decoder finds in a response.
struct Collector<'a> {
    response: &'a mut Response,
    keep: Keep,
    held: &'a mut bool,
}

impl Sink for Collector<'_> {
    fn interim(&mut self, status: u16) {
        if status == 100 {
            *self.held = false;
        }
    }

    #[inline]
    fn head(&mut self, head: &Head<'_>) {
        self.response.status = head.status;
        self.response.minor = head.minor;
        if self.keep == Keep::All {
            let body = head.content_length.unwrap_or(0).min(RESERVE_AT_MOST) as usize;
            self.response.bytes.reserve_exact(head.raw.len() + body);
            self.response.bytes.extend_from_slice(head.raw);
            self.response.head = head.raw.len();
        }
    }

    #[inline]
    fn body(&mut self, chunk: &[u8]) {
        self.response.body_length += chunk.len() as u64;
        if self.keep == Keep::All {
            self.response.bytes.extend_from_slice(chunk);
        }
    }

    fn trailers(&mut self, raw: &[u8]) {
        if self.keep == Keep::All {
            self.response.trailers.extend_from_slice(raw);
        }
    }
}

/// Eats a proxy's answer to CONNECT: only its status matters.
#[derive(Default)]
struct ProxyAnswer {
    status: u16,
}

impl Sink for ProxyAnswer {
    fn head(&mut self, head: &Head<'_>) {
        self.status = head.status;
    }

    fn body(&mut self, _chunk: &[u8]) {}
}

/// One connection of one client to one origin.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) client: usize,
    pub(crate) origin: Arc<Origin>,
    /// Tells events of this socket from those of an earlier one in the same place.
    pub(crate) generation: u32,
    /// Tells the exchange in flight from earlier ones.
    pub(crate) serial: u32,
    /// Earliest entry of this connection among the timers, monotonic ns; 0 = none.
    pub(crate) timer: u64,
    pub(crate) dial: Dial,
    pub(crate) flight: Option<Flight>,
    stage: Stage,
    socket: Option<Socket>,
    tls: Option<Box<ClientConnection>>,
    decoder: Decoder,
    /// The socket carried an exchange before this one.
    reused: bool,
    /// Since when it is idle, monotonic ns.
    idle_since: u64,
}

impl Connection {
    /// A connection yet to be made, with the exchange it is made for.
    pub(crate) fn new(client: usize, origin: Arc<Origin>, call: Call) -> Connection {
        let mut flight = Flight::new(call);
        flight.deadline = after(flight.exchange.sent, flight.call.connect_timeout);
        Connection {
            client,
            origin,
            generation: 0,
            serial: 0,
            timer: 0,
            dial: Dial::default(),
            flight: Some(flight),
            stage: Stage::Resolving,
            socket: None,
            tls: None,
            decoder: Decoder::new(),
            reused: false,
            idle_since: 0,
        }
    }

    /// Forgets the socket and begins again with the same exchange; it is sent at most twice.
    pub(crate) fn restart(&mut self) {
        self.socket = None;
        self.tls = None;
        self.decoder = Decoder::new();
        self.reused = false;
        self.stage = Stage::Resolving;
        if let Some(flight) = &mut self.flight {
            flight.exchange.retries += 1;
            flight.written = 0;
            flight.held = flight.call.wire.expect_continue;
            flight.phase = now();
            flight.deadline = after(flight.phase, flight.call.connect_timeout);
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

    /// Whether it can carry another exchange, as far as can be known.
    pub(crate) fn is_usable(&self) -> bool {
        let idle = now().saturating_sub(self.idle_since);
        idle < CHECK_AFTER_IDLE || self.socket.as_ref().is_some_and(|socket| !socket.is_stale())
    }

    /// Keeps the connection for the next exchange and hands over the finished one.
    pub(crate) fn rest(&mut self) -> Option<Flight> {
        self.stage = Stage::Idle;
        self.reused = true;
        let flight = self.flight.take()?;
        self.idle_since = flight.exchange.read;
        Some(flight)
    }

    /// Sends a request on a kept connection.
    #[inline]
    pub(crate) fn start(&mut self, call: Call, io: &mut Io) -> Step {
        self.decoder.begin(call.wire.head_request);
        self.stage = Stage::Exchanging;
        let flight = self.flight.insert(Flight::new(call));
        flight.wait_for_bytes(flight.exchange.sent);
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
        self.socket.insert(socket)
    }

    /// Its deadline has passed.
    pub(crate) fn expire(&mut self, io: &mut Io) -> Step {
        let stage = self.stage;
        let Some(flight) = &mut self.flight else { return Step::Wait };
        if flight.held && stage == Stage::Exchanging {
            flight.held = false;
            flight.wait_for_bytes(now());
            return self.transmit(io);
        }
        let (what, limit) = match stage {
            Stage::Exchanging => ("no data", flight.call.read_timeout),
            _ => ("no connection", flight.call.connect_timeout),
        };
        Step::Failed(Failure::new(Outcome::Timeout, format!("{what} within {} s", limit as f64 / 1e9)))
    }

    /// Its socket is ready.
    #[inline]
    pub(crate) fn ready(&mut self, io: &mut Io, readable: bool, writable: bool) -> Step {
        match self.stage {
            Stage::Exchanging => {
                if writable && self.has_output() {
                    let step = self.transmit(io);
                    if !matches!(step, Step::Wait) {
                        return step;
                    }
                }
                if readable { self.receive(io) } else { Step::Wait }
            }
            Stage::Idle if readable => Step::Close,
            Stage::Idle | Stage::Resolving => Step::Wait,
            Stage::Connecting => self.connected(io),
            Stage::Tunnelling => {
                if readable {
                    self.tunnel(io)
                } else {
                    Step::Wait
                }
            }
            Stage::Handshaking => self.handshake(io),
        }
    }

    fn has_output(&self) -> bool {
        let pending =
            self.flight.as_ref().is_some_and(|flight| flight.written < flight.call.wire.bytes.as_slice().len());
        pending || self.tls.as_ref().is_some_and(|tls| tls.wants_write())
    }

    fn connected(&mut self, io: &mut Io) -> Step {
        let Some(socket) = &self.socket else { return Step::Wait };
        if let Err(error) = socket.connected() {
            return Step::NextAddress(error);
        }
        if let Some(flight) = &mut self.flight {
            flight.exchange.connect += flight.lap();
        }
        match self.origin.tunnel.clone() {
            Some(tunnel) => self.ask_proxy(&tunnel),
            None => self.secure(io),
        }
    }

    fn ask_proxy(&mut self, tunnel: &Tunnel) -> Step {
        let authorization = tunnel.authorization.as_ref().map(|value| format!("Proxy-Authorization: {value}\r\n"));
        let target = &tunnel.target;
        let request =
            format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{}\r\n", authorization.unwrap_or_default());
        self.decoder.begin_connect();
        self.stage = Stage::Tunnelling;
        let Some(socket) = &mut self.socket else { return Step::Wait };
        match socket.write(request.as_bytes()) {
            // A fresh socket has room for far more than these few bytes.
            Ok(written) if written == request.len() => Step::Wait,
            Ok(_) => Step::Failed(Failure::new(Outcome::Connect, "the proxy takes no data")),
            Err(error) => Step::Failed(Failure::io(Outcome::Connect, &error)),
        }
    }

    fn tunnel(&mut self, io: &mut Io) -> Step {
        let Some(socket) = &mut self.socket else { return Step::Wait };
        let received = match socket.receive(&mut io.scratch) {
            Ok(Received { length: 0, .. }) => {
                return Step::Failed(Failure::new(Outcome::Connect, "the proxy closed the connection"));
            }
            Ok(received) => received,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Step::Wait,
            Err(error) => return Step::Failed(Failure::io(Outcome::Connect, &error)),
        };
        let mut answer = ProxyAnswer::default();
        match self.decoder.feed(&io.limits, &io.scratch[..received.length], &mut answer) {
            Err(error) => Step::Failed(Failure::new(Outcome::Connect, format!("the proxy's answer: {error}"))),
            Ok(_) if answer.status == 0 => Step::Wait,
            Ok(_) if !(200..300).contains(&answer.status) => {
                Step::Failed(Failure::new(Outcome::Connect, format!("the proxy refused with status {}", answer.status)))
            }
            Ok(_) => {
                if let Some(flight) = &mut self.flight {
                    flight.exchange.connect += flight.lap();
                }
                self.secure(io)
            }
        }
    }

    /// Connected to the origin: TLS if it wants it, else the request.
    fn secure(&mut self, io: &mut Io) -> Step {
        let Some(secure) = &self.origin.secure else { return self.request(io) };
        match ClientConnection::new(Arc::clone(&secure.config), secure.name.clone()) {
            Ok(tls) => self.tls = Some(Box::new(tls)),
            Err(error) => return Step::Failed(Failure::new(Outcome::Tls, error.to_string())),
        }
        self.stage = Stage::Handshaking;
        self.handshake(io)
    }

    fn handshake(&mut self, io: &mut Io) -> Step {
        let (Some(tls), Some(socket)) = (&mut self.tls, &mut self.socket) else { return Step::Wait };
        loop {
            if let Err(error) = flush(tls, socket) {
                return Step::Failed(Failure::io(Outcome::Tls, &error));
            }
            if !tls.is_handshaking() {
                break;
            }
            let received = match socket.receive(&mut io.scratch) {
                Ok(Received { length: 0, .. }) => {
                    return Step::Failed(Failure::new(Outcome::Tls, "connection closed in the handshake"));
                }
                Ok(received) => received,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Step::Wait,
                Err(error) => return Step::Failed(Failure::io(Outcome::Tls, &error)),
            };
            if let Err(error) = absorb(tls, &io.scratch[..received.length]) {
                // The peer should learn why; that it cannot any more changes nothing.
                let _ = flush(tls, socket);
                return Step::Failed(Failure::new(Outcome::Tls, error.to_string()));
            }
        }
        if let Some(flight) = &mut self.flight {
            flight.exchange.tls += flight.lap();
        }
        self.request(io)
    }

    /// The connection is made: sends the request it was made for.
    fn request(&mut self, io: &mut Io) -> Step {
        let Some(flight) = &mut self.flight else { return Step::Close };
        self.decoder.begin(flight.call.wire.head_request);
        self.stage = Stage::Exchanging;
        flight.wait_for_bytes(flight.phase);
        self.transmit(io)
    }

    /// Writes as much of the request as the socket takes.
    #[inline]
    fn transmit(&mut self, io: &mut Io) -> Step {
        match self.write() {
            Ok(()) => Step::Wait,
            // The peer may have answered before it closed.
            Err(error) => match self.receive(io) {
                Step::Wait => self.lost(&Failure::io(Outcome::Reset, &error)),
                step => step,
            },
        }
    }

    #[inline]
    fn write(&mut self) -> io::Result<()> {
        let (Some(flight), Some(socket)) = (&mut self.flight, &mut self.socket) else { return Ok(()) };
        let wire = &flight.call.wire;
        let end = if flight.held { wire.head } else { wire.bytes.as_slice().len() };
        while flight.written < end {
            let rest = &wire.bytes.as_slice()[flight.written..end];
            let wrote = match &mut self.tls {
                None => socket.write(rest),
                Some(tls) => tls.writer().write(rest).and_then(|taken| flush(tls, socket).map(|()| taken)),
            };
            match wrote {
                Ok(0) => return Ok(()), // TLS holds as much as it wants until the socket is writable
                Ok(n) => flight.written += n,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        match &mut self.tls {
            Some(tls) => flush(tls, socket),
            None => Ok(()),
        }
    }

    /// Reads what is there and stamps it: the one place in which an arrival is taken.
    #[inline]
    fn receive(&mut self, io: &mut Io) -> Step {
        loop {
            let Some(socket) = &mut self.socket else { return Step::Close };
            let received = match socket.receive(&mut io.scratch) {
                Ok(received) => received,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Step::Wait,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return self.lost(&Failure::io(Outcome::Reset, &error)),
            };
            let read = now();
            if received.length == 0 {
                return self.ended(read);
            }
            let fresh = &io.scratch[..received.length];
            let step = match &mut self.tls {
                None => self.consume(fresh, received.stamp, read, &io.limits, &mut io.clock),
                Some(tls) => match absorb(tls, fresh) {
                    Ok(()) => self.consume_plain(received.stamp, read, &mut io.plain, &io.limits, &mut io.clock),
                    Err(error) => Step::Failed(Failure::new(Outcome::Tls, error.to_string())),
                },
            };
            match step {
                // A full buffer may have left more in the socket, and no further edge would tell.
                Step::Wait if received.length == io.scratch.len() => {}
                Step::Wait => return self.released(io),
                step => return step,
            }
        }
    }

    /// After a 100 (Continue) the body may go out.
    #[inline]
    fn released(&mut self, io: &mut Io) -> Step {
        match &self.flight {
            Some(flight)
                if !flight.held && flight.written == flight.call.wire.head && flight.call.wire.expect_continue =>
            {
                self.transmit(io)
            }
            _ => Step::Wait,
        }
    }

    fn consume_plain(
        &mut self,
        stamp: Option<u64>,
        read: u64,
        plain: &mut [u8],
        limits: &Limits,
        clock: &mut StampClock,
    ) -> Step {
        loop {
            let Some(tls) = &mut self.tls else { return Step::Close };
            match tls.reader().read(plain) {
                Ok(0) => return self.ended(read),
                Ok(n) => match self.consume(&plain[..n], stamp, read, limits, clock) {
                    Step::Wait => {}
                    step => return step,
                },
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Step::Wait,
                Err(error) => return self.lost(&Failure::io(Outcome::Reset, &error)),
            }
        }
    }

    /// Feeds response bytes to the decoder. `stamp` belongs to the segment that carried the last of them.
    #[inline]
    fn consume(
        &mut self,
        fresh: &[u8],
        stamp: Option<u64>,
        read: u64,
        limits: &Limits,
        clock: &mut StampClock,
    ) -> Step {
        let Some(flight) = &mut self.flight else { return Step::Close };
        flight.exchange.bytes_in += fresh.len() as u64;
        flight.wait_for_bytes(read);
        let headless = flight.response.status == 0;
        let mut sink = Collector { response: &mut flight.response, keep: flight.call.keep, held: &mut flight.held };
        let fed = match self.decoder.feed(limits, fresh, &mut sink) {
            Ok(fed) => fed,
            Err(error) => return Step::Failed(Failure::new(Outcome::Protocol, error.to_string())),
        };
        let has_head = headless && flight.response.status != 0;
        if !has_head && fed.done.is_none() {
            return Step::Wait;
        }
        let (arrival, source) = clock.arrival(stamp, flight.exchange.sent, read);
        if has_head {
            flight.exchange.first_byte = arrival;
        }
        let Some(Done { keep_alive }) = fed.done else { return Step::Wait };
        flight.exchange.arrival = arrival;
        flight.exchange.source = source;
        flight.exchange.read = read;
        // Bytes that nobody asked for, or a request that the peer did not want to the end: never reuse such a connection.
        let clean = fed.consumed == fresh.len() && flight.written == flight.call.wire.bytes.as_slice().len();
        Step::Done { keep: keep_alive && clean }
    }

    /// The peer ended the stream: fine if that is how the body ends.
    fn ended(&mut self, read: u64) -> Step {
        let Some(flight) = &mut self.flight else { return Step::Close };
        if !self.decoder.started() {
            return self.lost(&Failure::new(Outcome::Reset, "connection closed without a response"));
        }
        match self.decoder.eof() {
            Ok(_) => {
                flight.exchange.arrival = read;
                flight.exchange.read = read;
                Step::Done { keep: false }
            }
            Err(error) => Step::Failed(Failure::new(Outcome::Reset, error.to_string())),
        }
    }

    /// The connection broke. On a kept one that never answered, the peer had closed it before our request came.
    fn lost(&mut self, failure: &Failure) -> Step {
        match &self.flight {
            Some(flight)
                if self.reused
                    && !self.decoder.started()
                    && flight.call.wire.idempotent
                    && flight.exchange.retries == 0 =>
            {
                Step::Redial
            }
            Some(_) => Step::Failed(failure.clone()),
            None => Step::Close,
        }
    }
}

/// The deadline of a limit that starts now; 0 = no limit.
#[inline]
fn after(from: u64, limit: u64) -> u64 {
    if limit == 0 { 0 } else { from + limit }
}

/// Writes what TLS has ready, as far as the socket takes it.
fn flush(tls: &mut ClientConnection, socket: &mut Socket) -> io::Result<()> {
    while tls.wants_write() {
        match tls.write_tls(&mut Writer(socket)) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Gives bytes from the socket to TLS and lets it work on them.
fn absorb(tls: &mut ClientConnection, mut fresh: &[u8]) -> Result<(), rustls::Error> {
    while !fresh.is_empty() {
        if tls.read_tls(&mut fresh).is_err() {
            return Err(rustls::Error::General("more data than a record can hold".into()));
        }
        tls.process_new_packets()?;
    }
    Ok(())
}

struct Writer<'a>(&'a mut Socket);

impl Write for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
