//! Memory for the bodies of responses: how much all of them may take together, in this process.
//!
//! Small bodies are not counted: what they take is bounded by the number of users.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that all bodies in memory may take together unless it is said otherwise: 1 GiB.
pub const BODY_MEMORY: u64 = 1 << 30;

/// A response that takes no more than this is not counted, bytes.
const UNCOUNTED: u64 = 16 << 10;

static LIMIT: AtomicU64 = AtomicU64::new(BODY_MEMORY);
static HELD: AtomicU64 = AtomicU64::new(0);

/// From now on all bodies of this process may take so many bytes together. What is there stays.
pub fn limit_bodies(bytes: u64) {
    LIMIT.store(bytes, Ordering::Relaxed);
}

/// Bytes that all counted bodies of this process take now.
pub fn held_bodies() -> u64 {
    HELD.load(Ordering::Relaxed)
}

/// What one body takes of the memory for all of them, for as long as this lives.
#[derive(Debug, Default)]
pub struct Held(u64);

impl Held {
    /// For a body of so many bytes. The error says that there is no room for it.
    pub fn new(bytes: u64) -> Result<Held, String> {
        let mut held = Held::default();
        if held.raise_to(bytes) { Ok(held) } else { Err(no_room()) }
    }

    /// For a second copy of a body that was let in: it is counted and never refused.
    pub fn copy(bytes: u64) -> Held {
        if bytes <= UNCOUNTED {
            return Held(0);
        }
        HELD.fetch_add(bytes, Ordering::Relaxed);
        Held(bytes)
    }

    /// The body is to take so many bytes, no fewer than before. False: there is no room for that.
    pub(crate) fn raise_to(&mut self, bytes: u64) -> bool {
        if bytes <= UNCOUNTED {
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

/// Why a body was not let in, for people.
pub(crate) fn no_room() -> String {
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
