//! An exchange on a shared connection: it has a stream of its own, and no socket.

use std::sync::Arc;

use plimsoll_http2::{OpenError, StreamId};
use plimsoll_record::Exchange;

use super::{Connection, Flight, Session, Stage, Step};
use crate::call::{Bytes, Call, ExchangeId, Failure, Keep, Piece, Then};
use crate::origin::Origin;
use crate::protocol::Protocol;

/// The part of an exchange in a shared connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    /// Slot of the shared connection.
    session: u32,
    /// Its stream. None while it waits for one.
    pub(crate) stream: Option<StreamId>,
}

impl Share {
    /// Slot of the shared connection.
    pub(crate) fn session(self) -> usize {
        self.session as usize
    }
}

impl<P: Protocol> Connection<P> {
    /// A connection for many exchanges, not open yet. `began`: when the first one was sent, monotonic ns.
    pub(crate) fn shared(client: usize, origin: Arc<Origin>, began: u64) -> Connection<P> {
        let session = Box::new(Session::new(&origin, began));
        Connection { session: Some(session), ..Connection::empty(client, origin) }
    }

    /// Takes up the next exchange, `sent` at (monotonic ns).
    pub(crate) fn take_up(&mut self, call: Call, sent: u64) {
        self.flight = Some(Flight::before_connecting(call, sent));
    }

    /// Gives up the exchange, and its part in the shared connection.
    pub(crate) fn vacate(&mut self) -> Option<Share> {
        self.flight = None;
        self.stage = Stage::Idle;
        self.share.take()
    }

    /// Waits for a stream of this session.
    pub(crate) fn queue(&mut self, session: usize) {
        self.stage = Stage::Queued;
        self.share = Some(Share { session: session as u32, stream: None });
    }

    /// Whether it waits for a stream.
    pub(crate) fn is_queued(&self) -> bool {
        self.stage == Stage::Queued
    }

    /// The stream of the exchange in flight, with the slot of its session.
    pub(crate) fn stream_id(&self) -> Option<(usize, StreamId)> {
        let share = self.share?;
        Some((share.session(), share.stream?))
    }

    /// Opens a stream for the exchange at `now` (monotonic ns). `waited`: it could not be opened when it was sent.
    #[inline]
    pub(crate) fn open_stream(
        &mut self,
        session: &mut Session,
        id: ExchangeId,
        now: u64,
        waited: bool,
    ) -> Result<(), OpenError> {
        let (Some(flight), Some(share)) = (&mut self.flight, &mut self.share) else { return Ok(()) };
        let wire = &flight.call.wire;
        let (head, body) = wire.bytes.as_slice().split_at(wire.head);
        let body = if flight.held { &[] } else { body };
        let before = session.http2.output().len();
        let stream = session.http2.open(head, body, !flight.held && !wire.continues, id.0)?;
        share_body(session, stream, &wire.bytes);
        flight.written = session.http2.output().len() - before;
        share.stream = Some(stream);
        self.stage = Stage::of(&flight.call);
        if flight.call.keep == Keep::Stream {
            session.http2.hold(stream);
        }
        if flight.exchange.sent == session.began && session.setup != Exchange::default() {
            // As without sharing, the time of the setup belongs to the exchange that needed it.
            let setup = std::mem::take(&mut session.setup);
            flight.exchange.dns += setup.dns;
            flight.exchange.connect += setup.connect;
            flight.exchange.tls += setup.tls;
        } else if flight.exchange.retries == 0 {
            if waited {
                // The wait for a stream is not lag of this machine.
                flight.exchange.free = now;
            }
            session.unstamped.push(id);
        }
        flight.wait(now);
        session.note_partial(id, stream);
        Ok(())
    }

    /// Its request is about to be written, at `now` (monotonic ns).
    #[inline]
    pub(crate) fn stamp_sent(&mut self, now: u64) {
        if let Some(flight) = &mut self.flight {
            flight.exchange.sent = now;
        }
    }

    /// Sends the body that has waited for 100 (Continue).
    pub(crate) fn send_held(&mut self, session: &mut Session) {
        let (Some(flight), Some((_, stream))) = (&self.flight, self.stream_id()) else { return };
        let wire = &flight.call.wire;
        session.http2.send_body(stream, &wire.bytes.as_slice()[wire.head..], !wire.continues);
        share_body(session, stream, &wire.bytes);
    }

    /// Sends the next part of the request's body. `ends`: it is the last one.
    pub(crate) fn send_body(&mut self, session: &mut Session, bytes: &[u8], ends: bool) {
        if let Some((_, stream)) = self.stream_id() {
            session.http2.send_body(stream, bytes, ends);
        }
    }

    /// Whether the body can be sent now.
    pub(crate) fn takes_body(&self) -> bool {
        self.stream_id().is_some() && self.flight.as_ref().is_some_and(|flight| !flight.held)
    }

    /// Adds to the body of a request that cannot be sent yet. `ends`: it is the last part.
    pub(crate) fn add_body(&mut self, bytes: &[u8], ends: bool) {
        let Some(flight) = &mut self.flight else { return };
        let wire = &mut flight.call.wire;
        wire.bytes = Bytes::Owned([wire.bytes.as_slice(), bytes].concat());
        wire.continues &= !ends;
    }

    /// This many bytes of the request's body were sent.
    pub(crate) fn count_sent(&mut self, bytes: usize) {
        if let Some(flight) = &mut self.flight {
            flight.written += bytes;
        }
    }

    /// Prepares to send the exchange again, whose stream or connection is gone.
    pub(crate) fn leave_stream(&mut self) {
        self.share = None;
        if let Some(flight) = &mut self.flight {
            flight.restart();
        }
    }

    /// The step of an exchange whose connection has failed. One that waits for its body reads the failure.
    pub(crate) fn break_off(&mut self, failure: Failure) -> Step {
        self.flight.as_mut().map_or(Step::Wait, |flight| flight.break_off(failure))
    }

    /// Whether the peer may have closed the connection before it read the request: nothing has come since it was sent.
    /// An exchange is sent again at most once for that.
    pub(crate) fn can_be_repeated_after(&self, heard: u64) -> bool {
        self.flight.as_ref().is_some_and(|flight| {
            let Call { wire, .. } = &flight.call;
            wire.idempotent && flight.can_be_repeated() && flight.exchange.retries == 0 && heard < flight.exchange.sent
        })
    }

    /// Whether the response came to its end before its head was returned.
    pub(crate) fn is_complete(&self) -> bool {
        self.stream().is_some_and(|stream| stream.end == Some(Ok(())) && !stream.handed)
    }

    /// The next piece of a body. None if nothing has arrived and the timeout has not passed.
    pub(crate) fn arrived_piece(&mut self) -> Option<Piece> {
        let flight = self.flight.as_mut()?;
        let has_bytes = !flight.response.bytes.is_empty();
        let stream = flight.stream.as_mut()?;
        let then = match stream.end.take() {
            Some(Err(failure)) => Then::Failed(failure),
            Some(Ok(())) => Then::End,
            None if has_bytes => Then::More,
            None => Then::Failed(self.check_read_timeout()?),
        };
        self.hand_piece(then)
    }
}

impl Flight {
    /// Whether the exchange can be sent again: there is no response, and no part of the request is gone.
    pub(super) fn can_be_repeated(&self) -> bool {
        self.response.status == 0 && !self.call.wire.continues
    }

    /// The step after a failure. A caller that has the head gets it with the next read.
    pub(super) fn break_off(&mut self, failure: Failure) -> Step {
        if self.call.keep != Keep::Stream || self.response.status == 0 {
            return Step::Failed(failure);
        }
        let stream = self.stream.get_or_insert_default();
        if stream.end.is_some() {
            return Step::Wait;
        }
        stream.end = Some(Err(failure));
        Step::Streamed
    }
}

/// A body that users share is not copied while it waits for the peer.
fn share_body(session: &mut Session, stream: StreamId, bytes: &Bytes) {
    if let Bytes::Shared(shared) = bytes {
        session.http2.share_body(stream, shared);
    }
}
