//! Requests of one turn that are written together.
//!
//! A caller that runs much code of its own for each reply, as Python users do, loses the processor's caches to the
//! kernel and back with each system call. So it reads some replies first, has its users run, and their requests are
//! written one after another. `sent` of each is stamped when it is written; the wait until then is lag.

use std::sync::Arc;

use super::{ClientId, Engine};
use crate::call::{Call, ExchangeId, Finished, unpack};
use crate::clock::now;
use crate::origin::Origin;

/// Most requests that wait for each other.
const MOST: usize = 16;

/// Fewest exchanges in flight: twice [`MOST`]. So the target has work while requests wait.
const IN_FLIGHT: usize = 2 * MOST;

impl Engine {
    /// Like [`send`](Engine::send), but if many exchanges are in flight the request is written with others: at the latest
    /// when this turn ends. Until then the caller can have it written by [`write_batch`](Engine::write_batch).
    #[inline]
    pub fn send_in_batch(&mut self, client: ClientId, origin: &Arc<Origin>, call: Call) -> ExchangeId {
        let later = self.in_turn() && self.in_flight() >= IN_FLIGHT;
        let id = self.start(client, origin, call, later);
        if self.batch.len() >= MOST {
            self.write_batch();
        }
        id
    }

    /// Writes the requests that wait.
    #[inline]
    pub fn write_batch(&mut self) {
        if !self.batch.is_empty() {
            self.write_all();
        }
    }

    #[inline(never)]
    fn write_all(&mut self) {
        for index in 0..self.batch.len() {
            let (place, serial) = self.batch[index];
            // An exchange that was cancelled has left its slot.
            let Some(connection) = self.connections.get_mut(place).filter(|known| known.serial == serial) else {
                continue;
            };
            let step = connection.transmit_late(now(), &mut self.io);
            if let Some(finished) = self.settle(place, step) {
                self.finish_later(finished);
            }
        }
        self.batch.clear();
    }

    /// The next event, if it is the reply to an exchange on an own connection, and the next in line: reads its socket.
    /// None: it is something else, or not complete yet. [`next_event`](Engine::next_event) returns what comes then.
    #[inline]
    pub fn next_reply(&mut self) -> Option<Finished> {
        self.upcoming(0)?;
        if self.turn > 0 || !self.woken.is_empty() {
            return None;
        }
        let ready = *self.ready.get(self.next_ready)?;
        self.next_ready += 1;
        self.fetch_ahead();
        self.advance(ready.token, ready)
    }

    /// Says that the user of this exchange runs now, which was returned before: its next request probably takes the same
    /// connection.
    #[inline]
    pub fn resumes(&mut self, id: ExchangeId) {
        self.answered = unpack(id.0).0;
    }
}
