//! Bodies in pieces, in both directions, and what flow control does to them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use h2::server::Builder;
use plimsoll_engine::{Call, Event, ExchangeId, Finished, Keep, Origin, Piece, Then};
use plimsoll_record::Outcome;

use super::frames::{CANCEL, DATA, END_STREAM, HEADERS, INITIAL_WINDOW_SIZE, RST_STREAM, WINDOW_UPDATE};
use super::served::{Served, echoing, serving, write};
use super::{assert_ordered, over_http2};
use crate::lab::{Lab, SECOND, failure, get, post, request, response};
use crate::peer::{Peer, gate};

/// Token of the reader.
const READER: u64 = 9;

fn streamed(origin: &Origin) -> Call {
    Call { keep: Keep::Stream, ..get(origin) }
}

impl Lab {
    fn open_stream(&mut self, origin: &Arc<Origin>) -> Finished {
        self.fetch(origin, streamed(origin))
    }

    /// Waits for the next piece.
    fn piece_of(&mut self, id: ExchangeId) -> Piece {
        loop {
            if let Some(piece) = self.engine.read(id, READER) {
                return piece;
            }
            assert!(matches!(self.event(), Event::Woken(READER)));
        }
    }

    /// The rest of a body, and its end.
    fn rest_of(&mut self, id: ExchangeId) -> (Vec<u8>, Then) {
        let mut bytes = Vec::new();
        loop {
            let piece = self.piece_of(id);
            bytes.extend(piece.bytes);
            if piece.then != Then::More {
                return (bytes, piece.then);
            }
        }
    }
}

#[test]
fn the_head_is_there_before_the_body_and_each_piece_before_the_next() {
    let (go, wait_go) = gate();
    let peer = Peer::new(move |_, mut conn| {
        conn.greet(&[]);
        let stream = conn.get();
        conn.respond_head(stream, false);
        for part in ["one", "two"] {
            wait_go.wait();
            conn.frame(DATA, 0, stream, part.as_bytes());
        }
        wait_go.wait();
        conn.frame(DATA, END_STREAM, stream, b"");
        conn.serve_http2(b"next");
    });
    let (mut lab, origin) = (Lab::new(), over_http2(&peer));
    let head = lab.open_stream(&origin);
    let got = response(&head);
    assert_eq!((got.status, got.body(), got.streamed, got.open), (200, &b""[..], true, true));
    assert_eq!(lab.engine.in_flight(), 0);
    let mut last = head.exchange.arrival;
    for text in ["one", "two"] {
        go.send(()).unwrap();
        let piece = lab.piece_of(head.id);
        assert_eq!((piece.bytes.as_slice(), piece.then), (text.as_bytes(), Then::More));
        assert_ordered(&piece.exchange);
        assert!(piece.exchange.arrival > last);
        last = piece.exchange.arrival;
    }
    go.send(()).unwrap();
    assert_eq!(lab.rest_of(head.id), (Vec::new(), Then::End));
    assert_eq!(response(&lab.fetch(&origin, get(&origin))).body(), b"next");
    assert_eq!((peer.connections(), lab.engine.connections()), (1, 1));
}

#[test]
fn a_body_that_comes_with_its_head_is_not_open() {
    let served = echoing(&Builder::new());
    let (mut lab, origin) = (Lab::new(), over_http2(&served.peer));
    // It is likely, but not certain, that all frames arrive with one read.
    for _ in 0..10 {
        let finished = lab.open_stream(&origin);
        let got = response(&finished);
        assert!(got.streamed);
        if !got.open {
            assert_eq!(got.body(), b"GET / ");
            continue;
        }
        let start = got.body().to_vec();
        let (rest, then) = lab.rest_of(finished.id);
        assert_eq!(([start, rest].concat(), then), (b"GET / ".to_vec(), Then::End));
    }
    assert_eq!((lab.engine.in_flight(), lab.engine.connections()), (0, 1));
}

/// Sends a long body in small parts, and counts the bytes that the client's windows have allowed.
fn endless(sent: Arc<AtomicUsize>, length: usize) -> Served {
    serving(&Builder::new(), async move |_, _, mut respond| {
        let mut stream = respond.send_response(http::Response::new(()), false).unwrap();
        let part = bytes::Bytes::from(vec![b'x'; 10_000]);
        for number in 1..=length / part.len() {
            if !write(&mut stream, part.clone(), number == length / part.len()).await {
                return;
            }
            sent.fetch_add(part.len(), Ordering::SeqCst);
        }
    })
}

/// A reader that stops makes its peer wait. Other exchanges of the connection go on.
#[test]
fn a_slow_reader_holds_up_its_own_stream_and_no_other() {
    let sent = Arc::<AtomicUsize>::default();
    let length = 8_000_000;
    let served = endless(Arc::clone(&sent), length);
    let (mut lab, origin) = (Lab::new(), over_http2(&served.peer));
    let [slow, quick] = [(); 2].map(|()| lab.open_stream(&origin));
    let start = response(&quick).body().len();
    let (bytes, then) = lab.rest_of(quick.id);
    assert_eq!((start + bytes.len(), then), (length, Then::End));
    let window = 1 << 20;
    let held = sent.load(Ordering::SeqCst) - length;
    assert!(held <= window + 10_000, "{held} bytes were sent to a reader that does not read");
    let start = response(&slow).body().len();
    let (bytes, then) = lab.rest_of(slow.id);
    assert_eq!((start + bytes.len(), then), (length, Then::End));
    assert_eq!(served.peer.connections(), 1);
}

#[test]
fn a_body_that_is_abandoned_resets_its_stream() {
    let (go, wait_go) = gate::<()>();
    let peer = Peer::new(move |_, mut conn| {
        conn.greet(&[]);
        let stream = conn.get();
        conn.respond_head(stream, false);
        wait_go.wait();
        let frame = conn.next_frame();
        assert_eq!((frame.kind, frame.payload), (RST_STREAM, CANCEL.to_be_bytes().to_vec()));
        conn.serve_http2(b"next");
    });
    let (mut lab, origin) = (Lab::new(), over_http2(&peer));
    let head = lab.open_stream(&origin);
    assert!(lab.engine.read(head.id, READER).is_none());
    assert_eq!(lab.engine.hang_up(head.id), Some(READER));
    go.send(()).unwrap();
    assert_eq!(response(&lab.fetch(&origin, get(&origin))).body(), b"next");
    assert_eq!(peer.connections(), 1);
}

#[test]
fn a_reader_gets_what_has_arrived_before_its_connection_broke() {
    let (go, wait_go) = gate();
    let peer = Peer::new(move |_, mut conn| {
        conn.greet(&[]);
        let (whole, half) = (conn.get(), conn.get());
        conn.respond_head(whole, false);
        conn.respond_head(half, false);
        wait_go.wait();
        conn.frame(DATA, END_STREAM, whole, b"whole");
        conn.frame(DATA, 0, half, b"half");
    });
    let (mut lab, origin) = (Lab::new(), over_http2(&peer));
    let ids = [(); 2].map(|()| lab.send(&origin, streamed(&origin)));
    for _ in ids {
        assert!(response(&lab.finish()).open);
    }
    go.send(()).unwrap();
    lab.until(|engine| engine.connections() == 0);
    assert_eq!(lab.rest_of(ids[0]), (b"whole".to_vec(), Then::End));
    let (bytes, then) = lab.rest_of(ids[1]);
    let Then::Failed(failure) = then else { panic!("{then:?}") };
    assert_eq!((bytes, failure.outcome), (b"half".to_vec(), Outcome::Reset));
    lab.assert_empty();
}

#[test]
fn a_read_has_the_timeout_between_bytes() {
    let (end, wait_end) = gate::<()>();
    let peer = Peer::new(move |_, mut conn| {
        conn.greet(&[]);
        let stream = conn.get();
        conn.respond_head(stream, false);
        wait_end.wait();
    });
    let (mut lab, origin) = (Lab::new(), over_http2(&peer));
    let head = lab.fetch(&origin, Call { read_timeout: SECOND / 20, ..streamed(&origin) });
    let (_, then) = lab.rest_of(head.id);
    let Then::Failed(failure) = then else { panic!("{then:?}") };
    assert_eq!((failure.outcome, failure.message.as_str()), (Outcome::Timeout, "no data within 0.05 s"));
    end.send(()).unwrap();
}

/// The peer's window is 0: the head is sent, the body is not, until the peer opens the window.
#[test]
fn a_request_body_waits_for_the_window_of_the_peer() {
    let (go, wait_go) = gate();
    let peer = Peer::new(move |_, mut conn| {
        conn.greet(&[(INITIAL_WINDOW_SIZE, 0)]);
        let first = conn.get();
        conn.respond(first, b"first");
        let head = conn.next_frame();
        assert!(head.kind == HEADERS && !head.ends());
        wait_go.wait();
        assert!(!conn.has_stream_frame());
        conn.frame(WINDOW_UPDATE, 0, head.stream, &3_u32.to_be_bytes());
        assert_eq!(conn.next_frame().payload, b"hel");
        conn.settings(&[(INITIAL_WINDOW_SIZE, 10)]);
        let rest = conn.next_frame();
        assert!(rest.payload == b"lo" && rest.ends(), "{rest:?}");
        conn.respond(head.stream, b"taken");
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), over_http2(&peer));
    lab.fetch(&origin, get(&origin));
    lab.send(&origin, post(&origin, b"hello"));
    go.send(()).unwrap();
    let finished = lab.finish();
    assert_eq!(response(&finished).body(), b"taken");
}

/// The head of a request whose body follows in pieces.
fn continued(origin: &Origin) -> Call {
    let mut call = Call { keep: Keep::Stream, ..request(origin, "POST", &[], None) };
    call.wire.continues = true;
    call
}

#[test]
fn a_request_body_in_pieces_and_a_response_body_in_pieces_alternate() {
    let peer = Peer::new(|_, mut conn| {
        conn.greet(&[]);
        let stream = conn.next_frame().stream;
        conn.respond_head(stream, false);
        loop {
            let frame = conn.next_frame();
            assert_eq!((frame.kind, frame.stream), (DATA, stream));
            if frame.ends() {
                break conn.frame(DATA, END_STREAM, stream, b"end");
            }
            conn.frame(DATA, 0, stream, &frame.payload);
        }
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), over_http2(&peer));
    let head = lab.fetch(&origin, continued(&origin));
    for text in ["ping", "pong"] {
        lab.engine.write(head.id, text.as_bytes());
        assert_eq!(lab.piece_of(head.id).bytes, text.as_bytes());
        assert!(lab.engine.is_written(head.id));
    }
    lab.engine.finish_writing(head.id);
    assert_eq!(lab.rest_of(head.id), (b"end".to_vec(), Then::End));
    assert_eq!((lab.engine.in_flight(), lab.engine.connections()), (0, 1));
}

/// A server may answer only after the whole body. What is written before the connection is made is not lost.
#[test]
fn pieces_are_written_before_there_is_a_response_or_a_connection() {
    let served = echoing(&Builder::new());
    let (mut lab, origin) = (Lab::new(), over_http2(&served.peer));
    for _ in 0..2 {
        let id = lab.send(&origin, Call { keep: Keep::All, ..continued(&origin) });
        lab.engine.write(id, b"one ");
        lab.engine.write(id, b"two ");
        lab.turn(Duration::ZERO);
        lab.engine.write(id, b"three");
        lab.engine.finish_writing(id);
        let finished = lab.finish();
        assert_eq!(response(&finished).body(), b"POST / one two three");
        assert!(finished.exchange.bytes_out > 13);
    }
    let id = lab.send(&origin, Call { keep: Keep::All, ..continued(&origin) });
    lab.engine.finish_writing(id);
    assert_eq!(response(&lab.finish()).body(), b"POST / ");
}

/// The writer knows that the peer does not take its bytes, and its reader is woken when it does.
#[test]
fn a_writer_waits_for_the_window_of_the_peer() {
    let (go, wait_go) = gate();
    let peer = Peer::new(move |_, mut conn| {
        conn.greet(&[(INITIAL_WINDOW_SIZE, 0)]);
        let stream = conn.next_frame().stream;
        conn.respond_head(stream, false);
        wait_go.wait();
        conn.frame(WINDOW_UPDATE, 0, stream, &100_u32.to_be_bytes());
        assert_eq!(conn.next_frame().payload, b"hello");
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), over_http2(&peer));
    let head = lab.fetch(&origin, continued(&origin));
    lab.engine.write(head.id, b"hello");
    assert!(lab.engine.read(head.id, READER).is_none());
    assert!(!lab.engine.is_written(head.id));
    go.send(()).unwrap();
    assert!(matches!(lab.event(), Event::Woken(READER)));
    assert!(lab.engine.is_written(head.id));
}

#[test]
fn a_body_waits_for_100_continue_or_one_second() {
    for answers in [true, false] {
        let peer = Peer::new(move |_, mut conn| {
            conn.greet(&[]);
            let head = conn.next_frame();
            assert!(!head.ends() && !conn.has_stream_frame(), "the body was not asked for");
            if answers {
                // :status 100 as a literal with an indexed name
                conn.frame(HEADERS, 4, head.stream, &[0x08, 3, b'1', b'0', b'0']);
            }
            let body = conn.next_frame();
            assert!(body.payload == b"hello" && body.ends(), "{body:?}");
            conn.respond(head.stream, b"taken");
            conn.rest();
        });
        let (mut lab, origin) = (Lab::new(), over_http2(&peer));
        let call = request(&origin, "POST", &[("Expect", "100-continue")], Some(b"hello"));
        let finished = lab.fetch(&origin, call);
        assert_eq!(response(&finished).body(), b"taken");
        assert_eq!(finished.exchange.times().service < SECOND, answers);
    }
}

#[test]
fn a_body_over_the_limit_fails_its_exchange_alone() {
    let served = echoing(&Builder::new());
    let (mut lab, origin) = (Lab::new(), over_http2(&served.peer));
    lab.engine.limit_body(100);
    let [large, small] = [vec![b'x'; 1000], vec![b'x'; 10]].map(|body| lab.send(&origin, post(&origin, &body)));
    for _ in 0..2 {
        let finished = lab.finish();
        if finished.id == small {
            assert_eq!(response(&finished).status, 200);
        } else {
            assert_eq!((finished.id, failure(&finished).outcome), (large, Outcome::Protocol));
            assert_eq!(failure(&finished).message, "the response body is over the limit of 100 bytes");
        }
    }
    assert_eq!(lab.engine.connections(), 1);
}
