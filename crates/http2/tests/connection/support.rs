//! Frames of a server, and what a connection makes of them.

use plimsoll_http::{Head, Limits};
use plimsoll_http2::{Connection, ConnectionError, Events, Options, StreamError};

pub(crate) const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];
pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;
/// `END_STREAM` and `END_HEADERS`.
pub(crate) const END: u8 = 5;
pub(crate) const PADDED: u8 = 8;

pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let [_, a, b, c] = (payload.len() as u32).to_be_bytes();
    [&[a, b, c, kind, flags][..], &stream.to_be_bytes(), payload].concat()
}

pub(crate) fn data(flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    frame(0, flags, stream, payload)
}

pub(crate) fn setting(number: u16, value: u32) -> Vec<u8> {
    frame(4, 0, 0, &[&number.to_be_bytes()[..], &value.to_be_bytes()].concat())
}

pub(crate) fn window_update(stream: u32, increment: u32) -> Vec<u8> {
    frame(8, 0, stream, &increment.to_be_bytes())
}

pub(crate) fn goaway(last: u32, code: u32, text: &[u8]) -> Vec<u8> {
    frame(7, 0, 0, &[&last.to_be_bytes()[..], &code.to_be_bytes(), text].concat())
}

/// A block of fields that no table has; names and values below 127 bytes.
pub(crate) fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let field = |(name, value): &(&str, &str)| {
        [&[0, name.len() as u8][..], name.as_bytes(), &[value.len() as u8], value.as_bytes()].concat()
    };
    fields.iter().flat_map(field).collect()
}

/// HEADERS with these fields after `:status`.
pub(crate) fn head(flags: u8, stream: u32, status: &str, fields: &[(&str, &str)]) -> Vec<u8> {
    frame(1, flags, stream, &[block(&[(":status", status)]), block(fields)].concat())
}

/// What happened, as lines; the pieces of a body are joined.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Log(pub(crate) Vec<String>);

impl Events for Log {
    fn interim(&mut self, tag: u64, status: u16) {
        self.0.push(format!("{tag} interim {status}"));
    }

    fn head(&mut self, tag: u64, head: &Head<'_>) {
        assert_eq!((&head.raw[..7], head.minor), (&b"HTTP/2 "[..], 10));
        self.0.push(format!("{tag} head {}", String::from_utf8_lossy(head.raw).replace("\r\n", "|")));
    }

    fn body(&mut self, tag: u64, chunk: &[u8]) {
        assert!(!chunk.is_empty());
        let start = format!("{tag} body ");
        match self.0.last_mut() {
            Some(last) if last.starts_with(&start) => *last += &chunk.escape_ascii().to_string(),
            _ => self.0.push(format!("{start}{}", chunk.escape_ascii())),
        }
    }

    fn trailers(&mut self, tag: u64, raw: &[u8]) {
        self.0.push(format!("{tag} trailers {}", String::from_utf8_lossy(raw).replace("\r\n", "|")));
    }

    fn end(&mut self, tag: u64) {
        self.0.push(format!("{tag} end"));
    }

    fn failed(&mut self, tag: u64, error: StreamError) {
        self.0.push(format!("{tag} failed {error}"));
    }
}

/// A connection with requests `GET /` whose tags are 1, 2, …; its output is empty.
pub(crate) fn connection(requests: u64, options: &Options) -> Connection {
    let mut connection = Connection::new(options);
    for tag in 1..=requests {
        connection.open(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"", true, tag).expect("there is room");
    }
    written(&mut connection);
    connection
}

/// What these pieces do to a connection with requests.
pub(crate) fn read(requests: u64, limits: &Limits, pieces: &[&[u8]]) -> (Vec<String>, Option<ConnectionError>) {
    let mut connection = connection(requests, &Options::default());
    let mut log = Log::default();
    for piece in pieces {
        if let Err(error) = connection.input(piece, limits, &mut log) {
            return (log.0, Some(error));
        }
    }
    (log.0, None)
}

/// Takes the output as frames (kind, flags, stream, payload), without the preface.
pub(crate) fn written(connection: &mut Connection) -> Vec<(u8, u8, u32, Vec<u8>)> {
    let output = connection.output().to_vec();
    connection.wrote(output.len());
    frames(output.strip_prefix(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap_or(&output))
}

pub(crate) fn frames(mut bytes: &[u8]) -> Vec<(u8, u8, u32, Vec<u8>)> {
    let mut frames = Vec::new();
    while let &[a, b, c, kind, flags, d, e, f, g, ref rest @ ..] = bytes {
        let (payload, after) = rest.split_at(u32::from_be_bytes([0, a, b, c]) as usize);
        frames.push((kind, flags, u32::from_be_bytes([d, e, f, g]), payload.to_vec()));
        bytes = after;
    }
    assert!(bytes.is_empty(), "whole frames");
    frames
}
