//! Bodies of exchanges with [`Keep::Stream`](crate::Keep::Stream), read in pieces.

use super::{Engine, SERIAL, Wake, WakeId};
use crate::call::{ExchangeId, Finished, Piece, Then, pack, unpack};
use crate::connection::closed;

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
            self.serial = self.serial.wrapping_add(1) & SERIAL;
            let wake = pack(self.wakes.insert(Wake { token, serial: self.serial }), self.serial);
            connection.set_reader(Some(wake));
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
    /// the reader is woken, too. An error is that of the next [`read`](Engine::read).
    pub fn write(&mut self, id: ExchangeId, bytes: &[u8]) {
        if let Some(place) = self.sharing(id) {
            self.write_body(place, bytes, false);
        } else if let Some(place) = self.streaming(id) {
            self.connections[place].push(bytes);
        }
    }

    /// Ends the body of a request that [continues](crate::Wire::continues).
    pub fn finish_writing(&mut self, id: ExchangeId) {
        if let Some(place) = self.sharing(id) {
            self.write_body(place, &[], true);
        }
    }

    /// Whether the socket has accepted all bytes of [`write`](Engine::write).
    pub fn is_written(&mut self, id: ExchangeId) -> bool {
        match self.sharing(id) {
            Some(place) => self.is_body_written(id, place),
            None => self.streaming(id).is_none_or(|place| self.connections[place].is_written()),
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
        let connection = self.remove(place);
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
        head
    }
}
