//! The client's end of a connection.

use plimsoll_http::Limits;

use crate::{Code, ConnectionError, Events, OpenError, Options};

/// Identifies a stream of one connection. The number of a closed stream is not used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(u32);

/// The client's end of a connection.
///
/// Write the bytes of [`output`](Connection::output) after each call, and say with [`wrote`](Connection::wrote) how many
/// of them were written. Calls for a stream that is closed do nothing.
#[derive(Debug)]
pub struct Connection {}

impl Connection {
    /// A connection whose output begins with the preface, SETTINGS and WINDOW_UPDATE.
    pub fn new(_options: &Options) -> Connection {
        unimplemented!()
    }

    /// How many streams may be opened now; 0 if the connection [takes no more](Connection::accepts_streams).
    /// It grows when a stream ends, and when the peer changes its SETTINGS. Before the first SETTINGS it is at most 100.
    pub fn room(&self) -> usize {
        unimplemented!()
    }

    /// Whether it will take more streams, now or after others have ended. False after GOAWAY, after an error, and when
    /// the numbers of streams are used up: a new connection is needed.
    pub fn accepts_streams(&self) -> bool {
        unimplemented!()
    }

    /// Streams that are open.
    pub fn open_streams(&self) -> usize {
        unimplemented!()
    }

    /// The tags of the streams that are open, in the order of their opening. After a [`ConnectionError`], or when the
    /// transport ends, these have no response.
    pub fn tags(&self) -> impl Iterator<Item = u64> {
        std::iter::empty()
    }

    /// The code and text of the peer's GOAWAY, if it has come.
    pub fn gone_away(&self) -> Option<(Code, &[u8])> {
        unimplemented!()
    }

    /// Sends a request. `head`: the text of HTTP/1.1, blank line included. `body`: its body, or the first part of it.
    /// `ends`: nothing follows; otherwise [`send_body`](Connection::send_body) must. `tag`: given back with each event.
    pub fn open(&mut self, _head: &[u8], _body: &[u8], _ends: bool, _tag: u64) -> Result<StreamId, OpenError> {
        unimplemented!()
    }

    /// Sends the next part of a request's body. What flow control does not allow yet is kept. `ends`: it is the last.
    pub fn send_body(&mut self, _stream: StreamId, _bytes: &[u8], _ends: bool) {
        unimplemented!()
    }

    /// Bytes of the stream's request body that wait for flow control.
    pub fn unsent(&self, _stream: StreamId) -> usize {
        unimplemented!()
    }

    /// Takes bytes of the peer and passes the responses in them to `events`. After an error, the output has the GOAWAY
    /// that reports it, and nothing more can be read.
    pub fn input(&mut self, _bytes: &[u8], _limits: &Limits, _events: &mut impl Events) -> Result<(), ConnectionError> {
        unimplemented!()
    }

    /// The bytes to write next.
    pub fn output(&self) -> &[u8] {
        unimplemented!()
    }

    /// The first `count` bytes of the output were written.
    pub fn wrote(&mut self, _count: usize) {
        unimplemented!()
    }

    /// Resets the stream (RST_STREAM with CANCEL). No more events have its tag.
    pub fn cancel(&mut self, _stream: StreamId) {
        unimplemented!()
    }

    /// From now on the peer may only send what [`consume`](Connection::consume) allows, for a body that is read in
    /// pieces: at most [`Options::stream_window`] bytes are passed to `body` and not consumed. Without it all bytes count
    /// as consumed when they are passed.
    pub fn hold(&mut self, _stream: StreamId) {
        unimplemented!()
    }

    /// `count` bytes of a held stream's body were read.
    pub fn consume(&mut self, _stream: StreamId, _count: usize) {
        unimplemented!()
    }

    /// Sends GOAWAY without an error: this end closes. Streams that are open go on; no more can be opened.
    pub fn close(&mut self) {
        unimplemented!()
    }
}
