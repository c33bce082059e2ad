//! Fetches connections into the processor's caches some events before they are handled.
//!
//! With thousands of users, a connection has left the caches before its next reply comes. The engine would wait for
//! memory again and again while it handles one event. So the memory of a later event's connection is asked for early.

use super::Engine;
use crate::call::unpack;

/// How many events early. With 2 and with 8 an exchange costs as much.
const AHEAD: usize = 4;

/// Bytes that the processor fetches at once.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

impl Engine {
    /// Asks for the memory of a later event's connection.
    #[inline]
    pub(super) fn fetch_ahead(&self) {
        if let Some(later) = self.ready.get(self.next_ready + AHEAD)
            && let Some(connection) = self.connections.get(unpack(later.token.0 as u64).0)
        {
            prefetch(connection);
        }
    }
}

/// Asks for all of a value, and does not wait for it.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
#[inline]
fn prefetch<T>(value: &T) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    let start = (&raw const *value).cast::<i8>();
    for offset in (0..size_of::<T>()).step_by(LINE) {
        // SAFETY: `offset` is within the value. A prefetch has no effect but on caches.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.add(offset)) };
    }
}

/// Stable Rust has no prefetch for other processors.
#[cfg(not(target_arch = "x86_64"))]
fn prefetch<T>(_value: &T) {}
