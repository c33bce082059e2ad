//! What goes into the engine, and what comes out.

use std::sync::Arc;

use plimsoll_record::{Exchange, Outcome};

use crate::bodies::Held;

/// Names an exchange; unique among those in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExchangeId(pub u64);

/// The bytes of a request as they go on the wire.
#[derive(Clone, Debug)]
pub enum Bytes {
    /// Made for one exchange.
    Owned(Vec<u8>),
    /// Repeated by many.
    Shared(Arc<[u8]>),
}

impl Bytes {
    /// The bytes.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        match self {
            Bytes::Owned(bytes) => bytes,
            Bytes::Shared(bytes) => bytes,
        }
    }
}

/// One request, encoded.
#[derive(Clone, Debug)]
pub struct Wire {
    /// Head and body.
    pub bytes: Bytes,
    /// Where the body begins.
    pub head: usize,
    /// The body waits for a 100 (Continue), or for one second.
    pub expect_continue: bool,
    /// The method is HEAD: the response has no body, whatever its head says.
    pub head_request: bool,
    /// Sending it twice is the same as sending it once: it may be repeated when a kept connection was closed under it.
    pub idempotent: bool,
}

/// Whether sending a request of this method twice is the same as sending it once (RFC 9110 §9.2.2).
pub(crate) fn is_idempotent(method: &str) -> bool {
    matches!(method, "GET" | "HEAD" | "PUT" | "DELETE" | "OPTIONS" | "TRACE")
}

/// How much of a response is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Head and body.
    All,
    /// The status, and how long the body was.
    Nothing,
    /// The head when it has come; the body as it comes, by [`Engine::read`](crate::Engine::read).
    Stream,
}

/// One request to send.
#[derive(Clone, Debug)]
pub struct Call {
    /// Comes back with the [`Finished`].
    pub token: u64,
    /// The request.
    pub wire: Wire,
    /// When it should be sent, monotonic ns; 0 = now.
    pub due: u64,
    /// When a user was free for it, if that was after `due`; 0 = at once. See [`Exchange::free`].
    pub free: u64,
    /// Limit of the whole exchange, ns; 0 = none. Of a streamed one: until its head has come.
    pub timeout: u64,
    /// What that limit counts from, monotonic ns: when the first request of a chain of redirects was sent; 0 = when this
    /// one is.
    pub since: u64,
    /// Limit from the start of a new connection to the end of its handshakes, ns; 0 = none.
    pub connect_timeout: u64,
    /// Limit of each wait for the peer to send bytes, or to take them, ns; 0 = none.
    pub read_timeout: u64,
    /// How much of the response is wanted.
    pub keep: Keep,
}

/// A complete response; of a streamed one the head, and as much of the body as came with it.
#[derive(Debug, Default)]
pub struct Response {
    /// 100…999.
    pub status: u16,
    /// x of HTTP/1.x.
    pub minor: u8,
    /// Raw head up to and with the blank line, then the body after transfer coding; empty unless it was to be kept.
    pub bytes: Vec<u8>,
    /// What `bytes` take of the memory for all bodies.
    pub held: Held,
    /// Where the body begins in `bytes`.
    pub head: usize,
    /// Bytes of the body after transfer coding, kept or not.
    pub body_length: u64,
    /// The headers Server-Timing, joined by commas, kept or not.
    pub timing: Option<Box<[u8]>>,
    /// Raw trailer lines of a chunked body.
    pub trailers: Vec<u8>,
    /// It was called for with [`Keep::Stream`].
    pub streamed: bool,
    /// There is more of the body than is here. Then the connection is busy with it until it was read to its end, or
    /// given up by [`Engine::hang_up`](crate::Engine::hang_up).
    pub open: bool,
}

impl Response {
    /// The raw head.
    pub fn head(&self) -> &[u8] {
        &self.bytes[..self.head]
    }

    /// The body as received, after transfer coding.
    pub fn body(&self) -> &[u8] {
        &self.bytes[self.head..]
    }
}

/// The next part of a streamed body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// After transfer coding; empty only when nothing follows.
    pub bytes: Vec<u8>,
    /// What comes behind it.
    pub then: Then,
}

/// What comes behind a piece of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Then {
    /// More of it, or the end.
    More,
    /// Nothing: the body is complete.
    End,
    /// Nothing: there was more to come, and it will not.
    Failed(Failure),
}

/// Why there is no complete response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Its kind.
    pub outcome: Outcome,
    /// For people.
    pub message: String,
    /// The system's error number, if one was the cause.
    pub errno: Option<i32>,
}

impl Failure {
    pub(crate) fn new(outcome: Outcome, message: impl Into<String>) -> Failure {
        Failure { outcome, message: message.into(), errno: None }
    }

    pub(crate) fn io(outcome: Outcome, error: &std::io::Error) -> Failure {
        Failure { outcome, message: plain(error), errno: error.raw_os_error() }
    }
}

/// The text of a system error without the number that Rust appends.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// What became of a [`Call`].
#[derive(Debug)]
pub struct Finished {
    /// As `send` returned it.
    pub id: ExchangeId,
    /// As given in the call.
    pub token: u64,
    /// The stamps.
    pub exchange: Exchange,
    /// The response, or why there is none.
    pub result: Result<Response, Failure>,
    /// The request as it was sent.
    pub wire: Wire,
}

#[cfg(test)]
mod tests {
    use plimsoll_record::Outcome;

    use super::Failure;

    #[test]
    fn a_system_error_is_reported_in_words_and_in_its_number() {
        let error = std::io::Error::from_raw_os_error(111);
        let failure = Failure::io(Outcome::Connect, &error);
        assert_eq!((failure.message.as_str(), failure.errno), ("Connection refused", Some(111)));
    }
}
