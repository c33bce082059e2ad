//! An open connection: messages in both directions, pings answered, and the closing handshake.

use std::fmt::{self, Display, Formatter};

use plimsoll_http::Work;

use crate::decoder::{Decoder, Incoming};
use crate::deflate::Parameters;
use crate::frame::{CONTROL_LIMIT, Masks, Opcode, encode};
use crate::{ProtocolError, may_be_sent};

/// The code of a close frame without one (RFC 6455 §7.1.5).
pub const NO_CODE: u16 = 1005;

/// The code of a connection that ended without a close frame (RFC 6455 §7.1.5).
pub const ABNORMAL: u16 = 1006;

/// Pongs that may wait to be written. A peer that wants more of them does not read.
const PONGS: usize = 1000;

/// A message of the peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message<'a> {
    /// UTF-8.
    Text(&'a str),
    /// Any bytes.
    Binary(&'a [u8]),
}

impl Message<'_> {
    /// The bytes of the message.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Message::Text(text) => text.as_bytes(),
            Message::Binary(bytes) => bytes,
        }
    }
}

/// Why a connection is closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Close {
    /// 1000…4999; [`NO_CODE`] if the peer gave none, [`ABNORMAL`] without a close frame.
    pub code: u16,
    /// UTF-8, at most 123 bytes; often empty.
    pub reason: String,
}

impl Close {
    /// The end of a connection without a close frame.
    pub fn missing() -> Close {
        Close { code: ABNORMAL, reason: String::new() }
    }

    /// Whether the connection has done what it was for. `is_answer`: this end has closed it first.
    pub fn is_clean(&self, is_answer: bool) -> bool {
        matches!(self.code, 1000 | 1001 | NO_CODE) || is_answer && self.code != ABNORMAL
    }
}

impl Display for Close {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match (self.code, self.reason.as_str()) {
            (ABNORMAL, _) => f.write_str("the connection was closed without a close frame"),
            (code, "") => write!(f, "the server closed the connection with code {code}"),
            (code, reason) => write!(f, "the server closed the connection with code {code}: {reason}"),
        }
    }
}

/// The client's end of a connection after its handshake.
///
/// Write the bytes of [`output`](Client::output) after each call, and clear them.
#[derive(Debug)]
pub struct Client {
    decoder: Decoder,
    masks: Masks,
    output: Vec<u8>,
    /// Pongs since all output was written.
    pongs: usize,
    /// A close frame was written: no more frames may follow.
    has_closed: bool,
    /// The close frame of the peer.
    close: Option<Close>,
}

impl Client {
    /// `limit`: maximum bytes of a message of the peer, before and after decompression. `deflate`: from the handshake.
    /// `seed`: of the masking keys.
    pub fn new(limit: u64, deflate: Option<Parameters>, seed: u64) -> Client {
        Client {
            decoder: Decoder::new(limit, deflate),
            masks: Masks::new(seed),
            output: Vec::new(),
            pongs: 0,
            has_closed: false,
            close: None,
        }
    }

    /// Encodes a message. After a close frame in either direction nothing is sent.
    pub fn send(&mut self, message: Message<'_>) {
        let opcode = if matches!(message, Message::Text(_)) { Opcode::Text } else { Opcode::Binary };
        self.frame(opcode, message.as_bytes());
    }

    /// Encodes a ping; only its first 125 bytes are sent.
    pub fn ping(&mut self, data: &[u8]) {
        self.frame(Opcode::Ping, &data[..data.len().min(CONTROL_LIMIT)]);
    }

    /// Encodes a close frame. `code`: one that [`may_be_sent`]; any other closes without a code. Only the first 123 bytes
    /// of the reason are sent.
    pub fn close(&mut self, code: u16, reason: &str) {
        let mut payload = Vec::new();
        if may_be_sent(code) {
            payload.extend_from_slice(&code.to_be_bytes());
            payload.extend_from_slice(&reason.as_bytes()[..reason.floor_char_boundary(CONTROL_LIMIT - 2)]);
        }
        self.frame(Opcode::Close, &payload);
        self.has_closed = true;
    }

    fn frame(&mut self, opcode: Opcode, payload: &[u8]) {
        if !self.has_closed {
            encode(opcode, payload, &mut self.masks, &mut self.output);
        }
    }

    /// Passes the messages that end in these bytes to `each`. Without work, bytes are kept: then call it again without new
    /// ones, while it [is pending](Client::is_pending). Answers a close frame, and a ping unless too many
    /// [pongs](Client::pongs) wait. After an error, the output has the close frame that reports it.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        work: &mut Work,
        each: &mut dyn FnMut(Message<'_>),
    ) -> Result<(), ProtocolError> {
        let Client { decoder, masks, output, pongs, has_closed, close } = self;
        let fed = decoder.feed(bytes, work, &mut |incoming| match incoming {
            Incoming::Text(text) => each(Message::Text(text)),
            Incoming::Binary(bytes) => each(Message::Binary(bytes)),
            Incoming::Ping(data) if !*has_closed && *pongs < PONGS => {
                *pongs += 1;
                encode(Opcode::Pong, data, masks, output);
            }
            Incoming::Ping(_) | Incoming::Pong(_) => {}
            Incoming::Close(given) => {
                let (code, reason) = given.unwrap_or((NO_CODE, ""));
                *close = Some(Close { code, reason: reason.to_owned() });
            }
        });
        if let Err(error) = &fed {
            self.close(error.close_code(), "");
        } else if let Some(code) = self.close.as_ref().map(|close| close.code).filter(|_| !self.has_closed) {
            self.close(code, "");
        }
        fed
    }

    /// The bytes to write next.
    pub fn output(&mut self) -> &mut Vec<u8> {
        &mut self.output
    }

    /// Pongs that may still wait to be written. Set it to 0 when all output was written.
    pub fn pongs(&mut self) -> &mut usize {
        &mut self.pongs
    }

    /// Whether bytes are kept that can be taken without new ones.
    pub fn is_pending(&self) -> bool {
        self.decoder.is_pending()
    }

    /// Whether a message is being decompressed that takes more than one share of work.
    pub fn is_in_message(&self) -> bool {
        self.decoder.is_in_message()
    }

    /// Bytes in memory: of the message whose end has not arrived, and of those that were not taken.
    pub fn unfinished(&self) -> usize {
        self.decoder.unfinished()
    }

    /// Whether this end has sent a close frame.
    pub fn has_closed(&self) -> bool {
        self.has_closed
    }

    /// The close frame of the peer, if it has come.
    pub fn closed(&self) -> Option<&Close> {
        self.close.as_ref()
    }
}
