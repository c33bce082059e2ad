//! Bodies in pieces on shared connections: requests that continue, and the windows of responses that are read slowly.

use crate::call::{ExchangeId, unpack};
use crate::engine::Engine;

impl Engine {
    /// The slot of an exchange of a shared connection.
    pub(in crate::engine) fn sharing(&self, id: ExchangeId) -> Option<usize> {
        let (place, serial) = unpack(id.0);
        let connection = self.connections.get(place)?;
        (connection.serial == serial && connection.origin.http2 && connection.flight.is_some()).then_some(place)
    }

    /// Sends the next part of a request's body, or keeps it until the request begins. `ends`: it is the last one.
    pub(in crate::engine) fn write_body(&mut self, place: usize, bytes: &[u8], ends: bool) {
        if !self.connections[place].takes_body() {
            return self.connections[place].add_body(bytes, ends);
        }
        self.with_session(place, |connection, session| connection.send_body(session, bytes, ends));
        if !self.in_turn() {
            self.flush();
        }
    }

    /// Whether all parts of the request's body are in the socket. If not, its reader is woken when they are.
    pub(in crate::engine) fn is_body_written(&mut self, id: ExchangeId, place: usize) -> bool {
        let Some((session, stream)) = self.connections[place].stream_id() else { return false };
        let is_written =
            self.session(session).is_none_or(|session| session.http2.unsent(stream) == 0 && !session.has_output());
        if !is_written && !self.writers.contains(&id) {
            self.writers.push(id);
        }
        is_written
    }

    /// Wakes the readers of exchanges whose writers wait.
    pub(super) fn wake_writers(&mut self) {
        for id in std::mem::take(&mut self.writers) {
            let Some(place) = self.sharing(id) else { continue };
            if self.is_body_written(id, place) {
                self.woken.extend(self.connections[place].reader());
            }
        }
    }

    /// A reader has taken this many bytes of a body.
    pub(in crate::engine) fn consumed(&mut self, place: usize, count: usize) {
        let Some((place, stream)) = self.connections[place].stream_id() else { return };
        if let Some(session) = self.session(place) {
            session.http2.consume(stream, count);
            self.list(place);
        }
    }
}
