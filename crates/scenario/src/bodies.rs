//! The memory limit for all response bodies of this process, and for what is made of them.
//!
//! Small bodies are not counted: the number of users limits them.

use std::sync::atomic::{AtomicU64, Ordering};

/// Default limit for all bodies in memory, bytes: 1 GiB.
pub const BODY_MEMORY: u64 = 1 << 30;

/// Responses up to this size are not counted, bytes.
const UNCOUNTED: u64 = 16 << 10;

static LIMIT: AtomicU64 = AtomicU64::new(BODY_MEMORY);
static HELD: AtomicU64 = AtomicU64::new(0);

/// Sets the limit for all bodies of this process, in bytes. Existing bodies stay.
pub fn limit_bodies(bytes: u64) {
    LIMIT.store(bytes, Ordering::Relaxed);
}

/// Bytes in counted bodies of this process.
pub fn held_bodies() -> u64 {
    HELD.load(Ordering::Relaxed)
}

/// The memory of one body. It is released on drop.
#[derive(Debug, Default)]
pub struct Held(u64);

impl Held {
    /// Reserves memory for a body of this many bytes. The error says that there is none left.
    pub fn new(bytes: u64) -> Result<Held, String> {
        let mut held = Held::default();
        held.reserve(bytes).map(|()| held)
    }

    /// Raises the reservation to this many bytes. The error says that there is no memory left.
    pub fn reserve(&mut self, bytes: u64) -> Result<(), String> {
        if self.raise_to(bytes) { Ok(()) } else { Err(no_room()) }
    }

    /// Follows a buffer that grows and shrinks. Returns false if there is no memory left.
    pub fn follow(&mut self, bytes: usize) -> bool {
        let bytes = bytes as u64;
        if bytes < self.0 {
            *self = Held::default();
        }
        self.raise_to(bytes)
    }

    /// Counts a second copy of an accepted body. It is never refused.
    pub fn copy(bytes: u64) -> Held {
        if bytes <= UNCOUNTED {
            return Held(0);
        }
        HELD.fetch_add(bytes, Ordering::Relaxed);
        Held(bytes)
    }

    /// Nothing is reserved.
    pub(crate) fn is_empty(&self) -> bool {
        self.0 == 0
    }

    /// Raises the reservation to this many bytes. Returns false if there is no memory left.
    pub fn raise_to(&mut self, bytes: u64) -> bool {
        if bytes <= UNCOUNTED.max(self.0) {
            return true;
        }
        let more = bytes - self.0;
        if HELD.fetch_add(more, Ordering::Relaxed) + more > LIMIT.load(Ordering::Relaxed) {
            HELD.fetch_sub(more, Ordering::Relaxed);
            return false;
        }
        self.0 = bytes;
        true
    }
}

/// The message for a body that was refused.
pub fn no_room() -> String {
    let limit = LIMIT.load(Ordering::Relaxed);
    format!("the bodies in memory are over the limit of {limit} bytes for all users of a worker")
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.0 != 0 {
            HELD.fetch_sub(self.0, Ordering::Relaxed);
        }
    }
}
