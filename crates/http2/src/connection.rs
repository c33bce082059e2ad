//! The client's end of a connection.

mod control;
mod reading;
mod sending;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use plimsoll_http::Limits;

use crate::error::Code;
use crate::frame::{self, MAX_31, MIN_MAX_FRAME};
use crate::request;
use crate::stream::{Allowance, Stream, Waiting, Window};
use crate::{ConnectionError, Events, OpenError, Options};
use reading::Reader;

/// The memory that the connection keeps between two responses, bytes for each buffer.
const KEPT: usize = 16 << 10;
/// Bytes of output at which request bodies wait until some of it was written.
const OUTPUT_MARK: usize = 128 << 10;
/// How many streams a peer is expected to take before it says so. The standard asks peers to take at least these.
const STREAMS_BEFORE_SETTINGS: u32 = 100;
/// The window of the peer before its SETTINGS, and that of the connection.
const FIRST_WINDOW: u32 = 65_535;

/// Identifies a stream of one connection. The number of a closed stream is not used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(u32);

/// The settings of the peer.
#[derive(Debug)]
struct Peer {
    max_streams: u32,
    window: u32,
    max_frame: u32,
}

/// The GOAWAY of the peer.
#[derive(Debug)]
struct GoneAway {
    code: Code,
    text: Box<[u8]>,
}

/// The client's end of a connection.
///
/// Write the bytes of [`output`](Connection::output) after each call, and say with [`wrote`](Connection::wrote) how many
/// of them were written. Calls for a stream that is closed do nothing.
#[derive(Debug)]
pub struct Connection {
    is_secure: bool,
    stream_window: u32,
    max_frame: u32,
    /// The open streams by their numbers, which grow.
    streams: VecDeque<Stream>,
    /// The number of the next stream: odd, beyond 2³¹ if there are no more.
    next: u32,
    /// Streams of which a part of the request waits.
    waiting: usize,
    /// Those of them whose own window lets them send: whether that needs the window of the connection, and the number. A
    /// peer can send a million frames about windows, and each must not look at all streams.
    sendable: BTreeSet<(bool, u32)>,
    /// Bytes of requests that were sent after they had waited.
    sent_late: u64,
    /// How often a stream was asked for what it can send.
    #[cfg(test)]
    looks: usize,
    peer: Peer,
    /// What the peer lets all streams together send.
    allowance: Allowance,
    /// What this end lets all streams together send.
    window: Window,
    output: Vec<u8>,
    /// Bytes of the output that were written.
    written: usize,
    /// Answers to frames of the peer that are not written yet.
    answers: usize,
    reader: Reader,
    gone_away: Option<GoneAway>,
    /// No more streams can be opened, whatever the peer says.
    is_closing: bool,
    /// The peer broke the protocol: no more bytes are read.
    is_broken: bool,
}

impl Connection {
    /// A connection whose output begins with the preface, SETTINGS and `WINDOW_UPDATE`.
    pub fn new(options: &Options) -> Connection {
        let stream_window = options.stream_window.clamp(1, MAX_31);
        let connection_window = options.connection_window.clamp(FIRST_WINDOW, MAX_31);
        let max_frame = options.max_frame_size.clamp(MIN_MAX_FRAME, (1 << 24) - 1);
        Connection {
            is_secure: options.is_secure,
            stream_window,
            max_frame,
            streams: VecDeque::new(),
            next: 1,
            waiting: 0,
            sendable: BTreeSet::new(),
            sent_late: 0,
            #[cfg(test)]
            looks: 0,
            peer: Peer { max_streams: STREAMS_BEFORE_SETTINGS, window: FIRST_WINDOW, max_frame: MIN_MAX_FRAME },
            allowance: Allowance(FIRST_WINDOW.into()),
            window: Window::new(connection_window),
            output: control::start(stream_window, connection_window, max_frame, options.max_header_list),
            written: 0,
            answers: 0,
            reader: Reader::default(),
            gone_away: None,
            is_closing: false,
            is_broken: false,
        }
    }

    /// How many streams may be opened now; 0 if the connection [takes no more](Connection::accepts_streams).
    /// It grows when a stream ends, and when the peer changes its SETTINGS. Before the first SETTINGS it is at most 100.
    pub fn room(&self) -> usize {
        let most = if self.accepts_streams() { self.peer.max_streams as usize } else { 0 };
        most.saturating_sub(self.streams.len())
    }

    /// Whether it will take more streams, now or after others have ended. False after GOAWAY, after an error, and when
    /// the numbers of streams are used up: a new connection is needed.
    pub fn accepts_streams(&self) -> bool {
        !self.is_closing && !self.is_broken && self.next <= MAX_31
    }

    /// Streams that are open.
    pub fn open_streams(&self) -> usize {
        self.streams.len()
    }

    /// The tags of the streams that are open, in the order of their opening. After a [`ConnectionError`], or when the
    /// transport ends, these have no response.
    pub fn tags(&self) -> impl Iterator<Item = u64> {
        self.streams.iter().map(|stream| stream.tag)
    }

    /// The code and text of the peer's GOAWAY, if it has come.
    pub fn gone_away(&self) -> Option<(Code, &[u8])> {
        self.gone_away.as_ref().map(|gone| (gone.code, &*gone.text))
    }

    /// Sends a request. `head`: the text of HTTP/1.1, blank line included. `body`: its body, or the first part of it.
    /// `ends`: nothing follows; otherwise [`send_body`](Connection::send_body) must. `tag`: given back with each event.
    pub fn open(&mut self, head: &[u8], body: &[u8], ends: bool, tag: u64) -> Result<StreamId, OpenError> {
        if self.room() == 0 {
            return Err(OpenError::NoRoom);
        }
        let id = self.next;
        let ends_here = ends && body.is_empty();
        let request = self.push_head(id, head, ends_here)?;
        self.next += 2;
        self.streams.push_back(Stream {
            id,
            tag,
            allowance: Allowance(self.peer.window.into()),
            window: Window::new(self.stream_window),
            body: Waiting::default(),
            sent: 0,
            ends,
            has_ended: ends_here,
            is_head: request.is_head,
            has_head: false,
            is_held: false,
            interim: 0,
            announced: None,
            received: 0,
        });
        if !ends_here {
            self.send_from(self.streams.len() - 1, body);
        }
        Ok(StreamId(id))
    }

    /// Sends the next part of a request's body. What flow control does not allow yet is kept. `ends`: it is the last.
    pub fn send_body(&mut self, stream: StreamId, bytes: &[u8], ends: bool) {
        let Some(index) = self.find(stream.0).filter(|&index| !self.streams[index].ends) else { return };
        self.waiting -= usize::from(self.streams[index].is_waiting());
        self.streams[index].ends = ends;
        self.send_from(index, bytes);
    }

    /// What waits of the stream's request body is the end of these bytes. They are kept instead of a copy of it, since
    /// they may be those of many requests.
    pub fn share_body(&mut self, stream: StreamId, bytes: &Arc<[u8]>) {
        // As a rule all is in the output, and no stream has to be looked for.
        if self.waiting == 0 {
            return;
        }
        let Some(index) = self.find(stream.0).filter(|&index| self.streams[index].has_unsent()) else { return };
        let stream = &mut self.streams[index];
        let unsent = stream.body.len() - stream.sent;
        debug_assert!(bytes.ends_with(&stream.body[stream.sent..]), "other bytes wait");
        stream.sent = bytes.len() - unsent;
        stream.body = Waiting::Shared(Arc::clone(bytes));
    }

    /// Bytes of the stream's request body that are not in the output yet: they wait for flow control, or for
    /// [`wrote`](Connection::wrote).
    pub fn unsent(&self, stream: StreamId) -> usize {
        self.find(stream.0).map_or(0, |index| self.streams[index].body.len() - self.streams[index].sent)
    }

    /// Bytes of requests that were sent so far after they had waited: while it stays the same, so does
    /// [`unsent`](Connection::unsent).
    pub fn sent_late(&self) -> u64 {
        self.sent_late
    }

    /// Whether the stream is open.
    pub fn is_open(&self, stream: StreamId) -> bool {
        self.find(stream.0).is_some()
    }

    /// Takes bytes of the peer and passes the responses in them to `events`. After an error, the output has the GOAWAY
    /// that reports it, and nothing more is read.
    pub fn input(&mut self, bytes: &[u8], limits: &Limits, events: &mut impl Events) -> Result<(), ConnectionError> {
        if self.is_broken {
            return Ok(());
        }
        let read = self.read(bytes, limits, events);
        if let Err(error) = &read {
            self.is_broken = true;
            frame::push_goaway(&mut self.output, error.code());
        }
        read
    }

    /// The bytes to write next.
    pub fn output(&self) -> &[u8] {
        &self.output[self.written..]
    }

    /// The first `count` bytes of the output were written.
    pub fn wrote(&mut self, count: usize) {
        self.written += count;
        if self.written == self.output.len() {
            self.output.clear();
            self.written = 0;
            self.answers = 0;
            if self.output.capacity() > KEPT {
                self.output = Vec::new();
            }
        }
        if self.written >= OUTPUT_MARK {
            self.output.drain(..self.written);
            self.written = 0;
        }
        if !self.sendable.is_empty() {
            self.send_waiting();
        }
    }

    /// Resets the stream (`RST_STREAM` with CANCEL). No more events have its tag.
    pub fn cancel(&mut self, stream: StreamId) {
        if let Some(index) = self.find(stream.0) {
            self.remove(index);
            frame::push_reset(&mut self.output, stream.0, Code::CANCEL);
        }
    }

    /// From now on the peer may only send what [`consume`](Connection::consume) allows, for a body that is read in
    /// pieces: at most [`Options::stream_window`] bytes are passed to `body` and not consumed. Without it all bytes count
    /// as consumed when they are passed.
    pub fn hold(&mut self, stream: StreamId) {
        if let Some(index) = self.find(stream.0) {
            self.streams[index].is_held = true;
        }
    }

    /// `count` bytes of a held stream's body were read.
    pub fn consume(&mut self, stream: StreamId, count: usize) {
        if let Some(index) = self.find(stream.0)
            && let Some(increment) = self.streams[index].window.give(u32::try_from(count).unwrap_or(u32::MAX))
        {
            frame::push_window_update(&mut self.output, stream.0, increment);
        }
    }

    /// Sends GOAWAY without an error: this end closes. Streams that are open go on; no more can be opened.
    pub fn close(&mut self) {
        self.is_closing = true;
        frame::push_goaway(&mut self.output, Code::NO_ERROR);
    }

    /// The position of a stream that is open.
    fn find(&self, id: u32) -> Option<usize> {
        self.streams.binary_search_by_key(&id, |stream| stream.id).ok()
    }

    fn remove(&mut self, index: usize) -> Option<Stream> {
        let stream = self.streams.remove(index)?;
        self.forget_waiting(&stream);
        Some(stream)
    }

    /// The stream is closed: nothing of it waits any longer.
    fn forget_waiting(&mut self, stream: &Stream) {
        if stream.is_waiting() {
            self.waiting -= 1;
            self.forget_sendable(stream.id);
        }
    }

    fn forget_sendable(&mut self, id: u32) {
        if !self.sendable.is_empty() {
            self.sendable.remove(&(true, id));
            self.sendable.remove(&(false, id));
        }
    }

    /// Appends the HEADERS of a request. After an error the output is unchanged.
    fn push_head(&mut self, id: u32, head: &[u8], ends: bool) -> Result<request::Request, OpenError> {
        let start = self.output.len();
        self.output.extend_from_slice(&[0; frame::HEADER]);
        let encoded = request::encode(head, self.is_secure, &mut self.output);
        if encoded.is_err() {
            self.output.truncate(start);
            return encoded;
        }
        let length = self.output.len() - start - frame::HEADER;
        let mut flags = if ends { frame::END_STREAM } else { 0 };
        if length <= self.peer.max_frame as usize {
            flags |= frame::END_HEADERS;
        }
        let first = length.min(self.peer.max_frame as usize);
        let header = frame::Header { length: first as u32, kind: frame::HEADERS, flags, stream: id };
        self.output[start..start + frame::HEADER].copy_from_slice(&header.encode());
        if first < length {
            self.continue_head(id, start + frame::HEADER + first);
        }
        encoded
    }

    /// Puts the bytes of a header block from `start` on into CONTINUATION frames.
    #[cold]
    fn continue_head(&mut self, id: u32, start: usize) {
        let rest = self.output.split_off(start);
        let mut parts = rest.chunks(self.peer.max_frame as usize).peekable();
        while let Some(part) = parts.next() {
            let flags = if parts.peek().is_none() { frame::END_HEADERS } else { 0 };
            frame::push(&mut self.output, frame::CONTINUATION, flags, id, part);
        }
    }
}
