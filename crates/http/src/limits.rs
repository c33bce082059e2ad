//! How much of a response is accepted.

use std::fmt::{self, Display, Formatter};

/// How much of a response is accepted. A response over a limit is a [`ProtocolError`] that names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the status line and headers, including interim responses. The same limit applies to trailers, and to
    /// the line that begins a chunk. At least [`Limits::MIN_HEAD`].
    pub head: usize,
    /// Header lines, and trailer lines. At most [`Limits::MAX_HEADERS`].
    pub headers: usize,
    /// Bytes of the body after transfer coding, before content coding.
    pub body: u64,
}

impl Limits {
    /// The length of `HTTP/1.1 200`, CR LF and a blank line.
    pub const MIN_HEAD: usize = 16;
    /// Header lines that the parser has space for, on the stack.
    pub const MAX_HEADERS: usize = 256;

    /// Limits within their ranges.
    pub fn new(head: usize, headers: usize, body: u64) -> Result<Self, LimitsError> {
        if head < Self::MIN_HEAD {
            return Err(LimitsError::Head(head));
        }
        if headers > Self::MAX_HEADERS {
            return Err(LimitsError::Headers(headers));
        }
        Ok(Self { head, headers, body })
    }
}

impl Default for Limits {
    /// 64 KiB, 128 lines, 1 GiB.
    fn default() -> Self {
        Self { head: 64 << 10, headers: 128, body: 1 << 30 }
    }
}

/// A limit outside its range.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitsError {
    /// Fewer bytes for a head than the shortest status line.
    Head(usize),
    /// More header lines than the parser has space for.
    Headers(usize),
}

impl Display for LimitsError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Head(bytes) => {
                write!(f, "the limit on the response head must be at least {} bytes; it is {bytes}", Limits::MIN_HEAD)
            }
            Self::Headers(lines) => {
                write!(f, "the limit on header lines must be at most {}; it is {lines}", Limits::MAX_HEADERS)
            }
        }
    }
}

impl std::error::Error for LimitsError {}
