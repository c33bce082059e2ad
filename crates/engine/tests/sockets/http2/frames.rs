//! A peer that writes and reads frames by hand.

use crate::peer::{Conn, Stream};

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const GOAWAY: u8 = 7;
pub(super) const WINDOW_UPDATE: u8 = 8;

pub(super) const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

pub(super) const MAX_CONCURRENT_STREAMS: u16 = 3;
pub(super) const INITIAL_WINDOW_SIZE: u16 = 4;

pub(super) const REFUSED_STREAM: u32 = 7;
pub(super) const CANCEL: u32 = 8;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A frame of the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) stream: u32,
    pub(super) payload: Vec<u8>,
}

impl Frame {
    pub(super) fn ends(&self) -> bool {
        self.flags & END_STREAM != 0
    }
}

impl<S: Stream> Conn<S> {
    /// Reads the client's preface, and sends these settings.
    pub(super) fn greet(&mut self, settings: &[(u16, u32)]) {
        assert_eq!(self.body(PREFACE.len()), PREFACE);
        assert_eq!(self.any_frame().kind, SETTINGS);
        self.settings(settings);
    }

    pub(super) fn settings(&mut self, settings: &[(u16, u32)]) {
        let payload: Vec<u8> =
            settings.iter().flat_map(|(id, value)| id.to_be_bytes().into_iter().chain(value.to_be_bytes())).collect();
        self.frame(SETTINGS, 0, 0, &payload);
    }

    pub(super) fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let header = [&length[1..], &[kind, flags], &stream.to_be_bytes()].concat();
        self.write([&header, payload].concat());
    }

    fn any_frame(&mut self) -> Frame {
        let header = self.body(9);
        let length = u32::from_be_bytes([0, header[0], header[1], header[2]]) as usize;
        let stream = u32::from_be_bytes(header[5..9].try_into().unwrap());
        Frame { kind: header[3], flags: header[4], stream, payload: self.body(length) }
    }

    /// The next frame that belongs to a stream, or closes the connection.
    pub(super) fn next_frame(&mut self) -> Frame {
        loop {
            let frame = self.any_frame();
            if frame.stream != 0 || frame.kind == GOAWAY {
                return frame;
            }
        }
    }

    /// The stream of the next request, which has no body.
    pub(super) fn get(&mut self) -> u32 {
        let frame = self.next_frame();
        assert!(frame.kind == HEADERS && frame.ends(), "{frame:?}");
        frame.stream
    }

    /// The stream of the next request; None if the client closes first.
    pub(super) fn request_or_end(&mut self) -> Option<u32> {
        while self.has_more() {
            let frame = self.any_frame();
            if frame.kind == HEADERS {
                return Some(frame.stream);
            }
        }
        None
    }

    /// The head of a response with status 200.
    pub(super) fn respond_head(&mut self, stream: u32, ends: bool) {
        self.frame(HEADERS, END_HEADERS | u8::from(ends), stream, &[0x88]);
    }

    /// A response with this body.
    pub(super) fn respond(&mut self, stream: u32, body: &[u8]) {
        self.respond_head(stream, false);
        self.frame(DATA, END_STREAM, stream, body);
    }

    pub(super) fn reset_stream(&mut self, stream: u32, code: u32) {
        self.frame(RST_STREAM, 0, stream, &code.to_be_bytes());
    }

    pub(super) fn go_away(&mut self, last: u32, code: u32) {
        self.frame(GOAWAY, 0, 0, &[last.to_be_bytes(), code.to_be_bytes()].concat());
    }

    /// Serves requests without a body until the connection ends.
    pub(super) fn serve_http2(&mut self, body: &[u8]) {
        while let Some(stream) = self.request_or_end() {
            self.respond(stream, body);
        }
    }
}

impl Conn {
    /// Whether a frame of a stream comes now, or within a few milliseconds.
    pub(super) fn has_stream_frame(&mut self) -> bool {
        while self.has_input() {
            if self.any_frame().stream != 0 {
                return true;
            }
        }
        false
    }
}
