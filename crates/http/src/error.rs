//! All errors of encoding and decoding, with messages for people.

use std::fmt::{self, Display, Formatter};

/// A request that HTTP does not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestError {
    /// The method is not a token.
    Method(String),
    /// The request target is empty or has a byte outside visible ASCII.
    Target(String),
    /// The authority (the value of the Host header) is empty or has a byte outside visible ASCII.
    Authority(String),
    /// The header name is not a token.
    HeaderName(String),
    /// The value of the header of this name has a control character.
    HeaderValue(String),
}

impl Display for RequestError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Method(method) => write!(f, "the method must be one word of letters, as GET is; it is {method:?}"),
            Self::Target(target) => {
                write!(f, "the request target must be visible ASCII (percent-encode the rest); it is {target:?}")
            }
            Self::Authority(authority) => {
                write!(f, "the host must be visible ASCII; it is {authority:?}")
            }
            Self::HeaderName(name) => {
                write!(f, "a header name must be letters, digits and !#$%&'*+-.^_`|~; it is {name:?}")
            }
            Self::HeaderValue(name) => {
                write!(f, "the value of the header {name:?} has a control character (a line break, perhaps)")
            }
        }
    }
}

/// A response that breaks the protocol or a limit, or that ends too early.
///
/// The connection is unusable after any of these.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProtocolError {
    /// The first bytes are not an HTTP/1 response.
    NotHttp,
    /// HTTP, but neither 1.0 nor 1.1.
    Version,
    /// The status line has no three-digit code of at least 100, or a forbidden byte.
    StatusLine,
    /// A header line has no colon, or a forbidden byte in its name.
    HeaderName,
    /// A header value has a forbidden byte.
    HeaderValue,
    /// The head is longer than `limit` bytes, interim heads included.
    HeadTooLarge {
        /// `Limits::head`, bytes.
        limit: usize,
    },
    /// The head, or the trailer section, has more than `limit` lines.
    TooManyHeaders {
        /// `Limits::headers`.
        limit: usize,
    },
    /// A Content-Length that is not a number.
    ContentLength,
    /// Several Content-Length headers with different values.
    ContentLengthConflict,
    /// The body is longer than `limit` bytes.
    BodyTooLarge {
        /// `Limits::body`, bytes.
        limit: u64,
    },
    /// A chunk does not begin with its size in hexadecimal and CR LF.
    ChunkSize,
    /// The line with a chunk's size is longer than `limit` bytes.
    ChunkLineTooLong {
        /// `Limits::head`, bytes.
        limit: usize,
    },
    /// A chunk's data is not followed by CR LF: it is longer than its size says.
    ChunkEnd,
    /// A trailer line is malformed.
    Trailers,
    /// The trailer section is longer than `limit` bytes.
    TrailersTooLarge {
        /// `Limits::head`, bytes.
        limit: usize,
    },
    /// The connection ended before the first byte of a response.
    ClosedBeforeResponse,
    /// The connection ended in the middle of a response head, or after an interim response.
    ClosedInHead,
    /// The connection ended before all bytes of Content-Length.
    ClosedInBody {
        /// Bytes that are missing.
        missing: u64,
    },
    /// The connection ended before the last chunk.
    ClosedInChunks,
}

impl ProtocolError {
    /// Whether a line of the head is malformed.
    pub(crate) fn is_of_head_syntax(&self) -> bool {
        matches!(self, Self::Version | Self::StatusLine | Self::HeaderName | Self::HeaderValue)
    }
}

impl Display for ProtocolError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotHttp => f.write_str("the reply is not HTTP/1: it does not begin with \"HTTP/\""),
            Self::Version => f.write_str("the reply is neither HTTP/1.0 nor HTTP/1.1"),
            Self::StatusLine => {
                f.write_str("malformed status line: no status code from 100 to 999, or a control character")
            }
            Self::HeaderName => f.write_str("malformed header line: no colon, or a forbidden character in the name"),
            Self::HeaderValue => f.write_str("malformed header line: a control character in the value"),
            Self::HeadTooLarge { limit } => write!(f, "the response head is over the limit of {limit} bytes"),
            Self::TooManyHeaders { limit } => write!(f, "the response is over the limit of {limit} header lines"),
            Self::ContentLength => f.write_str("Content-Length is not a number"),
            Self::ContentLengthConflict => f.write_str("there are two different Content-Lengths"),
            Self::BodyTooLarge { limit } => write!(f, "the response body is over the limit of {limit} bytes"),
            Self::ChunkSize => f.write_str("malformed chunk: it does not begin with its size in hexadecimal"),
            Self::ChunkLineTooLong { limit } => {
                write!(f, "the line with the size of a chunk is over the limit of {limit} bytes")
            }
            Self::ChunkEnd => f.write_str("malformed chunk: no line break where its data should end"),
            Self::Trailers => f.write_str("malformed trailer line"),
            Self::TrailersTooLarge { limit } => write!(f, "the trailer section is over the limit of {limit} bytes"),
            Self::ClosedBeforeResponse => f.write_str("the connection was closed before the response began"),
            Self::ClosedInHead => f.write_str("the connection was closed in the middle of the response head"),
            Self::ClosedInBody { missing } => {
                write!(f, "the connection was closed with {missing} bytes of the body missing (Content-Length)")
            }
            Self::ClosedInChunks => f.write_str("the connection was closed before the last chunk of the body"),
        }
    }
}

/// A body whose content coding cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeError {
    /// More nested codings than allowed.
    TooMany {
        /// The maximum.
        limit: usize,
    },
    /// The decoded body, or a layer below it, is longer than `limit` bytes.
    TooLarge {
        /// Bytes.
        limit: u64,
    },
    /// The bytes are invalid in that coding, or some are missing; the library's message.
    Damaged(String),
}

impl Display for DecodeError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany { limit } => write!(f, "Content-Encoding is over the limit of {limit} codings"),
            Self::TooLarge { limit } => write!(f, "the decoded body is over the limit of {limit} bytes"),
            Self::Damaged(what) => write!(f, "the body does not decode as its Content-Encoding says: {what}"),
        }
    }
}

impl std::error::Error for RequestError {}
impl std::error::Error for ProtocolError {}
impl std::error::Error for DecodeError {}
