//! Cancelled exchanges, in every stage.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_engine::{Call, Event, Origin, OriginOptions};

use crate::failures::{Crowd, NOWHERE};
use crate::lab::{Lab, SECOND, TOKEN, failure, get, origin, origin_with, request, response};
use crate::peer::{Peer, gate, ok};

/// A peer that reads and never responds.
fn silent() -> Peer {
    Peer::new(|_, mut conn| {
        conn.rest();
    })
}

/// Cancels when `there` is true, twice: only the first call cancels.
fn assert_cancelled(lab: &mut Lab, origin: &Arc<Origin>, call: Call, there: impl Fn() -> bool) {
    let id = lab.send(origin, call);
    lab.until(|_| there());
    assert_eq!(lab.cancel(id), Some(TOKEN));
    assert_eq!(lab.cancel(id), None);
    lab.assert_empty();
}

#[test]
fn while_its_name_is_being_resolved() {
    let origin = origin("http://localhost:9");
    assert_cancelled(&mut Lab::new(), &origin, get(&origin), || true);
}

#[test]
fn while_it_waits_to_be_accepted() {
    let crowd = Crowd::new();
    let origin = origin(&crowd.url());
    assert_cancelled(&mut Lab::new(), &origin, get(&origin), || true);
}

#[test]
fn while_a_proxy_thinks() {
    let proxy = silent();
    let options = OriginOptions { proxy: Some(proxy.url()), ..OriginOptions::default() };
    let origin = origin_with("http://example.org", &options);
    assert_cancelled(&mut Lab::new(), &origin, get(&origin), || proxy.connections() == 1);
}

#[test]
fn while_tls_is_being_agreed() {
    let peer = silent();
    let options = OriginOptions { trust: plimsoll_engine::origin::Trust::Anything, ..OriginOptions::default() };
    let origin = origin_with(&format!("https://{}", peer.address), &options);
    assert_cancelled(&mut Lab::new(), &origin, get(&origin), || peer.connections() == 1);
}

#[test]
fn while_its_response_is_awaited() {
    let peer = Peer::new(|_, mut conn| {
        conn.request();
        conn.rest();
    });
    let origin = origin(&peer.url());
    assert_cancelled(&mut Lab::new(), &origin, get(&origin), || peer.requests() == 1);
}

#[test]
fn while_its_body_waits_to_be_wanted() {
    let peer = Peer::new(|_, mut conn| {
        conn.request();
        conn.rest();
    });
    let origin = origin(&peer.url());
    let call = request(&origin, "POST", &[("Expect", "100-continue")], Some(b"body"));
    assert_cancelled(&mut Lab::new(), &origin, call, || peer.requests() == 1);
}

#[test]
fn after_it_has_failed_and_before_that_was_reported() {
    let (mut lab, origin) = (Lab::new(), origin(NOWHERE));
    let ids = [(); 3].map(|()| lab.send(&origin, get(&origin)));
    assert_eq!(lab.engine.in_flight(), 0);
    assert_eq!(lab.cancel(ids[1]), Some(TOKEN));
    assert_eq!(lab.cancel(ids[1]), None);
    assert_eq!([lab.finish().id, lab.finish().id], [ids[0], ids[2]]);
    lab.assert_empty();
}

/// The turn has already begun to return exchanges when one of them is cancelled.
#[test]
fn in_the_turn_that_would_have_reported_it() {
    let (mut lab, origin) = (Lab::new(), origin(NOWHERE));
    let ids = [(); 3].map(|()| lab.send(&origin, get(&origin)));
    assert_eq!(lab.finish().id, ids[0]);
    assert_eq!(lab.cancel(ids[1]), Some(TOKEN));
    let late = lab.send(&origin, get(&origin));
    assert_eq!(lab.finish().id, ids[2]);
    assert!(lab.engine.next_event().is_none(), "what is sent in a turn is reported in a later one");
    assert_eq!(lab.finish().id, late);
    lab.assert_empty();
}

/// The response has arrived. The exchange is cancelled while an earlier one of the same turn is handled.
#[test]
fn after_its_response_has_arrived() {
    let peer = Peer::answering(ok("hello"));
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let ids = [lab.send(&origin, get(&origin)), lab.send(&origin, get(&origin))];
    let Event::Finished(first) = lab.event() else { panic!("no wakes were asked for") };
    let other = if first.id == ids[0] { ids[1] } else { ids[0] };
    assert_eq!(lab.cancel(other), Some(TOKEN));
    lab.turn(Duration::from_millis(5));
    assert_eq!((lab.engine.in_flight(), lab.engine.connections()), (0, 1));
}

/// The cancelled connection had an event in this turn. The connection that takes its slot must not get it.
#[test]
fn an_old_event_does_not_hit_a_new_connection() {
    let (written, wait_written) = gate();
    let peer = Peer::new(move |_, mut conn| {
        while conn.head().is_some() {
            conn.write(ok("hello"));
            written.send(()).unwrap();
        }
    });
    let crowd = Crowd::new();
    let (mut lab, quick, slow) = (Lab::new(), origin(&peer.url()), origin(&crowd.url()));
    // It is likely, but not certain, that one poll finds both responses. Otherwise the test passes too.
    for _ in 0..10 {
        for _ in 0..2 {
            lab.send(&quick, get(&quick));
        }
        for _ in 0..2 {
            lab.finish();
            wait_written.wait();
        }
        let ids = [lab.send(&quick, get(&quick)), lab.send(&quick, get(&quick))];
        (0..2).for_each(|_| wait_written.wait());
        let first = lab.finish().id;
        lab.engine.cancel(if first == ids[0] { ids[1] } else { ids[0] });
        let finished = lab.fetch(&slow, Call { connect_timeout: SECOND / 50, ..get(&slow) });
        assert_eq!(failure(&finished).message, "no connection within 0.02 s");
    }
}

#[test]
fn not_after_it_has_been_reported() {
    let peer = Peer::answering(ok("hello"));
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let id = lab.fetch(&origin, get(&origin)).id;
    assert_eq!(lab.cancel(id), None);
    assert_eq!(lab.engine.connections(), 1);
}

/// The next exchange on the same connection, or the next connection in the same slot, is a different exchange.
#[test]
fn an_old_id_does_not_hit_a_new_exchange() {
    let peer = Peer::answering(ok("hello"));
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let old = lab.fetch(&origin, get(&origin)).id;
    let next = lab.send(&origin, get(&origin));
    assert_eq!(lab.cancel(old), None);
    assert_eq!(lab.finish().id, next);
    let given_up = lab.send(&origin, get(&origin));
    assert_eq!(lab.cancel(given_up), Some(TOKEN));
    let after = lab.send(&origin, get(&origin));
    assert_eq!(lab.cancel(given_up), None);
    assert_eq!(response(&lab.finish()).status, 200);
    assert_eq!(lab.cancel(after), None);
}

#[test]
fn by_closing_the_client() {
    let peer = silent();
    let crowd = Crowd::new();
    let (mut lab, origins) = (Lab::new(), [origin(&peer.url()), origin(&crowd.url()), origin("http://localhost:9")]);
    let other = lab.engine.client();
    lab.engine.send(other, &origins[0], get(&origins[0]));
    for token in [0, 1] {
        lab.send(&origins[token], Call { token: token as u64, ..get(&origins[token]) });
    }
    lab.until(|_| peer.connections() == 2);
    lab.send(&origins[2], Call { token: 2, ..get(&origins[2]) });
    let mut tokens = lab.engine.close(lab.client);
    tokens.sort_unstable();
    assert_eq!(tokens, [0, 1, 2]);
    assert_eq!((lab.engine.in_flight(), lab.engine.connections()), (1, 1));
    assert_eq!(lab.engine.close(other), [TOKEN]);
    lab.assert_empty();
}

/// The peer sees the end of the connection at once, not when the engine is dropped.
#[test]
fn and_the_peer_sees_the_end_of_the_connection() {
    let (ended, wait_ended) = gate();
    let peer = Peer::new(move |_, mut conn| {
        conn.request();
        ended.send(conn.rest()).unwrap();
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let id = lab.send(&origin, get(&origin));
    lab.until(|_| peer.requests() == 1);
    lab.engine.cancel(id);
    assert_eq!(wait_ended.wait(), b"");
    lab.assert_empty();
}
