//! The engine's input and output.

use std::sync::Arc;

use plimsoll_http::Notes;
use plimsoll_record::{Exchange, Outcome};

use plimsoll_scenario::bodies::Held;

/// Identifies an exchange; unique among those in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExchangeId(pub u64);

impl ExchangeId {
    /// The exchange with this serial in this slot.
    #[inline]
    pub(crate) fn new(place: usize, serial: u32) -> ExchangeId {
        ExchangeId(pack(place, serial))
    }
}

/// A slot, and the serial that distinguishes its users.
#[inline]
pub(crate) fn pack(place: usize, serial: u32) -> u64 {
    u64::from(serial) << 32 | place as u64
}

/// The inverse of [`pack`].
#[inline]
pub(crate) fn unpack(packed: u64) -> (usize, u32) {
    ((packed & 0xffff_ffff) as usize, (packed >> 32) as u32)
}

/// The bytes of a request on the wire.
#[derive(Clone, Debug)]
pub enum Bytes {
    /// For one exchange.
    Owned(Vec<u8>),
    /// Shared by many exchanges.
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

/// One encoded request.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "four independent facts, not a state")]
pub struct Wire {
    /// Head and body.
    pub bytes: Bytes,
    /// Offset of the body.
    pub head: usize,
    /// The body waits for 100 (Continue), at most one second.
    pub expect_continue: bool,
    /// The method is HEAD: the response has no body, whatever its headers say.
    pub head_request: bool,
    /// Bytes follow the request: [`Engine::write`](crate::Engine::write). They are more of its body, until
    /// [`Engine::finish_writing`](crate::Engine::finish_writing); see [`Wire::in_parts`]. With an Upgrade header it asks to
    /// switch protocols: after a 101 the connection carries bytes in both directions.
    pub continues: bool,
    /// The request may be sent again if a kept connection closes during it.
    pub idempotent: bool,
}

/// Whether the method is idempotent (RFC 9110 §9.2.2).
pub(crate) fn is_idempotent(method: &str) -> bool {
    matches!(method, "GET" | "HEAD" | "PUT" | "DELETE" | "OPTIONS" | "TRACE")
}

/// How much of a response to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Head and body.
    All,
    /// Only the status and the length of the body.
    Nothing,
    /// The head as soon as it arrives; then the body in pieces, by [`Engine::read`](crate::Engine::read).
    Stream,
}

/// One request to send.
#[derive(Clone, Debug)]
pub struct Call {
    /// Returned in [`Finished`].
    pub token: u64,
    /// The request.
    pub wire: Wire,
    /// Due time, monotonic ns; 0 = now.
    pub due: u64,
    /// When a user became free for it, if that was after `due`; 0 = at once. See [`Exchange::free`].
    pub free: u64,
    /// Timeout of the whole exchange, ns; 0 = none. For a streamed exchange: until its head arrives.
    pub timeout: u64,
    /// Start of that timeout, monotonic ns: for a redirect, the send time of the first request; 0 = the send time of
    /// this request.
    pub since: u64,
    /// Timeout of a new connection including its handshakes, ns; 0 = none. With HTTP/2: of the wait for a stream.
    pub connect_timeout: u64,
    /// Timeout of each wait until the peer sends or accepts bytes, ns; 0 = none.
    pub read_timeout: u64,
    /// How much of the response to keep.
    pub keep: Keep,
}

/// A complete response. For a streamed exchange: the head, and the part of the body that arrived with it.
#[derive(Debug, Default)]
pub struct Response {
    /// 100…999.
    pub status: u16,
    /// The x of HTTP/1.x; 10 for HTTP/2.
    pub minor: u8,
    /// Raw head including the blank line, then the body without transfer coding; empty unless kept.
    pub bytes: Vec<u8>,
    /// The memory reserved for `bytes`.
    pub held: Held,
    /// Offset of the body in `bytes`.
    pub head: usize,
    /// Length of the body without transfer coding, kept or not.
    pub body_length: u64,
    /// Headers that it has.
    pub notes: Notes,
    /// The Server-Timing headers, joined by commas, kept or not.
    pub timing: Option<Box<[u8]>>,
    /// Raw trailer lines of a chunked body.
    pub trailers: Vec<u8>,
    /// The call had [`Keep::Stream`].
    pub streamed: bool,
    /// The body is not complete. The connection stays busy until the body was read to its end, or abandoned with
    /// [`Engine::hang_up`](crate::Engine::hang_up).
    pub open: bool,
}

impl Response {
    /// The raw head.
    pub fn head(&self) -> &[u8] {
        &self.bytes[..self.head]
    }

    /// The body as received, without transfer coding.
    pub fn body(&self) -> &[u8] {
        &self.bytes[self.head..]
    }
}

/// The next part of a streamed body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// Without transfer coding; empty only at the end.
    pub bytes: Vec<u8>,
    /// The exchange so far. Its arrival and `read` are those of these bytes, or of the end.
    pub exchange: Exchange,
    /// Raw trailer lines, which come with the end.
    pub trailers: Vec<u8>,
    /// What follows this piece.
    pub then: Then,
}

/// What follows a piece of a body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Then {
    /// More pieces, or the end.
    #[default]
    More,
    /// Nothing: the body is complete.
    End,
    /// Nothing: the body is incomplete.
    Failed(Failure),
}

/// Why there is no complete response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The kind of failure.
    pub outcome: Outcome,
    /// The message for people.
    pub message: String,
    /// The system's error number, if there is one.
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

/// The result of a [`Call`].
#[derive(Debug)]
pub struct Finished {
    /// The id that `send` returned.
    pub id: ExchangeId,
    /// The token of the call.
    pub token: u64,
    /// The stamps.
    pub exchange: Exchange,
    /// The response, or the failure.
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
