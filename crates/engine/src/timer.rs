//! Deadlines that are cheap to move, with one descriptor for all.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::os::fd::{AsRawFd, RawFd};

use crate::platform::Alarm;

/// Wakes the loop at the earliest of many deadlines.
///
/// Moving a deadline to a later time is free: its owner stores the new one, and inserts it when the old one expires. So
/// a read timeout costs one entry per connection and timeout, not one per request.
#[derive(Debug)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(u64, u64)>>,
    alarm: Alarm,
    /// The time that the alarm is set to, monotonic ns; 0 = not set.
    armed: u64,
}

impl Timers {
    pub(crate) fn new() -> io::Result<Timers> {
        Ok(Timers { heap: BinaryHeap::new(), alarm: Alarm::new()?, armed: 0 })
    }

    /// Makes `expired` return `owner` after `deadline` (monotonic ns, > 0).
    #[inline]
    pub(crate) fn insert(&mut self, deadline: u64, owner: u64) {
        self.heap.push(Reverse((deadline, owner)));
        if deadline < self.armed {
            self.arm(deadline);
        }
        self.settle();
    }

    /// Sets the alarm again after it has fired. Call it before the loop waits, as late as possible: a later insert is
    /// often the earliest deadline.
    #[inline]
    pub(crate) fn settle(&mut self) {
        if self.armed == 0
            && let Some(&Reverse((deadline, _))) = self.heap.peek()
        {
            self.arm(deadline);
        }
    }

    /// Whether a deadline comes before `time`, monotonic ns.
    pub(crate) fn due_before(&self, time: u64) -> bool {
        self.heap.peek().is_some_and(|Reverse((deadline, _))| *deadline < time)
    }

    /// Call it before `expired` when the descriptor was readable.
    pub(crate) fn fired(&mut self) {
        self.alarm.fired();
        self.armed = 0;
    }

    /// The next owner whose deadline has passed at `now`.
    pub(crate) fn expired(&mut self, now: u64) -> Option<u64> {
        let &Reverse((_, owner)) = self.heap.peek().filter(|Reverse((deadline, _))| *deadline <= now)?;
        self.heap.pop();
        Some(owner)
    }

    fn arm(&mut self, deadline: u64) {
        self.alarm.set(deadline);
        self.armed = deadline;
    }
}

impl AsRawFd for Timers {
    fn as_raw_fd(&self) -> RawFd {
        self.alarm.as_raw_fd()
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

    #[test]
    fn the_descriptor_is_set_to_the_earliest_deadline_and_only_when_that_moves() {
        let mut timers = Timers::new().unwrap();
        timers.settle();
        assert_eq!(timers.armed, 0, "there is none");
        for (deadline, armed) in [(30, 30), (50, 30), (20, 20)] {
            timers.insert(deadline, deadline);
            assert_eq!(timers.armed, armed);
        }
        timers.fired();
        assert_eq!(timers.expired(25), Some(20));
        assert_eq!(timers.expired(25), None);
        assert_eq!(timers.armed, 0, "something earlier than 30 may come yet");
        timers.insert(27, 27);
        assert_eq!(timers.armed, 27);
        timers.fired();
        assert_eq!(timers.expired(27), Some(27));
        timers.settle();
        assert_eq!(timers.armed, 30);
    }

    #[test]
    fn it_is_known_whether_a_deadline_comes_before_a_time() {
        let mut timers = Timers::new().unwrap();
        assert!(!timers.due_before(u64::MAX), "there is none");
        timers.insert(30, 3);
        timers.insert(20, 2);
        assert!(timers.due_before(21));
        assert!(!timers.due_before(20));
    }
}
