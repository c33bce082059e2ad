//! All errors of the handshake and of frames, with messages for people.

use std::fmt::{self, Display, Formatter};

/// A response that does not open the connection.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HandshakeError {
    /// The status is not 101, and where the response leads to instead, if it does.
    Status(u16, Option<String>),
    /// There is no `Upgrade: websocket`; the value that is there instead, if there is one.
    Upgrade(Option<String>),
    /// `Connection` does not contain `Upgrade`.
    Connection,
    /// `Sec-WebSocket-Accept` is missing, or is not the one that belongs to the key.
    Accept,
    /// The server chose a subprotocol that was not offered.
    Protocol(String),
    /// The server chose an extension, or a parameter of one, that was not offered.
    Extension(String),
}

impl Display for HandshakeError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status, None) => write!(f, "the server does not open a WebSocket: status {status}, not 101"),
            Self::Status(status, Some(place)) => {
                write!(f, "the server does not open a WebSocket: status {status}, not 101; it redirects to {place}")
            }
            Self::Upgrade(None) => f.write_str("the server does not open a WebSocket: no Upgrade header"),
            Self::Upgrade(Some(other)) => {
                write!(f, "the server does not open a WebSocket: Upgrade is {other:?}, not \"websocket\"")
            }
            Self::Connection => f.write_str("the server does not open a WebSocket: Connection does not say Upgrade"),
            Self::Accept => f.write_str("Sec-WebSocket-Accept does not belong to the key of the request"),
            Self::Protocol(name) => write!(f, "the server chose the subprotocol {name:?}, which was not offered"),
            Self::Extension(text) => write!(f, "the server chose the extension {text:?}, which was not offered"),
        }
    }
}

/// A frame or message that breaks the protocol or a limit.
///
/// The connection is unusable after any of these.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProtocolError {
    /// A reserved bit is set that no extension uses.
    ReservedBits,
    /// The opcode is reserved.
    Opcode(u8),
    /// The frame is masked, as only those of a client may be.
    Masked,
    /// The length is not in its shortest form, or has its highest bit set.
    Length,
    /// A control frame is longer than 125 bytes.
    ControlTooLong,
    /// A control frame is not final.
    ControlFragmented,
    /// A continuation without a message before it.
    ContinuationOfNothing,
    /// A new message within a message that has not ended.
    MessageInMessage,
    /// The message, before or after decompression, is longer than `limit` bytes.
    MessageTooLong {
        /// Bytes.
        limit: u64,
    },
    /// The text is not UTF-8.
    Utf8,
    /// The compressed message cannot be decompressed.
    Damaged,
    /// A close frame with one byte: a code has two.
    CloseLength,
    /// A code that no close frame may have.
    CloseCode(u16),
    /// The reason of a close frame is not UTF-8.
    CloseReason,
}

impl ProtocolError {
    /// The code for the close frame that reports this error.
    pub fn close_code(&self) -> u16 {
        match self {
            Self::Utf8 | Self::CloseReason | Self::Damaged => 1007,
            Self::MessageTooLong { .. } => 1009,
            _ => 1002,
        }
    }
}

impl Display for ProtocolError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReservedBits => f.write_str("a frame has a reserved bit set"),
            Self::Opcode(opcode) => write!(f, "a frame has the unknown opcode {opcode}"),
            Self::Masked => f.write_str("a frame of the server is masked"),
            Self::Length => f.write_str("the length of a frame is malformed"),
            Self::ControlTooLong => f.write_str("a control frame is longer than 125 bytes"),
            Self::ControlFragmented => f.write_str("a control frame is fragmented"),
            Self::ContinuationOfNothing => f.write_str("a continuation frame without a message before it"),
            Self::MessageInMessage => f.write_str("a new message began before the last one ended"),
            Self::MessageTooLong { limit } => write!(f, "a message is over the limit of {limit} bytes"),
            Self::Utf8 => f.write_str("a text message is not UTF-8"),
            Self::Damaged => f.write_str("a compressed message is damaged"),
            Self::CloseLength => f.write_str("a close frame has half a code"),
            Self::CloseCode(code) => write!(f, "a close frame has the code {code}, which is not allowed"),
            Self::CloseReason => f.write_str("the reason in a close frame is not UTF-8"),
        }
    }
}

impl std::error::Error for HandshakeError {}
impl std::error::Error for ProtocolError {}
