//! Streamed exchanges: the head is returned when it arrives, the body is read on request, piece by piece.
//!
//! The engine reads a body only when the caller asks. Unread bytes stay in the socket's bounded buffer. When it is
//! full, the peer must wait.

use std::io::ErrorKind;
use std::mem::take;

use plimsoll_record::Outcome;

use super::uploading::Upload;
use super::{Connection, Io, Readiness, Step, late};
use crate::call::{ExchangeId, Failure, Finished, Piece, Response, Then};
use crate::clock::now;
use crate::protocol::Protocol;

/// State of an exchange between its head and the end of its body.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// The head was returned.
    pub(super) handed: bool,
    /// Token of the waiting reader, if there is one.
    wake: Option<u64>,
    /// The last read was shorter than the buffer: more bytes cause a new event.
    drained: bool,
    /// The event of the end of the stream has come. It is the last one.
    ended: bool,
    /// How the body has ended that the caller has not read yet: with an error in the read that brought the head, or in any
    /// way on a shared connection.
    pub(super) end: Option<Result<(), Failure>>,
    /// The body of its request, if that is sent in parts.
    pub(super) upload: Option<Upload>,
}

impl<P: Protocol> Connection<P> {
    /// Whether the head was returned and the body has not ended.
    pub(crate) fn is_streaming(&self) -> bool {
        self.stream().is_some_and(|stream| stream.handed)
    }

    /// Token of the waiting reader.
    pub(crate) fn reader(&self) -> Option<u64> {
        self.stream().and_then(|stream| stream.wake)
    }

    pub(super) fn stream(&self) -> Option<&Stream> {
        self.flight.as_ref()?.stream.as_deref()
    }

    /// Handles a readiness event of a streamed exchange.
    #[inline(never)]
    pub(super) fn stream_on(&mut self, io: &mut Io, ready: Readiness) -> Step {
        let streaming = self.is_streaming();
        if ready.readable
            && let Some(flight) = &mut self.flight
            && (flight.stream.is_some() || ready.ended)
        {
            let stream = flight.stream.get_or_insert_default();
            stream.drained = false;
            stream.ended |= ready.ended;
        }
        let mut is_relieved = false;
        if ready.writable && self.has_output() {
            if streaming {
                // The next read returns the error.
                is_relieved = self.write().is_ok() && !self.has_output();
            } else {
                match self.send_on(io) {
                    Step::Wait => {}
                    step => return step,
                }
            }
        }
        let step = match ready.readable {
            // A reader may also wait until its bytes are written.
            readable if streaming && (readable || is_relieved) => Step::Streamed,
            true => self.pull(io),
            false => Step::Wait,
        };
        self.go_on(io, step)
    }

    /// Reads until there is something to return, or nothing to read.
    fn pull(&mut self, io: &mut Io) -> Step {
        loop {
            if self.stream().is_some_and(|stream| stream.drained) {
                return Step::Wait;
            }
            let Some(transport) = &mut self.transport else { return Step::Close };
            let received = match transport.receive(&mut io.scratch) {
                Ok(received) => received,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return self.send_rest(io),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return self.lost(Failure::io(Outcome::Reset, &error)),
            };
            let read = now();
            if let Some(stream) = self.flight.as_mut().and_then(|flight| flight.stream.as_mut()) {
                stream.drained = received.length < io.scratch.len() && !stream.ended;
            }
            let fresh = &io.scratch[..received.length];
            let step = if received.length == 0 {
                self.cut_off(read, &mut io.heads)
            } else if transport.is_secure() {
                self.take_sealed(fresh, received.stamp, read, &mut io.plain, &mut io.heads, &mut io.clock)
            } else {
                self.take(fresh, received.stamp, read, &mut io.heads, &mut io.clock)
            };
            match self.streamed(step, read) {
                Step::Wait => {}
                step => return step,
            }
        }
    }

    /// Converts a step for a streamed exchange.
    fn streamed(&mut self, step: Step, read: u64) -> Step {
        if let Step::Done { keep } = step {
            // No second event reports what happened to the socket between two reads.
            let keep = keep && !self.is_stale();
            return self.answered(keep);
        }
        let Some(flight) = self.flight.as_mut().filter(|flight| flight.response.status != 0) else { return step };
        let handed = flight.stream.as_ref().is_some_and(|stream| stream.handed);
        match step {
            Step::Wait if handed && flight.response.bytes.is_empty() => Step::Wait,
            Step::Wait => {
                flight.exchange.read = read;
                Step::Streamed
            }
            Step::Failed(failure) if !handed => {
                flight.exchange.read = read;
                flight.stream.get_or_insert_default().end = Some(Err(failure));
                Step::Streamed
            }
            step => step,
        }
    }

    /// The exchange at the time its head arrives. None if the head was returned before.
    pub(crate) fn hand_over(&mut self, id: ExchangeId) -> Option<Finished> {
        let flight = self.flight.as_mut()?;
        let stream = flight.stream.get_or_insert_default();
        if stream.handed {
            return None;
        }
        stream.handed = true;
        // The caller decides how long it reads: `end_by`.
        flight.end = 0;
        flight.deadline = 0;
        flight.exchange.bytes_out = flight.bytes_out();
        flight.exchange.status = flight.response.status;
        // Keep the status: it marks that the next bytes are not a head.
        let rest = Response { status: flight.response.status, ..Response::default() };
        let head = std::mem::replace(&mut flight.response, rest);
        Some(Finished {
            id,
            token: flight.call.token,
            exchange: flight.exchange,
            result: Ok(Response { streamed: true, open: true, ..head }),
            wire: flight.call.wire.clone(),
        })
    }

    /// The next piece of the body, and whether the connection can be kept after it. None if nothing has arrived and the
    /// timeout has not passed.
    pub(crate) fn piece(&mut self, io: &mut Io) -> Option<(Piece, bool)> {
        let step = match self.flight.as_mut()?.stream.as_mut()?.end.take() {
            Some(Err(failure)) => Step::Failed(failure),
            _ => self.pull(io),
        };
        let (then, keep) = match step {
            Step::Wait => (Then::Failed(self.check_read_timeout()?), false),
            Step::Streamed => (Then::More, true),
            Step::Done { keep } => (Then::End, keep),
            Step::Failed(failure) => (Then::Failed(failure), false),
            // The peer has responded, so there is no second attempt.
            _ => (Then::Failed(closed()), false),
        };
        Some((self.hand_piece(then)?, keep))
    }

    /// What has arrived of the body, and what follows it.
    pub(super) fn hand_piece(&mut self, mut then: Then) -> Option<Piece> {
        let flight = self.flight.as_mut()?;
        if then == Then::More && flight.end != 0 && flight.end <= flight.exchange.arrival {
            // It came too late. Bytes that never pause must not prolong the exchange.
            flight.response.bytes.clear();
            flight.deadline = flight.end;
            let (what, limit) = flight.passed(true);
            then = Then::Failed(late(what, limit));
        }
        if let Then::Failed(failure) = &then {
            flight.fail(failure);
        }
        flight.deadline = 0;
        let trailers = if then == Then::End { take(&mut flight.response.trailers) } else { Vec::new() };
        Some(Piece { bytes: take(&mut flight.response.bytes), exchange: flight.exchange, trailers, then })
    }

    /// Starts or checks the read timeout. Returns the failure if it has passed.
    pub(super) fn check_read_timeout(&mut self) -> Option<Failure> {
        let flight = self.flight.as_mut()?;
        let now = now();
        if flight.deadline == 0 {
            flight.wait(now);
            return None;
        }
        (flight.deadline <= now).then(|| {
            let (what, limit) = flight.passed(true);
            late(what, limit)
        })
    }

    /// Sets the deadline of the whole exchange, for a reader that waits, too.
    pub(crate) fn end_by(&mut self, deadline: u64) {
        let waits = self.reader().is_some();
        if let Some(flight) = &mut self.flight {
            flight.end = deadline;
            if waits {
                flight.wait(now());
            }
        }
    }

    /// Writes bytes after what was written before. The transport's error is that of the next read.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) {
        let (Some(flight), Some(transport)) = (&mut self.flight, &mut self.transport) else { return };
        while flight.is_written() && !bytes.is_empty() {
            match transport.write(bytes) {
                Ok(length) => bytes = &bytes[length..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        if !bytes.is_empty() {
            flight.append(bytes);
        }
    }

    /// Sets the reader's token, for its wake when there may be something to read. None: no reader waits.
    pub(crate) fn set_reader(&mut self, wake: Option<u64>) {
        let Some(flight) = &mut self.flight else { return };
        if wake.is_none() {
            flight.deadline = 0;
        }
        if let Some(stream) = &mut flight.stream {
            stream.wake = wake;
        }
    }
}

/// The failure of a read on a closed connection.
pub(crate) fn closed() -> Failure {
    Failure::new(Outcome::Unanswered, "the connection has been closed")
}
