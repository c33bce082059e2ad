//! A short sleep at the end of a turn, so that the next turn has more replies.
//!
//! A busy target answers one request after another. An engine that is a little faster takes each reply by itself: it
//! waits, is woken, and sends one request, which wakes the target. All of that costs more than the exchange. After a
//! sleep, several replies share it. Latencies stay true, because the kernel stamps a reply when it arrives. A user
//! without think time sends its next request up to one sleep later, and `delay` contains that. A target that is not
//! busy would get fewer requests by it, so the engine compares: a slot of time without sleeps now and then.

use std::thread;
use std::time::Duration;

use super::Engine;
use crate::clock::now;
use crate::platform;

/// Length of a sleep, ns.
const SLEEP: u64 = 100_000;

/// Replies that a sleep must bring to pay for itself.
const EXPECTED: u64 = 4;

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
    comparison: Comparison,
    /// Start and end of the last sleep, monotonic ns.
    last: (u64, u64),
    /// For how long all replies so far have waited for the end of a sleep, ns.
    waited: u64,
}

impl Gathering {
    /// Counts the wait of a reply that arrived at this time, ns, and was read after the last sleep.
    #[inline]
    pub(super) fn read(&mut self, arrival: u64) {
        let (start, end) = self.last;
        self.waited += end.saturating_sub(arrival.max(start));
    }

    /// Whether a sleep pays after a turn of `events` that ended at `now`, if replies go on coming as fast as in it.
    fn pays(&mut self, events: usize, now: u64) -> bool {
        let took = now - std::mem::replace(&mut self.ended, now);
        EXPECTED * took <= events as u64 * SLEEP
    }
}

/// Length of a slot, ns. A few hundred requests, or more.
const SLOT: u64 = 10_000_000;

/// One slot in so many is of the other kind.
const TRIAL: u32 = 32;

/// The weight of the last trial in the mean of them.
const WEIGHT: f64 = 0.125;

/// Sleeps must leave at least this part of the requests per second.
const LEAST: f64 = 0.98;

/// How many requests per second there are with sleeps, as a multiple of those without. Both are tried in turn, in
/// slots that follow one another.
#[derive(Debug)]
struct Comparison {
    /// A mean of the last trials.
    ratio: f64,
    /// Whether this slot has sleeps.
    sleeps: bool,
    /// Its start, monotonic ns.
    started: u64,
    /// Requests sent before it.
    sent: u64,
    /// Slots so far.
    slots: u32,
    /// Requests per ns of the slot before it; 0: unknown, because users paused meanwhile.
    before: f64,
}

impl Default for Comparison {
    fn default() -> Comparison {
        Comparison { ratio: 1.0, sleeps: true, started: 0, sent: 0, slots: 0, before: 0.0 }
    }
}

impl Comparison {
    /// Whether to sleep at this time, ns, after so many requests.
    #[inline]
    fn sleeps(&mut self, now: u64, sent: u64) -> bool {
        if now - self.started >= SLOT {
            self.begin_slot(now, sent);
        }
        self.sleeps
    }

    fn begin_slot(&mut self, now: u64, sent: u64) {
        let took = now - self.started;
        let rate = if took < 2 * SLOT { (sent - self.sent) as f64 / took as f64 } else { 0.0 };
        if self.is_trial() && rate > 0.0 && self.before > 0.0 {
            let ratio = if self.sleeps { rate / self.before } else { self.before / rate };
            self.ratio += WEIGHT * (ratio - self.ratio);
        }
        (self.started, self.sent, self.before) = (now, sent, rate);
        self.slots = self.slots.wrapping_add(1);
        self.sleeps = (self.ratio >= LEAST) != self.is_trial();
    }

    /// Whether this slot is of the other kind than those before it and after it.
    fn is_trial(&self) -> bool {
        self.slots.is_multiple_of(TRIAL)
    }
}

impl Engine {
    /// For how long all replies together have waited because the engine slept to read more at a time, ns. It is part of
    /// their `delay`, but costs no throughput: sleeps that do are given up.
    pub fn gathered(&self) -> u64 {
        self.gathering.waited
    }

    /// Sleeps after a turn if that makes the next one cheaper, and no timer is due meanwhile. (Its request would be
    /// late.)
    #[inline]
    pub(super) fn gather(&mut self) {
        let events = self.ready.len();
        if events <= MOST && self.in_flight() >= IN_FLIGHT {
            let start = now();
            if self.gathering.pays(events, start)
                && self.gathering.comparison.sleeps(start, self.sent)
                && !self.timers.due_before(start + SLEEP)
                && self.may_gather()
            {
                thread::sleep(Duration::from_nanos(SLEEP));
                self.gathering.last = (start, now());
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
    use super::{Comparison, Gathering, SLEEP, SLOT, TRIAL};

    /// Whether it pays after turns of `events` each, which follow one another after `between` ns.
    fn pays(events: usize, between: u64) -> bool {
        let mut gathering = Gathering::default();
        assert!(!gathering.pays(events, 1 << 40), "the first turn has none before it");
        gathering.pays(events, (1 << 40) + between)
    }

    #[test]
    fn a_sleep_pays_if_it_brings_four_replies_at_the_pace_of_the_turn() {
        assert!(pays(1, SLEEP / 4));
        assert!(!pays(1, SLEEP / 4 + 1));
        assert!(pays(8, 2 * SLEEP));
        assert!(!pays(8, 2 * SLEEP + 1));
    }

    #[test]
    fn a_turn_without_events_is_no_pace() {
        assert!(!pays(0, 1));
    }

    #[test]
    fn the_part_of_a_wait_that_was_a_sleep_is_counted() {
        let mut gathering = Gathering { last: (100, 200), ..Gathering::default() };
        let waits = [50, 150, 250].map(|arrival| {
            let before = gathering.waited;
            gathering.read(arrival);
            gathering.waited - before
        });
        assert_eq!(waits, [100, 50, 0]);
    }

    /// Which slots sleep, if a slot with sleeps sends so many requests, one without 1,000, and each takes `took` ns.
    fn slots(with: u64, took: u64, count: u32) -> Vec<bool> {
        let mut comparison = Comparison::default();
        let (mut now, mut sent) = (1 << 40, 0);
        (0..count)
            .map(|_| {
                let sleeps = comparison.sleeps(now, sent);
                now += took;
                sent += if sleeps { with } else { 1_000 };
                sleeps
            })
            .collect()
    }

    /// Of the slots of the last trial and those around it, those that sleep.
    fn asleep(slots: &[bool]) -> usize {
        slots[slots.len() - TRIAL as usize..].iter().filter(|sleeps| **sleeps).count()
    }

    #[test]
    fn one_slot_in_so_many_is_without_sleeps() {
        assert_eq!(asleep(&slots(1_000, SLOT, 10 * TRIAL)), TRIAL as usize - 1);
        assert_eq!(asleep(&slots(985, SLOT, 100 * TRIAL)), TRIAL as usize - 1, "1.5 % less is tolerated");
    }

    #[test]
    fn sleeps_that_cost_requests_are_given_up_but_for_trials() {
        assert_eq!(asleep(&slots(800, SLOT, 3 * TRIAL)), 1);
        assert_eq!(asleep(&slots(950, SLOT, 100 * TRIAL)), 1);
    }

    #[test]
    fn slots_in_which_users_paused_are_not_compared() {
        assert_eq!(asleep(&slots(500, 2 * SLOT, 100 * TRIAL)), TRIAL as usize - 1);
    }
}
