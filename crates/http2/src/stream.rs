//! One request and its response on a connection.

use std::ops::Deref;
use std::sync::Arc;

use crate::frame::MAX_31;

/// What this end lets the peer send.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    /// Bytes after an update; at most 2³¹ − 1.
    size: u32,
    /// Bytes that the peer may send now.
    left: u32,
    /// Bytes that were taken and are not given back yet.
    owed: u32,
}

impl Window {
    pub(crate) fn new(size: u32) -> Window {
        Window { size, left: size, owed: 0 }
    }

    /// The peer sends `count` bytes. False: it may not.
    pub(crate) fn take(&mut self, count: u32) -> bool {
        let left = self.left.checked_sub(count);
        self.left = left.unwrap_or_default();
        left.is_some()
    }

    /// `count` bytes were read. Returns the increment to send: there is one when half of the window is owed, so that the
    /// peer need not wait and few frames are needed.
    pub(crate) fn give(&mut self, count: u32) -> Option<u32> {
        self.owed = self.owed.saturating_add(count).min(self.size - self.left);
        if self.owed == 0 || self.owed < self.size / 2 {
            return None;
        }
        self.left += self.owed;
        Some(std::mem::take(&mut self.owed))
    }
}

/// What the peer lets this end send. It can be negative after a change of SETTINGS.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allowance(pub(crate) i64);

impl Allowance {
    /// Opens the window further. False: over its maximum.
    pub(crate) fn open(&mut self, increment: i64) -> bool {
        self.0 += increment;
        self.0 <= i64::from(MAX_31)
    }

    /// Bytes that may be sent.
    pub(crate) fn room(self) -> usize {
        usize::try_from(self.0).unwrap_or_default()
    }

    /// Uses a part of the [`room`](Allowance::room).
    pub(crate) fn take(&mut self, count: usize) {
        self.0 = self.0.saturating_sub_unsigned(count as u64);
    }
}

/// Bytes of a request's body that wait.
#[derive(Debug)]
pub(crate) enum Waiting {
    Copied(Vec<u8>),
    /// Those of many requests.
    Shared(Arc<[u8]>),
}

impl Waiting {
    /// Appends. Shared bytes are followed by nothing: their request is complete.
    pub(crate) fn extend(&mut self, bytes: &[u8]) {
        match self {
            Waiting::Copied(own) => own.extend_from_slice(bytes),
            Waiting::Shared(shared) if !bytes.is_empty() => *self = Waiting::Copied([shared, bytes].concat()),
            Waiting::Shared(_) => {}
        }
    }
}

impl Default for Waiting {
    fn default() -> Waiting {
        Waiting::Copied(Vec::new())
    }
}

impl Deref for Waiting {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Waiting::Copied(own) => own,
            Waiting::Shared(shared) => shared,
        }
    }
}

/// A stream that is open.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "five independent facts, not a state")]
pub(crate) struct Stream {
    pub(crate) id: u32,
    pub(crate) tag: u64,
    pub(crate) allowance: Allowance,
    pub(crate) window: Window,
    /// The part of the request's body that waits for the peer's windows, from `sent` on.
    pub(crate) body: Waiting,
    pub(crate) sent: usize,
    /// The body ends with `body`.
    pub(crate) ends: bool,
    /// `END_STREAM` was sent.
    pub(crate) has_ended: bool,
    /// The request has the method HEAD.
    pub(crate) is_head: bool,
    /// The head of the final response has arrived.
    pub(crate) has_head: bool,
    /// Only what is consumed is given back to the peer.
    pub(crate) is_held: bool,
    /// Bytes of interim heads.
    pub(crate) interim: usize,
    /// Bytes of the response's body that were announced.
    pub(crate) announced: Option<u64>,
    /// Bytes of it that have arrived.
    pub(crate) received: u64,
}

impl Stream {
    /// Whether a part of the request's body, or its end, waits.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.has_ended && (self.ends || self.has_unsent())
    }

    /// Whether a part of the request's body waits.
    pub(crate) fn has_unsent(&self) -> bool {
        self.sent < self.body.len()
    }

    /// Gives back the memory of bytes that were sent, in large steps.
    pub(crate) fn forget_sent(&mut self) {
        let (sent, half) = (self.sent, self.body.len() / 2);
        if !self.has_unsent() {
            self.body = Waiting::default();
        } else if let Waiting::Copied(own) = &mut self.body
            && sent >= half
        {
            own.drain(..sent);
        } else {
            return;
        }
        self.sent = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::{Allowance, Window};

    #[test]
    fn a_window_is_given_back_in_halves() {
        let mut window = Window::new(100);
        assert!(window.take(60));
        assert_eq!(window.give(49), None);
        assert_eq!(window.give(1), Some(50));
        assert!(window.take(90));
        assert!(!window.take(1), "the ten bytes that were not given back");
    }

    #[test]
    fn no_more_is_given_back_than_was_taken() {
        let mut window = Window::new(100);
        assert!(window.take(50));
        assert_eq!(window.give(u32::MAX), Some(50));
        assert_eq!(window.give(u32::MAX), None);
        let mut smallest = Window::new(1);
        assert_eq!((smallest.give(0), smallest.take(1), smallest.give(1)), (None, true, Some(1)));
    }

    #[test]
    fn an_allowance_may_be_negative_and_has_a_maximum() {
        let mut allowance = Allowance(10);
        allowance.take(4);
        assert!(allowance.open(-20));
        assert_eq!(allowance.room(), 0);
        assert!(allowance.open((1 << 31) - 1 + 14));
        assert!(!allowance.open(1));
    }
}
