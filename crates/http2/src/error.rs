//! All errors of a connection and of its streams, with messages for people.

use std::fmt::{self, Display, Formatter};

/// An error code of the protocol (RFC 9113 §7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code(pub u32);

/// Why a stream has no complete response. The connection lives on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamError {
    /// The peer reset the stream.
    Reset(Code),
    /// The peer closes the connection and promises that it has not acted on this request.
    GoneAway(Code),
}

impl StreamError {
    /// Whether the peer promises that it has not acted on the request: it may be sent again, whatever its method.
    pub fn is_unprocessed(&self) -> bool {
        unimplemented!()
    }
}

impl Display for StreamError {
    fn fmt(&self, _: &mut Formatter<'_>) -> fmt::Result {
        unimplemented!()
    }
}

/// The peer broke the protocol or a limit. All streams of the connection are lost.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectionError {
    /// The first bytes are not those of an HTTP/2 server.
    NotHttp2,
}

impl Display for ConnectionError {
    fn fmt(&self, _: &mut Formatter<'_>) -> fmt::Result {
        unimplemented!()
    }
}

/// Why a request does not become a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenError {
    /// [`Connection::room`](crate::Connection::room) is 0.
    NoRoom,
    /// The head is not that of an HTTP/1.1 request with a path as its target.
    Head,
}

impl Display for OpenError {
    fn fmt(&self, _: &mut Formatter<'_>) -> fmt::Result {
        unimplemented!()
    }
}

impl std::error::Error for StreamError {}
impl std::error::Error for ConnectionError {}
impl std::error::Error for OpenError {}
