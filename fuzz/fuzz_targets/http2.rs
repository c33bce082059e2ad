//! Any bytes as those of an HTTP/2 server: the same responses and answers in one piece, in pieces and byte by byte, and
//! none over the limits.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_http::{Head, Limits, header, headers, trailers};
use plimsoll_http2::{Connection, ConnectionError, Events, Options, StreamError};

const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];

fuzz_target!(|input: &[u8]| {
    // fuzz/README.md describes this layout.
    let [setting, length, bytes @ ..] = input else { return };
    let limits = if setting & 2 != 0 { Limits { head: 64, headers: 3, body: 40 } } else { Limits::default() };
    let start = if setting & 1 != 0 { SETTINGS } else { &[] };
    let bytes = [start, bytes].concat();

    let whole = read(&limits, setting & 4 != 0, &bytes, bytes.len().max(1));
    assert_eq!(read(&limits, setting & 4 != 0, &bytes, 1), whole);
    assert_eq!(read(&limits, setting & 4 != 0, &bytes, usize::from(*length).max(1)), whole);
});

/// What happened to a stream; the pieces of its body are joined.
#[derive(Debug, Default, PartialEq, Eq)]
struct Response {
    interim: Vec<u16>,
    head: Vec<u8>,
    body: Vec<u8>,
    trailers: Vec<u8>,
    ended: bool,
    failed: Option<StreamError>,
}

struct Responses {
    limits: Limits,
    streams: [Response; 5],
}

impl Responses {
    fn of(&mut self, tag: u64) -> &mut Response {
        let response = &mut self.streams[tag as usize];
        assert!(!response.ended && response.failed.is_none(), "nothing follows the end");
        response
    }
}

impl Events for Responses {
    fn interim(&mut self, tag: u64, status: u16) {
        assert!((100..200).contains(&status));
        let response = self.of(tag);
        assert!(response.head.is_empty());
        response.interim.push(status);
    }

    fn head(&mut self, tag: u64, head: &Head<'_>) {
        assert!((200..=999).contains(&head.status) && head.raw.len() <= self.limits.head);
        // The text has as many lines as headers, so none of them could add one.
        let lines = head.raw.split(|&byte| byte == b'\n').count();
        assert!(
            head.raw.starts_with(format!("HTTP/2 {}\r\n", head.status).as_bytes()) && head.raw.ends_with(b"\r\n\r\n")
        );
        assert_eq!(lines, headers(head.raw).len() + 3);
        assert!(lines - 3 <= self.limits.headers);
        assert_eq!(head.notes.cookie, header(head.raw, "set-cookie").is_some());
        assert_eq!(head.content_length.is_some(), header(head.raw, "content-length").is_some());
        let response = self.of(tag);
        assert!(response.head.is_empty());
        response.head = head.raw.to_vec();
    }

    fn body(&mut self, tag: u64, chunk: &[u8]) {
        let limit = self.limits.body;
        let response = self.of(tag);
        assert!(!chunk.is_empty() && !response.head.is_empty());
        response.body.extend_from_slice(chunk);
        assert!(response.body.len() as u64 <= limit);
    }

    fn trailers(&mut self, tag: u64, raw: &[u8]) {
        assert!(raw.len() <= self.limits.head && !trailers(raw).is_empty());
        let response = self.of(tag);
        assert!(!response.head.is_empty());
        response.trailers = raw.to_vec();
    }

    fn end(&mut self, tag: u64) {
        let response = self.of(tag);
        assert!(!response.head.is_empty());
        response.ended = true;
    }

    fn failed(&mut self, tag: u64, error: StreamError) {
        assert!(!error.to_string().is_empty());
        self.of(tag).failed = Some(error);
    }
}

type Found = ([Response; 5], Option<ConnectionError>, Vec<u8>, Vec<u64>);

/// Two requests without a body, one with a long body, one with a body that is not complete, and one that is read slowly.
fn read(limits: &Limits, small: bool, bytes: &[u8], length: usize) -> Found {
    let options = Options { stream_window: if small { 50 } else { 1 << 20 }, ..Options::default() };
    let mut connection = Connection::new(&options);
    let mut responses = Responses { limits: *limits, streams: Default::default() };
    for (tag, method, body, ends) in [
        (0, "GET", 0, true),
        (1, "HEAD", 0, true),
        (2, "PUT", 70_000, true),
        (3, "POST", 3, false),
        (4, "GET", 0, true),
    ] {
        let head = format!("{method} / HTTP/1.1\r\nHost: x\r\n\r\n");
        let stream = connection.open(head.as_bytes(), &vec![0; body], ends, tag).expect("there is room");
        if tag == 4 {
            connection.hold(stream);
        }
    }
    connection.wrote(connection.output().len());
    let mut error = None;
    for piece in bytes.chunks(length) {
        error = connection.input(piece, limits, &mut responses).err();
        if error.is_some() {
            break;
        }
    }
    (responses.streams, error, connection.output().to_vec(), connection.tags().collect())
}
