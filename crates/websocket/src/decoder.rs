//! Decodes the bytes of a server: one [`Decoder`] per connection, fed with each read of the socket.

use plimsoll_http::{Rest, Work};

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
    /// The payload of the message so far, decompressed.
    message: Vec<u8>,
    /// Bytes of its frames so far, as they arrive.
    arrived: u64,
    /// The payload of a compressed message has arrived: bytes of its end that were decompressed.
    ending: Option<usize>,
    /// The message takes more than one share of work.
    is_long: bool,
    /// Bytes that were left when there was no more work.
    rest: Rest,
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
            arrived: 0,
            ending: None,
            is_long: false,
            rest: Rest::default(),
            is_closed: false,
        }
    }

    /// Passes what ends in these bytes to `each`. Without work, bytes are kept: then call it again without new ones, while it
    /// [is pending](Decoder::is_pending). A message that takes longer than one share of work ends it. Bytes after a close
    /// frame are ignored. After an error nothing more can be read.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        work: &mut Work,
        each: &mut dyn FnMut(Incoming<'_>),
    ) -> Result<(), ProtocolError> {
        let mut rest = std::mem::take(&mut self.rest);
        let fed = rest.feed(bytes, |bytes| self.take(bytes, work, each));
        self.rest = rest;
        fed
    }

    /// Takes bytes as long as there is work. Returns how many it took.
    fn take(
        &mut self,
        bytes: &[u8],
        work: &mut Work,
        each: &mut dyn FnMut(Incoming<'_>),
    ) -> Result<usize, ProtocolError> {
        let mut at = 0;
        while work.is_left() {
            if self.ending.is_some() {
                self.end_message(work, each)?;
                continue;
            }
            if self.is_closed || at == bytes.len() {
                return Ok(bytes.len());
            }
            if self.frame.is_none() {
                let Some((header, taken)) = self.header(&bytes[at..])? else { return Ok(bytes.len()) };
                at += taken;
                self.frame = Some((self.admit(header)?, header.length));
            }
            at += self.payload(&bytes[at..], work, each)?;
        }
        Ok(at)
    }

    /// Takes bytes of the frame whose payload is read. Returns how many it took.
    fn payload(
        &mut self,
        bytes: &[u8],
        work: &mut Work,
        each: &mut dyn FnMut(Incoming<'_>),
    ) -> Result<usize, ProtocolError> {
        let Some((header, left)) = self.frame else { return Ok(0) };
        let payload = &bytes[..usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()))];
        let is_whole = payload.len() as u64 == left;
        let taken = match self.kind {
            _ if header.opcode.is_control() => {
                self.control(header.opcode, payload, is_whole, work, each)?;
                payload.len()
            }
            Some((_, true)) => self.compressed(payload, is_whole && header.is_final, work)?,
            _ => {
                self.data(payload, is_whole && header.is_final, work, each)?;
                payload.len()
            }
        };
        let left = left - taken as u64;
        self.frame = (left > 0).then_some((header, left));
        Ok(taken)
    }

    /// Whether bytes are kept that can be taken without new ones.
    pub fn is_pending(&self) -> bool {
        self.ending.is_some() || !self.rest.is_empty()
    }

    /// Whether a message is being decompressed that takes more than one share of work.
    pub fn is_in_message(&self) -> bool {
        self.is_long
    }

    /// Bytes in memory: of the message whose end has not arrived, and of those that were not taken.
    pub fn unfinished(&self) -> usize {
        self.message.len() + self.rest.len()
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
        if header.length > self.limit.saturating_sub(self.arrived) {
            return Err(ProtocolError::MessageTooLong { limit: self.limit });
        }
        self.arrived += header.length;
        Ok(header)
    }

    /// Takes a part of a message. A message that is whole in these bytes is not copied.
    fn data(
        &mut self,
        payload: &[u8],
        is_end: bool,
        work: &mut Work,
        each: &mut dyn FnMut(Incoming<'_>),
    ) -> Result<(), ProtocolError> {
        let kind = self.kind.filter(|_| is_end);
        if kind.is_none() || !self.message.is_empty() {
            self.message.extend_from_slice(payload);
        }
        let Some((opcode, _)) = kind else { return Ok(()) };
        let gathered = self.next_message();
        let whole = if gathered.is_empty() { payload } else { &gathered };
        work.spend_message(whole.len());
        pass(opcode, whole, each)?;
        self.reuse(gathered);
        Ok(())
    }

    /// Takes a part of a compressed message, as far as there is work. Returns how many bytes it took.
    fn compressed(&mut self, payload: &[u8], is_end: bool, work: &mut Work) -> Result<usize, ProtocolError> {
        let Some(inflater) = &mut self.inflater else { return Err(ProtocolError::ReservedBits) };
        let (taken, _) = inflater.inflate(payload, self.limit, work, &mut self.message)?;
        self.is_long |= !work.is_left();
        if is_end && taken == payload.len() {
            self.ending = Some(0);
        }
        Ok(taken)
    }

    /// Passes on a compressed message that has arrived, as soon as there was enough work for it.
    fn end_message(&mut self, work: &mut Work, each: &mut dyn FnMut(Incoming<'_>)) -> Result<(), ProtocolError> {
        let (Some(inflater), Some(taken)) = (&mut self.inflater, &mut self.ending) else { return Ok(()) };
        if !inflater.end(taken, self.limit, work, &mut self.message)? {
            self.is_long = true;
            return Ok(());
        }
        self.ending = None;
        let opcode = self.kind.map_or(Opcode::Binary, |(opcode, _)| opcode);
        let message = self.next_message();
        if std::mem::take(&mut self.is_long) {
            work.end();
        } else {
            work.spend_message(0);
        }
        pass(opcode, &message, each)?;
        self.reuse(message);
        Ok(())
    }

    /// The message is complete: takes what was gathered of it.
    fn next_message(&mut self) -> Vec<u8> {
        (self.kind, self.arrived) = (None, 0);
        std::mem::take(&mut self.message)
    }

    /// Keeps the memory of a message for the next one, unless it is much.
    fn reuse(&mut self, mut message: Vec<u8>) {
        if message.capacity() <= KEPT {
            message.clear();
            self.message = message;
        }
    }

    /// Takes a part of a control frame.
    fn control(
        &mut self,
        opcode: Opcode,
        payload: &[u8],
        is_whole: bool,
        work: &mut Work,
        each: &mut dyn FnMut(Incoming<'_>),
    ) -> Result<(), ProtocolError> {
        self.control.extend_from_slice(payload);
        if !is_whole {
            return Ok(());
        }
        work.spend_message(0);
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
