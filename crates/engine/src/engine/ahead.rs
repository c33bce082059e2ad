//! Hints about the memory of later events of a turn.
//!
//! With thousands of users, the memory of one of them has left the near caches of the processor until its reply
//! arrives. A caller that says early what it will need does not wait for it. A hint changes nothing but the time, and
//! so it may also be wrong.

use super::Engine;
use crate::call::unpack;

/// Bytes that the processor fetches at a time.
const LINE: usize = 64;

/// Has the processor fetch what is at an address of this process, if it can: any address will do.
#[inline(always)]
#[allow(clippy::inline_always)] // one instruction
#[allow(unsafe_code)]
pub fn fetch(address: usize) {
    // SAFETY: the instruction reads nothing for the program. It ignores addresses that are not mapped.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::without_provenance(address));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// The same for `length` bytes from an address.
#[inline]
pub fn fetch_all(address: usize, length: usize) {
    for offset in (0..length).step_by(LINE) {
        fetch(address.wrapping_add(offset));
    }
}

impl Engine {
    /// Has the connection of a later event fetched; 0: that of the next one.
    #[inline]
    pub fn fetch_connection(&self, later: usize) {
        if let Some(connection) = self.connection_of(later) {
            fetch_all(std::ptr::from_ref(connection).addr(), size_of_val(connection));
        }
    }

    /// The token of the exchange that a later event is about, if it is about one of an own connection. It may not be
    /// finished by that event.
    #[inline]
    pub fn upcoming(&self, later: usize) -> Option<u64> {
        Some(self.connection_of(later)?.flight.as_ref()?.token())
    }

    #[inline]
    fn connection_of(&self, later: usize) -> Option<&crate::connection::Connection> {
        let ready = self.ready.get(self.next_ready.checked_add(later)?)?;
        self.connections.get(unpack(ready.token.0 as u64).0)
    }
}
