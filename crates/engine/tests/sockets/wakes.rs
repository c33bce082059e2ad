//! Wakes: timers for the engine's caller.

use std::time::{Duration, Instant};

use plimsoll_engine::{Event, WakeId, now};

use crate::lab::{Lab, SECOND, get, origin};
use crate::peer::{LIMIT, Peer, ok};

const MILLISECOND: u64 = SECOND / 1000;

impl Lab {
    fn woken(&mut self) -> u64 {
        match self.event() {
            Event::Woken(token) => token,
            Event::Finished(finished) => panic!("an exchange came instead of a wake: {finished:?}"),
        }
    }
}

#[test]
fn wakes_come_in_the_order_of_their_times_and_not_before() {
    let mut lab = Lab::new();
    let start = now();
    let dues = [30, 10, 20, 5].map(|after| start + after * MILLISECOND);
    for due in dues {
        lab.engine.wake(due, due);
    }
    let mut came = Vec::new();
    while came.len() < dues.len() {
        lab.wait_readable();
        lab.engine.poll(None).unwrap();
        while let Some(Event::Woken(due)) = lab.engine.next_event() {
            assert!(now() >= due);
            came.push(due);
        }
    }
    let mut sorted = dues;
    sorted.sort_unstable();
    assert_eq!(came, sorted);
    lab.assert_empty();
}

#[test]
fn a_wake_for_a_time_that_has_passed_comes_in_the_next_turn() {
    let mut lab = Lab::new();
    for due in [0, 1, now()] {
        lab.engine.wake(due, due);
        assert!(lab.engine.next_event().is_none());
        lab.wait_readable();
        assert_eq!(lab.woken(), due);
    }
}

/// Each wake requests the next one at once. The turn must still end.
#[test]
fn a_wake_that_is_asked_for_in_a_turn_comes_in_a_later_one() {
    let mut lab = Lab::new();
    lab.engine.wake(1, 0);
    for _ in 0..3 {
        lab.wait_readable();
        lab.engine.poll(None).unwrap();
        let mut wakes = 0;
        while let Some(Event::Woken(_)) = lab.engine.next_event() {
            lab.engine.wake(1, 0);
            wakes += 1;
        }
        assert_eq!(wakes, 1);
    }
}

#[test]
fn a_cancelled_wake_gives_its_token_back_and_does_not_come() {
    let mut lab = Lab::new();
    let due = now() + 5 * MILLISECOND;
    let id = lab.engine.wake(1, due);
    lab.engine.wake(2, due + MILLISECOND);
    assert_eq!(lab.engine.cancel_wake(id), Some(1));
    assert_eq!(lab.engine.cancel_wake(id), None);
    assert_eq!(lab.woken(), 2);
    lab.assert_empty();
}

#[test]
fn a_wake_that_has_come_cannot_be_cancelled() {
    let mut lab = Lab::new();
    let id = lab.engine.wake(1, 0);
    assert_eq!(lab.woken(), 1);
    assert_eq!(lab.engine.cancel_wake(id), None);
    assert_eq!(lab.engine.cancel_wake(WakeId(u64::MAX)), None);
}

/// All three are due together. The first one that is returned cancels the last.
#[test]
fn a_wake_is_cancelled_by_an_earlier_event_of_the_same_turn() {
    let mut lab = Lab::new();
    let ids = [1, 2, 3].map(|token| lab.engine.wake(token, token));
    assert_eq!(lab.woken(), 1);
    assert_eq!(lab.engine.cancel_wake(ids[2]), Some(3));
    assert!(matches!(lab.engine.next_event(), Some(Event::Woken(2))));
    assert!(lab.engine.next_event().is_none());
    lab.assert_empty();
}

#[test]
fn a_turn_that_was_left_early_continues_without_waiting() {
    let mut lab = Lab::new();
    for token in 1..=3 {
        lab.engine.wake(token, token);
    }
    assert_eq!(lab.woken(), 1);
    let start = Instant::now();
    assert!(lab.engine.poll(Some(LIMIT)).unwrap() >= 2);
    assert!(start.elapsed() < LIMIT);
    assert_eq!([lab.woken(), lab.woken()], [2, 3]);
}

/// The later wake takes the slot of the cancelled one, whose time still comes first.
#[test]
fn a_wake_in_the_place_of_a_cancelled_one_keeps_its_own_time() {
    let mut lab = Lab::new();
    let soon = lab.engine.wake(1, now() + MILLISECOND);
    lab.engine.cancel_wake(soon);
    let due = now() + 20 * MILLISECOND;
    lab.engine.wake(2, due);
    assert_eq!(lab.engine.cancel_wake(soon), None);
    assert_eq!(lab.woken(), 2);
    assert!(now() >= due);
}

#[test]
fn an_earlier_wake_that_comes_last_is_not_late() {
    let mut lab = Lab::new();
    lab.engine.wake(1, now() + 60 * SECOND);
    lab.engine.wake(2, now() + MILLISECOND);
    assert_eq!(lab.woken(), 2);
}

#[test]
fn wakes_and_exchanges_come_side_by_side() {
    let peer = Peer::answering(ok("hello"));
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let (mut woken, mut finished) = (0, 0);
    for round in 0..20 {
        lab.send(&origin, get(&origin));
        lab.engine.wake(round, now() + round * MILLISECOND / 10);
    }
    for _ in 0..40 {
        match lab.event() {
            Event::Woken(_) => woken += 1,
            Event::Finished(exchange) => {
                assert!(exchange.result.is_ok());
                finished += 1;
            }
        }
    }
    assert_eq!((woken, finished), (20, 20));
    lab.turn(Duration::ZERO);
}
