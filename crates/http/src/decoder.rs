//! Decodes response bytes: one [`Decoder`] per connection, fed with each read of the socket.

use crate::chunked::Chunks;
use crate::framing::{Asked, Body, Parsed};
use crate::head::{Gathered, gather, unfold};
use crate::heads::Heads;
use crate::mend::mended;
use crate::sink::{Head, Sink};
use crate::{Limits, ProtocolError};

/// A response is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// Whether the connection may carry another request.
    pub keep_alive: bool,
}

/// The result of [`Decoder::feed`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fed {
    /// Bytes of the input that belong to this response: all of them, unless it is complete.
    pub consumed: usize,
    /// Set by the call that completes the response, and only by that one.
    pub done: Option<Done>,
}

#[derive(Debug)]
enum State {
    /// Before `begin`, after a complete response, after an error: no bytes are expected.
    Idle,
    Head,
    /// Bytes of the body that are left.
    Length(u64),
    Chunked(Chunks),
    UntilClose,
}

/// Decodes one response after another. Call `begin` before each.
///
/// The events do not depend on how the bytes are split, except for the pieces of the body.
#[derive(Debug)]
pub struct Decoder {
    state: State,
    /// The part of a head or trailer section that has arrived; otherwise empty and without memory.
    buffer: Vec<u8>,
    /// Bytes of the interim heads of this response.
    interim: usize,
    /// How much longer the body may become, bytes.
    room: u64,
    asked: Asked,
    started: bool,
    keep_alive: bool,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    /// A decoder that expects no bytes yet.
    pub fn new() -> Self {
        Self {
            state: State::Idle,
            buffer: Vec::new(),
            interim: 0,
            room: 0,
            asked: Asked::Body,
            started: false,
            keep_alive: false,
        }
    }

    /// Expects a response to a request, which may have the method HEAD. Discards an unfinished one.
    #[inline]
    pub fn begin(&mut self, head_request: bool) {
        self.expect(if head_request { Asked::Head } else { Asked::Body });
    }

    /// Expects a response to CONNECT: a 2xx is complete with its head, and the following bytes belong to the tunnel.
    pub fn begin_connect(&mut self) {
        self.expect(Asked::Connect);
    }

    /// Expects a response to a request to switch protocols: after a 101 the body is all bytes until the connection is
    /// closed, of any length.
    #[cold]
    pub fn begin_upgrade(&mut self) {
        self.expect(Asked::Upgrade);
    }

    #[inline]
    fn expect(&mut self, asked: Asked) {
        *self = Self { state: State::Head, asked, ..Self::new() };
    }

    /// Whether any byte of the current response has arrived.
    pub fn started(&self) -> bool {
        self.started
    }

    /// Consumes the next bytes. Consumes nothing after the end of the response or after an error.
    pub fn feed(&mut self, heads: &mut Heads, input: &[u8], sink: &mut impl Sink) -> Result<Fed, ProtocolError> {
        let fed = self.advance(heads, input, sink);
        if fed.is_err() {
            self.finish();
        }
        fed
    }

    /// Handles the close of the connection. It completes a body without a length, and is an error anywhere else.
    pub fn eof(&mut self) -> Result<Done, ProtocolError> {
        let result = match self.state {
            State::UntilClose => Ok(Done { keep_alive: false }),
            State::Head if self.started => Err(ProtocolError::ClosedInHead),
            State::Idle | State::Head => Err(ProtocolError::ClosedBeforeResponse),
            State::Length(missing) => Err(ProtocolError::ClosedInBody { missing }),
            State::Chunked(_) => Err(ProtocolError::ClosedInChunks),
        };
        self.finish();
        result
    }

    fn advance(&mut self, heads: &mut Heads, input: &[u8], sink: &mut impl Sink) -> Result<Fed, ProtocolError> {
        let mut at = 0;
        while at < input.len() {
            let rest = &input[at..];
            let (taken, done) = match &mut self.state {
                State::Idle => break,
                State::Head => self.head(heads, rest, sink)?,
                State::Length(left) => fixed(left, rest, sink),
                State::Chunked(chunks) => chunks.feed(heads.limits(), &mut self.room, &mut self.buffer, rest, sink)?,
                State::UntilClose => (self.until_close(heads.limits(), rest, sink)?, false),
            };
            at += taken;
            if done {
                return Ok(Fed { consumed: at, done: Some(self.finish()) });
            }
        }
        Ok(Fed { consumed: at, done: None })
    }

    fn finish(&mut self) -> Done {
        self.state = State::Idle;
        self.buffer = Vec::new();
        Done { keep_alive: self.keep_alive }
    }

    /// Parses a head in place if it is whole in one piece; otherwise gathers it in the buffer first.
    fn head(&mut self, heads: &mut Heads, input: &[u8], sink: &mut impl Sink) -> Result<(usize, bool), ProtocolError> {
        self.started = true;
        let limit = heads.limits().head.saturating_sub(self.interim);
        if self.buffer.is_empty() {
            let window = &input[..input.len().min(limit)];
            check_prefix(window)?;
            // If this fails, the head may be incomplete or folded. The buffered path decides.
            if let Ok(Some(head)) = heads.parse(window, self.asked) {
                let done = self.accept(&head, &window[..head.length], heads.limits(), sink)?;
                return Ok((head.length, done));
            }
        }
        let gathered = gather(&mut self.buffer, input, limit);
        check_prefix(&self.buffer)?;
        match gathered {
            Gathered::Partial => Ok((input.len(), false)),
            Gathered::TooLarge => Err(ProtocolError::HeadTooLarge { limit: heads.limits().head }),
            Gathered::Complete(taken) => {
                let mut raw = std::mem::take(&mut self.buffer);
                let head = parse_whole(&mut raw, heads, self.asked)?;
                let done = self.accept(&head, &raw, heads.limits(), sink)?;
                Ok((taken, done))
            }
        }
    }

    /// Handles a complete head. Returns whether the response ends with it.
    fn accept(
        &mut self,
        head: &Parsed,
        raw: &[u8],
        limits: &Limits,
        sink: &mut impl Sink,
    ) -> Result<bool, ProtocolError> {
        let &Parsed { status, minor, content_length, body, keep_alive, notes, .. } = head;
        if head.is_interim() {
            self.interim += raw.len();
            sink.interim(status);
            return Ok(false);
        }
        self.room = limits.body;
        self.keep_alive = keep_alive;
        self.state = match body {
            Body::None => State::Idle,
            Body::Length(length) if length > limits.body => {
                return Err(ProtocolError::BodyTooLarge { limit: limits.body });
            }
            Body::Length(length) => State::Length(length),
            Body::Chunked => State::Chunked(Chunks::START),
            Body::UntilClose => {
                if status == 101 {
                    self.room = u64::MAX;
                }
                State::UntilClose
            }
        };
        sink.head(&Head { status, minor, raw, content_length, notes });
        Ok(body == Body::None)
    }

    fn until_close(&mut self, limits: &Limits, input: &[u8], sink: &mut impl Sink) -> Result<usize, ProtocolError> {
        let length = usize::try_from(self.room).map_or(input.len(), |room| room.min(input.len()));
        if length > 0 {
            sink.body(&input[..length]);
            self.room -= length as u64;
        }
        if length < input.len() {
            return Err(ProtocolError::BodyTooLarge { limit: limits.body });
        }
        Ok(length)
    }
}

/// Consumes a body of known length; `left` is never 0 here.
fn fixed(left: &mut u64, input: &[u8], sink: &mut impl Sink) -> (usize, bool) {
    let length = usize::try_from(*left).map_or(input.len(), |left| left.min(input.len()));
    sink.body(&input[..length]);
    *left -= length as u64;
    (length, *left == 0)
}

/// Fails at the first wrong byte, so that a peer with another protocol does not cause a timeout.
fn check_prefix(head: &[u8]) -> Result<(), ProtocolError> {
    let known = head.len().min(5);
    if head[..known] == b"HTTP/"[..known] { Ok(()) } else { Err(ProtocolError::NotHttp) }
}

/// Parses a head that is complete, after joining its folded lines, and after mending what is malformed.
fn parse_whole(raw: &mut Vec<u8>, heads: &mut Heads, asked: Asked) -> Result<Parsed, ProtocolError> {
    let status_line = memchr::memchr(b'\n', raw).map_or(0, |end| end + 1);
    unfold(&mut raw[status_line..]);
    let parsed = match heads.parse(raw, asked) {
        Err(error) if error.is_of_head_syntax() => {
            *raw = mended(raw);
            heads.parse(raw, asked).map_err(|_| error)
        }
        parsed => parsed,
    };
    parsed?.ok_or(ProtocolError::HeaderName)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Ignore;

    impl Sink for Ignore {
        fn head(&mut self, _: &Head<'_>) {}
        fn body(&mut self, _: &[u8]) {}
    }

    #[test]
    fn an_idle_decoder_holds_no_memory() {
        let (mut decoder, mut heads) = (Decoder::new(), Heads::new(Limits::default()));
        for response in [
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n\r\n".as_slice(),
            b"HTTP/1.1 204 No Content\r\n\r\n",
            b"HTTP/1.1 no\r\n\r\n",
        ] {
            decoder.begin(false);
            for byte in response.chunks(1) {
                let _ = decoder.feed(&mut heads, byte, &mut Ignore);
            }
            assert!(matches!(decoder.state, State::Idle), "{}", response.escape_ascii());
            assert_eq!(decoder.buffer.capacity(), 0, "{}", response.escape_ascii());
        }
    }
}
