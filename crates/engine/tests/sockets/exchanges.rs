//! Successful requests: framing, sizes, and results.

use std::net::TcpListener;

use plimsoll_engine::call::Bytes;
use plimsoll_engine::{Keep, Limits, Wire};
use plimsoll_http as http;
use plimsoll_record::Outcome;
use socket2::SockRef;

use crate::lab::{Lab, TOKEN, failure, get, origin, post, request, response};
use crate::peer::{Peer, gate, ok};

/// Bytes without repetition within a few hundred bytes.
fn noise(length: usize) -> Vec<u8> {
    (0..length as u64).map(|at| (at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect()
}

#[test]
fn a_finished_exchange_has_its_request_and_its_response() {
    let reply = ok("hello");
    let peer = Peer::answering(reply.clone());
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let call = post(&origin, b"some body");
    let wire = call.wire.bytes.as_slice().to_vec();
    let finished = lab.fetch(&origin, call);
    let response = response(&finished);
    assert_eq!((response.status, response.minor, response.body_length), (200, 1, 5));
    assert_eq!((response.head(), response.body()), (&reply.as_bytes()[..reply.len() - 5], &b"hello"[..]));
    assert_eq!((finished.token, finished.wire.bytes.as_slice()), (TOKEN, wire.as_slice()));
    let exchange = finished.exchange;
    assert_eq!((exchange.bytes_out, exchange.bytes_in), (wire.len() as u64, reply.len() as u64));
    assert_eq!((exchange.hops, exchange.retries), (0, 0));
    assert_eq!((lab.engine.in_flight(), lab.engine.connections()), (0, 1));
}

struct Framing {
    what: &'static str,
    method: &'static str,
    reply: &'static str,
    body: &'static str,
    kept: bool,
}

const FRAMINGS: [Framing; 11] = [
    Framing { what: "length", method: "GET", reply: "200 OK\r\nContent-Length: 3\r\n\r\nabc", body: "abc", kept: true },
    Framing { what: "length 0", method: "GET", reply: "200 OK\r\nContent-Length: 0\r\n\r\n", body: "", kept: true },
    Framing {
        what: "chunks",
        method: "GET",
        reply: "200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nab\r\n1\r\nc\r\n0\r\n\r\n",
        body: "abc",
        kept: true,
    },
    Framing {
        what: "chunks and trailers",
        method: "POST",
        reply: "200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nDigest: d\r\n\r\n",
        body: "abc",
        kept: true,
    },
    Framing { what: "close", method: "GET", reply: "200 OK\r\n\r\nabc", body: "abc", kept: false },
    Framing { what: "close, no body", method: "GET", reply: "200 OK\r\n\r\n", body: "", kept: false },
    Framing { what: "HEAD", method: "HEAD", reply: "200 OK\r\nContent-Length: 3\r\n\r\n", body: "", kept: true },
    Framing { what: "204", method: "DELETE", reply: "204 No Content\r\n\r\n", body: "", kept: true },
    Framing { what: "304", method: "GET", reply: "304 Not\r\nContent-Length: 3\r\n\r\n", body: "", kept: true },
    Framing {
        what: "interim",
        method: "GET",
        reply: "103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 102 P\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na",
        body: "a",
        kept: true,
    },
    Framing {
        what: "Connection: close",
        method: "GET",
        reply: "200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\na",
        body: "a",
        kept: false,
    },
];

/// A peer that writes a response in pieces of this size.
fn pieces(reply: &str, size: usize) -> Peer {
    let reply = format!("HTTP/1.1 {reply}");
    Peer::new(move |_, mut conn| {
        conn.request();
        for piece in reply.as_bytes().chunks(size) {
            conn.write(piece);
        }
        if !reply.contains("Content-Length") && !reply.contains("chunked") && !reply.contains(" 204 ") {
            return;
        }
        assert_eq!(conn.rest(), b"");
    })
}

#[test]
fn every_framing_gives_its_body_and_decides_about_the_connection_however_it_is_cut() {
    for framing in &FRAMINGS {
        for size in [1, 7, usize::MAX] {
            let peer = pieces(framing.reply, size);
            let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
            let finished = lab.fetch(&origin, request(&origin, framing.method, &[], None));
            let response = response(&finished);
            assert_eq!(response.body(), framing.body.as_bytes(), "{}, {size}", framing.what);
            assert_eq!(response.body_length, framing.body.len() as u64, "{}, {size}", framing.what);
            assert_eq!(lab.engine.connections(), usize::from(framing.kept), "{}, {size}", framing.what);
            assert_eq!(lab.engine.in_flight(), 0);
        }
    }
}

/// The end of the stream is in the socket before the data is read: one readiness event for both.
#[test]
fn a_body_that_ends_with_the_connection_is_complete_although_data_and_end_come_in_one_event() {
    let (closed, wait_closed) = gate();
    let peer = Peer::new(move |_, mut conn| {
        conn.request();
        conn.write(ok("first"));
        conn.request();
        conn.write("HTTP/1.1 200 OK\r\n\r\nup to the end");
        conn.finish_writing();
        closed.send(()).unwrap();
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    lab.fetch(&origin, get(&origin));
    lab.send(&origin, get(&origin));
    wait_closed.wait();
    let finished = lab.finish();
    assert_eq!(response(&finished).body(), b"up to the end");
    lab.assert_empty();
}

#[test]
fn trailers_are_kept_apart_from_the_body() {
    let peer = Peer::answering("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nDigest: d\r\n\r\n");
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let finished = lab.fetch(&origin, get(&origin));
    assert_eq!(http::trailers(&response(&finished).trailers), [(&b"Digest"[..], &b"d"[..])]);
}

#[test]
fn a_response_with_keep_nothing_is_measured_but_not_kept() {
    let peer = Peer::answering(ok("hello"));
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let call = get(&origin);
    let finished = lab.fetch(&origin, plimsoll_engine::Call { keep: Keep::Nothing, ..call });
    let response = response(&finished);
    assert_eq!((response.status, response.body_length, response.bytes.capacity()), (200, 5, 0));
}

#[test]
fn large_bodies_come_whole_in_every_framing() {
    let body = noise(5 << 20);
    let length = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes();
    let mut chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for chunk in body.chunks(70_001) {
        chunked.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        chunked.extend_from_slice(chunk);
        chunked.extend_from_slice(b"\r\n");
    }
    chunked.extend_from_slice(b"0\r\n\r\n");
    let until_close = [b"HTTP/1.1 200 OK\r\n\r\n", body.as_slice()].concat();
    for (what, reply) in [("length", [length, body.clone()].concat()), ("chunked", chunked), ("close", until_close)] {
        let closes = what == "close";
        let peer = Peer::new(move |_, mut conn| {
            conn.request();
            conn.write(&reply);
            if !closes {
                assert_eq!(conn.rest(), b"");
            }
        });
        let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
        let finished = lab.fetch(&origin, get(&origin));
        assert!(response(&finished).body() == body, "{what}");
        assert_eq!(lab.engine.connections(), usize::from(!closes), "{what}");
    }
}

/// A peer with a small window reads in small steps, so that the request needs many writes.
#[test]
fn a_large_request_goes_out_whole_to_a_peer_that_reads_slowly() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    SockRef::from(&listener).set_recv_buffer_size(4096).unwrap();
    let body = noise(6 << 20);
    let expected = body.clone();
    let peer = Peer::on(listener, move |_, mut conn| {
        while conn.head().is_some() {
            for part in expected.chunks(30_011) {
                assert!(conn.body(part.len()) == part);
            }
            conn.write(ok("thanks"));
        }
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    for _ in 0..2 {
        let finished = lab.fetch(&origin, post(&origin, &body));
        assert_eq!(response(&finished).body(), b"thanks");
        assert!(finished.exchange.bytes_out > body.len() as u64);
    }
    assert_eq!(peer.connections(), 1);
}

#[test]
fn an_early_response_is_read_and_its_connection_not_reused() {
    let peer = Peer::new(|_, mut conn| {
        conn.request();
        conn.write("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
        // Stays open, without reading, until the other end closes.
        let _ = conn.stream.peek(&mut [0]);
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let finished = lab.fetch(&origin, post(&origin, &noise(20 << 20)));
    assert_eq!(response(&finished).status, 413);
    lab.assert_empty();
}

/// An early response and a reset: the response is in the socket, and the rest of the request cannot be written.
#[test]
fn an_early_response_is_read_although_the_connection_is_reset() {
    let peer = Peer::new(|_, mut conn| {
        conn.request();
        conn.write("HTTP/1.1 400 Bad\r\nContent-Length: 2\r\n\r\nno");
        conn.reset();
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let finished = lab.fetch(&origin, post(&origin, &noise(20 << 20)));
    assert_eq!((response(&finished).status, response(&finished).body()), (400, &b"no"[..]));
    lab.assert_empty();
}

/// A server at its connection limit sends a response without a request and closes, before the first event is handled.
#[test]
fn a_response_before_the_request_is_read() {
    let (closed, wait_closed) = gate();
    let peer = Peer::new(move |_, mut conn| {
        conn.write("HTTP/1.1 503 Full\r\nConnection: close\r\nContent-Length: 4\r\n\r\nfull");
        conn.finish_writing();
        closed.send(()).unwrap();
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    lab.send(&origin, get(&origin));
    wait_closed.wait();
    let finished = lab.finish();
    assert_eq!((response(&finished).status, response(&finished).body()), (503, &b"full"[..]));
    lab.assert_empty();
}

#[test]
fn bytes_behind_a_response_are_refused_with_their_connection() {
    let head = |length: usize| format!("HTTP/1.1 200 OK\r\nContent-Length: {length:05}\r\n\r\n");
    // The second response ends at the end of a read of 64 KiB, so that read does not contain the extra bytes.
    let exact = (64 << 10) - head(0).len();
    let replies = [ok("a") + "HTTP/1.1 200 OK\r\n\r\n", head(exact) + &"a".repeat(exact) + "garbage"];
    for reply in replies {
        let (written, wait_written) = gate();
        let peer = Peer::new(move |number, mut conn| {
            conn.request();
            conn.write(ok("kept"));
            if conn.head().is_some() && number == 0 {
                conn.write(&reply);
                written.send(()).unwrap();
            }
            conn.rest();
        });
        let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
        lab.fetch(&origin, get(&origin));
        lab.send(&origin, get(&origin));
        wait_written.wait();
        assert_eq!(response(&lab.finish()).status, 200);
        assert_eq!(lab.engine.connections(), 0);
        assert_eq!(response(&lab.fetch(&origin, get(&origin))).body(), b"kept");
        assert_eq!(peer.connections(), 2);
    }
}

#[test]
fn a_101_is_a_response_to_an_upgrade_request_and_else_a_protocol_failure() {
    let peer = Peer::answering("HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n");
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let finished = lab.fetch(&origin, request(&origin, "GET", &[("upgrade", "x"), ("Connection", "Upgrade")], None));
    assert_eq!(response(&finished).status, 101);
    lab.assert_empty();
    let finished = lab.fetch(&origin, request(&origin, "GET", &[("X-Upgrade", "x")], None));
    let failure = failure(&finished);
    assert_eq!(failure.outcome, Outcome::Protocol);
    assert_eq!(failure.message, "status 101 (Switching Protocols) to a request without an Upgrade header");
    lab.assert_empty();
}

#[test]
fn a_response_over_a_limit_is_a_failure_of_protocol_that_names_it() {
    let cases = [
        ("200 OK\r\nX: ".to_owned() + &"x".repeat(2000), "head is over the limit of 1024 bytes"),
        ("200 OK\r\n".to_owned() + &"X: y\r\n".repeat(20) + "\r\n", "over the limit of 10 header lines"),
        ("200 OK\r\nContent-Length: 101\r\n\r\n".to_owned(), "body is over the limit of 100 bytes"),
        ("200 OK\r\n\r\n".to_owned() + &"x".repeat(101), "body is over the limit of 100 bytes"),
        (
            "200 OK\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n".to_owned() + &"x".repeat(101),
            "body is over the limit of 100 bytes",
        ),
    ];
    for (reply, message) in cases {
        let peer = Peer::answering(format!("HTTP/1.1 {reply}"));
        let mut lab = Lab::with(Limits::new(1024, 10, 100).unwrap());
        let origin = origin(&peer.url());
        let finished = lab.fetch(&origin, get(&origin));
        let failure = failure(&finished);
        assert_eq!(failure.outcome, Outcome::Protocol, "{failure:?}");
        assert!(failure.message.contains(message), "{failure:?}");
        lab.assert_empty();
    }
}

#[test]
fn a_shared_request_is_the_same_bytes_without_a_copy() {
    let peer = Peer::answering(ok("x"));
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let call = get(&origin);
    let shared = Wire { bytes: Bytes::Shared(call.wire.bytes.as_slice().into()), ..call.wire.clone() };
    let pointer = shared.bytes.as_slice().as_ptr();
    let finished = lab.fetch(&origin, plimsoll_engine::Call { wire: shared, ..call });
    assert_eq!(finished.wire.bytes.as_slice().as_ptr(), pointer);
}
