//! Requests whose bodies are sent in parts over HTTP/1.1: framing, back-pressure, and ends that come early.

use plimsoll_engine::origin::Trust;
use plimsoll_engine::{Call, Event, ExchangeId, Failure, Keep, Origin, OriginOptions};
use plimsoll_record::Outcome;

use crate::certificates::{Issuer, secured};
use crate::lab::{Lab, failure, get, origin, origin_with, request, response};
use crate::peer::{Peer, gate, ok};

/// Token of a writer that waits.
const WRITER: u64 = 99;

fn upload(origin: &Origin, headers: &[(&str, &str)]) -> Call {
    let call = request(origin, "POST", headers, None);
    Call { wire: call.wire.in_parts(), ..call }
}

const CHUNKED: [(&str, &str); 1] = [("Transfer-Encoding", "chunked")];

/// A call whose body is 6 bytes long.
fn of_six(origin: &Origin) -> Call {
    upload(origin, &[("Content-Length", "6")])
}

impl Lab {
    /// Writes a part, and waits until the socket has taken it. Returns false if the exchange has ended.
    fn write_part(&mut self, id: ExchangeId, part: &[u8]) -> bool {
        if !self.engine.write(id, part) {
            return false;
        }
        while !self.engine.is_written(id) {
            self.engine.wake_when_written(id, WRITER);
            match self.event() {
                Event::Woken(token) => assert_eq!(token, WRITER),
                Event::Finished(finished) => panic!("{finished:?}"),
            }
        }
        true
    }
}

#[test]
fn parts_follow_the_head_and_the_connection_is_kept() {
    let issuer = Issuer::new("uploads");
    let serve = |body: Vec<u8>, expected: &[u8]| assert_eq!(body, expected);
    let plain = Peer::new(move |_, mut conn| {
        while conn.head().is_some() {
            serve(conn.body(6), b"onetwo");
            conn.write(ok("thanks"));
        }
    });
    let secure = secured(issuer.server(&["127.0.0.1"]), move |_, mut conn| {
        while conn.head().is_some() {
            serve(conn.body(6), b"onetwo");
            conn.write(ok("thanks"));
        }
    });
    let options = OriginOptions { trust: Trust::Anything, ..OriginOptions::default() };
    for (peer, url) in [(&plain, plain.url()), (&secure, format!("https://{}", secure.address))] {
        let (mut lab, origin) = (Lab::new(), origin_with(&url, &options));
        for _ in 0..2 {
            let call = of_six(&origin);
            let length = call.wire.head as u64 + 6;
            let id = lab.send(&origin, call);
            for part in ["one", "two"] {
                assert!(lab.write_part(id, part.as_bytes()));
            }
            lab.engine.finish_writing(id);
            let finished = lab.finish();
            assert_eq!((finished.id, response(&finished).body()), (id, &b"thanks"[..]));
            assert_eq!(finished.exchange.bytes_out, length);
            assert!(!lab.engine.write(id, b"more"), "it has ended");
        }
        assert_eq!((peer.connections(), lab.engine.connections()), (1, 1));
    }
}

#[test]
fn parts_of_an_unknown_length_are_chunks_also_when_they_come_before_the_connection() {
    let expected = b"3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n";
    let peer = Peer::new(move |_, mut conn| {
        conn.request();
        assert_eq!(conn.body(expected.len()), expected);
        conn.write(ok("thanks"));
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let id = lab.send(&origin, upload(&origin, &CHUNKED));
    for part in ["one", "", "two"] {
        assert!(lab.engine.write(id, part.as_bytes()));
    }
    lab.engine.finish_writing(id);
    assert_eq!(response(&lab.finish()).body(), b"thanks");
    assert_eq!(lab.engine.connections(), 1);
}

#[test]
fn a_writer_is_woken_when_the_peer_has_read_and_nothing_is_lost() {
    const PARTS: usize = 300;
    let (go, wait) = gate();
    let part = vec![7; 64 << 10];
    let length = PARTS * part.len();
    let peer = Peer::new(move |_, mut conn| {
        conn.request();
        wait.wait();
        assert!(conn.body(length).iter().all(|&byte| byte == 7));
        conn.write(ok("all"));
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let id = lab.send(&origin, upload(&origin, &[("Content-Length", &length.to_string())]));
    assert!(lab.write_part(id, &part));
    let mut written = 1;
    while lab.engine.is_written(id) {
        assert!(lab.engine.write(id, &part));
        written += 1;
        assert!(written < PARTS, "a peer that reads nothing has taken {length} bytes");
    }
    go.send(()).unwrap();
    lab.engine.wake_when_written(id, WRITER);
    assert!(matches!(lab.event(), Event::Woken(WRITER)));
    while written < PARTS {
        assert!(lab.write_part(id, &part));
        written += 1;
    }
    lab.engine.finish_writing(id);
    assert_eq!(response(&lab.finish()).body(), b"all");
}

#[test]
fn a_response_that_comes_early_ends_the_exchange_and_the_connection() {
    let peer = Peer::new(|_, mut conn| {
        conn.request();
        conn.write("HTTP/1.1 413 Too Much\r\nContent-Length: 2\r\n\r\nno");
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let id = lab.send(&origin, of_six(&origin));
    assert!(lab.engine.write(id, b"one"));
    let finished = lab.finish();
    assert_eq!((response(&finished).status, response(&finished).body()), (413, &b"no"[..]));
    assert!(!lab.engine.write(id, b"two"));
    assert!(lab.engine.is_written(id));
    lab.assert_empty();
}

#[test]
fn a_writer_is_woken_when_its_exchange_ends() {
    let peer = Peer::new(|_, mut conn| {
        conn.request();
        conn.write(ok("enough"));
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let id = lab.send(&origin, of_six(&origin));
    assert!(lab.engine.write(id, &vec![7; 16 << 20]));
    assert!(!lab.engine.is_written(id));
    lab.engine.wake_when_written(id, WRITER);
    let mut came = [lab.event(), lab.event()].map(|event| match event {
        Event::Woken(token) => token,
        Event::Finished(finished) => u64::from(response(&finished).status),
    });
    came.sort_unstable();
    assert_eq!(came, [WRITER, 200]);
}

#[test]
fn the_body_waits_for_100_and_its_writer_does() {
    let peer = Peer::new(|_, mut conn| {
        conn.request();
        assert!(!conn.has_input());
        conn.write("HTTP/1.1 100 Continue\r\n\r\n");
        assert_eq!(conn.body(6), b"onetwo");
        conn.write(ok("thanks"));
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let id = lab.send(&origin, upload(&origin, &[("Content-Length", "6"), ("Expect", "100-continue")]));
    assert!(lab.write_part(id, b"one"));
    assert!(lab.write_part(id, b"two"));
    lab.engine.finish_writing(id);
    assert_eq!(response(&lab.finish()).body(), b"thanks");
}

#[test]
fn a_request_is_sent_again_only_while_nothing_of_its_body_was_written() {
    for writes in [false, true] {
        let (read, wait_read) = gate();
        let (end, wait_end) = gate();
        let peer = Peer::new(move |number, mut conn| {
            if number == 0 {
                conn.request();
                conn.write(ok("first"));
            }
            conn.request();
            if number == 0 {
                read.send(()).unwrap();
                wait_end.wait();
                return;
            }
            assert_eq!(conn.body(6), b"onetwo");
            conn.write(ok("again"));
            conn.rest();
        });
        let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
        lab.fetch(&origin, get(&origin));
        let call = request(&origin, "PUT", &[("Content-Length", "6")], None);
        let id = lab.send(&origin, Call { wire: call.wire.in_parts(), ..call });
        wait_read.wait();
        if writes {
            assert!(lab.write_part(id, b"one"));
        }
        end.send(()).unwrap();
        if writes {
            assert_eq!(failure(&lab.finish()).outcome, Outcome::Reset);
            continue;
        }
        lab.until(|_| peer.connections() == 2);
        for part in ["one", "two"] {
            assert!(lab.write_part(id, part.as_bytes()));
        }
        lab.engine.finish_writing(id);
        let finished = lab.finish();
        assert_eq!((response(&finished).body(), finished.exchange.retries), (&b"again"[..], 1));
    }
}

#[test]
fn the_read_timeout_does_not_pass_while_the_next_part_is_not_written() {
    let peer = Peer::new(|_, mut conn| {
        conn.request();
        assert_eq!(conn.body(3), b"one");
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let limit = 50_000_000;
    let id = lab.send(&origin, Call { read_timeout: limit, ..of_six(&origin) });
    assert!(lab.write_part(id, b"one"));
    lab.engine.wake(1, plimsoll_engine::now() + 4 * limit);
    assert!(matches!(lab.event(), Event::Woken(1)), "the caller is slow, not the peer");
    assert!(lab.write_part(id, b"two"));
    lab.engine.finish_writing(id);
    let finished = lab.finish();
    assert_eq!(failure(&finished).outcome, Outcome::Timeout, "now the peer is");
}

#[test]
fn a_body_that_cannot_be_completed_is_a_failure_with_the_callers_words() {
    let peer = Peer::new(|_, mut conn| {
        conn.request();
        assert_eq!(conn.rest(), b"one");
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let id = lab.send(&origin, of_six(&origin));
    assert!(lab.write_part(id, b"one"));
    let reason = || Failure { outcome: Outcome::Reset, message: "the disk is broken".into(), errno: None };
    let finished = lab.engine.abort(id, reason()).unwrap();
    assert_eq!((finished.id, failure(&finished).message.as_str()), (id, "the disk is broken"));
    assert!(finished.exchange.bytes_out > 3 && finished.exchange.arrival >= finished.exchange.sent);
    assert!(lab.engine.abort(id, reason()).is_none());
    lab.assert_empty();
}

#[test]
fn a_streamed_response_may_begin_before_the_body_has_ended() {
    let peer = Peer::new(|_, mut conn| {
        conn.request();
        conn.write("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n");
        assert_eq!(conn.body(3), b"one");
        conn.write("one");
        assert_eq!(conn.body(3), b"two");
        conn.write("two");
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let head = lab.fetch(&origin, Call { keep: Keep::Stream, ..of_six(&origin) });
    assert!(response(&head).open);
    for part in ["one", "two"] {
        assert!(lab.write_part(head.id, part.as_bytes()));
    }
    lab.engine.finish_writing(head.id);
    let mut body = Vec::new();
    while body.len() < 6 {
        match lab.engine.read(head.id, WRITER) {
            Some(piece) => body.extend(piece.bytes),
            None => assert!(matches!(lab.event(), Event::Woken(WRITER))),
        }
    }
    assert_eq!((body.as_slice(), lab.engine.connections()), (&b"onetwo"[..], 1));
}
