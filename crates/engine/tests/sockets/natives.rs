//! Native users: what is recorded is what the peer has seen.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use plimsoll_engine::native::plain_get;
use plimsoll_engine::{Engine, Event, Limits, NativeUsers, now};
use plimsoll_record::{Outcome, Recorder, Taken};

use crate::failures::{NOWHERE, deserted};
use crate::lab::{SECOND, origin};
use crate::peer::{Conn, LIMIT, Peer, ok};

const MARK: u64 = 1 << 63;

/// Users at work, and what becomes of it.
struct Shift {
    engine: Engine,
    recorder: Recorder,
    users: NativeUsers,
}

impl Shift {
    fn new(url: &str, timeout: u64) -> Shift {
        let origin = origin(url);
        let mut recorder = Recorder::new(now());
        let endpoint = recorder.endpoint("GET", "/");
        let wire = plain_get(&origin, "/", "test").unwrap();
        let users = NativeUsers::new(origin, wire, endpoint, timeout, MARK);
        Shift { engine: Engine::new(Limits::default()).unwrap(), recorder, users }
    }

    fn spawn(&mut self, users: usize) {
        let before = self.users.active();
        self.users.spawn(&mut self.engine, users);
        assert_eq!(self.users.active(), before + users);
    }

    /// Works until `exchanges` have finished, then until nobody is active; how many did.
    fn work(&mut self, exchanges: u64) -> u64 {
        let end = Instant::now() + LIMIT;
        let mut finished = 0;
        while self.users.active() > 0 {
            assert!(Instant::now() < end, "they do not come to an end");
            self.engine.poll(Some(Duration::from_millis(100))).unwrap();
            while let Some(event) = self.engine.next_event() {
                let Event::Finished(exchange) = event else { panic!("nobody asked for {event:?}") };
                assert_eq!(exchange.token & MARK, MARK);
                self.users.finished(&mut self.engine, &mut self.recorder, &exchange);
                finished += 1;
                if finished >= exchanges {
                    self.users.stop();
                }
            }
        }
        assert_eq!((self.engine.in_flight(), self.engine.connections()), (0, 0));
        finished
    }

    /// (count, retries) per outcome.
    fn counts(&mut self) -> (HashMap<Outcome, u64>, u64) {
        let Taken { cells, .. } = self.recorder.take(None);
        let mut counts = HashMap::new();
        for (_, _, outcome, cell) in &cells {
            *counts.entry(*outcome).or_default() += cell.count;
        }
        (counts, cells.iter().map(|(.., cell)| cell.retries).sum())
    }
}

#[test]
fn every_request_that_is_answered_is_counted_once() {
    let peer = Peer::answering(ok("hello"));
    let mut shift = Shift::new(&peer.url(), 60 * SECOND);
    shift.spawn(5);
    let finished = shift.work(500);
    assert_eq!(shift.counts(), (HashMap::from([(Outcome::Success, finished)]), 0));
    assert_eq!((peer.requests() as u64, peer.connections()), (finished, 5));
    // Those that were in flight when the stop came finished all the same.
    assert!((500..=505).contains(&finished));
}

/// What a peer does with requests, in turn; each with the outcome that it has to become.
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
    let mut shift = Shift::new(&peer.url(), 60 * SECOND);
    shift.spawn(7);
    let finished = shift.work(700);
    let (counts, retries) = shift.counts();
    peer.stop();
    assert_eq!(counts.values().sum::<u64>(), finished);
    assert_eq!(peer.requests() as u64, finished + retries, "a request sent again is not hidden");
    let mut done = HashMap::<Outcome, u64>::new();
    for ((_, outcome), count) in DEEDS.iter().zip(&DONE) {
        *done.entry(*outcome).or_default() += count.load(Ordering::SeqCst) as u64;
    }
    // On a kept connection, an end without any answer is followed by a second try.
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
    let mut shift = Shift::new(&peer.url(), limit);
    shift.spawn(3);
    let finished = shift.work(6);
    peer.stop();
    let taken = shift.recorder.take(None);
    let unconnected: u64 = taken
        .failures
        .iter()
        .filter(|(_, _, message, _)| message.contains("no connection"))
        .map(|(.., f)| f.count)
        .sum();
    assert_eq!(peer.requests() as u64 + unconnected, finished);
    for (_, _, outcome, cell) in taken.cells {
        assert_eq!((outcome, cell.untimed), (Outcome::Timeout, 0));
        assert!(cell.response_min >= limit);
    }
}

#[test]
fn users_who_find_nobody_go_on_trying_until_they_are_stopped() {
    for url in [format!("http://{}", deserted()), NOWHERE.to_owned()] {
        let mut shift = Shift::new(&url, 60 * SECOND);
        shift.spawn(4);
        let finished = shift.work(200);
        assert_eq!(shift.counts().0, HashMap::from([(Outcome::Connect, finished)]));
    }
}

/// Users that are added later work beside the first ones, each on its own connection.
#[test]
fn users_can_be_added_while_others_work() {
    let peer = Peer::answering(ok("hello"));
    let mut shift = Shift::new(&peer.url(), 60 * SECOND);
    shift.spawn(2);
    shift.engine.poll(Some(LIMIT)).unwrap();
    shift.spawn(3);
    let finished = shift.work(100);
    assert_eq!((peer.requests() as u64, peer.connections()), (finished, 5));
}
