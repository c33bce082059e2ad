//! Bodies of exchanges with [`Keep::Stream`](crate::Keep::Stream), read in pieces.

use super::{Engine, WakeId};
use crate::call::{ExchangeId, Failure, Finished, Piece, Then, unpack};
use crate::clock::now;
use crate::connection::closed;

/// How often the stream of a shared connection is asked whether it takes more.
const POLL_NS: u64 = 1_000_000;

impl Engine {
    /// The next piece of a streamed body, at most one read of the socket. None if nothing has arrived: then
    /// [`Event::Woken`](crate::Event::Woken) with `token` tells when to call again. The last piece is the end or a
    /// failure. Then the connection is kept or closed.
    pub fn read(&mut self, id: ExchangeId, token: u64) -> Option<Piece> {
        let Some(place) = self.streaming(id) else {
            return Some(Piece { then: Then::Failed(closed()), ..Piece::default() });
        };
        if let Some(earlier) = self.connections[place].reader() {
            self.cancel_wake(WakeId(earlier));
        }
        let connection = &mut self.connections[place];
        let is_shared = connection.origin.http2;
        let piece = if is_shared {
            connection.arrived_piece().map(|piece| (piece, true))
        } else {
            connection.piece(&mut self.io)
        };
        let Some((piece, keep)) = piece else {
            let wake = self.new_wake(token);
            self.connections[place].set_reader(Some(wake));
            self.watch(place);
            return None;
        };
        self.consumed(place, piece.bytes.len());
        match piece.then {
            Then::More => {}
            Then::End if is_shared => self.vacate(place),
            Then::End if keep => drop(self.connections[place].rest()),
            Then::End | Then::Failed(_) => drop(self.remove(place)),
        }
        Some(piece)
    }

    /// Sets the deadline of a whole streamed exchange, monotonic ns; 0 = never. Without a call there is none.
    pub fn end_by(&mut self, id: ExchangeId, deadline: u64) {
        if let Some(place) = self.streaming(id) {
            self.connections[place].end_by(deadline);
            self.watch(place);
        }
    }

    /// Writes bytes on a connection that has switched protocols, or the next part of a request that
    /// [continues](crate::Wire::continues). Bytes that the socket does not accept are kept and follow when it does; then
    /// the reader is woken, too. An error is that of the next [`read`](Engine::read). Returns false if nothing more is
    /// wanted: the exchange has ended, or the peer takes no more.
    pub fn write(&mut self, id: ExchangeId, bytes: &[u8]) -> bool {
        if let Some(place) = self.sharing(id) {
            self.write_body(place, bytes, false);
        } else if let Some(place) = self.uploading(id) {
            self.write_part(place, bytes, false);
        } else if let Some(place) = self.streaming(id).filter(|place| !self.connections[*place].has_upload()) {
            self.connections[place].push(bytes);
        } else {
            return false;
        }
        true
    }

    /// Ends the body of a request that [continues](crate::Wire::continues).
    pub fn finish_writing(&mut self, id: ExchangeId) {
        if let Some(place) = self.sharing(id) {
            self.write_body(place, &[], true);
        } else if let Some(place) = self.uploading(id) {
            self.write_part(place, &[], true);
        }
    }

    /// Whether the socket has accepted all bytes of [`write`](Engine::write).
    pub fn is_written(&mut self, id: ExchangeId) -> bool {
        if let Some(place) = self.sharing(id) {
            return self.is_body_written(id, place);
        }
        let place = self.uploading(id).or_else(|| self.streaming(id));
        place.is_none_or(|place| self.connections[place].is_written())
    }

    /// Requests [`Event::Woken`](crate::Event::Woken) with `token` when that may have changed, or the exchange has ended.
    pub fn wake_when_written(&mut self, id: ExchangeId, token: u64) -> WakeId {
        match self.uploading(id) {
            Some(place) if !self.connections[place].is_written() => {
                let wake = self.new_wake(token);
                self.connections[place].set_writer(wake);
                WakeId(wake)
            }
            _ => self.wake(token, now() + POLL_NS),
        }
    }

    /// Ends an exchange whose request cannot be completed, and closes its connection. Returns it with this failure, and no
    /// event follows. None if it has ended already, or if its head was returned: then the next read fails.
    pub fn abort(&mut self, id: ExchangeId, failure: Failure) -> Option<Finished> {
        let place = self.in_progress(id)?;
        if self.connections[place].is_streaming() {
            self.connections[place].break_upload(failure);
            return None;
        }
        self.end(place, Some(failure))
    }

    /// The slot of an exchange that has not ended.
    pub(super) fn in_progress(&self, id: ExchangeId) -> Option<usize> {
        let (place, serial) = unpack(id.0);
        let connection = self.connections.get(place)?;
        (connection.serial == serial && connection.flight.is_some()).then_some(place)
    }

    /// The slot of an exchange whose request has a body in parts, of which more may come.
    fn uploading(&self, id: ExchangeId) -> Option<usize> {
        self.in_progress(id).filter(|place| self.connections[*place].takes_parts())
    }

    fn write_part(&mut self, place: usize, bytes: &[u8], ends: bool) {
        let step = self.connections[place].write_part(&mut self.io, bytes, ends);
        if let Some(finished) = self.settle(place, step) {
            self.finish_later(finished);
        }
    }

    /// Cancels the wake of an unsuccessful `read` and returns its token; None if the wake has come.
    pub fn stop_reading(&mut self, id: ExchangeId) -> Option<u64> {
        let place = self.streaming(id)?;
        let connection = &mut self.connections[place];
        let wake = connection.reader();
        connection.set_reader(None);
        self.cancel_wake(WakeId(wake?))
    }

    /// Abandons a streamed body and closes its connection. Returns the token of the cancelled wake, if there is one.
    pub fn hang_up(&mut self, id: ExchangeId) -> Option<u64> {
        let place = self.streaming(id)?;
        self.give_up(place)
    }

    /// The connection's slot, if the exchange is still streaming.
    fn streaming(&self, id: ExchangeId) -> Option<usize> {
        let (place, serial) = unpack(id.0);
        let connection = self.connections.get(place)?;
        (connection.serial == serial && connection.is_streaming()).then_some(place)
    }

    /// Closes a connection. Returns the token of its waiting reader.
    pub(super) fn give_up(&mut self, place: usize) -> Option<u64> {
        let mut connection = self.remove(place);
        self.woken.extend(connection.take_writer());
        if connection.is_streaming() {
            return self.cancel_wake(WakeId(connection.reader()?));
        }
        let flight = connection.flight?;
        self.in_flight -= 1;
        Some(flight.token())
    }

    /// The head of a streamed exchange has arrived, or its reader can continue.
    pub(super) fn streamed(&mut self, place: usize) -> Option<Finished> {
        let connection = &mut self.connections[place];
        let head = connection.hand_over(ExchangeId::new(place, connection.serial));
        match &head {
            Some(finished) => {
                self.in_flight -= 1;
                self.consumed(place, finished.result.as_ref().map_or(0, |response| response.body().len()));
            }
            // The token may be cancelled, or queued already: it is checked when it is taken.
            None => self.woken.extend(connection.reader()),
        }
        let connection = &mut self.connections[place];
        if connection.has_upload() && connection.is_written() {
            self.woken.extend(connection.take_writer());
        }
        head
    }
}
