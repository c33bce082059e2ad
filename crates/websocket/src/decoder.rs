//! Decodes the bytes of a server: one [`Decoder`] per connection, fed with each read of the socket.

use crate::ProtocolError;
use crate::deflate::{Inflater, Parameters};
use crate::frame::{HEADER_LIMIT, Header, Opcode};

/// The memory that a connection keeps between two messages, bytes.
const KEPT: usize = 16 << 10;

/// A message or control frame of the peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Incoming<'a> {
    /// A text message.
    Text(&'a str),
    /// A binary message.
    Binary(&'a [u8]),
    /// A ping with these bytes, at most 125.
    Ping(&'a [u8]),
    /// A pong with these bytes, at most 125.
    Pong(&'a [u8]),
    /// The peer closes; nothing follows. None: it gave no code.
    Close(Option<(u16, &'a str)>),
}

/// Decodes one frame after another. How the bytes are cut makes no difference.
#[derive(Debug)]
pub struct Decoder {
    /// Maximum bytes of a message, before and after decompression.
    limit: u64,
    inflater: Option<Box<Inflater>>,
    /// The start of a header whose rest has not arrived.
    header: ([u8; HEADER_LIMIT], usize),
    /// The frame whose payload is read, and how many bytes of it are left.
    frame: Option<(Header, u64)>,
    /// The payload of the control frame so far.
    control: Vec<u8>,
    /// The message whose end has not arrived: text or binary, and whether it is compressed.
    kind: Option<(Opcode, bool)>,
    /// The payload of the message so far, as it arrived.
    message: Vec<u8>,
    /// A close frame was read.
    is_closed: bool,
}

impl Decoder {
    /// `limit`: maximum bytes of a message. `deflate`: what the handshake agreed on.
    pub fn new(limit: u64, deflate: Option<Parameters>) -> Decoder {
        Decoder {
            limit,
            inflater: deflate.map(|parameters| Box::new(Inflater::new(parameters))),
            header: ([0; HEADER_LIMIT], 0),
            frame: None,
            control: Vec::new(),
            kind: None,
            message: Vec::new(),
            is_closed: false,
        }
    }

    /// Passes what ends in these bytes to `each`. Bytes after a close frame are ignored. After an error nothing more can
    /// be read.
    pub fn feed(&mut self, mut bytes: &[u8], each: &mut dyn FnMut(Incoming<'_>)) -> Result<(), ProtocolError> {
        while !bytes.is_empty() && !self.is_closed {
            if self.frame.is_none() {
                let Some((header, taken)) = self.header(bytes)? else { return Ok(()) };
                bytes = &bytes[taken..];
                self.frame = Some((self.admit(header)?, header.length));
            }
            let Some((header, left)) = &mut self.frame else { continue };
            let length = usize::try_from(*left).map_or(bytes.len(), |left| left.min(bytes.len()));
            let (payload, rest) = bytes.split_at(length);
            *left -= length as u64;
            bytes = rest;
            let (header, is_whole) = (*header, *left == 0);
            if is_whole {
                self.frame = None;
            }
            if header.opcode.is_control() {
                self.control(header.opcode, payload, is_whole, each)?;
            } else {
                self.data(payload, is_whole && header.is_final, each)?;
            }
        }
        Ok(())
    }

    /// Bytes of the message whose end has not arrived.
    pub fn unfinished(&self) -> usize {
        self.message.len()
    }

    /// The next header, and how many of these bytes belong to it; None if its end has not arrived.
    fn header(&mut self, bytes: &[u8]) -> Result<Option<(Header, usize)>, ProtocolError> {
        let (start, have) = &mut self.header;
        if *have == 0
            && let Some(whole) = Header::parse(bytes)?
        {
            return Ok(Some(whole));
        }
        let taken = bytes.len().min(HEADER_LIMIT - *have);
        start[*have..*have + taken].copy_from_slice(&bytes[..taken]);
        let before = std::mem::replace(have, *have + taken);
        let parsed = Header::parse(&start[..*have])?;
        Ok(parsed.map(|(header, size)| {
            *have = 0;
            (header, size - before)
        }))
    }

    /// Checks that a frame with this header may come now.
    fn admit(&mut self, header: Header) -> Result<Header, ProtocolError> {
        let starts = matches!(header.opcode, Opcode::Text | Opcode::Binary);
        if header.is_compressed && (self.inflater.is_none() || !starts) {
            return Err(ProtocolError::ReservedBits);
        }
        match (header.opcode, self.kind) {
            (opcode, _) if opcode.is_control() => return Ok(header),
            (Opcode::Continuation, None) => return Err(ProtocolError::ContinuationOfNothing),
            (Opcode::Continuation, Some(_)) => {}
            (_, Some(_)) => return Err(ProtocolError::MessageInMessage),
            (opcode, None) => self.kind = Some((opcode, header.is_compressed)),
        }
        if header.length > self.limit.saturating_sub(self.message.len() as u64) {
            return Err(ProtocolError::MessageTooLong { limit: self.limit });
        }
        Ok(header)
    }

    /// Takes a part of a message. A message that is whole in these bytes is not copied.
    fn data(&mut self, payload: &[u8], is_end: bool, each: &mut dyn FnMut(Incoming<'_>)) -> Result<(), ProtocolError> {
        let kind = self.kind.filter(|_| is_end);
        if kind.is_none() || !self.message.is_empty() {
            self.message.extend_from_slice(payload);
        }
        let Some((opcode, is_compressed)) = kind else { return Ok(()) };
        self.kind = None;
        let mut gathered = std::mem::take(&mut self.message);
        let whole = if gathered.is_empty() { payload } else { &gathered };
        match &mut self.inflater {
            Some(inflater) if is_compressed => {
                let mut plain = Vec::new();
                inflater.message(whole, self.limit, &mut plain)?;
                pass(opcode, &plain, each)?;
            }
            _ => pass(opcode, whole, each)?,
        }
        if gathered.capacity() <= KEPT {
            gathered.clear();
            self.message = gathered;
        }
        Ok(())
    }

    /// Takes a part of a control frame.
    fn control(
        &mut self,
        opcode: Opcode,
        payload: &[u8],
        is_whole: bool,
        each: &mut dyn FnMut(Incoming<'_>),
    ) -> Result<(), ProtocolError> {
        self.control.extend_from_slice(payload);
        if !is_whole {
            return Ok(());
        }
        let payload = std::mem::take(&mut self.control);
        each(match opcode {
            Opcode::Ping => Incoming::Ping(&payload),
            Opcode::Pong => Incoming::Pong(&payload),
            _ => {
                let close = parse_close(&payload)?;
                self.is_closed = true;
                Incoming::Close(close)
            }
        });
        Ok(())
    }
}

fn pass(opcode: Opcode, payload: &[u8], each: &mut dyn FnMut(Incoming<'_>)) -> Result<(), ProtocolError> {
    each(match opcode {
        Opcode::Text => Incoming::Text(std::str::from_utf8(payload).map_err(|_| ProtocolError::Utf8)?),
        _ => Incoming::Binary(payload),
    });
    Ok(())
}

/// The code and reason in a close frame.
fn parse_close(payload: &[u8]) -> Result<Option<(u16, &str)>, ProtocolError> {
    let (code, reason) = match payload {
        [] => return Ok(None),
        [_] => return Err(ProtocolError::CloseLength),
        &[a, b, ref reason @ ..] => (u16::from_be_bytes([a, b]), reason),
    };
    if !may_be_sent(code) {
        return Err(ProtocolError::CloseCode(code));
    }
    std::str::from_utf8(reason).map(|reason| Some((code, reason))).map_err(|_| ProtocolError::CloseReason)
}

/// Whether a close frame may have this code: it is registered for that, or is for applications.
pub fn may_be_sent(code: u16) -> bool {
    matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999)
}
