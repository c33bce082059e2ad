//! Timers for the caller.

use super::{Engine, Event, SERIAL, WAKE, WakeId, pack, unpack};
use crate::clock::now;

/// A pending wake.
pub(super) struct Wake {
    pub(super) token: u64,
    pub(super) serial: u32,
}

impl Engine {
    /// Requests [`Event::Woken`] with `token` at `due` (monotonic ns), or in the next turn if that has passed.
    pub fn wake(&mut self, token: u64, due: u64) -> WakeId {
        self.serial = self.serial.wrapping_add(1) & SERIAL;
        let place = self.wakes.insert(Wake { token, serial: self.serial });
        let id = pack(place, self.serial);
        if due > now() {
            self.timers.insert(due, WAKE | id);
        } else {
            // A timer interrupt adds no information here and costs more than a request.
            self.overdue.push(id);
            self.ring();
        }
        WakeId(id)
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
}
