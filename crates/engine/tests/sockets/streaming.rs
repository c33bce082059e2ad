//! Bodies that are read in pieces.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use plimsoll_engine::{Call, Event, ExchangeId, Finished, Keep, Limits, Origin, Piece, Then};
use plimsoll_record::Outcome;

use crate::certificates::{Issuer, secured};
use crate::lab::{Lab, SECOND, STAMPS, failure, get, origin, origin_with, post, response};
use crate::peer::{Gate, Peer, gate, ok};

/// Token of the reader.
const READER: u64 = 9;

const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const UNTIL_CLOSE: &str = "HTTP/1.1 200 OK\r\n\r\n";

fn streamed(origin: &Origin) -> Call {
    Call { keep: Keep::Stream, ..get(origin) }
}

impl Lab {
    /// Sends a streamed call and returns its head.
    fn open(&mut self, origin: &Arc<Origin>) -> Finished {
        self.fetch(origin, streamed(origin))
    }

    /// Waits for the next piece.
    fn read(&mut self, id: ExchangeId) -> Piece {
        loop {
            if let Some(piece) = self.engine.read(id, READER) {
                return piece;
            }
            assert!(matches!(self.event(), Event::Woken(READER)));
        }
    }

    /// The next piece without its stamps.
    fn piece(&mut self, id: ExchangeId) -> (Vec<u8>, Then) {
        let piece = self.read(id);
        (piece.bytes, piece.then)
    }

    /// The rest of a body, and its end.
    fn rest(&mut self, id: ExchangeId) -> (Vec<u8>, Then) {
        let mut bytes = Vec::new();
        loop {
            let piece = self.read(id);
            bytes.extend(piece.bytes);
            if piece.then != Then::More {
                return (bytes, piece.then);
            }
        }
    }
}

fn bytes(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

/// Sends each part when the test signals it.
fn in_parts(parts: &'static [&'static str], go: Gate<()>) -> Peer {
    Peer::new(move |_, mut conn| {
        conn.request();
        for part in parts {
            go.wait();
            conn.write(part);
        }
        conn.rest();
    })
}

#[test]
fn the_head_is_there_before_the_body_and_each_piece_before_the_next() {
    let (go, gate) = gate();
    let peer = in_parts(
        &["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "3\r\none\r\n", "3\r\ntwo\r\n", "0\r\n\r\n"],
        gate,
    );
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    go.send(()).unwrap();
    let head = lab.open(&origin);
    let got = response(&head);
    assert_eq!((got.status, got.body(), got.streamed, got.open), (200, &b""[..], true, true));
    assert_eq!(lab.engine.in_flight(), 0, "the exchange is over");
    for text in ["one", "two"] {
        go.send(()).unwrap();
        assert_eq!(lab.piece(head.id), (bytes(text), Then::More));
    }
    go.send(()).unwrap();
    assert_eq!(lab.piece(head.id), (Vec::new(), Then::End));
    assert_eq!(lab.engine.connections(), 1, "it is kept");
}

#[test]
fn the_arrival_is_that_of_the_head() {
    let (go, gate) = gate();
    let peer = in_parts(&[CHUNKED, "3\r\none\r\n0\r\n\r\n"], gate);
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    go.send(()).unwrap();
    let head = lab.open(&origin);
    let exchange = head.exchange;
    assert_eq!(exchange.arrival, exchange.first_byte);
    assert!(exchange.sent < exchange.arrival && exchange.arrival <= exchange.read);
    assert_eq!((exchange.status, exchange.bytes_in), (200, CHUNKED.len() as u64));
    assert_eq!(exchange.bytes_out, head.wire.bytes.as_slice().len() as u64);
    if lab.engine.kernel_stamps() {
        assert_eq!(exchange.source, STAMPS);
    }
    go.send(()).unwrap();
    assert_eq!(lab.rest(head.id), (bytes("one"), Then::End));
}

#[test]
fn a_response_that_comes_whole_is_handed_over_whole_and_its_connection_kept() {
    let peer = Peer::answering(ok("all of it"));
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    for _ in 0..3 {
        let finished = lab.open(&origin);
        let got = response(&finished);
        assert_eq!((got.body(), got.streamed, got.open), (&b"all of it"[..], true, false));
    }
    assert_eq!(peer.connections(), 1);
}

#[test]
fn a_connection_is_used_again_when_the_body_was_read_and_not_before() {
    let (go, gate) = gate();
    let peer = Peer::new(move |_, mut conn| {
        while conn.head().is_some() {
            conn.write(CHUNKED);
            gate.wait();
            conn.write("3\r\none\r\n0\r\n\r\n");
        }
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let (first, second) = (lab.open(&origin), lab.open(&origin));
    assert_eq!(peer.connections(), 2, "the first one is busy");
    // Either request may get either connection.
    go.send(()).unwrap();
    go.send(()).unwrap();
    for head in [first, second] {
        assert_eq!(lab.rest(head.id), (bytes("one"), Then::End));
    }
    let third = lab.open(&origin);
    go.send(()).unwrap();
    assert_eq!(lab.rest(third.id), (bytes("one"), Then::End));
    assert_eq!(peer.connections(), 2);
}

#[test]
fn a_connection_that_ended_with_its_body_is_not_used_again() {
    let (go, head_was_read) = gate();
    let (tell, closed) = gate();
    let peer = Peer::new(move |_, mut conn| {
        conn.request();
        assert_eq!(conn.body(4), b"once");
        conn.write("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n");
        head_was_read.wait();
        conn.write("one");
        drop(conn);
        tell.send(()).unwrap();
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    for _ in 0..2 {
        // A POST, which is not sent again if the connection turns out to be closed.
        let head = lab.fetch(&origin, Call { keep: Keep::Stream, ..post(&origin, b"once") });
        assert!(response(&head).open);
        go.send(()).unwrap();
        // Then one read returns the body and the end of the connection.
        closed.wait();
        assert_eq!(lab.rest(head.id), (bytes("one"), Then::End));
    }
    assert_eq!(peer.connections(), 2);
}

#[test]
fn a_body_without_a_length_ends_with_its_connection() {
    let (go, gate) = gate();
    let peer = Peer::new(move |_, mut conn| {
        conn.request();
        conn.write(UNTIL_CLOSE);
        gate.wait();
        conn.write("the end");
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let head = lab.open(&origin);
    go.send(()).unwrap();
    assert_eq!(lab.rest(head.id), (bytes("the end"), Then::End));
    lab.assert_empty();
}

#[test]
fn unread_bytes_stay_in_the_socket_and_block_the_peer() {
    const MORE_THAN_FITS: usize = 64 << 20;
    let written = Arc::new(AtomicUsize::new(0));
    let peer = Peer::new({
        let written = Arc::clone(&written);
        move |_, mut conn| {
            conn.request();
            conn.write(format!("HTTP/1.1 200 OK\r\nContent-Length: {MORE_THAN_FITS}\r\n\r\n"));
            conn.stream.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
            let mut length = 0;
            while let Ok(wrote @ 1..) = conn.stream.write(&vec![b'x'; (MORE_THAN_FITS - length).min(64 << 10)]) {
                length += wrote;
            }
            written.store(length, Ordering::SeqCst);
            conn.stream.set_write_timeout(None).unwrap();
            conn.write(vec![b'x'; MORE_THAN_FITS - length]);
            conn.rest();
        }
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let head = lab.open(&origin);
    lab.until(|_| written.load(Ordering::SeqCst) > 0);
    let length = written.load(Ordering::SeqCst);
    assert!(length < MORE_THAN_FITS / 2, "{length} bytes went out and nobody had asked for them");
    let (body, then) = lab.rest(head.id);
    assert_eq!((response(&head).body().len() + body.len(), then), (MORE_THAN_FITS, Then::End));
}

#[test]
fn a_body_that_breaks_off_fails_behind_what_came_of_it() {
    let (go, gate) = gate();
    let peer = Peer::new(move |number, mut conn| {
        conn.request();
        conn.write(CHUNKED);
        gate.wait();
        conn.write("3\r\none\r\n3\r\ntw");
        if number == 1 {
            conn.reset();
        }
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    for _ in 0..2 {
        let head = lab.open(&origin);
        go.send(()).unwrap();
        let (body, then) = lab.rest(head.id);
        let Then::Failed(failure) = then else { panic!("{then:?}") };
        assert_eq!(failure.outcome, Outcome::Reset);
        assert!(b"onetw".starts_with(&body), "a reset may take away what was not read");
    }
    lab.assert_empty();
}

#[test]
fn nonsense_behind_a_head_fails_the_read_and_not_the_exchange() {
    for (nonsense, together) in [("zz\r\n", true), ("zz\r\n", false), ("1\r\nxyz", false)] {
        let (go, gate) = gate();
        let peer = Peer::new(move |_, mut conn| {
            conn.request();
            conn.write(if together { format!("{CHUNKED}{nonsense}") } else { CHUNKED.into() });
            gate.wait();
            if !together {
                conn.write(nonsense);
            }
            conn.rest();
        });
        let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
        let head = lab.open(&origin);
        assert_eq!((response(&head).status, response(&head).open), (200, true));
        go.send(()).unwrap();
        let Then::Failed(failure) = lab.rest(head.id).1 else { panic!("{nonsense}") };
        assert_eq!(failure.outcome, Outcome::Protocol, "{nonsense}");
        lab.assert_empty();
    }
}

#[test]
fn the_limit_of_a_body_holds_while_it_is_streamed() {
    let peer = Peer::new(|_, mut conn| {
        conn.request();
        conn.write(UNTIL_CLOSE);
        for _ in 0..100 {
            conn.write([b'x'; 100]);
        }
        conn.rest();
    });
    let mut lab = Lab::with(Limits { body: 1000, ..Limits::default() });
    let head = lab.open(&origin(&peer.url()));
    let (body, then) = lab.rest(head.id);
    let Then::Failed(failure) = then else { panic!("{then:?}") };
    assert_eq!((response(&head).body().len() + body.len(), failure.outcome), (1000, Outcome::Protocol));
    lab.assert_empty();
}

#[test]
fn each_read_has_the_whole_timeout_and_time_between_reads_does_not_count() {
    let (go, gate) = gate();
    let peer = in_parts(&[CHUNKED, "3\r\none\r\n", "3\r\ntwo\r\n"], gate);
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    go.send(()).unwrap();
    let head = lab.fetch(&origin, Call { read_timeout: SECOND / 2, ..streamed(&origin) });
    for text in ["one", "two"] {
        lab.turn(Duration::from_millis(600));
        go.send(()).unwrap();
        assert_eq!(lab.read(head.id).bytes, bytes(text));
    }
    let Then::Failed(failure) = lab.rest(head.id).1 else { panic!("nothing came") };
    assert_eq!((failure.outcome, failure.message.as_str()), (Outcome::Timeout, "no data within 0.5 s"));
    lab.assert_empty();
}

#[test]
fn a_head_that_does_not_come_is_a_timeout_of_the_exchange() {
    let peer = Peer::new(|_, mut conn| {
        conn.request();
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let finished = lab.fetch(&origin, Call { read_timeout: SECOND / 10, ..streamed(&origin) });
    assert_eq!(failure(&finished).outcome, Outcome::Timeout);
    lab.assert_empty();
}

#[test]
fn the_limit_of_the_exchange_ends_with_its_head() {
    let (go, gate) = gate();
    let peer = in_parts(&[CHUNKED, "3\r\none\r\n"], gate);
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    go.send(()).unwrap();
    let head = lab.fetch(&origin, Call { timeout: SECOND / 2, ..streamed(&origin) });
    lab.turn(Duration::from_millis(600));
    go.send(()).unwrap();
    assert_eq!(lab.read(head.id).bytes, bytes("one"));
}

#[test]
fn hanging_up_closes_the_connection_without_a_wake() {
    let (tell, ended) = gate();
    let peer = Peer::new(move |_, mut conn| {
        conn.request();
        conn.write(CHUNKED);
        conn.rest();
        tell.send(()).unwrap();
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let head = lab.open(&origin);
    assert_eq!(lab.engine.read(head.id, READER), None);
    assert_eq!(lab.engine.hang_up(head.id), Some(READER));
    ended.wait();
    lab.assert_empty();
    assert_eq!(lab.engine.hang_up(head.id), None);
    let Then::Failed(failure) = lab.read(head.id).then else { panic!("there is nothing to read") };
    assert_eq!(failure.outcome, Outcome::Unanswered);
}

#[test]
fn a_reader_that_stops_is_not_woken_and_may_continue_later() {
    let (go, gate) = gate();
    let peer = in_parts(&[CHUNKED, "3\r\none\r\n"], gate);
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    go.send(()).unwrap();
    let head = lab.fetch(&origin, Call { read_timeout: SECOND / 20, ..streamed(&origin) });
    assert_eq!(lab.engine.read(head.id, READER), None);
    assert_eq!(lab.engine.stop_reading(head.id), Some(READER));
    assert_eq!(lab.engine.stop_reading(head.id), None);
    // Without a reader there is no read timeout.
    std::thread::sleep(Duration::from_millis(100));
    lab.turn(Duration::ZERO);
    assert_eq!(lab.engine.read(head.id, READER), None);
    assert_eq!(lab.engine.stop_reading(head.id), Some(READER));
    go.send(()).unwrap();
    lab.turn(Duration::from_millis(20));
    assert_eq!(lab.read(head.id).bytes, bytes("one"));
}

/// The wake is queued when its reader stops.
#[test]
fn a_wake_that_has_not_been_handed_over_can_still_be_taken_back() {
    let (go, gate) = gate();
    let peer = in_parts(&[CHUNKED, "3\r\none\r\n"], gate);
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    go.send(()).unwrap();
    let head = lab.open(&origin);
    assert_eq!(lab.engine.read(head.id, READER), None);
    go.send(()).unwrap();
    lab.wait_readable();
    lab.engine.poll(Some(Duration::ZERO)).unwrap();
    assert_eq!(lab.engine.stop_reading(head.id), Some(READER));
    assert!(lab.engine.next_event().is_none());
    assert_eq!(lab.read(head.id).bytes, bytes("one"));
}

#[test]
fn closing_a_client_ends_its_streams_and_returns_the_waiting_readers() {
    let peer = Peer::new(|_, mut conn| {
        conn.request();
        conn.write(CHUNKED);
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let (read, _unread) = (lab.open(&origin), lab.open(&origin));
    assert_eq!(lab.engine.read(read.id, READER), None);
    let client = lab.client;
    assert_eq!(lab.engine.close(client), [READER]);
    lab.assert_empty();
}

#[test]
fn cancelling_an_exchange_whose_head_is_there_does_nothing() {
    let (go, gate) = gate();
    let peer = in_parts(&[CHUNKED, "3\r\none\r\n"], gate);
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    go.send(()).unwrap();
    let head = lab.open(&origin);
    assert_eq!(lab.cancel(head.id), None);
    go.send(()).unwrap();
    assert_eq!(lab.read(head.id).bytes, bytes("one"));
}

#[test]
fn a_kept_connection_that_was_closed_is_replaced_for_a_streamed_exchange_too() {
    let peer = Peer::new(|number, mut conn| {
        conn.request();
        conn.write(ok("first"));
        if number == 0 {
            conn.request();
        } else {
            conn.rest();
        }
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    lab.open(&origin);
    let second = lab.open(&origin);
    assert_eq!((response(&second).body(), second.exchange.retries), (&b"first"[..], 1));
}

#[test]
fn a_stream_comes_through_tls_in_the_pieces_that_were_sealed() {
    let (go, gate) = gate();
    let issuer = Issuer::new("streamed");
    let peer = secured(issuer.server(&["127.0.0.1"]), move |_, mut conn| {
        conn.request();
        conn.write(CHUNKED);
        for text in ["3\r\none\r\n", "3\r\ntwo\r\n0\r\n\r\n"] {
            gate.wait();
            conn.write(text);
        }
        conn.rest();
    });
    let origin = origin_with(&format!("https://{}", peer.address), &issuer.trusted());
    let mut lab = Lab::new();
    let head = lab.open(&origin);
    go.send(()).unwrap();
    assert_eq!(lab.piece(head.id), (bytes("one"), Then::More));
    go.send(()).unwrap();
    assert_eq!(lab.rest(head.id), (bytes("two"), Then::End));
    assert_eq!(lab.engine.connections(), 1);
}

/// Otherwise a body that never pauses would never end.
#[test]
fn bytes_that_come_after_the_deadline_do_not_prolong_the_exchange() {
    let (go, gate) = gate();
    let peer = in_parts(&[CHUNKED, "3\r\none\r\n"], gate);
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    go.send(()).unwrap();
    let head = lab.open(&origin);
    let limit = head.exchange.read + 1;
    lab.engine.end_by(head.id, limit);
    go.send(()).unwrap();
    thread::sleep(Duration::from_millis(50));
    let piece = lab.read(head.id);
    assert!(matches!(&piece.then, Then::Failed(failure) if failure.outcome == Outcome::Timeout), "{:?}", piece.then);
    assert_eq!((piece.bytes.len(), piece.exchange.arrival), (0, limit));
}
