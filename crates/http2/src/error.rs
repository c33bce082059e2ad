//! All errors of a connection and of its streams, with messages for people.

use std::fmt::{self, Display, Formatter};

use plimsoll_http as http;

/// An error code (RFC 9113 §7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code(pub u32);

impl Code {
    /// There is no error.
    pub const NO_ERROR: Code = Code(0);
    pub(crate) const PROTOCOL_ERROR: Code = Code(1);
    pub(crate) const FLOW_CONTROL_ERROR: Code = Code(3);
    pub(crate) const FRAME_SIZE_ERROR: Code = Code(6);
    /// The peer has not acted on the request.
    pub const REFUSED_STREAM: Code = Code(7);
    pub(crate) const CANCEL: Code = Code(8);
    pub(crate) const COMPRESSION_ERROR: Code = Code(9);
    /// The peer takes this end's behaviour for an attack.
    pub const ENHANCE_YOUR_CALM: Code = Code(11);
    /// The peer wants the request with HTTP/1.1.
    pub const HTTP_1_1_REQUIRED: Code = Code(13);

    /// The name in the standard.
    fn name(self) -> Option<&'static str> {
        const NAMES: [&str; 14] = [
            "NO_ERROR",
            "PROTOCOL_ERROR",
            "INTERNAL_ERROR",
            "FLOW_CONTROL_ERROR",
            "SETTINGS_TIMEOUT",
            "STREAM_CLOSED",
            "FRAME_SIZE_ERROR",
            "REFUSED_STREAM",
            "CANCEL",
            "COMPRESSION_ERROR",
            "CONNECT_ERROR",
            "ENHANCE_YOUR_CALM",
            "INADEQUATE_SECURITY",
            "HTTP_1_1_REQUIRED",
        ];
        NAMES.get(self.0 as usize).copied()
    }
}

impl Display for Code {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "the error code {:#x}", self.0),
        }
    }
}

/// Why a stream has no complete response. The connection lives on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamError {
    /// The peer reset the stream.
    Reset(Code),
    /// The peer closes the connection and promises that it has not acted on this request.
    GoneAway(Code),
    /// A part of the response breaks the rules that HTTP/1.1 has, too, or a limit.
    Response(http::ProtocolError),
    /// A pseudo-header other than one `:status` before all headers.
    PseudoHeader,
    /// A header of HTTP/1.1's connections, as `Connection` and `Transfer-Encoding` are.
    ConnectionHeader,
    /// The status 101: HTTP/2 has no upgrades.
    Upgrade,
    /// A part of the response in the wrong order: a body before the head, a head after the body.
    Order,
    /// The body is shorter or longer than Content-Length, or there is one where none is allowed.
    BodyLength {
        /// Bytes that were announced.
        announced: u64,
    },
    /// The peer sent more than the window allowed.
    Window,
    /// The peer opened the window for the request's body too far, or by nothing.
    WindowUpdate,
}

impl StreamError {
    /// Whether the peer promises that it has not acted on the request: it may be sent again, whatever its method.
    pub fn is_unprocessed(&self) -> bool {
        matches!(self, Self::GoneAway(_) | Self::Reset(Code::REFUSED_STREAM))
    }

    /// The code of the reset that reports it; `None` if the peer has closed the stream.
    pub(crate) fn code(&self) -> Option<Code> {
        match self {
            Self::Reset(_) | Self::GoneAway(_) => None,
            Self::Response(http::ProtocolError::BodyTooLarge { .. } | http::ProtocolError::HeadTooLarge { .. }) => {
                Some(Code::CANCEL)
            }
            Self::Window | Self::WindowUpdate => Some(Code::FLOW_CONTROL_ERROR),
            _ => Some(Code::PROTOCOL_ERROR),
        }
    }
}

impl Display for StreamError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reset(Code::REFUSED_STREAM) => f.write_str("the server refused the request (REFUSED_STREAM)"),
            Self::Reset(code) => write!(f, "the server reset the stream with {code}"),
            Self::GoneAway(code) => {
                write!(f, "the server closes the connection (GOAWAY with {code}) and has not taken this request")
            }
            Self::Response(error) => error.fmt(f),
            Self::PseudoHeader => f.write_str("malformed response head: there must be one :status before all headers"),
            Self::ConnectionHeader => f.write_str("the response has a header that HTTP/2 forbids, as Connection is"),
            Self::Upgrade => f.write_str("status 101 (Switching Protocols), which HTTP/2 does not have"),
            Self::Order => f.write_str("the parts of the response are in the wrong order"),
            Self::BodyLength { announced } => {
                write!(f, "the body does not have the {announced} bytes that its head announces")
            }
            Self::Window => f.write_str("the server sent more than flow control allows"),
            Self::WindowUpdate => f.write_str("the server sent a wrong WINDOW_UPDATE"),
        }
    }
}

/// A header block that cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HpackError {
    /// The block ends inside of a field.
    Truncated,
    /// An integer is too large.
    Integer,
    /// An index that has no entry.
    Index(usize),
    /// A change of the dynamic table's size, which must be 0, or not at the start of a block.
    TableSize,
    /// Damaged Huffman code.
    Huffman,
}

impl Display for HpackError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("it ends inside of a header"),
            Self::Integer => f.write_str("a number is too large"),
            Self::Index(0) => f.write_str("it refers to header 0"),
            Self::Index(index) => write!(f, "it refers to header {index} of a table that must be empty"),
            Self::TableSize => f.write_str("it changes the size of a table that must be empty"),
            Self::Huffman => f.write_str("a text has an invalid Huffman code"),
        }
    }
}

/// The peer broke the protocol or a limit. All streams of the connection are lost.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectionError {
    /// The server answers in HTTP/1.
    Http1,
    /// The server answers in TLS.
    Tls,
    /// The first frame is not SETTINGS.
    NotHttp2,
    /// A frame of this kind has a wrong length, or is longer than announced.
    FrameSize(u8),
    /// A frame of this kind for a stream that it may not have, or with padding longer than itself.
    Frame(u8),
    /// A frame between the parts of a header block, or a part without a start.
    HeaderBlock,
    /// A header block that cannot be decoded.
    Hpack(HpackError),
    /// The setting with this number has a value that is not allowed.
    Setting(u16),
    /// A frame for a stream that was never opened.
    IdleStream(u32),
    /// A pushed response, which this end has forbidden.
    Push,
    /// The peer sent more than the window allowed.
    Window,
    /// The peer opened a window too far, or by nothing.
    WindowUpdate,
    /// A header block is longer than `limit` bytes.
    HeaderBlockTooLong {
        /// `Limits::head`, bytes.
        limit: usize,
    },
    /// More frames that want an answer, or that are empty, than anybody needs.
    Flood,
}

impl ConnectionError {
    /// The code of the GOAWAY that reports it.
    pub(crate) fn code(&self) -> Code {
        match self {
            Self::FrameSize(_) => Code::FRAME_SIZE_ERROR,
            Self::Hpack(_) => Code::COMPRESSION_ERROR,
            Self::Window | Self::WindowUpdate | Self::Setting(4) => Code::FLOW_CONTROL_ERROR,
            Self::HeaderBlockTooLong { .. } | Self::Flood => Code::ENHANCE_YOUR_CALM,
            _ => Code::PROTOCOL_ERROR,
        }
    }
}

impl Display for ConnectionError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http1 => f.write_str("the server answers in HTTP/1: it has no HTTP/2 here"),
            Self::Tls => f.write_str("the server answers in TLS; is it https?"),
            Self::NotHttp2 => f.write_str("the reply is not HTTP/2: it does not begin with SETTINGS"),
            Self::FrameSize(kind) => write!(f, "the length of {} is wrong", frame(*kind)),
            Self::Frame(kind) => write!(f, "{} is malformed", frame(*kind)),
            Self::HeaderBlock => f.write_str("HEADERS and CONTINUATION frames are in the wrong order"),
            Self::Hpack(error) => write!(f, "the server's header block is malformed: {error}"),
            Self::Setting(number) => write!(f, "the server's setting {number} has a value that is not allowed"),
            Self::IdleStream(stream) => write!(f, "the server answers on stream {stream}, which has no request"),
            Self::Push => f.write_str("the server pushes a response, which was forbidden"),
            Self::Window => f.write_str("the server sent more than flow control allows"),
            Self::WindowUpdate => f.write_str("the server sent a wrong WINDOW_UPDATE"),
            Self::HeaderBlockTooLong { limit } => write!(f, "the response head is over the limit of {limit} bytes"),
            Self::Flood => f.write_str("the server floods the connection with frames that carry nothing"),
        }
    }
}

/// A kind of frame in words.
fn frame(kind: u8) -> String {
    const NAMES: [&str; 10] = [
        "DATA",
        "HEADERS",
        "PRIORITY",
        "RST_STREAM",
        "SETTINGS",
        "PUSH_PROMISE",
        "PING",
        "GOAWAY",
        "WINDOW_UPDATE",
        "CONTINUATION",
    ];
    NAMES.get(usize::from(kind)).map_or_else(|| format!("a frame of kind {kind}"), |name| format!("a {name} frame"))
}

/// Why a request does not become a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenError {
    /// [`Connection::room`](crate::Connection::room) is 0.
    NoRoom,
    /// The head is not that of an HTTP/1.1 request with a path as its target.
    Head,
}

impl Display for OpenError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRoom => f.write_str("the connection takes no more requests now"),
            Self::Head => f.write_str("HTTP/2 needs a request with a path as its target"),
        }
    }
}

impl From<HpackError> for ConnectionError {
    fn from(error: HpackError) -> ConnectionError {
        ConnectionError::Hpack(error)
    }
}

impl std::error::Error for StreamError {}
impl std::error::Error for ConnectionError {}
impl std::error::Error for HpackError {}
impl std::error::Error for OpenError {}
