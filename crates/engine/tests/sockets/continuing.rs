//! Expect: 100-continue: when the body is sent, and when it is not.

use std::thread::sleep;
use std::time::Duration;

use plimsoll_engine::{Call, Origin};
use plimsoll_record::Outcome;

use crate::lab::{Lab, SECOND, failure, get, origin, request, response};
use crate::peer::{Peer, ok};

/// Longer than a body waits for 100 (Continue).
const LONG: Duration = Duration::from_millis(1200);

fn asking(origin: &Origin) -> Call {
    request(origin, "POST", &[("Expect", "100-continue")], Some(b"body"))
}

#[test]
fn the_body_goes_out_after_100_and_not_before() {
    let peer = Peer::new(|_, mut conn| {
        while conn.head().is_some() {
            assert!(!conn.has_input());
            // Other interim responses do not release the body.
            conn.write("HTTP/1.1 102 Processing\r\n\r\n");
            assert!(!conn.has_input());
            conn.write("HTTP/1.1 100 Continue\r\n\r\n");
            assert_eq!(conn.body(4), b"body");
            conn.write(ok("thanks"));
        }
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    for _ in 0..2 {
        let call = asking(&origin);
        let length = call.wire.bytes.as_slice().len() as u64;
        let finished = lab.fetch(&origin, call);
        assert_eq!((response(&finished).body(), finished.exchange.bytes_out), (&b"thanks"[..], length));
    }
    assert_eq!(peer.connections(), 1);
}

#[test]
fn a_peer_that_answers_at_once_does_not_get_the_body() {
    for status in ["417 No", "200 Enough"] {
        let peer = Peer::new(move |_, mut conn| {
            conn.request();
            conn.write(format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nno"));
            assert_eq!(conn.rest(), b"");
        });
        let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
        let call = asking(&origin);
        let head = call.wire.head as u64;
        let finished = lab.fetch(&origin, call);
        assert_eq!((response(&finished).body(), finished.exchange.bytes_out), (&b"no"[..], head));
        // The peer may still wait for the body, so the connection cannot be reused.
        lab.assert_empty();
    }
}

#[test]
fn a_peer_that_answers_slowly_does_not_get_the_body_either() {
    let peer = Peer::new(|_, mut conn| {
        conn.request();
        conn.write("HTTP/1.1 417 No\r\nContent-Length: 2\r\n\r\nn");
        sleep(LONG);
        conn.write("o");
        assert_eq!(conn.rest(), b"");
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let finished = lab.fetch(&origin, asking(&origin));
    assert_eq!((response(&finished).status, response(&finished).body()), (417, &b"no"[..]));
    lab.assert_empty();
}

#[test]
fn a_peer_that_is_silent_gets_the_body_after_a_second() {
    let peer = Peer::new(|_, mut conn| {
        conn.request();
        assert_eq!(conn.body(4), b"body");
        // Too late, and harmless.
        conn.write("HTTP/1.1 100 Continue\r\n\r\n");
        conn.write(ok("thanks"));
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let finished = lab.fetch(&origin, asking(&origin));
    assert_eq!(response(&finished).body(), b"thanks");
    assert!(finished.exchange.times().service >= SECOND);
    assert_eq!(lab.engine.connections(), 1);
}

/// The one second for which a body waits is not a limit for the response.
#[test]
fn a_peer_that_thinks_for_long_after_100_is_waited_for() {
    let peer = Peer::new(|_, mut conn| {
        conn.request();
        conn.write("HTTP/1.1 100 Continue\r\n\r\n");
        conn.body(4);
        sleep(LONG);
        conn.write(ok("thanks"));
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    for read_timeout in [0, 60 * SECOND] {
        let other = lab.engine.client();
        lab.engine.send(other, &origin, Call { read_timeout, ..asking(&origin) });
    }
    for _ in 0..2 {
        assert_eq!(response(&lab.finish()).body(), b"thanks");
    }
}

#[test]
fn a_peer_that_says_nothing_after_100_is_a_timeout() {
    let peer = Peer::new(|_, mut conn| {
        conn.request();
        conn.write("HTTP/1.1 100 Continue\r\n\r\n");
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let finished = lab.fetch(&origin, Call { read_timeout: SECOND / 20, ..asking(&origin) });
    let failure = failure(&finished);
    assert_eq!((failure.outcome, failure.message.as_str()), (Outcome::Timeout, "no data within 0.05 s"));
    lab.assert_empty();
}

/// A request that is sent again also waits again.
#[test]
fn a_request_that_is_sent_again_holds_its_body_back_again() {
    let peer = Peer::new(|number, mut conn| {
        conn.request();
        if number == 0 {
            conn.write(ok("kept"));
            conn.request();
            // It comes after a second.
            conn.body(4);
            return;
        }
        assert!(!conn.has_input());
        conn.write("HTTP/1.1 100 Continue\r\n\r\n");
        assert_eq!(conn.body(4), b"body");
        conn.write(ok("thanks"));
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    lab.fetch(&origin, get(&origin));
    let finished = lab.fetch(&origin, request(&origin, "PUT", &[("Expect", "100-continue")], Some(b"body")));
    assert_eq!((response(&finished).body(), finished.exchange.retries), (&b"thanks"[..], 1));
}
