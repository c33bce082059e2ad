//! A short sleep at the end of a turn, so that the next turn has more replies.
//!
//! A busy target answers one request after another. An engine that is a little faster takes each reply by itself: it
//! waits, is woken, and sends one request, which wakes the target. All of that costs more than the exchange. After a
//! sleep, several replies share it. Latencies stay true, because the kernel stamps a reply when it arrives. A user
//! without think time sends its next request up to one sleep later, and `delay` contains that.

use std::thread;
use std::time::Duration;

use super::Engine;
use crate::clock::now;
use crate::platform;

/// Length of a sleep, ns.
const SLEEP: u64 = 20_000;

/// Replies that a sleep must bring to pay for itself.
const EXPECTED: u64 = 2;

/// Largest turn that is followed by a sleep, in events. Larger ones are cheap.
const MOST: usize = 16;

/// Fewest exchanges in flight: twice [`MOST`]. So after each sleep most of them were at the target, and it has work.
const IN_FLIGHT: usize = 2 * MOST;

/// Decides when to sleep.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    /// The end of the last turn with many exchanges in flight, monotonic ns.
    ended: u64,
    /// Whether the kernel stamps replies, and ends sleeps on time; None: not asked yet, since that takes a probe.
    is_possible: Option<bool>,
}

impl Gathering {
    /// Whether a sleep pays after a turn of `events` that ended at `now`, if replies go on coming as fast as in it.
    fn pays(&mut self, events: usize, now: u64) -> bool {
        let took = now - std::mem::replace(&mut self.ended, now);
        EXPECTED * took <= events as u64 * SLEEP
    }
}

impl Engine {
    /// Sleeps after a turn if that makes the next one cheaper, and no timer is due meanwhile. (Its request would be
    /// late.)
    #[inline]
    pub(super) fn gather(&mut self) {
        let events = self.ready.len();
        if events <= MOST && self.in_flight() >= IN_FLIGHT {
            let now = now();
            if self.gathering.pays(events, now) && !self.timers.due_before(now + SLEEP) && self.may_gather() {
                thread::sleep(Duration::from_nanos(SLEEP));
            }
        }
    }

    fn may_gather(&mut self) -> bool {
        if self.gathering.is_possible.is_none() {
            self.gathering.is_possible = Some(self.kernel_stamps() && platform::sleep_precisely());
        }
        self.gathering.is_possible == Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::{Gathering, SLEEP};

    /// Whether it pays after turns of `events` each, which follow one another after `between` ns.
    fn pays(events: usize, between: u64) -> bool {
        let mut gathering = Gathering::default();
        assert!(!gathering.pays(events, 1 << 40), "the first turn has none before it");
        gathering.pays(events, (1 << 40) + between)
    }

    #[test]
    fn a_sleep_pays_if_it_brings_two_replies_at_the_pace_of_the_turn() {
        assert!(pays(1, SLEEP / 2));
        assert!(!pays(1, SLEEP / 2 + 1));
        assert!(pays(4, 2 * SLEEP));
        assert!(!pays(4, 2 * SLEEP + 1));
    }

    #[test]
    fn a_turn_without_events_is_no_pace() {
        assert!(!pays(0, 1));
    }
}
