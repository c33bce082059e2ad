//! Timers: those of connections, and wakes for the caller.

use super::{Engine, Event, SERIAL, WAKE, WakeId};
use crate::call::{pack, unpack};
use crate::clock::now;
use crate::connection::Step;

/// A pending wake.
pub(super) struct Wake {
    pub(super) token: u64,
    pub(super) serial: u32,
}

impl Engine {
    /// Requests [`Event::Woken`] with `token` at `due` (monotonic ns), or in the next turn if that has passed.
    pub fn wake(&mut self, token: u64, due: u64) -> WakeId {
        let id = self.new_wake(token);
        if due > now() {
            self.timers.insert(due, WAKE | id);
        } else {
            // A timer interrupt adds no information here and costs more than a request.
            self.overdue.push(id);
            self.ring();
        }
        WakeId(id)
    }

    /// A pending wake whose time is not set.
    pub(super) fn new_wake(&mut self, token: u64) -> u64 {
        self.serial = self.serial.wrapping_add(1) & SERIAL;
        pack(self.wakes.insert(Wake { token, serial: self.serial }), self.serial)
    }

    /// Cancels a wake and returns its token; None if it was returned already.
    pub fn cancel_wake(&mut self, id: WakeId) -> Option<u64> {
        let (place, serial) = unpack(id.0);
        self.wakes.get(place).filter(|wake| wake.serial == serial)?;
        Some(self.wakes.remove(place).token)
    }

    /// Takes one due wake at a time, so that handling one wake can still cancel a later one.
    #[inline]
    pub(super) fn next_woken(&mut self) -> Option<Event> {
        while let Some(id) = self.woken.pop_front() {
            if let Some(token) = self.cancel_wake(WakeId(id)) {
                return Some(Event::Woken(token));
            }
        }
        None
    }

    /// Ensures a timer entry for the deadline of the connection's exchange.
    #[inline]
    pub(super) fn watch(&mut self, place: usize) {
        let connection = &mut self.connections[place];
        let deadline = connection.deadline();
        if deadline != 0 && (connection.timer == 0 || deadline < connection.timer) {
            connection.timer = deadline;
            self.timers.insert(deadline, pack(place, connection.serial));
        }
    }

    pub(super) fn expire(&mut self) {
        self.timers.fired();
        let now = now();
        while let Some(owner) = self.timers.expired(now) {
            if owner & WAKE != 0 {
                self.woken.push_back(owner & !WAKE);
            } else {
                self.expire_connection(unpack(owner).0, now);
            }
        }
    }

    /// The timer may belong to an earlier exchange or connection in this slot, so check the current deadline.
    fn expire_connection(&mut self, place: usize, now: u64) {
        let Some(connection) = self.connections.get_mut(place).filter(|known| known.timer <= now) else { return };
        connection.timer = 0;
        let deadline = connection.deadline();
        let step = if deadline != 0 && deadline <= now { connection.expire(&mut self.io) } else { Step::Wait };
        if let Some(finished) = self.settle(place, step) {
            self.finish_now(finished);
        }
    }
}
