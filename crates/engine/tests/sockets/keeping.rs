//! Kept connections: who may reuse them, and what happens when the peer has closed them.

use std::net::{Shutdown, TcpListener};
use std::thread::{self, sleep};
use std::time::Duration;

use plimsoll_record::Outcome;

use crate::lab::{Lab, failure, get, origin, post, response};
use crate::peer::{Conn, Peer, gate, ok};

#[test]
fn one_client_uses_its_connection_again() {
    let peer = Peer::answering(ok("hello"));
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    for _ in 0..3 {
        let finished = lab.fetch(&origin, post(&origin, b"x"));
        assert_eq!((response(&finished).status, finished.exchange.retries), (200, 0));
    }
    assert_eq!((peer.connections(), peer.requests(), lab.engine.connections()), (1, 3, 1));
}

#[test]
fn a_connection_that_was_idle_for_a_while_is_used_again() {
    let peer = Peer::answering(ok("hello"));
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    lab.fetch(&origin, get(&origin));
    sleep(Duration::from_millis(15));
    lab.fetch(&origin, get(&origin));
    assert_eq!(peer.connections(), 1);
}

#[test]
fn clients_do_not_share_connections() {
    let peer = Peer::answering(ok("hello"));
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    lab.fetch(&origin, get(&origin));
    let other = lab.engine.client();
    lab.engine.send(other, &origin, get(&origin));
    lab.finish();
    assert_eq!((peer.connections(), lab.engine.connections()), (2, 2));
    assert!(lab.engine.close(other).is_empty());
    assert_eq!(lab.engine.connections(), 1);
}

#[test]
fn origins_do_not_share_connections() {
    let peer = Peer::answering(ok("hello"));
    let mut lab = Lab::new();
    for _ in 0..2 {
        let origin = origin(&peer.url());
        lab.fetch(&origin, get(&origin));
    }
    assert_eq!(peer.connections(), 2);
}

#[test]
fn two_requests_of_one_client_at_once_use_two_connections_and_keep_both() {
    let peer = Peer::answering(ok("hello"));
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    for _ in 0..3 {
        let mut sent = [lab.send(&origin, get(&origin)), lab.send(&origin, get(&origin))];
        let mut came = [lab.finish().id, lab.finish().id];
        sent.sort_by_key(|id| id.0);
        came.sort_by_key(|id| id.0);
        assert_eq!(came, sent);
    }
    assert_eq!((peer.connections(), lab.engine.connections()), (2, 2));
}

/// The peer closes after its first response without announcing it.
fn closing_after_one() -> Peer {
    Peer::new(|number, mut conn| {
        conn.request();
        conn.write(ok("hello"));
        if number > 0 {
            conn.serve(ok("again").as_bytes());
        }
    })
}

#[test]
fn a_kept_connection_that_the_peer_closes_is_noticed_and_replaced() {
    let peer = closing_after_one();
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    lab.fetch(&origin, get(&origin));
    lab.until(|engine| engine.connections() == 0);
    let finished = lab.fetch(&origin, post(&origin, b"x"));
    assert_eq!((response(&finished).body(), finished.exchange.retries), (&b"hello"[..], 0));
}

/// No poll runs between the exchanges, so the check before reuse finds the end of the connection.
#[test]
fn a_kept_connection_is_checked_before_it_is_used_after_a_while() {
    let (closed, wait_closed) = gate();
    let peer = Peer::new(move |number, mut conn| {
        conn.request();
        conn.write(ok("hello"));
        if number == 0 {
            conn.stream.shutdown(Shutdown::Both).unwrap();
            closed.send(()).unwrap();
        }
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    lab.fetch(&origin, get(&origin));
    wait_closed.wait();
    sleep(Duration::from_millis(15));
    let finished = lab.fetch(&origin, post(&origin, b"x"));
    assert_eq!((response(&finished).body(), finished.exchange.retries), (&b"hello"[..], 0));
    assert_eq!(peer.connections(), 2);
}

/// Response and end are in the socket together. A closed connection is not kept, even if the response says so.
#[test]
fn a_connection_that_ends_right_behind_its_response_is_not_kept() {
    let (closed, wait_closed) = gate();
    let peer = Peer::new(move |number, mut conn| {
        conn.request();
        conn.write(ok("kept"));
        if conn.head().is_some() && number == 0 {
            conn.write(ok("last"));
            conn.finish_writing();
            closed.send(()).unwrap();
        }
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    lab.fetch(&origin, get(&origin));
    lab.send(&origin, get(&origin));
    wait_closed.wait();
    assert_eq!(response(&lab.finish()).body(), b"last");
    assert_eq!(lab.engine.connections(), 0);
    let finished = lab.fetch(&origin, post(&origin, b"x"));
    assert_eq!(response(&finished).body(), b"kept");
}

/// A peer that reads a second request on its connections and then closes them without a response, `ends` times.
fn ending_under_requests(ends: usize, reset: bool) -> Peer {
    Peer::new(move |number, mut conn| {
        if number == 0 {
            conn.request();
            conn.write(ok("hello"));
        }
        if number < ends {
            conn.request();
            if reset {
                conn.reset();
            }
            return;
        }
        conn.serve(ok("again").as_bytes());
    })
}

#[test]
fn a_request_that_may_be_repeated_is_sent_again_when_its_kept_connection_ends_under_it() {
    for reset in [false, true] {
        let peer = ending_under_requests(1, reset);
        let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
        lab.fetch(&origin, get(&origin));
        let finished = lab.fetch(&origin, get(&origin));
        assert_eq!((response(&finished).body(), finished.exchange.retries), (&b"again"[..], 1));
        assert_eq!((peer.connections(), peer.requests()), (2, 3));
        assert_eq!(lab.engine.connections(), 1);
    }
}

#[test]
fn no_request_is_sent_more_than_twice() {
    for reset in [false, true] {
        let peer = ending_under_requests(9, reset);
        let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
        lab.fetch(&origin, get(&origin));
        let finished = lab.fetch(&origin, get(&origin));
        assert_eq!((failure(&finished).outcome, finished.exchange.retries), (Outcome::Reset, 1));
        assert_eq!((peer.connections(), peer.requests()), (2, 3));
        lab.assert_empty();
    }
}

#[test]
fn a_request_that_may_not_be_repeated_is_a_reset() {
    for reset in [false, true] {
        let peer = ending_under_requests(1, reset);
        let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
        lab.fetch(&origin, get(&origin));
        let finished = lab.fetch(&origin, post(&origin, b"x"));
        assert_eq!((failure(&finished).outcome, finished.exchange.retries), (Outcome::Reset, 0));
        assert_eq!(peer.connections(), 1);
        lab.assert_empty();
    }
}

#[test]
fn a_response_that_has_begun_is_not_asked_for_again() {
    let peer = Peer::new(|_, mut conn| {
        conn.request();
        conn.write(ok("hello"));
        conn.request();
        conn.write("HTTP/1.1 200 OK\r\nConte");
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    lab.fetch(&origin, get(&origin));
    let finished = lab.fetch(&origin, get(&origin));
    assert_eq!((failure(&finished).outcome, finished.exchange.retries), (Outcome::Reset, 0));
    assert_eq!(peer.connections(), 1);
}

/// The peer no longer listens when the request is sent again.
#[test]
fn a_retry_without_a_listener_is_a_connect_failure() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let peer = thread::spawn(move || {
        let mut conn = Conn::alone(listener.accept().unwrap().0);
        conn.request();
        drop(listener);
        conn.write(ok("hello"));
        conn.request();
    });
    let (mut lab, origin) = (Lab::new(), origin(&format!("http://{address}")));
    lab.fetch(&origin, get(&origin));
    let finished = lab.fetch(&origin, get(&origin));
    assert_eq!((failure(&finished).outcome, finished.exchange.retries), (Outcome::Connect, 1));
    lab.assert_empty();
    peer.join().unwrap();
}

#[test]
fn the_connections_of_many_clients_go_with_them() {
    let peer = Peer::answering(ok("hello"));
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let clients: Vec<_> = (0..20).map(|_| lab.engine.client()).collect();
    for &client in &clients {
        lab.engine.send(client, &origin, get(&origin));
    }
    for _ in &clients {
        lab.finish();
    }
    assert_eq!(lab.engine.connections(), 20);
    for client in clients {
        lab.engine.close(client);
    }
    lab.assert_empty();
}
