//! The limit of the peer on streams: exchanges wait for one in order.

use std::sync::mpsc::Sender;

use plimsoll_engine::Call;
use plimsoll_record::Outcome;

use super::frames::{GOAWAY, MAX_CONCURRENT_STREAMS};
use super::{assert_ordered, over_http2};
use crate::lab::{Lab, SECOND, failure, get, response};
use crate::peer::{Conn, Peer, gate};

/// Greets with a limit on streams, and takes the first request: by then the client knows the limit, or learns it with
/// the response.
fn limited(most: u32, script: impl Fn(&mut Conn) + Send + Sync + 'static) -> Peer {
    Peer::new(move |_, mut conn| {
        conn.greet(&[(MAX_CONCURRENT_STREAMS, most)]);
        let first = conn.get();
        conn.respond(first, b"first");
        script(&mut conn);
    })
}

#[test]
fn one_stream_at_a_time_carries_all_exchanges_in_their_order() {
    let peer = limited(1, |conn| {
        for number in 0..20_u8 {
            let stream = conn.get();
            assert!(!conn.has_stream_frame(), "two streams are open");
            conn.respond(stream, &[number]);
        }
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), over_http2(&peer));
    lab.fetch(&origin, get(&origin));
    let ids: Vec<_> = (0..20).map(|_| lab.send(&origin, get(&origin))).collect();
    for (number, id) in ids.into_iter().enumerate() {
        let finished = lab.finish();
        assert_eq!((finished.id, response(&finished).body()), (id, &[number as u8][..]));
        assert_ordered(&finished.exchange);
        let (times, exchange) = (finished.exchange.times(), &finished.exchange);
        assert!(number == 0 || exchange.free > exchange.due, "{exchange:?}");
        assert!(times.lag < SECOND / 100, "the wait for a stream is no lag: {exchange:?}");
    }
    assert_eq!((peer.connections(), lab.engine.in_flight()), (1, 0));
}

/// With a limit of 0 nothing is sent, until the limit is raised.
#[test]
fn without_any_stream_exchanges_wait_until_the_limit_is_raised() {
    let (go, wait_go) = gate();
    let peer = limited(0, move |conn| {
        wait_go.wait();
        assert!(!conn.has_stream_frame());
        conn.settings(&[(MAX_CONCURRENT_STREAMS, 2)]);
        for _ in 0..3 {
            let stream = conn.get();
            conn.respond(stream, b"later");
        }
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), over_http2(&peer));
    lab.fetch(&origin, get(&origin));
    for _ in 0..3 {
        lab.send(&origin, get(&origin));
    }
    go.send(()).unwrap();
    for _ in 0..3 {
        assert_eq!(response(&lab.finish()).body(), b"later");
    }
}

fn waiting_behind_a_limit_of_0() -> (Peer, Sender<()>) {
    let (end, wait_end) = gate();
    (limited(0, move |_| wait_end.wait()), end)
}

#[test]
fn an_exchange_that_waits_for_a_stream_has_the_timeout_of_a_connection() {
    let (peer, end) = waiting_behind_a_limit_of_0();
    let (mut lab, origin) = (Lab::new(), over_http2(&peer));
    lab.fetch(&origin, get(&origin));
    lab.send(&origin, Call { connect_timeout: SECOND / 50, ..get(&origin) });
    let finished = lab.finish();
    let failure = failure(&finished);
    assert_eq!(failure.outcome, Outcome::Timeout);
    assert_eq!(failure.message, "no free stream of a connection within 0.02 s");
    assert_eq!((lab.engine.in_flight(), lab.engine.connections()), (0, 1));
    end.send(()).unwrap();
}

#[test]
fn an_exchange_that_waits_for_a_stream_can_be_cancelled() {
    let (peer, end) = waiting_behind_a_limit_of_0();
    let (mut lab, origin) = (Lab::new(), over_http2(&peer));
    lab.fetch(&origin, get(&origin));
    let ids = [(); 3].map(|()| lab.send(&origin, get(&origin)));
    assert!(lab.cancel(ids[1]).is_some());
    assert!(lab.cancel(ids[1]).is_none());
    assert_eq!((lab.engine.in_flight(), lab.engine.connections()), (2, 1));
    assert_eq!(lab.engine.close(lab.client).len(), 2);
    lab.assert_empty();
    end.send(()).unwrap();
}

#[test]
fn a_closed_client_leaves_its_connection_in_order() {
    let (frames, wait_frames) = gate();
    let peer = limited(10, move |conn| {
        frames.send(conn.next_frame()).unwrap();
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), over_http2(&peer));
    lab.fetch(&origin, get(&origin));
    lab.engine.close(lab.client);
    assert_eq!(wait_frames.wait().kind, GOAWAY);
}
