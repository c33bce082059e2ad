//! What a connection sends: its start, requests, bodies within the peer's windows, and windows of its own.

use std::sync::Arc;

use plimsoll_http::Limits;
use plimsoll_http2::{Connection, OpenError, Options, StreamId};

use crate::support::{END_HEADERS, Log, SETTINGS, connection, data, frame, head, setting, window_update, written};

const POST: &[u8] = b"POST / HTTP/1.1\r\nHost: x\r\n\r\n";

fn input(connection: &mut Connection, frames: &[Vec<u8>]) {
    connection.input(&frames.concat(), &Limits::default(), &mut Log::default()).unwrap();
}

fn post(connection: &mut Connection, body: &[u8], ends: bool) -> StreamId {
    connection.open(POST, body, ends, 1).unwrap()
}

/// The lengths of the DATA frames in the output, and whether the last one ends its stream.
fn bodies(connection: &mut Connection) -> (Vec<usize>, bool) {
    let frames: Vec<_> = written(connection).into_iter().filter(|frame| frame.0 == 0).collect();
    (frames.iter().map(|frame| frame.3.len()).collect(), frames.last().is_some_and(|frame| frame.1 == 1))
}

#[test]
fn a_connection_begins_with_the_preface_and_its_settings() {
    let options = Options { stream_window: 70_000, connection_window: 65_536, ..Options::default() };
    let mut connection = Connection::new(&options);
    assert!(connection.output().starts_with(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    let settings =
        [[0, 1, 0, 0, 0, 0], [0, 2, 0, 0, 0, 0], [0, 4, 0, 1, 0x11, 0x70], [0, 5, 0, 0, 0x40, 0], [0, 6, 0, 1, 0, 0]];
    assert_eq!(written(&mut connection), [(4, 0, 0, settings.concat()), (8, 0, 0, vec![0, 0, 0, 1])]);
    let smallest = Options { connection_window: 0, ..options };
    assert_eq!(written(&mut Connection::new(&smallest)).len(), 1, "no window below the standard's");
}

#[test]
fn a_request_is_one_frame_with_its_end_or_is_followed_by_its_body() {
    let mut connection = connection(0, &Options::default());
    connection.open(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"", true, 1).unwrap();
    assert_eq!(written(&mut connection), [(1, 5, 1, b"\x82\x86\x84\x01\x01x".to_vec())]);
    post(&mut connection, b"body", true);
    let head = b"\x83\x86\x84\x01\x01x".to_vec();
    assert_eq!(written(&mut connection), [(1, 4, 3, head), (0, 1, 3, b"body".to_vec())]);
    assert_eq!(connection.open(b"CONNECT x:1 HTTP/1.1\r\n\r\n", b"", true, 1), Err(OpenError::Head));
    assert_eq!((connection.output(), connection.open_streams()), (&b""[..], 2));
}

#[test]
fn a_head_longer_than_a_frame_is_continued() {
    let mut connection = connection(0, &Options::default());
    let long = format!("GET / HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n", "y".repeat(40_000));
    connection.open(long.as_bytes(), b"", true, 1).unwrap();
    let frames = written(&mut connection);
    let shape: Vec<_> = frames.iter().map(|frame| (frame.0, frame.1, frame.3.len())).collect();
    assert_eq!(shape[..2], [(1, 1, 16_384), (9, 0, 16_384)]);
    assert!(shape.len() == 3 && (shape[2].0, shape[2].1) == (9, END_HEADERS), "{shape:?}");
}

#[test]
fn the_peer_says_how_many_streams_there_may_be() {
    let mut open = connection(100, &Options::default());
    assert_eq!((open.room(), open.open(POST, b"", true, 1)), (0, Err(OpenError::NoRoom)));
    input(&mut open, &[SETTINGS.to_vec()]);
    assert_eq!(open.room(), u32::MAX as usize - 100, "no limit");
    input(&mut open, &[setting(3, 101)]);
    assert_eq!(open.room(), 1);
    input(&mut open, &[setting(3, 10)]);
    assert_eq!((open.room(), open.accepts_streams()), (0, true));
    input(&mut open, &[head(5, 1, "200", &[]), setting(3, 100)]);
    assert_eq!(open.room(), 1);
    open.close();
    assert_eq!((open.room(), open.accepts_streams(), open.open_streams()), (0, false, 99));
    assert_eq!(written(&mut open).pop(), Some((7, 0, 0, vec![0; 8])));
}

#[test]
fn a_body_waits_for_both_windows() {
    let mut connection = connection(0, &Options::default());
    input(&mut connection, &[setting(4, 10)]);
    let stream = post(&mut connection, &[7; 25], true);
    assert_eq!(bodies(&mut connection), (vec![10], false));
    assert_eq!(connection.unsent(stream), 15);
    input(&mut connection, &[window_update(1, 4)]);
    assert_eq!(bodies(&mut connection), (vec![4], false));
    input(&mut connection, &[setting(4, 7)]);
    input(&mut connection, &[setting(4, 10)]);
    assert_eq!(bodies(&mut connection), (vec![], false), "the window was negative, and is 0 again");
    input(&mut connection, &[setting(4, 30)]);
    assert_eq!((bodies(&mut connection), connection.unsent(stream)), ((vec![11], true), 0));

    let mut connection = self::connection(0, &Options::default());
    input(&mut connection, &[setting(4, 1_000_000)]);
    let first = post(&mut connection, &vec![7; 65_000], true);
    let second = post(&mut connection, &[7; 1000], true);
    assert_eq!(bodies(&mut connection), (vec![16_384, 16_384, 16_384, 15_848, 535], false));
    assert_eq!((connection.unsent(first), connection.unsent(second)), (0, 465), "the connection's window is full");
    input(&mut connection, &[window_update(0, 1000)]);
    assert_eq!(bodies(&mut connection), (vec![465], true));
}

#[test]
fn a_body_comes_in_parts() {
    let mut connection = connection(0, &Options::default());
    input(&mut connection, &[setting(4, 10)]);
    let stream = post(&mut connection, b"", false);
    assert_eq!(bodies(&mut connection), (vec![], false));
    connection.send_body(stream, b"12345678", false);
    connection.send_body(stream, b"1234", false);
    connection.send_body(stream, b"", true);
    connection.send_body(stream, b"after the end", true);
    assert_eq!(bodies(&mut connection), (vec![8, 2], false));
    assert_eq!(connection.unsent(stream), 2);
    input(&mut connection, &[window_update(1, 100)]);
    assert_eq!(bodies(&mut connection), (vec![2], true));
    let stream = post(&mut connection, b"x", false);
    connection.send_body(stream, b"", true);
    assert_eq!(bodies(&mut connection), (vec![1, 0], true), "an end without bytes");
}

#[test]
fn a_body_of_many_requests_is_not_copied_while_it_waits() {
    let mut connection = connection(0, &Options::default());
    input(&mut connection, &[setting(4, 10)]);
    let bytes: Arc<[u8]> = [b"head".as_slice(), &[7; 40]].concat().into();
    let [first, second] = [(); 2].map(|()| {
        let stream = post(&mut connection, &bytes[4..], true);
        connection.share_body(stream, &bytes);
        stream
    });
    assert_eq!((Arc::strong_count(&bytes), connection.unsent(first)), (3, 30));
    assert_eq!(bodies(&mut connection), (vec![10, 10], false));
    input(&mut connection, &[window_update(1, 20), window_update(3, 100)]);
    assert_eq!(bodies(&mut connection), (vec![20, 30], true));
    assert_eq!((connection.unsent(first), connection.unsent(second)), (10, 0));
    assert_eq!(Arc::strong_count(&bytes), 2, "what was sent is let go");
    connection.cancel(first);
    assert_eq!(Arc::strong_count(&bytes), 1);
    let small = post(&mut connection, b"x", true);
    connection.share_body(small, &bytes);
    assert_eq!((connection.unsent(small), Arc::strong_count(&bytes)), (0, 1), "nothing of it waits");
}

#[test]
fn a_long_body_is_not_in_the_output_at_once() {
    let mut connection = connection(0, &Options::default());
    input(&mut connection, &[setting(4, 0x7fff_ffff), window_update(0, 0x7000_0000)]);
    let body: Vec<u8> = (0..3_000_000_u32).map(|position| position as u8).collect();
    let stream = post(&mut connection, &body, true);
    let mut sent = Vec::new();
    while !connection.output().is_empty() {
        assert!(connection.output().len() < 200_000);
        let piece = connection.output()[..connection.output().len().min(50_000)].to_vec();
        connection.wrote(piece.len());
        sent.extend(piece);
    }
    assert_eq!(connection.unsent(stream), 0);
    let bodies: Vec<u8> =
        crate::support::frames(&sent).into_iter().filter(|frame| frame.0 == 0).flat_map(|frame| frame.3).collect();
    assert!(bodies == body);
}

#[test]
fn a_cancelled_body_frees_nobody_and_blocks_nobody() {
    let mut connection = connection(0, &Options::default());
    input(&mut connection, &[setting(4, 10)]);
    let first = post(&mut connection, &[7; 20], true);
    let second = post(&mut connection, &[7; 20], true);
    connection.cancel(first);
    connection.send_body(first, b"x", true);
    written(&mut connection);
    input(&mut connection, &[window_update(1, 100), window_update(3, 100)]);
    assert_eq!((bodies(&mut connection), connection.unsent(second)), ((vec![10], true), 0));
}

#[test]
fn a_response_that_ends_early_stops_the_request() {
    let mut connection = connection(0, &Options::default());
    let stream = post(&mut connection, b"part", false);
    written(&mut connection);
    input(&mut connection, &[SETTINGS.to_vec(), head(5, 1, "413", &[])]);
    connection.send_body(stream, b"more", true);
    assert_eq!(written(&mut connection)[1..], [(3, 0, 1, vec![0; 4])]);
}

#[test]
fn windows_are_given_back_in_halves() {
    let options = Options { stream_window: 100, connection_window: 65_535, ..Options::default() };
    let mut connection = connection(1, &options);
    input(&mut connection, &[SETTINGS.to_vec(), head(END_HEADERS, 1, "200", &[]), data(0, 1, &[0; 49])]);
    assert_eq!(written(&mut connection).len(), 1, "the acknowledgement");
    input(&mut connection, &[data(8, 1, b"\0")]);
    assert_eq!(written(&mut connection), [(8, 0, 1, vec![0, 0, 0, 50])], "padding counts");
    let mut log = Log::default();
    connection.input(&data(0, 1, &[0; 101]), &Limits::default(), &mut log).unwrap();
    assert!(log.0[0].contains("flow control"), "{:?}", log.0);
}

#[test]
fn a_held_stream_gives_back_what_is_consumed() {
    let options = Options { stream_window: 100, connection_window: 65_535, ..Options::default() };
    let mut connection = connection(0, &options);
    let stream = post(&mut connection, b"", true);
    connection.hold(stream);
    written(&mut connection);
    input(&mut connection, &[SETTINGS.to_vec(), head(END_HEADERS, 1, "200", &[]), data(0, 1, &[0; 90])]);
    assert_eq!(written(&mut connection).len(), 1);
    connection.consume(stream, 49);
    assert_eq!(written(&mut connection), []);
    connection.consume(stream, 41);
    assert_eq!(written(&mut connection), [(8, 0, 1, vec![0, 0, 0, 90])]);
}

#[test]
fn the_window_of_the_connection_goes_on_without_the_reader_of_a_stream() {
    let options = Options { stream_window: 0x7fff_ffff, connection_window: 65_535, ..Options::default() };
    let mut connection = connection(0, &options);
    let stream = post(&mut connection, b"", true);
    connection.hold(stream);
    input(&mut connection, &[SETTINGS.to_vec(), head(END_HEADERS, 1, "200", &[])]);
    written(&mut connection);
    for _ in 0..10 {
        input(&mut connection, &[data(0, 1, &[0; 16_384]), data(0, 1, &[0; 16_384])]);
        assert_eq!(written(&mut connection), [(8, 0, 0, vec![0, 0, 0x80, 0])]);
    }
}

#[test]
fn unknown_settings_are_acknowledged() {
    let mut connection = connection(1, &Options::default());
    input(&mut connection, &[setting(0xffff, 1), frame(4, 1, 0, b"")]);
    assert_eq!(written(&mut connection), [(4, 1, 0, vec![])]);
}
