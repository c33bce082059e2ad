//! Times that callers want to be woken at.

use super::{Engine, Event, SERIAL, WAKE, WakeId, pack, unpack};
use crate::clock::now;

/// Who wants to be woken.
pub(super) struct Wake {
    pub(super) token: u64,
    pub(super) serial: u32,
}

impl Engine {
    /// Brings [`Event::Woken`] with `token` at `due` (monotonic ns), or in the next turn when that has passed.
    pub fn wake(&mut self, token: u64, due: u64) -> WakeId {
        self.serial = self.serial.wrapping_add(1) & SERIAL;
        let place = self.wakes.insert(Wake { token, serial: self.serial });
        let id = pack(place, self.serial);
        if due > now() {
            self.timers.insert(due, WAKE | id);
        } else {
            // An interrupt of the timer adds no information and costs more than a request does.
            self.overdue.push(id);
            self.ring();
        }
        WakeId(id)
    }

    /// Takes a wake back and returns its token; None when it has been handed over already.
    pub fn cancel_wake(&mut self, id: WakeId) -> Option<u64> {
        let (place, serial) = unpack(id.0);
        self.wakes.get(place).filter(|wake| wake.serial == serial)?;
        Some(self.wakes.remove(place).token)
    }

    /// Wakes are taken off one by one, so that one that is cancelled by what an earlier one set off does not come.
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
