//! Exponential backoff with jitter after a failed connection.
//!
//! Without it, a user whose target refuses connections would retry at once, thousands of times a second.

use std::sync::Arc;

use crate::clock::now;
use crate::origin::Origin;

/// Maximum wait after the first failure, ns. Each further failure doubles it.
const FIRST: u64 = 10_000_000;
/// Maximum wait, ns.
const LONGEST: u64 = 1_000_000_000;

/// A client's failures to connect to one origin.
#[derive(Debug)]
pub(crate) struct Refusal {
    origin: Arc<Origin>,
    /// Consecutive failures.
    count: u32,
    /// Time of the next attempt, monotonic ns.
    until: u64,
}

/// The origins that one client could not connect to, without duplicates.
pub(crate) type Refusals = Vec<Refusal>;

/// Decides how long clients wait.
#[derive(Debug)]
pub(crate) struct Backoff {
    pub(crate) is_on: bool,
    /// Exchanges that are waiting now.
    pub(crate) held: usize,
    /// Total ns that clients have waited.
    pub(crate) waited: u64,
    random: u64,
}

impl Backoff {
    /// Disabled at first. seed: any number.
    pub(crate) fn new(seed: u64) -> Backoff {
        Backoff { is_on: false, held: 0, waited: 0, random: seed }
    }

    /// Records a failed connection to the origin.
    pub(crate) fn refused(&mut self, refusals: &mut Refusals, origin: &Arc<Origin>) {
        if !self.is_on {
            return;
        }
        // Forget old entries: these clients do not retry too often, and the list must not grow without limit.
        let now = now();
        refusals.retain(|refusal| refusal.until + LONGEST > now);
        let place = refusals.iter().position(|refusal| Arc::ptr_eq(&refusal.origin, origin)).unwrap_or_else(|| {
            refusals.push(Refusal { origin: Arc::clone(origin), count: 0, until: 0 });
            refusals.len() - 1
        });
        let wait = self.wait(refusals[place].count);
        let refusal = &mut refusals[place];
        refusal.count = refusal.count.saturating_add(1);
        refusal.until = now + wait;
    }

    /// The wait after `before` earlier failures, ns: half of it is fixed, the other half random.
    fn wait(&mut self, before: u32) -> u64 {
        let most = FIRST.saturating_mul(1 << before.min(20)).min(LONGEST);
        most / 2 + self.draw() % (most / 2)
    }

    /// splitmix64. It only has to make clients differ.
    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// When the client may retry, if that is after `now` (monotonic ns).
pub(crate) fn until(refusals: &Refusals, origin: &Arc<Origin>, now: u64) -> Option<u64> {
    let refusal = refusals.iter().find(|refusal| Arc::ptr_eq(&refusal.origin, origin))?;
    (refusal.until > now).then_some(refusal.until)
}

/// The client has connected to the origin.
pub(crate) fn forget(refusals: &mut Refusals, origin: &Arc<Origin>) {
    refusals.retain(|refusal| !Arc::ptr_eq(&refusal.origin, origin));
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Backoff, FIRST, LONGEST, Refusals, forget, until};
    use crate::clock::now;
    use crate::origin::{Origin, OriginOptions};

    fn origin() -> Arc<Origin> {
        Arc::new(Origin::new("http://127.0.0.1:9", &OriginOptions::default()).unwrap())
    }

    #[test]
    fn waits_double_up_to_the_longest_and_differ() {
        let mut backoff = Backoff::new(1);
        for before in 0..40 {
            let most = (FIRST << before.min(7)).min(LONGEST);
            let waits = [(); 20].map(|()| backoff.wait(before));
            assert!(waits.iter().all(|wait| (most / 2..most).contains(wait)), "after {before}: {waits:?}");
            assert!(waits.iter().any(|wait| *wait != waits[0]));
        }
    }

    #[test]
    fn each_origin_has_its_own_count_which_a_connection_ends() {
        let (mut backoff, mut refusals, one, other) = (Backoff::new(1), Refusals::new(), origin(), origin());
        backoff.refused(&mut refusals, &one);
        assert_eq!(refusals.len(), 0, "it is off");
        backoff.is_on = true;
        for _ in 0..9 {
            backoff.refused(&mut refusals, &one);
        }
        let after = now();
        backoff.refused(&mut refusals, &other);
        assert!(until(&refusals, &one, after).unwrap() > after + LONGEST / 4);
        assert!(until(&refusals, &other, after).unwrap() <= now() + FIRST);
        assert_eq!(until(&refusals, &one, after + 2 * LONGEST), None, "it is over");
        forget(&mut refusals, &one);
        assert_eq!(until(&refusals, &one, after), None);
        assert!(until(&refusals, &other, 0).is_some());
    }

    #[test]
    fn an_origin_that_was_tried_long_ago_is_forgotten() {
        let (mut backoff, mut refusals, one, other) = (Backoff::new(1), Refusals::new(), origin(), origin());
        backoff.is_on = true;
        backoff.refused(&mut refusals, &one);
        refusals[0].until = now() - LONGEST;
        backoff.refused(&mut refusals, &other);
        assert_eq!(refusals.len(), 1);
        assert!(until(&refusals, &other, 0).is_some());
    }
}
