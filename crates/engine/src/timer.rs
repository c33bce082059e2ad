//! Deadlines: cheap to move, one descriptor for all.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use crate::socket::{drain_timer, set_timer, timer_descriptor};

/// Wakes the loop at the earliest of many deadlines.
///
/// A deadline that moves later costs nothing here: its owner keeps the true one, and when the old one comes up the
/// owner puts the new one in. So a read timeout costs one entry per connection and timeout, not one per request.
#[derive(Debug)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(u64, u64)>>,
    descriptor: OwnedFd,
    /// What the descriptor is set to, monotonic ns; 0 = not set.
    armed: u64,
}

impl Timers {
    pub(crate) fn new() -> io::Result<Timers> {
        Ok(Timers { heap: BinaryHeap::new(), descriptor: timer_descriptor()?, armed: 0 })
    }

    /// Wants `owner` back from `expired` once `deadline` (monotonic ns, > 0) has passed.
    pub(crate) fn insert(&mut self, deadline: u64, owner: u64) {
        self.heap.push(Reverse((deadline, owner)));
        if self.armed == 0 || deadline < self.armed {
            self.arm(deadline);
        }
    }

    /// The next owner whose deadline has passed at `now`; None when there is no more, and the descriptor is set anew.
    pub(crate) fn expired(&mut self, now: u64) -> Option<u64> {
        match self.heap.peek() {
            Some(&Reverse((deadline, owner))) if deadline <= now => {
                self.heap.pop();
                Some(owner)
            }
            Some(&Reverse((deadline, _))) => {
                self.arm(deadline);
                None
            }
            None => {
                self.armed = 0;
                None
            }
        }
    }

    /// To be called when the descriptor was readable, before `expired`.
    pub(crate) fn acknowledge(&mut self) {
        drain_timer(&self.descriptor);
    }

    fn arm(&mut self, deadline: u64) {
        set_timer(&self.descriptor, deadline);
        self.armed = deadline;
    }
}

impl AsRawFd for Timers {
    fn as_raw_fd(&self) -> RawFd {
        self.descriptor.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::Timers;

    #[test]
    fn owners_come_back_in_the_order_of_their_deadlines_and_not_before() {
        let mut timers = Timers::new().unwrap();
        for (deadline, owner) in [(30, 3), (10, 1), (20, 2)] {
            timers.insert(deadline, owner);
        }
        assert_eq!(timers.expired(9), None);
        assert_eq!(timers.expired(20), Some(1));
        assert_eq!(timers.expired(20), Some(2));
        assert_eq!(timers.expired(20), None);
        assert_eq!(timers.expired(30), Some(3));
        assert_eq!(timers.expired(u64::MAX), None);
    }
}
