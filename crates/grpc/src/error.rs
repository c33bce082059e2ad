//! All errors of schemas, messages, frames and statuses, with messages for people.

use std::fmt::{self, Display, Formatter};

/// A schema that cannot be read, or a method that it does not have. One line, with file and line of a .proto file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaError(pub(crate) String);

impl Display for SchemaError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SchemaError {}

/// JSON that is not the message, or bytes that are not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageError(pub(crate) String);

impl Display for MessageError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for MessageError {}

/// A body that is not a sequence of messages.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameError {
    /// The first byte of a message is neither 0 nor 1.
    Flag(u8),
    /// A message is longer than the limit.
    TooLong {
        /// Bytes, as the prefix says, or after decompression.
        length: u64,
        /// Bytes.
        limit: u64,
    },
    /// The messages of a body that were compressed are longer than the limit.
    AllTooLong {
        /// Bytes.
        limit: u64,
    },
    /// A message is compressed, but `grpc-encoding` does not say how.
    NoEncoding,
    /// A message is compressed in a way that was not offered: the beginning of its name, escaped.
    UnknownEncoding(String),
    /// A message cannot be decompressed.
    Encoding(String),
    /// The body ends inside a message.
    Truncated {
        /// Bytes that are there, prefix included.
        found: u64,
    },
}

impl Display for FrameError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(f, "a message begins with the byte {flag}, not with 0 or 1"),
            Self::TooLong { length, limit } => {
                write!(f, "a message has {length} bytes, which is over the limit of {limit}")
            }
            Self::AllTooLong { limit } => {
                write!(f, "all compressed messages together are over the limit of {limit} bytes")
            }
            Self::NoEncoding => f.write_str("a message is compressed, but there is no grpc-encoding"),
            Self::UnknownEncoding(name) => {
                write!(f, "a message is compressed with {name}, which is neither gzip nor deflate")
            }
            Self::Encoding(reason) => write!(f, "a message cannot be decompressed: {reason}"),
            Self::Truncated { found } => write!(f, "the body ends inside a message, after {found} bytes of it"),
        }
    }
}

impl std::error::Error for FrameError {}

/// A response without the status of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoStatus {
    /// The response is not one of gRPC. Its content type, if it has one.
    ContentType(Option<String>),
    /// Neither trailers nor headers have `grpc-status`.
    Missing,
    /// `grpc-status` is not a number.
    Invalid(String),
}

impl Display for NoStatus {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::ContentType(None) => f.write_str("the response is not gRPC: it has no content-type"),
            Self::ContentType(Some(other)) => {
                write!(f, "the response is not gRPC: its content-type is {other:?}, not \"application/grpc\"")
            }
            Self::Missing => f.write_str("the response has no grpc-status"),
            Self::Invalid(text) => write!(f, "grpc-status is {text:?}, not a number"),
        }
    }
}

impl std::error::Error for NoStatus {}
