//! A shared connection (HTTP/2): its transport, the exchanges that it carries, and those that wait for a stream.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};

use plimsoll_http2::{self as http2, ConnectionError, StreamId};
use plimsoll_record::{Exchange, Outcome};
use slab::Slab;

use super::answers::{Answers, Arrival};
use super::{CHECK_AFTER_IDLE, Connection, Io, READS, Step};
use crate::call::{ExchangeId, Failure, unpack};
use crate::clock::now;
use crate::origin::Origin;
use crate::transport::Transport;

/// What a shared connection has that others have not. The tag of a stream is the id of its exchange.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) http2: http2::Connection,
    /// None until the connection is made.
    pub(super) transport: Option<Transport>,
    /// Slots of exchanges that wait for a stream, in order.
    pub(crate) queue: VecDeque<usize>,
    /// Slots without an exchange, for the next ones.
    pub(crate) spare: Vec<usize>,
    /// Exchanges whose requests are in the output and have no time of sending yet: it is that of the write.
    pub(crate) unstamped: Vec<ExchangeId>,
    /// Exchanges whose request bodies wait for flow control: the stream, and the bytes that waited at the last count.
    partial: Vec<(ExchangeId, StreamId, usize)>,
    /// What had been sent of such bodies at that count: a peer that sends in tiny pieces must not cause a count with each.
    counted: u64,
    /// The engine knows that there is output.
    pub(crate) is_listed: bool,
    /// An exchange has ended on it with a response.
    pub(crate) has_answered: bool,
    /// Last read, monotonic ns; 0 = none.
    pub(crate) heard: u64,
    /// When its exchange was sent that made it necessary, monotonic ns.
    pub(crate) began: u64,
    /// The times of its setup, for that exchange.
    pub(crate) setup: Exchange,
    /// Start of the current setup phase, monotonic ns.
    pub(super) phase: u64,
}

impl Session {
    pub(super) fn new(origin: &Origin, began: u64) -> Session {
        let options = http2::Options { is_secure: origin.secure.is_some(), ..http2::Options::default() };
        Session {
            http2: http2::Connection::new(&options),
            transport: None,
            queue: VecDeque::new(),
            spare: Vec::new(),
            unstamped: Vec::new(),
            partial: Vec::new(),
            counted: 0,
            is_listed: false,
            has_answered: false,
            heard: 0,
            began,
            setup: Exchange::default(),
            phase: began,
        }
    }

    /// Whether the connection is open.
    pub(crate) fn is_made(&self) -> bool {
        self.transport.is_some()
    }

    /// Whether the peer may have closed it meanwhile: it was idle until `at` (monotonic ns).
    pub(crate) fn may_be_stale(&self, at: u64) -> bool {
        self.is_made() && self.http2.open_streams() == 0 && at.saturating_sub(self.heard) > CHECK_AFTER_IDLE
    }

    /// Notes whether a part of an exchange's body waits.
    pub(crate) fn note_partial(&mut self, id: ExchangeId, stream: StreamId) {
        let unsent = self.http2.unsent(stream);
        match self.partial.iter_mut().find(|(known, ..)| *known == id) {
            Some((.., before)) => *before = unsent,
            None if unsent > 0 => self.partial.push((id, stream, unsent)),
            None => {}
        }
    }

    /// Counts what was sent of bodies that have waited.
    fn count_partial(&mut self, connections: &mut Slab<Connection>) {
        let Session { http2, partial, counted, .. } = self;
        if std::mem::replace(counted, http2.sent_late()) == http2.sent_late() {
            return;
        }
        partial.retain_mut(|(id, stream, before)| {
            let (place, serial) = unpack(id.0);
            let unsent = http2.unsent(*stream);
            if let Some(connection) = connections.get_mut(place).filter(|known| known.serial == serial) {
                connection.count_sent(*before - unsent);
            }
            *before = unsent;
            unsent > 0
        });
    }

    /// Forgets bodies whose streams have ended before them.
    fn forget_ended(&mut self) {
        let Session { http2, partial, .. } = self;
        partial.retain(|(_, stream, _)| http2.is_open(*stream));
    }

    /// Cancels the stream of an exchange. Returns the bytes of its body that were sent since they were counted.
    pub(crate) fn cancel(&mut self, id: ExchangeId, stream: StreamId) -> usize {
        let partial = self.partial.iter().position(|(known, ..)| *known == id);
        let sent = partial.map_or(0, |at| self.partial.swap_remove(at).2 - self.http2.unsent(stream));
        self.http2.cancel(stream);
        sent
    }

    /// Why the peer takes no more exchanges.
    pub(crate) fn went_away(&self) -> Failure {
        let message = match self.http2.gone_away() {
            Some((code, _)) => http2::StreamError::GoneAway(code).to_string(),
            None => "the connection takes no more requests".into(),
        };
        Failure::new(Outcome::Reset, message)
    }

    /// The failure of the connection, with a hint if the peer has not sent anything.
    pub(crate) fn explain(&self, failure: &Failure, origin: &Origin) -> Failure {
        let mut failure = failure.clone();
        if self.is_made() && self.heard == 0 && failure.outcome == Outcome::Reset {
            let hint = if origin.may_want_tls() { "; is it https, or has it no HTTP/2 (--http2)?" } else { "" };
            failure.message.push_str(hint);
        }
        failure
    }

    pub(crate) fn has_output(&self) -> bool {
        self.transport.as_ref().is_some_and(|transport| transport.has_output() || !self.http2.output().is_empty())
    }

    /// Writes as much as the socket accepts.
    #[inline]
    pub(crate) fn write(&mut self) -> io::Result<()> {
        let Some(transport) = &mut self.transport else { return Ok(()) };
        loop {
            let unsent = self.http2.output();
            let wrote = if unsent.is_empty() { transport.flush().map(|()| 0) } else { transport.write(unsent) };
            match wrote {
                Ok(0) => return Ok(()),
                Ok(length) => self.http2.wrote(length),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Says that this end closes, and why.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        if self.http2.accepts_streams() {
            self.http2.close();
        }
        self.write()
    }

    /// Reads what has arrived. `ended`: this is the last event of the socket. `steps` receives what follows for the
    /// exchanges of `connections`. Returns whether the socket may have more, of which no event will tell. The failure is
    /// one of the whole connection.
    pub(crate) fn read(
        &mut self,
        io: &mut Io,
        ended: bool,
        connections: &mut Slab<Connection>,
        steps: &mut Vec<(ExchangeId, Step)>,
    ) -> Result<bool, Failure> {
        self.count_partial(connections);
        let open = self.http2.open_streams();
        let read = self.receive(io, ended, connections, steps);
        if self.http2.open_streams() < open {
            self.forget_ended();
        }
        read
    }

    fn receive(
        &mut self,
        io: &mut Io,
        ended: bool,
        connections: &mut Slab<Connection>,
        steps: &mut Vec<(ExchangeId, Step)>,
    ) -> Result<bool, Failure> {
        let Session { http2, transport: Some(transport), heard, .. } = self else { return Ok(false) };
        let Io { scratch, plain, clock, heads } = io;
        let limits = heads.limits();
        let arrival = Arrival { clock, stamp: None, read: now() };
        let mut answers = Answers { connections, arrival, steps };
        // Bytes that came with the end of the handshake.
        take_opened(transport, plain, &mut |bytes| feed(http2, bytes, limits, &mut answers))?;
        for _ in 0..READS {
            let received = match transport.receive(scratch) {
                Ok(received) => received,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(Failure::io(Outcome::Reset, &error)),
            };
            if received.length == 0 {
                return Err(closed());
            }
            *heard = now();
            (answers.arrival.stamp, answers.arrival.read) = (received.stamp, *heard);
            let fresh = &scratch[..received.length];
            if transport.is_secure() {
                let mut sealed = fresh;
                while !sealed.is_empty() {
                    if let Err(error) = transport.unseal(&mut sealed) {
                        return Err(Failure::new(Outcome::Tls, error.to_string()));
                    }
                    take_opened(transport, plain, &mut |bytes| feed(http2, bytes, limits, &mut answers))?;
                }
            } else {
                feed(http2, fresh, limits, &mut answers)?;
            }
            if received.length < scratch.len() && !ended {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn feed(
    http2: &mut http2::Connection,
    bytes: &[u8],
    limits: &plimsoll_http::Limits,
    answers: &mut Answers<'_>,
) -> Result<(), Failure> {
    http2.input(bytes, limits, answers).map_err(|error| {
        let has_none = matches!(error, ConnectionError::Http1 | ConnectionError::NotHttp2);
        let hint = if has_none { "; leave out --http2" } else { "" };
        Failure::new(Outcome::Protocol, format!("{error}{hint}"))
    })
}

/// Passes on what TLS has decrypted.
fn take_opened(
    transport: &mut Transport,
    plain: &mut [u8],
    take: &mut impl FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    loop {
        match transport.open(plain) {
            Ok(0) => return Err(closed()),
            Ok(length) => take(&plain[..length])?,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(Failure::io(Outcome::Reset, &error)),
        }
    }
}

fn closed() -> Failure {
    Failure::new(Outcome::Reset, "connection closed without a response")
}
