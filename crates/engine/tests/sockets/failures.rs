//! Failed exchanges: each has its own outcome, and nothing is left over.

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::sleep;
use std::time::{Duration, Instant};

use plimsoll_engine::{Call, Event};
use plimsoll_record::Outcome;
use socket2::{Domain, SockAddr, Socket, Type};

use crate::lab::{Lab, SECOND, failure, get, origin, post, response};
use crate::peer::{Conn, LIMIT, Peer, gate, ok};

/// An address without a listener.
pub(crate) fn deserted() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// Connecting to it fails within `send`: the socket does not exist.
pub(crate) const NOWHERE: &str = "http+unix://%2Fnowhere%2Fat-all.sock";

/// A listener with a full queue that accepts nothing, so that a new connection has to wait.
pub(crate) struct Crowd {
    listener: Socket,
    queue: Vec<Socket>,
}

impl Crowd {
    pub(crate) fn new() -> Crowd {
        let listener = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        listener.bind(&SockAddr::from(SocketAddr::from(([127, 0, 0, 1], 0)))).unwrap();
        listener.listen(0).unwrap();
        let mut crowd = Crowd { listener, queue: Vec::new() };
        // A queue of length 0 still takes one or two. Add connections until one has to wait.
        while crowd.queue.last().is_none_or(is_connected) {
            let next = Socket::new(Domain::IPV4, Type::STREAM.nonblocking(), None).unwrap();
            let _ = next.connect(&crowd.listener.local_addr().unwrap());
            crowd.queue.push(next);
            assert!(crowd.queue.len() < 100, "this system's queues do not fill up");
        }
        crowd
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.listener.local_addr().unwrap().as_socket().unwrap())
    }
}

/// Whether it connects within a moment. On loopback it connects at once or not at all.
fn is_connected(socket: &Socket) -> bool {
    sleep(Duration::from_millis(20));
    socket.peer_addr().is_ok()
}

#[test]
fn a_refusal_is_reported_with_its_error_number() {
    let (mut lab, origin) = (Lab::new(), origin(&format!("http://{}", deserted())));
    let finished = lab.fetch(&origin, get(&origin));
    let failure = failure(&finished);
    assert_eq!((failure.outcome, failure.errno), (Outcome::Connect, Some(libc::ECONNREFUSED)));
    assert_eq!(failure.message, "Connection refused");
    let exchange = finished.exchange;
    assert_eq!((exchange.first_byte, exchange.bytes_out, exchange.bytes_in), (0, 0, 0));
    assert!(exchange.sent <= exchange.arrival && exchange.arrival <= exchange.read);
    lab.assert_empty();
}

/// The listener closes while we wait in its queue. The kernel's next attempt, a second later, is refused.
#[test]
fn a_refusal_that_comes_late_is_a_refusal_too() {
    let crowd = Crowd::new();
    let (mut lab, origin) = (Lab::new(), origin(&crowd.url()));
    lab.send(&origin, get(&origin));
    lab.turn(Duration::from_millis(5));
    drop(crowd);
    let finished = lab.finish();
    let failure = failure(&finished);
    assert_eq!((failure.outcome, failure.errno), (Outcome::Connect, Some(libc::ECONNREFUSED)));
    lab.assert_empty();
}

/// A caller that repeats a failing request at once must not keep the loop from other work.
#[test]
fn a_turn_ends_although_every_exchange_fails_at_once_and_is_repeated() {
    let (mut lab, origin) = (Lab::new(), origin(NOWHERE));
    for _ in 0..10 {
        lab.send(&origin, get(&origin));
    }
    for _ in 0..20 {
        lab.wait_readable();
        lab.engine.poll(Some(LIMIT)).unwrap();
        let mut failures = 0;
        while let Some(Event::Finished(finished)) = lab.engine.next_event() {
            assert_eq!(failure(&finished).outcome, Outcome::Connect);
            lab.send(&origin, get(&origin));
            failures += 1;
            assert!(failures <= 10, "the turn does not end");
        }
    }
    (0..10).for_each(|_| drop(lab.finish()));
    lab.assert_empty();
}

/// Both limits have passed when the loop turns, and its caller leaves after the first.
#[test]
fn a_turn_that_was_left_early_continues_without_waiting() {
    let crowd = Crowd::new();
    let (mut lab, origin) = (Lab::new(), origin(&crowd.url()));
    let limit = SECOND / 100;
    for _ in 0..2 {
        lab.send(&origin, Call { connect_timeout: limit, ..get(&origin) });
    }
    sleep(Duration::from_nanos(3 * limit));
    lab.finish();
    let start = Instant::now();
    assert_eq!(lab.engine.poll(Some(LIMIT)).unwrap(), 1);
    assert!(start.elapsed() < LIMIT);
    lab.finish();
    lab.assert_empty();
}

/// Incomplete responses, and the expected messages.
const TORSOS: [(&str, &str); 6] = [
    ("", "connection closed without a response; is it https?"),
    ("HTT", "in the middle of the response head"),
    ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n", "in the middle of the response head"),
    ("HTTP/1.1 100 Continue\r\n\r\n", "in the middle of the response head"),
    ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab", "3 bytes of the body missing"),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n", "before the last chunk"),
];

#[test]
fn a_connection_that_ends_too_early_is_a_reset_that_says_where() {
    for (torso, message) in TORSOS {
        let peer = Peer::new(move |_, mut conn| {
            conn.request();
            conn.write(torso);
        });
        let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
        let finished = lab.fetch(&origin, post(&origin, b"x"));
        let failure = failure(&finished);
        assert_eq!((failure.outcome, failure.errno), (Outcome::Reset, None), "{torso}");
        assert!(failure.message.contains(message), "{torso}: {failure:?}");
        assert_eq!(finished.exchange.bytes_in, torso.len() as u64);
        lab.assert_empty();
    }
}

/// The peer's bytes are read before it resets, so that only the reset is left.
#[test]
fn a_reset_in_any_place_is_a_reset_with_its_error_number() {
    for (torso, _) in TORSOS.into_iter().chain([("HTTP/1.1 200 OK\r\n\r\nuntil the end", "")]) {
        let (go, wait_go) = gate();
        let peer = Peer::new(move |_, mut conn: Conn| {
            conn.request();
            conn.write(ok("kept"));
            conn.request();
            conn.write(torso);
            wait_go.wait();
            conn.reset();
        });
        let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
        lab.fetch(&origin, get(&origin));
        lab.send(&origin, post(&origin, b"x"));
        if !torso.is_empty() {
            lab.wait_readable();
            lab.turn(Duration::ZERO);
        }
        go.send(()).unwrap();
        let finished = lab.finish();
        let failure = failure(&finished);
        assert_eq!((failure.outcome, failure.errno), (Outcome::Reset, Some(libc::ECONNRESET)), "{torso}");
        lab.assert_empty();
    }
}

#[test]
fn a_reset_behind_a_complete_response_takes_nothing_from_it() {
    let (closed, wait_closed) = gate();
    let peer = Peer::new(move |_, mut conn: Conn| {
        conn.request();
        conn.write(ok("kept"));
        conn.request();
        conn.write(ok("whole"));
        conn.reset();
        closed.send(()).unwrap();
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    lab.fetch(&origin, get(&origin));
    lab.send(&origin, get(&origin));
    wait_closed.wait();
    assert_eq!(response(&lab.finish()).body(), b"whole");
    lab.assert_empty();
}

#[test]
fn what_is_not_http_is_a_failure_of_protocol() {
    for (reply, message) in [
        ("SSH-2.0-OpenSSH_9.2\r\n", "does not begin with"),
        ("HTTP/2 200\r\n\r\n", "neither HTTP/1.0 nor HTTP/1.1"),
        ("HTTP/1.1 OK\r\n\r\n", "status line"),
        ("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "header line"),
        ("HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", "Content-Length"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "chunk"),
    ] {
        let peer = Peer::answering(reply);
        let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
        let finished = lab.fetch(&origin, get(&origin));
        let failure = failure(&finished);
        assert_eq!(failure.outcome, Outcome::Protocol, "{reply}: {failure:?}");
        assert!(failure.message.contains(message), "{reply}: {failure:?}");
        lab.assert_empty();
    }
}

#[test]
fn a_connection_that_is_not_accepted_in_time_is_a_timeout_of_exactly_its_limit() {
    let crowd = Crowd::new();
    let (mut lab, origin) = (Lab::new(), origin(&crowd.url()));
    let limit = SECOND / 20;
    let finished = lab.fetch(&origin, Call { connect_timeout: limit, ..get(&origin) });
    let failure = failure(&finished);
    assert_eq!(failure.outcome, Outcome::Timeout);
    assert_eq!(failure.message, "no connection within 0.05 s");
    assert_eq!(finished.exchange.times().service, limit);
    lab.assert_empty();
}

#[test]
fn a_peer_that_says_nothing_is_a_timeout_of_exactly_the_limit() {
    let peer = Peer::new(|_, mut conn| {
        conn.request();
        conn.write(ok("kept"));
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    lab.fetch(&origin, get(&origin));
    let limit = SECOND / 20;
    let finished = lab.fetch(&origin, Call { read_timeout: limit, ..get(&origin) });
    let failure = failure(&finished);
    assert_eq!(failure.outcome, Outcome::Timeout);
    assert_eq!(failure.message, "no data within 0.05 s");
    let times = finished.exchange.times();
    assert_eq!((times.service, times.response), (limit, limit + times.lag));
    assert_eq!(finished.exchange.read, finished.exchange.arrival + times.delay);
    lab.assert_empty();
}

/// An idle connection and its successor share a slot, and the timer of the first exchange is still pending.
#[test]
fn a_limit_belongs_to_its_exchange_and_not_to_the_next_one_on_the_connection() {
    let (go, wait_go) = gate();
    let peer = Peer::new(move |_, mut conn: Conn| {
        conn.request();
        conn.write(ok("first"));
        conn.request();
        wait_go.wait();
        conn.write(ok("second"));
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    // This fails only if the machine is so slow that it reaches the first limit, which is generous.
    lab.fetch(&origin, Call { read_timeout: SECOND, connect_timeout: 10 * SECOND, ..get(&origin) });
    lab.send(&origin, get(&origin));
    let first_limit = plimsoll_engine::now() + SECOND + SECOND / 10;
    lab.until(|_| plimsoll_engine::now() > first_limit);
    go.send(()).unwrap();
    assert_eq!(response(&lab.finish()).body(), b"second");
}

/// Each wait for bytes has the whole limit: the peer sends a part, and then nothing.
#[test]
fn a_read_timeout_restarts_when_bytes_arrive() {
    let pause = Duration::from_millis(30);
    let peer = Peer::new(move |_, mut conn| {
        conn.request();
        sleep(pause);
        conn.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab");
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let finished = lab.fetch(&origin, Call { read_timeout: SECOND, ..get(&origin) });
    assert_eq!(failure(&finished).outcome, Outcome::Timeout);
    assert_eq!(finished.exchange.bytes_in, 40);
    assert!(finished.exchange.times().service >= SECOND + pause.as_nanos() as u64);
    lab.assert_empty();
}

/// The same for bytes that the peer accepts: an upload that makes progress is not silence.
#[test]
fn a_read_timeout_restarts_when_the_peer_accepts_bytes() {
    let pause = Duration::from_millis(30);
    let (done, wait_done) = gate();
    let peer = Peer::new(move |_, mut conn: Conn| {
        conn.request();
        sleep(pause);
        conn.body(8 << 20);
        wait_done.wait();
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let finished = lab.fetch(&origin, Call { read_timeout: SECOND, ..post(&origin, &vec![0; 64 << 20]) });
    assert_eq!(failure(&finished).outcome, Outcome::Timeout);
    assert!(finished.exchange.bytes_out > 8 << 20);
    assert!(finished.exchange.times().service >= SECOND + pause.as_nanos() as u64);
    done.send(()).unwrap();
    lab.assert_empty();
}

#[test]
fn a_limit_of_any_size_is_accepted() {
    let peer = Peer::answering(ok("hello"));
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    for limit in [0, u64::MAX] {
        for timeout in [0, u64::MAX] {
            let call = Call { timeout, connect_timeout: limit, read_timeout: limit, ..get(&origin) };
            assert_eq!(response(&lab.fetch(&origin, call)).status, 200);
        }
    }
}

/// One byte now and then: no wait is long, but the response never completes.
fn dripping() -> Peer {
    Peer::new(|_, mut conn: Conn| {
        conn.request();
        conn.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
        while !conn.has_input() {
            if conn.stream.write_all(b"x").is_err() {
                return;
            }
        }
    })
}

#[test]
fn the_limit_of_an_exchange_holds_whatever_comes_in_between() {
    let peer = dripping();
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let limit = SECOND / 5;
    let finished = lab.fetch(&origin, Call { timeout: limit, read_timeout: 10 * SECOND, ..get(&origin) });
    let failure = failure(&finished);
    assert_eq!(failure.outcome, Outcome::Timeout);
    assert_eq!(failure.message, "no complete response within 0.2 s");
    assert_eq!(finished.exchange.times().service, limit);
    assert!(finished.exchange.bytes_in > 50);
    lab.assert_empty();
}

#[test]
fn the_limit_of_an_exchange_includes_connecting() {
    let crowd = Crowd::new();
    let (mut lab, origin) = (Lab::new(), origin(&crowd.url()));
    let limit = SECOND / 20;
    let finished = lab.fetch(&origin, Call { timeout: limit, connect_timeout: 10 * SECOND, ..get(&origin) });
    assert_eq!(failure(&finished).message, "no connection within 0.05 s");
    assert_eq!(finished.exchange.times().service, limit);
}

/// As for a redirect: the limit is that of the whole chain.
#[test]
fn the_limit_of_an_exchange_may_have_begun_before_it() {
    let peer = dripping();
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let (timeout, since) = (20 * SECOND, plimsoll_engine::now() - 20 * SECOND + SECOND / 10);
    let finished = lab.fetch(&origin, Call { timeout, since, ..get(&origin) });
    assert_eq!(failure(&finished).message, "no complete response within 20 s");
    assert_eq!(finished.exchange.arrival, since + timeout);
}

#[test]
fn backoff_delays_the_next_attempt_and_is_not_measured() {
    let address = deserted();
    let (mut lab, origin) = (Lab::new(), origin(&format!("http://{address}")));
    lab.engine.set_connect_backoff(true);
    let mut service = 0;
    for _ in 0..5 {
        let finished = lab.fetch(&origin, get(&origin));
        assert_eq!(failure(&finished).outcome, Outcome::Connect);
        assert!(finished.exchange.due <= finished.exchange.sent);
        service += finished.exchange.times().service;
    }
    assert!(service < lab.engine.backed_off());
    // At least half of 10, 20, 40 and 80 ms, minus the time that this test itself needed in between.
    assert!(lab.engine.backed_off() > SECOND / 20, "{} ns", lab.engine.backed_off());

    // Other origins and other clients are not affected.
    let peer = Peer::answering(ok("hello"));
    let (before, other) = (lab.engine.backed_off(), crate::lab::origin(&peer.url()));
    assert_eq!(response(&lab.fetch(&other, get(&other))).status, 200);
    let client = lab.engine.client();
    lab.engine.send(client, &origin, get(&origin));
    assert_eq!(failure(&lab.finish()).outcome, Outcome::Connect);
    assert_eq!(lab.engine.backed_off(), before);

    // A connection resets the count: the next wait is short again.
    let mut peer = Peer::on(TcpListener::bind(address).unwrap(), |_, mut conn| {
        conn.request();
        conn.write(ok("hello"));
    });
    assert_eq!(response(&lab.fetch(&origin, get(&origin))).status, 200);
    peer.stop();
    assert_eq!(failure(&lab.fetch(&origin, get(&origin))).outcome, Outcome::Connect);
    let before = plimsoll_engine::now();
    assert!(lab.fetch(&origin, get(&origin)).exchange.due < before + SECOND / 100);
    // Drop it before its peer, which waits for the end of their connection.
    drop(lab);
}

#[test]
fn an_exchange_in_backoff_can_be_cancelled() {
    let (mut lab, origin) = (Lab::new(), origin(&format!("http://{}", deserted())));
    lab.engine.set_connect_backoff(true);
    lab.fetch(&origin, get(&origin));
    let id = lab.send(&origin, get(&origin));
    assert!(lab.engine.is_held(id));
    assert_eq!(lab.engine.in_flight(), 0, "nothing has been sent");
    let given_up = lab.engine.cancel(id).unwrap();
    assert_eq!(failure(&given_up).outcome, Outcome::Unanswered);
    assert!(given_up.exchange.read <= plimsoll_engine::now());
    lab.send(&origin, get(&origin));
    lab.engine.close(lab.client);
    lab.assert_empty();
}

#[test]
fn one_that_fails_does_not_disturb_the_others() {
    let peer = Peer::answering(ok("hello"));
    let (mut lab, good) = (Lab::new(), origin(&peer.url()));
    let bad = origin(&format!("http://{}", deserted()));
    for _ in 0..5 {
        let (good_id, bad_id) = (lab.send(&good, get(&good)), lab.send(&bad, get(&bad)));
        for finished in [lab.finish(), lab.finish()] {
            assert_eq!(finished.result.is_ok(), finished.id == good_id);
            assert_eq!(finished.result.is_err(), finished.id == bad_id);
        }
    }
    assert_eq!((peer.connections(), lab.engine.connections()), (1, 1));
    assert!(TcpStream::connect(peer.address).is_ok());
}
