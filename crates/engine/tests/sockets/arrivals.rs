//! Native users of the open model: no arrival is lost, for any behaviour of the target.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};

use plimsoll_engine::{Rules, now};
use plimsoll_record::Outcome;

use crate::lab::SECOND;
use crate::peer::{Conn, Gate, Peer, gate, ok};
use crate::shift::{Shift, arrivals, definition, flow, get, plain};

fn rules(max_users: usize, drop: bool) -> Rules {
    Rules { max_users, drop, ..Rules::default() }
}

/// A peer that answers one request per message, on any connection.
fn held() -> (Peer, Sender<()>) {
    let (go, wait): (_, Gate<()>) = gate();
    let peer = Peer::new(move |_, mut conn: Conn| {
        while conn.head().is_some() {
            wait.wait();
            conn.write(ok("hello"));
        }
    });
    (peer, go)
}

/// A peer that never responds.
fn silent() -> Peer {
    Peer::new(|_, mut conn| {
        conn.rest();
    })
}

#[test]
fn every_arrival_is_begun_at_its_due_time_and_not_before() {
    let peer = Peer::answering(ok("hello"));
    let mut shift = Shift::new(&plain(&peer.url()));
    let start = now();
    let times: Vec<u64> = (0..300).map(|n| n * SECOND / 5000).collect();
    shift.arrive(arrivals(times.clone()), start);
    shift.work();
    let mut rows = shift.rows();
    rows.sort_by_key(|row| row.due);
    assert!(rows.iter().map(|row| row.due - start).eq(times));
    assert!(rows.iter().all(|row| row.sent >= row.due));
    let account = shift.account();
    assert_eq!((account.arrivals(), account.counts()), ((300, 0), HashMap::from([(Outcome::Success, 300)])));
    assert_eq!(peer.requests(), 300);
}

#[test]
fn an_arrival_that_waits_for_a_user_is_late_from_its_due_time_on() {
    let (peer, go) = held();
    let mut shift = Shift::with(&plain(&peer.url()), rules(1, false));
    let start = now();
    shift.arrive(arrivals([0, 1, 2, 3]), start);
    shift.until(|shift| shift.users.waiting() == 3 && peer.requests() == 1);
    assert_eq!((shift.users.users(), shift.users.active(), shift.users.done()), (1, 1, false));
    (0..4).for_each(|_| go.send(()).unwrap());
    shift.work();
    let rows = shift.rows();
    assert!(rows.iter().map(|row| row.due - start).eq(0..4), "the one that has waited longest comes first");
    for pair in rows.windows(2) {
        assert!(pair[1].sent >= pair[0].read, "one user does one thing at a time");
    }
    let account = shift.account();
    let cell = account.of("/", Outcome::Success).next().unwrap();
    let waited: u64 = rows.iter().map(|row| row.sent - row.due).sum();
    assert_eq!(cell.response_sum - cell.service_sum, waited, "the waiting is in the response time");
    assert_eq!((account.arrivals(), peer.connections()), ((4, 0), 1));
}

#[test]
fn an_arrival_that_finds_all_users_busy_is_dropped_on_request() {
    let (peer, go) = held();
    let mut shift = Shift::with(&plain(&peer.url()), rules(2, true));
    shift.arrive(arrivals([0, 0, 0, 0, 0]), now());
    shift.until(|_| peer.requests() == 2);
    assert_eq!((shift.users.users(), shift.users.waiting()), (2, 0));
    (0..2).for_each(|_| go.send(()).unwrap());
    shift.work();
    let account = shift.account();
    assert_eq!(account.arrivals(), (5, 3));
    assert_eq!(account.counts(), HashMap::from([(Outcome::Success, 2), (Outcome::Dropped, 3)]));
    assert_eq!(account.messages(), [], "a drop is no failure of the target");
}

#[test]
fn there_are_never_more_users_than_allowed_and_no_more_than_needed() {
    let (peer, go) = held();
    let mut shift = Shift::with(&plain(&peer.url()), rules(3, false));
    let start = now();
    shift.arrive(arrivals([0, 0]), start);
    shift.until(|_| peer.requests() == 2);
    assert_eq!(shift.users.users(), 2);
    shift.arrive(arrivals([0; 10]), start);
    shift.until(|shift| shift.users.waiting() == 9 && peer.requests() == 3);
    assert_eq!(shift.users.users(), 3);
    (0..12).for_each(|_| go.send(()).unwrap());
    shift.work();
    assert_eq!((peer.requests(), peer.connections()), (12, 3));
    assert_eq!(shift.account().arrivals(), (12, 0));
}

/// The last idle user has the warmest connection; the others may stay idle.
#[test]
fn the_user_that_was_busy_last_is_the_next() {
    let (asked, wait_asked) = gate();
    let (answers, waits): (Vec<_>, Vec<_>) = (0..3).map(|_| gate::<()>()).unzip();
    let peer = Peer::new(move |number, mut conn: Conn| {
        while conn.head().is_some() {
            asked.send(number).unwrap();
            waits[number].wait();
            conn.write(ok("hello"));
        }
    });
    let mut shift = Shift::new(&plain(&peer.url()));
    shift.arrive(arrivals([0, 0, 0]), now());
    shift.until(|_| peer.requests() == 3);
    let _ = [(); 3].map(|()| wait_asked.wait());
    for (done, number) in [1, 0, 2].into_iter().enumerate() {
        answers[number].send(()).unwrap();
        shift.until(|shift| shift.finished == done as u64 + 1);
    }
    for (done, number) in [2, 0].into_iter().enumerate() {
        shift.arrive(arrivals([0]), now());
        shift.until(|_| peer.requests() == 4 + done);
        assert_eq!(wait_asked.wait(), number, "of those that rest");
    }
    for number in [2, 0] {
        answers[number].send(()).unwrap();
    }
    shift.work();
    assert_eq!(peer.connections(), 3);
}

#[test]
fn a_stop_takes_what_is_due_and_leaves_what_is_not() {
    let (peer, go) = held();
    let mut shift = Shift::with(&plain(&peer.url()), rules(2, false));
    shift.arrive(arrivals([0, 0, 0, 10_000 * SECOND]), now());
    // The loop has not begun any of them.
    shift.stop();
    assert_eq!((shift.users.active(), shift.users.waiting(), shift.users.done()), (2, 1, false));
    shift.arrive(arrivals([0]), now());
    assert_eq!(shift.users.waiting(), 1, "what comes after the stop does not count");
    (0..3).for_each(|_| go.send(()).unwrap());
    shift.work();
    let account = shift.account();
    assert_eq!((account.arrivals(), account.counts()), ((3, 0), HashMap::from([(Outcome::Success, 3)])));
}

#[test]
fn idle_users_end_with_the_stop() {
    let peer = Peer::answering(ok("hello"));
    let mut shift = Shift::new(&plain(&peer.url()));
    shift.arrive(arrivals([0, 0, 10_000 * SECOND]), now());
    shift.until(|shift| shift.finished == 2);
    assert_eq!((shift.users.active(), shift.users.done()), (0, false), "one is still to come");
    assert!((1..=2).contains(&shift.users.users()));
    shift.stop();
    assert_eq!((shift.users.users(), shift.engine.connections(), shift.users.done()), (0, 0, true));
}

#[test]
fn a_cut_cancels_what_is_in_flight_and_drops_what_waits() {
    let mut peer = silent();
    let mut shift = Shift::with(&plain(&peer.url()), rules(3, false));
    shift.arrive(arrivals([0, 0, 0, 0, 0, 10_000 * SECOND]), now());
    shift.until(|shift| shift.users.waiting() == 2 && peer.connections() == 3);
    shift.arrive(arrivals([0, 0]), now());
    // These two are due, and the loop has not taken them.
    shift.cut();
    assert_eq!((shift.engine.in_flight(), shift.engine.connections()), (0, 0));
    let account = shift.account();
    assert_eq!(account.arrivals(), (7, 4));
    assert_eq!(account.counts(), HashMap::from([(Outcome::Unanswered, 3), (Outcome::Dropped, 4)]));
    assert_eq!(account.messages(), []);
    peer.stop();
}

#[test]
fn a_cut_user_is_cancelled_under_the_step_it_was_at() {
    let peer = Peer::new(|_, mut conn: Conn| {
        conn.request();
        conn.write(ok("hello"));
        conn.rest();
    });
    let mut shift = Shift::new(&flow(&peer.url(), &[get("/first", ""), get("/second", "")].join(",")));
    shift.arrive(arrivals([0, 0]), now());
    shift.until(|shift| shift.finished == 2);
    shift.cut();
    let account = shift.account();
    assert_eq!(account.count("/first", Outcome::Success), 2);
    assert_eq!(account.count("/second", Outcome::Unanswered), 2);
    assert_eq!(account.counts().values().sum::<u64>(), 4);
}

#[test]
fn limits_end_the_streams_and_drop_no_arrival() {
    let peer = Peer::answering(ok("hello"));
    let definition = flow(&peer.url(), &[get("/first", ""), get("/second", "")].join(","));
    for (max_users, iterations, requests) in
        [(1, Some(7), None), (4, Some(7), None), (1, None, Some(7)), (4, None, Some(7))]
    {
        let mut shift = Shift::with(&definition, Rules { iterations, requests, ..rules(max_users, false) });
        shift.arrive(arrivals([0; 50]), now());
        shift.arrive(arrivals([0; 50]), now());
        shift.work();
        let account = shift.account();
        let (offered, dropped) = account.arrivals();
        let counts = [account.count("/first", Outcome::Success), account.count("/second", Outcome::Success)];
        assert_eq!((offered, dropped), (counts[0], 0));
        if iterations.is_some() {
            assert_eq!(counts, [7, 7]);
        } else {
            assert_eq!(counts[0] + counts[1], 7);
        }
        assert_eq!(account.counts().len(), 1);
    }
}

#[test]
fn users_think_between_steps_but_not_after_the_last() {
    let peer = Peer::answering(ok("hello"));
    let steps =
        [get("/first", r#", "think": {"constant": 0.004}"#), get("/second", r#", "think": {"constant": 10000.0}"#)];
    let mut shift = Shift::with(&flow(&peer.url(), &steps.join(",")), rules(1, false));
    let start = now();
    shift.arrive(arrivals([0, 0, 0]), start);
    shift.work();
    let rows = shift.rows();
    assert_eq!(rows.len(), 6);
    for iteration in rows.chunks(2) {
        assert_eq!((iteration[0].due, iteration[1].due), (start, iteration[0].read + 4_000_000));
    }
}

#[test]
fn a_feeder_that_runs_out_ends_the_streams_before_the_arrival_that_finds_it_empty() {
    let peer = Peer::answering(ok("hello"));
    let feeder = r#"[{"name": "f", "columns": ["id"], "rows": [["1"], ["2"], ["3"]], "at_end": "stop"}]"#;
    let definition = definition(&peer.url(), feeder, &get("/${f.id}", ""));
    let mut shift = Shift::new(&definition);
    shift.arrive(arrivals([0; 9]), now());
    shift.work();
    let account = shift.account();
    assert_eq!((account.arrivals(), account.counts()), ((3, 0), HashMap::from([(Outcome::Success, 3)])));
    assert_eq!(shift.users.failure(), None);

    // Waiting arrivals were offered, and are not sent.
    let mut shift = Shift::with(&definition, rules(1, false));
    shift.arrive(arrivals([0; 9]), now());
    shift.work();
    let account = shift.account();
    assert_eq!(account.arrivals(), (9, 6));
    assert_eq!(account.counts(), HashMap::from([(Outcome::Success, 3), (Outcome::Dropped, 6)]));
}

/// A thousand are late at once. Users whose responses have arrived can take the next part of them.
#[test]
fn what_is_late_is_begun_in_parts_so_that_users_come_back_in_between() {
    let peer = Peer::answering(ok("hello"));
    let mut shift = Shift::new(&plain(&peer.url()));
    shift.arrive(arrivals([0; 1000]), now());
    shift.until(|shift| shift.users.active() > 0);
    assert_eq!(shift.users.users(), 32, "in the first turn");
    shift.work();
    assert_eq!((shift.account().arrivals(), peer.requests()), ((1000, 0), 1000));
}

/// At any moment: offered = begun + dropped + waiting, and begun = finished + in flight.
#[test]
fn no_arrival_is_ever_lost() {
    let blocked = Arc::new(AtomicBool::new(false));
    let line = Arc::new(Mutex::new(()));
    let peer = Peer::new({
        let (blocked, line) = (Arc::clone(&blocked), Arc::clone(&line));
        move |number, mut conn: Conn| {
            while conn.head().is_some() {
                if blocked.load(Ordering::SeqCst) {
                    drop(line.lock());
                }
                conn.write(ok("hello"));
                if number % 3 == 2 {
                    return;
                }
            }
        }
    });
    for (max_users, drop_them) in [(1, false), (5, false), (5, true), (50, true)] {
        let mut shift = Shift::with(&plain(&peer.url()), rules(max_users, drop_them));
        let times: Vec<u64> = (0..400)
            .map(|n| n * n % 7 * SECOND / 1000)
            .scan(0, |at, gap| {
                *at += gap / 30;
                Some(*at)
            })
            .collect();
        shift.arrive(arrivals(times), now());
        let (mut offered, mut dropped, mut finished) = (0, 0, 0);
        let mut look = |shift: &mut Shift| {
            let account = shift.account();
            offered += account.arrivals().0;
            dropped += account.arrivals().1;
            finished += account
                .counts()
                .iter()
                .filter(|(outcome, _)| **outcome != Outcome::Dropped)
                .map(|(_, n)| n)
                .sum::<u64>();
            let in_flight = shift.engine.in_flight() as u64;
            assert_eq!(in_flight, shift.users.active() as u64);
            assert_eq!(offered, finished + in_flight + dropped + shift.users.waiting() as u64);
            assert!(shift.users.users() <= max_users);
            offered
        };
        for part in 1..=4 {
            let held = line.lock().unwrap();
            blocked.store(part % 2 == 0, Ordering::SeqCst);
            let seen = std::cell::Cell::new(0);
            shift.until(|_| {
                seen.set(seen.get() + 1);
                seen.get() > 5
            });
            drop(held);
            look(&mut shift);
        }
        blocked.store(false, Ordering::SeqCst);
        shift.until(|shift| shift.users.done());
        assert_eq!(look(&mut shift), 400);
        shift.work();
    }
}
