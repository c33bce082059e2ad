//! Native users of the closed model: the records match what the peer has seen.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use plimsoll_engine::{MixedModels, Rules};
use plimsoll_record::Outcome;

use crate::failures::{NOWHERE, deserted};
use crate::lab::SECOND;
use crate::peer::{Conn, LIMIT, Peer, gate, ok};
use crate::shift::{Shift, arrivals, flow, get, plain};

/// Longer than any test.
const FOREVER: &str = r#", "think": {"constant": 10000.0}"#;

#[test]
fn every_request_that_is_answered_is_counted_once() {
    let peer = Peer::answering(ok("hello"));
    let mut shift = Shift::new(&plain(&peer.url()));
    shift.resize(5);
    assert_eq!((shift.users.users(), shift.users.active(), shift.users.done()), (5, 5, false));
    shift.work_for(500);
    let account = shift.account();
    assert_eq!(account.counts(), HashMap::from([(Outcome::Success, shift.finished)]));
    assert_eq!((peer.requests() as u64, peer.connections()), (shift.finished, 5));
    assert_eq!(account.arrivals(), (0, 0), "there are no arrivals in the closed model");
    // A turn returns at most five, and the five in flight at the stop still finish.
    assert!((500..=509).contains(&shift.finished));
}

/// What a peer does with requests, in turn, with the expected outcomes.
const DEEDS: [(&str, Outcome); 7] = [
    ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", Outcome::Success),
    ("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", Outcome::Http),
    ("HTTP/1.1 500 Oops\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", Outcome::Http),
    ("HTTP/1.1 200 OK\r\n\r\nall of it", Outcome::Success),
    ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", Outcome::Reset),
    ("HTTP/1.1 OK\r\n\r\n", Outcome::Protocol),
    ("", Outcome::Reset),
];

#[test]
fn every_request_is_counted_as_what_became_of_it() {
    static DONE: [AtomicUsize; DEEDS.len()] = [const { AtomicUsize::new(0) }; DEEDS.len()];
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let mut peer = Peer::new(|_, mut conn: Conn| {
        while conn.head().is_some() {
            let deed = NEXT.fetch_add(1, Ordering::SeqCst) % DEEDS.len();
            DONE[deed].fetch_add(1, Ordering::SeqCst);
            conn.write(DEEDS[deed].0);
            if DEEDS[deed].0.is_empty() && NEXT.load(Ordering::SeqCst).is_multiple_of(2) {
                return conn.reset();
            }
            if deed >= 2 {
                return;
            }
        }
    });
    let mut shift = Shift::new(&plain(&peer.url()));
    shift.resize(7);
    shift.work_for(700);
    let account = shift.account();
    let (counts, retries) = (account.counts(), account.retries());
    peer.stop();
    assert_eq!(counts.values().sum::<u64>(), shift.finished);
    assert_eq!(peer.requests() as u64, shift.finished + retries, "a request sent again is not hidden");
    let mut done = HashMap::<Outcome, u64>::new();
    for ((_, outcome), count) in DEEDS.iter().zip(&DONE) {
        *done.entry(*outcome).or_default() += count.load(Ordering::SeqCst) as u64;
    }
    // If a kept connection ends without a response, there is a second attempt.
    *done.get_mut(&Outcome::Reset).unwrap() -= retries;
    assert_eq!(counts, done);
    assert!(retries > 0);
}

#[test]
fn a_timeout_is_counted_with_its_limit() {
    let mut peer = Peer::new(|_, mut conn| {
        conn.request();
        conn.rest();
    });
    let limit = SECOND / 10;
    let mut shift = Shift::new(&plain(&peer.url()).replace("60.0", "0.1"));
    shift.resize(3);
    shift.work_for(6);
    peer.stop();
    let account = shift.account();
    let unconnected: u64 = account
        .messages()
        .iter()
        .filter(|(message, _)| message.contains("no connection"))
        .map(|(_, count)| count)
        .sum();
    assert_eq!(peer.requests() as u64 + unconnected, shift.finished);
    for (_, _, outcome, cell) in account.taken.cells {
        assert_eq!((outcome, cell.untimed), (Outcome::Timeout, 0));
        assert!(cell.response_min >= limit);
    }
}

#[test]
fn users_that_cannot_connect_retry_until_they_are_stopped() {
    for url in [format!("http://{}", deserted()), NOWHERE.to_owned()] {
        let mut shift = Shift::new(&plain(&url));
        shift.resize(4);
        shift.work_for(200);
        assert_eq!(shift.account().counts(), HashMap::from([(Outcome::Connect, shift.finished)]));
    }
}

#[test]
fn users_that_cannot_connect_retry_at_growing_intervals() {
    let mut shift = Shift::new(&plain(&format!("http://{}", deserted())));
    shift.engine.set_connect_backoff(true);
    shift.resize(4);
    // Until one of them waits again.
    shift.until(|shift| shift.finished >= 24 && shift.engine.in_flight() < shift.engine.connections());
    shift.cut();
    let account = shift.account();
    // A user that is cut off while it waits has not sent anything.
    assert_eq!(account.counts(), HashMap::from([(Outcome::Connect, shift.finished)]));
    // Six failures each: at least half of 10, 20, 40, 80 and 160 ms in between. It is not the target's time.
    let waited = shift.engine.backed_off();
    assert!(waited >= 4 * 155 * SECOND / 1000, "{waited} ns");
    assert!(account.of("/", Outcome::Connect).map(|cell| cell.service_sum).sum::<u64>() < waited);
}

#[test]
fn requests_that_wait_to_connect_again_are_given_up_at_the_end_of_the_load() {
    let mut shift = Shift::new(&plain(&format!("http://{}", deserted())));
    shift.engine.set_connect_backoff(true);
    shift.resize(4);
    // All of them wait.
    shift.until(|shift| shift.finished >= 4 && shift.engine.in_flight() == 0);
    shift.stop();
    assert!(shift.users.done());
    assert_eq!((shift.users.users(), shift.engine.connections()), (0, 0));
    assert_eq!(shift.account().counts(), HashMap::from([(Outcome::Connect, shift.finished)]));
}

/// Users that are added later run together with the first ones, each on its own connection.
#[test]
fn users_can_be_added_while_others_work() {
    let peer = Peer::answering(ok("hello"));
    let mut shift = Shift::new(&plain(&peer.url()));
    shift.resize(2);
    shift.engine.poll(Some(LIMIT)).unwrap();
    shift.resize(5);
    shift.work_for(100);
    assert_eq!((peer.requests() as u64, peer.connections()), (shift.finished, 5));
}

#[test]
fn surplus_users_end_after_their_iteration_and_not_in_it() {
    let (go, wait) = gate();
    let peer = Peer::new(move |_, mut conn: Conn| {
        while conn.head().is_some() {
            wait.wait();
            conn.write(ok("hello"));
        }
    });
    let steps = [get("/first", ""), get("/second", "")].join(",");
    let mut shift = Shift::new(&flow(&peer.url(), &steps));
    shift.resize(5);
    shift.until(|_| peer.requests() == 5);
    shift.resize(2);
    assert_eq!(shift.users.users(), 5, "all are in the middle of something");
    (0..1000).for_each(|_| go.send(()).unwrap());
    shift.until(|shift| shift.users.users() == 2);
    shift.work_for(50);
    let account = shift.account();
    assert_eq!(account.counts(), HashMap::from([(Outcome::Success, shift.finished)]));
    assert_eq!(account.count("/first", Outcome::Success), account.count("/second", Outcome::Success));
    assert_eq!((peer.requests() as u64, peer.connections()), (shift.finished, 5));
}

#[test]
fn a_number_that_falls_and_rises_again_keeps_the_existing_users() {
    let (go, wait) = gate();
    let peer = Peer::new(move |_, mut conn: Conn| {
        while conn.head().is_some() {
            wait.wait();
            conn.write(ok("hello"));
        }
    });
    let mut shift = Shift::new(&plain(&peer.url()));
    for users in [4, 1, 3, 5] {
        shift.resize(users);
    }
    assert_eq!(shift.users.users(), 5);
    (0..1000).for_each(|_| go.send(()).unwrap());
    shift.work_for(20);
    assert_eq!(peer.connections(), 5);
}

#[test]
fn a_stop_ends_think_time_between_iterations() {
    let peer = Peer::answering(ok("hello"));
    let mut shift = Shift::new(&flow(&peer.url(), &get("/", FOREVER)));
    shift.resize(4);
    shift.until(|shift| shift.finished == 4);
    assert_eq!((shift.users.users(), shift.users.active()), (4, 4));
    shift.resize(3);
    assert_eq!((shift.users.users(), shift.engine.connections()), (3, 3));
    shift.stop();
    assert!(shift.users.done());
    shift.work();
    assert_eq!(shift.account().counts(), HashMap::from([(Outcome::Success, 4)]));
}

#[test]
fn a_stop_does_not_end_an_iteration_in_its_think_time() {
    let peer = Peer::answering(ok("hello"));
    let steps = [get("/first", r#", "think": {"constant": 0.05}"#), get("/second", FOREVER)].join(",");
    let mut shift = Shift::new(&flow(&peer.url(), &steps));
    shift.resize(3);
    shift.until(|shift| shift.finished == 3);
    shift.stop();
    shift.work();
    let account = shift.account();
    assert_eq!([account.count("/first", Outcome::Success), account.count("/second", Outcome::Success)], [3, 3]);
}

/// Exact to the nanosecond: the due time of a user follows from the stamps alone.
#[test]
fn a_request_is_due_when_the_one_before_was_read_and_thought_about() {
    let peer = Peer::answering(ok("hello"));
    let steps =
        [get("/a", ""), get("/b", r#", "think": {"constant": 0.003}"#), get("/c", r#", "think": {"constant": 0.007}"#)];
    let mut shift =
        Shift::with(&flow(&peer.url(), &steps.join(",")), Rules { iterations: Some(3), ..Rules::default() });
    shift.resize(1);
    shift.work();
    let rows = shift.rows();
    assert_eq!(rows.len(), 9);
    let thought: Vec<u64> = rows.windows(2).map(|pair| pair[1].due - pair[0].read).collect();
    assert_eq!(thought, [0, 3_000_000, 7_000_000, 0, 3_000_000, 7_000_000, 0, 3_000_000]);
    assert!(rows.iter().all(|row| row.sent >= row.due && row.outcome == Outcome::Success));
}

#[test]
fn limits_are_kept_to_the_one() {
    let peer = Peer::answering(ok("hello"));
    let definition = flow(&peer.url(), &[get("/first", ""), get("/second", "")].join(","));
    for (iterations, requests, first, second) in
        [(Some(10), None, 10, 10), (None, Some(7), 4, 3), (Some(3), Some(100), 3, 3), (Some(100), Some(2), 2, 0)]
    {
        let before = peer.requests() as u64;
        // As many users as the expected split needs: with one, the steps alternate.
        let users = if requests == Some(2) { 2 } else { 1 };
        let mut shift = Shift::with(&definition, Rules { iterations, requests, ..Rules::default() });
        shift.resize(users);
        shift.work();
        let account = shift.account();
        let counts = [account.count("/first", Outcome::Success), account.count("/second", Outcome::Success)];
        assert_eq!(counts, [first, second], "{iterations:?} iterations, {requests:?} requests");
        assert_eq!(peer.requests() as u64 - before, first + second);
    }
}

#[test]
fn a_limit_is_one_for_all_users_together() {
    let peer = Peer::answering(ok("hello"));
    for rules in [Rules { iterations: Some(23), ..Rules::default() }, Rules { requests: Some(23), ..Rules::default() }]
    {
        let mut shift = Shift::with(&plain(&peer.url()), rules);
        shift.resize(5);
        shift.work();
        assert_eq!(shift.account().counts(), HashMap::from([(Outcome::Success, 23)]));
        shift.resize(5);
        assert_eq!(shift.users.users(), 0, "what is over is over");
    }
}

#[test]
fn a_cut_accounts_for_everything() {
    let peer = Peer::new(|_, mut conn: Conn| {
        conn.request();
        conn.write(ok("hello"));
        conn.rest();
    });
    let mut shift = Shift::new(&plain(&peer.url()));
    shift.resize(6);
    shift.until(|shift| shift.finished == 6 && peer.requests() == 6);
    shift.cut();
    assert_eq!((shift.engine.in_flight(), shift.engine.connections()), (0, 0));
    let account = shift.account();
    assert_eq!(account.counts(), HashMap::from([(Outcome::Success, 6), (Outcome::Unanswered, 6)]));
    assert_eq!(account.messages(), [], "nobody has failed");
    let unanswered: Vec<_> = account.of("/", Outcome::Unanswered).collect();
    assert!(unanswered.iter().all(|cell| cell.untimed == 0 && cell.response_min > 0 && cell.bytes_out > 0));
    shift.engine.poll(Some(Duration::ZERO)).unwrap();
    assert!(shift.engine.next_event().is_none(), "nothing comes of what was cut");
}

#[test]
fn a_number_of_users_and_arrivals_do_not_mix() {
    let peer = Peer::answering(ok("hello"));
    let mut closed = Shift::new(&plain(&peer.url()));
    closed.resize(0);
    assert!(!closed.users.done(), "more may be asked for");
    assert_eq!(closed.users.arrive(&mut closed.engine, arrivals([0]), 0), Err(MixedModels));
    let mut open = Shift::new(&plain(&peer.url()));
    open.arrive(arrivals([]), 0);
    assert_eq!(open.users.resize(&mut open.engine, &mut open.recorder, 1), Err(MixedModels));
}

#[test]
fn every_recorded_exchange_has_its_row_in_the_log() {
    let peer = Peer::new(|number, mut conn: Conn| {
        while conn.head().is_some() {
            conn.write(["HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nno!", &ok("hello")][number % 2]);
        }
    });
    let mut shift = Shift::new(&flow(&peer.url(), &[get("/a", ""), get("/b", "")].join(",")));
    shift.resize(4);
    shift.work_for(100);
    let (rows, account) = (shift.rows(), shift.account());
    assert!(rows.iter().map(|row| row.serial).eq(0..shift.finished));
    for (_, id, outcome, _) in &account.taken.cells {
        let of: Vec<_> = rows.iter().filter(|row| row.endpoint == id.0 && row.outcome == *outcome).collect();
        let cells = account.taken.cells.iter().filter(|part| part.1 == *id && part.2 == *outcome).map(|part| &part.3);
        let sums = cells.fold([0; 5], |sum, cell| {
            let each = [cell.count, cell.response_sum, cell.service_sum, cell.bytes_in, cell.bytes_body];
            std::array::from_fn(|place| sum[place] + each[place])
        });
        let sum = |pick: fn(&crate::shift::Row) -> u64| of.iter().map(|row| pick(row)).sum::<u64>();
        let expected = [
            of.len() as u64,
            sum(|row| row.arrival - row.due),
            sum(|row| row.arrival - row.sent),
            sum(|row| row.bytes_in),
            sum(|row| row.body),
        ];
        assert_eq!(sums, expected);
        let status = if *outcome == Outcome::Success { 200 } else { 404 };
        assert!(of.iter().all(|row| row.status == status));
    }
    assert_eq!(account.messages().iter().map(|(_, count)| count).sum::<u64>(), account.counts()[&Outcome::Http]);
}
