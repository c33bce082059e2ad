//! How many segments the kernel has sent again on the connections of an engine.
//!
//! The kernel counts them by connection. It is asked when a connection ends, and in turn while connections are open,
//! never with a request. What the peer sends again is not among them: only the peer's kernel counts that.

use super::Engine;
use crate::connection::Connection;

#[derive(Debug, Default)]
pub(super) struct Retransmissions {
    /// Segments since the last report.
    counted: u64,
    /// Whether the kernel has answered for some connection.
    is_known: bool,
    /// The slot in `connections` that is asked next.
    next: usize,
}

impl Engine {
    /// How many segments the kernel has sent again since the last call, as far as it was asked, or None if it has never
    /// said so. Asks the next `most` connections first, with a system call each.
    pub fn take_retransmissions(&mut self, most: usize) -> Option<u64> {
        let slots = self.connections.capacity();
        for _ in 0..slots.min(most) {
            let place = if self.retransmissions.next < slots { self.retransmissions.next } else { 0 };
            self.retransmissions.next = place + 1;
            self.count_retransmissions(place);
        }
        let counted = std::mem::take(&mut self.retransmissions.counted);
        self.retransmissions.is_known.then_some(counted)
    }

    /// Asks the connection in this slot, if there is one with a socket.
    pub(super) fn count_retransmissions(&mut self, place: usize) {
        if let Some(count) = self.connections.get_mut(place).and_then(Connection::newly_retransmitted) {
            self.retransmissions.counted += u64::from(count);
            self.retransmissions.is_known = true;
        }
    }
}
