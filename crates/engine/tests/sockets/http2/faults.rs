//! What a peer should not do, and what it may do at any time: resets, GOAWAY, ends of connections, HTTP/1.1.

use std::io::Write;
use std::net::TcpListener;
use std::thread;

use plimsoll_engine::{Call, Keep};
use plimsoll_record::Outcome;

use super::frames::{
    CANCEL, DATA, END_STREAM, HEADERS, MAX_CONCURRENT_STREAMS, REFUSED_STREAM, RST_STREAM, WINDOW_UPDATE,
};
use super::{assert_ordered, at, over_http2};
use crate::lab::{Lab, SECOND, failure, get, origin, post, request, response};
use crate::peer::{Conn, Peer, gate, ok};

/// Greets, and runs `script` on the first connection. Later ones serve all requests.
fn first(script: impl Fn(Conn) + Send + Sync + 'static) -> Peer {
    Peer::new(move |number, mut conn| {
        conn.greet(&[]);
        if number == 0 {
            script(conn);
        } else {
            conn.serve_http2(b"again");
        }
    })
}

/// Serves one request, so that the connection is a kept one.
fn warm(conn: &mut Conn) {
    let stream = conn.get();
    conn.respond(stream, b"first");
}

#[test]
fn a_refused_request_is_sent_again_on_the_same_connection_whatever_its_method() {
    let peer = first(|mut conn| {
        let refused = conn.next_frame().stream;
        assert_eq!(conn.next_frame().kind, DATA);
        conn.reset_stream(refused, REFUSED_STREAM);
        let again = conn.next_frame();
        assert!(again.kind == HEADERS && again.stream > refused);
        assert_eq!(conn.next_frame().payload, b"x");
        conn.respond(again.stream, b"taken");
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), over_http2(&peer));
    let finished = lab.fetch(&origin, post(&origin, b"x"));
    assert_eq!((response(&finished).body(), finished.exchange.retries), (&b"taken"[..], 1));
    assert_ordered(&finished.exchange);
    assert_eq!((peer.connections(), lab.engine.in_flight()), (1, 0));
}

#[test]
fn a_request_that_is_always_refused_fails_after_three_more_attempts() {
    let peer = first(|mut conn| {
        for _ in 0..4 {
            let stream = conn.get();
            conn.reset_stream(stream, REFUSED_STREAM);
        }
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), over_http2(&peer));
    let finished = lab.fetch(&origin, get(&origin));
    assert_eq!(failure(&finished).outcome, Outcome::Reset);
    assert_eq!(failure(&finished).message, "the server refused the request (REFUSED_STREAM)");
    assert_eq!((finished.exchange.retries, lab.engine.connections()), (3, 1));
}

#[test]
fn a_reset_fails_one_exchange_and_not_the_others() {
    let peer = first(|mut conn| {
        let streams = [conn.get(), conn.get(), conn.get()];
        conn.reset_stream(streams[1], CANCEL);
        conn.respond(streams[0], b"0");
        conn.respond(streams[2], b"2");
        warm(&mut conn);
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), over_http2(&peer));
    let ids = [(); 3].map(|()| lab.send(&origin, get(&origin)));
    for _ in 0..3 {
        let finished = lab.finish();
        if finished.id == ids[1] {
            assert_eq!(failure(&finished).outcome, Outcome::Reset);
            assert_eq!(failure(&finished).message, "the server reset the stream with CANCEL");
            assert_eq!(finished.exchange.retries, 0);
        } else {
            assert_eq!(response(&finished).status, 200);
        }
    }
    assert_eq!(response(&lab.fetch(&origin, get(&origin))).body(), b"first");
    assert_eq!(peer.connections(), 1);
}

#[test]
fn after_goaway_later_requests_are_sent_on_a_new_connection_and_earlier_ones_end_on_the_old_one() {
    let (go, wait_go) = gate();
    let peer = first(move |mut conn| {
        warm(&mut conn);
        let streams = [conn.get(), conn.get(), conn.get()];
        conn.go_away(streams[0], 0);
        wait_go.wait();
        conn.respond(streams[0], b"old");
        assert_eq!(conn.rest(), b"", "the client closes after the last stream");
    });
    let (mut lab, origin) = (Lab::new(), over_http2(&peer));
    lab.fetch(&origin, get(&origin));
    let ids = [(); 3].map(|()| lab.send(&origin, post(&origin, b"")));
    for _ in 0..2 {
        let finished = lab.finish();
        assert!(ids[1..].contains(&finished.id));
        assert_eq!((response(&finished).body(), finished.exchange.retries), (&b"again"[..], 1));
    }
    assert_eq!(lab.engine.connections(), 2);
    let new = lab.fetch(&origin, get(&origin));
    assert_eq!((response(&new).body(), new.exchange.retries), (&b"again"[..], 0));
    go.send(()).unwrap();
    let old = lab.finish();
    assert_eq!((old.id, response(&old).body(), old.exchange.retries), (ids[0], &b"old"[..], 0));
    assert_eq!((lab.engine.in_flight(), lab.engine.connections(), peer.connections()), (0, 1, 2));
}

#[test]
fn a_goaway_on_an_idle_connection_closes_it() {
    let peer = first(|mut conn| {
        warm(&mut conn);
        conn.go_away(1, 0);
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), over_http2(&peer));
    lab.fetch(&origin, get(&origin));
    lab.until(|engine| engine.connections() == 0);
    let finished = lab.fetch(&origin, post(&origin, b""));
    assert_eq!((response(&finished).body(), finished.exchange.retries), (&b"again"[..], 0));
}

/// The peer has read the requests, and has begun to respond: nothing is sent again.
#[test]
fn a_connection_that_breaks_fails_every_exchange_once() {
    let peer = first(|mut conn| {
        let streams: Vec<u32> = (0..50).map(|_| conn.get()).collect();
        conn.respond(streams[7], b"one");
        conn.respond_head(streams[8], false);
        conn.reset();
    });
    let (mut lab, origin) = (Lab::new(), over_http2(&peer));
    for _ in 0..50 {
        lab.send(&origin, get(&origin));
    }
    let results: Vec<_> = (0..50).map(|_| lab.finish()).collect();
    let failed: Vec<_> = results.iter().filter_map(|finished| finished.result.as_ref().err()).collect();
    // A reset may overtake the response.
    assert!(failed.len() >= 49 && failed.iter().all(|failure| failure.outcome == Outcome::Reset), "{failed:?}");
    assert!(results.iter().all(|finished| finished.exchange.retries == 0));
    lab.assert_empty();
}

/// The peer closes a kept connection while a request is on its way, without a word: as with HTTP/1.1, an idempotent
/// request is sent again, once.
#[test]
fn a_kept_connection_that_is_closed_under_a_request_is_replaced() {
    let peer = first(|mut conn| {
        warm(&mut conn);
        conn.next_frame();
    });
    let (mut lab, origin) = (Lab::new(), over_http2(&peer));
    lab.fetch(&origin, get(&origin));
    let finished = lab.fetch(&origin, get(&origin));
    assert_eq!((response(&finished).body(), finished.exchange.retries), (&b"again"[..], 1));
}

#[test]
fn a_request_that_may_have_been_acted_on_is_not_sent_again() {
    let peer = first(|mut conn| {
        warm(&mut conn);
        conn.next_frame();
    });
    let (mut lab, origin) = (Lab::new(), over_http2(&peer));
    lab.fetch(&origin, get(&origin));
    let finished = lab.fetch(&origin, post(&origin, b""));
    assert_eq!(failure(&finished).message, "connection closed without a response");
    assert_eq!((failure(&finished).outcome, finished.exchange.retries), (Outcome::Reset, 0));
    lab.assert_empty();
}

/// The queue is sent on a new connection: nothing of it was on the broken one.
#[test]
fn exchanges_that_wait_survive_the_end_of_a_connection() {
    let peer = Peer::new(|number, mut conn| {
        conn.greet(&[(MAX_CONCURRENT_STREAMS, 1)]);
        if number > 0 {
            return conn.serve_http2(b"again");
        }
        warm(&mut conn);
        conn.get();
    });
    let (mut lab, origin) = (Lab::new(), over_http2(&peer));
    lab.fetch(&origin, get(&origin));
    let ids = [(); 3].map(|()| lab.send(&origin, post(&origin, b"")));
    let lost = lab.finish();
    assert_eq!((lost.id, failure(&lost).outcome), (ids[0], Outcome::Reset));
    for id in &ids[1..] {
        let finished = lab.finish();
        assert_eq!((finished.id, response(&finished).body(), finished.exchange.retries), (*id, &b"again"[..], 0));
    }
}

#[test]
fn a_server_that_speaks_http1_is_named() {
    let peer = Peer::new(|_, mut conn| {
        conn.body(24);
        conn.write("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), over_http2(&peer));
    for _ in 0..3 {
        lab.send(&origin, get(&origin));
    }
    for _ in 0..3 {
        let finished = lab.finish();
        assert_eq!(failure(&finished).outcome, Outcome::Protocol);
        assert!(failure(&finished).message.starts_with("the server answers in HTTP/1: it has no HTTP/2 here"));
        assert!(failure(&finished).message.ends_with("leave out --http2"), "{:?}", failure(&finished));
    }
    lab.assert_empty();
}

#[test]
fn a_server_that_hangs_up_at_once_gets_a_hint() {
    let peer = Peer::new(|_, mut conn| {
        conn.body(24);
    });
    let (mut lab, origin) = (Lab::new(), over_http2(&peer));
    let finished = lab.fetch(&origin, get(&origin));
    assert_eq!(failure(&finished).outcome, Outcome::Reset);
    assert!(failure(&finished).message.ends_with("is it https, or has it no HTTP/2 (--http2)?"), "{finished:?}");
}

#[test]
fn a_connection_that_is_refused_fails_all_that_wait_for_it_once() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let origin = at(&format!("http://localhost:{port}"));
    let mut lab = Lab::new();
    // The name has to be resolved, so all of them wait for one connection.
    let mut sent: Vec<_> = (0..10).map(|_| lab.send(&origin, get(&origin)).0).collect();
    assert_eq!(lab.engine.connections(), 1);
    let mut came: Vec<_> = (0..10)
        .map(|_| {
            let finished = lab.finish();
            assert_eq!(
                (failure(&finished).outcome, failure(&finished).errno),
                (Outcome::Connect, Some(libc::ECONNREFUSED))
            );
            finished.id.0
        })
        .collect();
    sent.sort_unstable();
    came.sort_unstable();
    assert_eq!(came, sent);
    lab.assert_empty();
}

#[test]
fn in_backoff_nothing_is_sent_and_each_exchange_is_held() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let origin = at(&format!("http://127.0.0.1:{port}"));
    let mut lab = Lab::new();
    lab.engine.set_connect_backoff(true);
    lab.fetch(&origin, get(&origin));
    let ids = [(); 3].map(|()| lab.send(&origin, get(&origin)));
    assert!(ids.iter().all(|id| lab.engine.is_held(*id)));
    assert_eq!(lab.engine.in_flight(), 0);
    assert!(lab.cancel(ids[0]).is_some());
    for _ in 1..3 {
        assert_eq!(failure(&lab.finish()).outcome, Outcome::Connect);
    }
    assert!(lab.engine.backed_off() > 0);
    lab.assert_empty();
}

#[test]
fn a_timeout_resets_its_stream_and_the_connection_lives_on() {
    let peer = first(|mut conn| {
        let late = conn.get();
        let frame = conn.next_frame();
        assert_eq!((frame.kind, frame.stream, frame.payload), (RST_STREAM, late, CANCEL.to_be_bytes().to_vec()));
        warm(&mut conn);
        // The response of a stream that is closed is ignored.
        conn.respond(late, b"late");
        warm(&mut conn);
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), over_http2(&peer));
    let finished = lab.fetch(&origin, Call { timeout: SECOND / 50, ..get(&origin) });
    assert_eq!(failure(&finished).outcome, Outcome::Timeout);
    assert_eq!(failure(&finished).message, "no complete response within 0.02 s");
    for _ in 0..2 {
        assert_eq!(response(&lab.fetch(&origin, get(&origin))).body(), b"first");
    }
    assert_eq!((peer.connections(), lab.engine.connections()), (1, 1));
}

#[test]
fn a_cancelled_exchange_resets_its_stream_and_the_connection_lives_on() {
    let (got, wait_got) = gate();
    let peer = first(move |mut conn| {
        let streams = [conn.get(), conn.get()];
        got.send(()).unwrap();
        let frame = conn.next_frame();
        assert_eq!((frame.kind, frame.stream), (RST_STREAM, streams[0]));
        conn.respond(streams[1], b"other");
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), over_http2(&peer));
    let ids = [(); 2].map(|()| lab.send(&origin, get(&origin)));
    lab.until(|_| wait_got.try_wait().is_some());
    assert!(lab.cancel(ids[0]).is_some());
    assert_eq!(response(&lab.finish()).body(), b"other");
    assert_eq!((lab.engine.in_flight(), lab.engine.connections()), (0, 1));
}

/// Nobody waits for the connection any longer.
#[test]
fn a_connection_that_is_not_made_yet_is_given_up_with_its_last_exchange() {
    let (mut lab, origin) = (Lab::new(), at("http://localhost:9"));
    let ids = [(); 2].map(|()| lab.send(&origin, get(&origin)));
    assert_eq!(lab.engine.connections(), 1);
    for id in ids {
        assert!(lab.cancel(id).is_some());
    }
    assert_eq!((lab.engine.in_flight(), lab.engine.connections()), (0, 0));
}

#[test]
fn a_websocket_over_http2_is_a_clear_failure() {
    let peer = first(|mut conn| drop(conn.rest()));
    let (mut lab, origin) = (Lab::new(), over_http2(&peer));
    let mut call = Call { keep: Keep::Stream, ..request(&origin, "GET", &[("Upgrade", "websocket")], None) };
    call.wire.continues = true;
    let finished = lab.fetch(&origin, call);
    assert_eq!(failure(&finished).message, "a WebSocket needs HTTP/1.1; leave out --http2");
    assert_eq!(peer.connections(), 0);
}

/// A connection that was idle is checked before it is used, as with HTTP/1.1: here it was closed meanwhile.
#[test]
fn an_idle_connection_is_checked_before_it_is_used_after_a_while() {
    let (closed, wait_closed) = gate();
    let peer = first(move |mut conn| {
        warm(&mut conn);
        drop(conn);
        closed.send(()).unwrap();
    });
    let (mut lab, origin) = (Lab::new(), over_http2(&peer));
    lab.fetch(&origin, get(&origin));
    wait_closed.wait();
    thread::sleep(std::time::Duration::from_millis(15));
    let finished = lab.fetch(&origin, post(&origin, b""));
    assert_eq!((response(&finished).body(), finished.exchange.retries), (&b"again"[..], 0));
}

#[test]
fn http1_on_other_origins_of_the_client_works_beside_it() {
    let (http1, http2) = (Peer::answering(ok("one")), first(|mut conn| conn.serve_http2(b"two")));
    let (mut lab, old, new) = (Lab::new(), origin(&http1.url()), over_http2(&http2));
    for _ in 0..3 {
        let ids = [lab.send(&old, get(&old)), lab.send(&new, get(&new))];
        for _ in ids {
            let finished = lab.finish();
            let body: &[u8] = if finished.id == ids[0] { b"one" } else { b"two" };
            assert_eq!(response(&finished).body(), body);
        }
    }
    assert_eq!((http1.connections(), http2.connections(), lab.engine.connections()), (1, 1, 2));
}

#[test]
fn an_answer_before_the_end_of_the_request_is_a_response() {
    let peer = first(|mut conn| {
        let stream = conn.next_frame().stream;
        conn.frame(HEADERS, 4 | END_STREAM, stream, &[0x8c]);
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), over_http2(&peer));
    let finished = lab.fetch(&origin, post(&origin, &vec![b'x'; 1 << 20]));
    assert_eq!(response(&finished).status, 400);
    assert!(finished.exchange.bytes_out < 1 << 20, "the rest was not sent");
}

/// No frame of these belongs to the exchange, or wants an answer.
#[test]
fn a_peer_that_never_pauses_does_not_keep_others_from_running() {
    let peer = first(|mut conn| {
        conn.get();
        let updates = [0, 0, 4, WINDOW_UPDATE, 0, 0, 0, 0, 0, 0, 0, 0, 1].repeat(100_000);
        while conn.stream.write_all(&updates).is_ok() {}
    });
    let (mut lab, origin) = (Lab::new(), over_http2(&peer));
    // Long enough for the system to make the socket's buffer large.
    let finished = lab.fetch(&origin, Call { timeout: SECOND, ..get(&origin) });
    assert_eq!(failure(&finished).outcome, Outcome::Timeout);
    let late = finished.exchange.read - finished.exchange.arrival;
    assert!(late < 5 * SECOND, "{late} ns");
}
