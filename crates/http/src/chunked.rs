//! The chunked transfer coding (RFC 9112 §7.1), one state per kind of byte. Lines may end in LF alone, as those of heads.

use crate::head::{Gathered, gather, unfold};
use crate::sink::Sink;
use crate::{Limits, ProtocolError, framing};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Before the first digit of a size.
    SizeStart,
    Size,
    /// From the first byte after the digits to the end of the line. Chunk extensions are ignored.
    Extension,
    /// LF after a size.
    SizeEnd,
    Data,
    /// CR after the data.
    DataCr,
    /// LF after the data.
    DataLf,
    Trailers,
}

/// The state of the parser within a chunked body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chunks {
    phase: Phase,
    /// Bytes of the current size line so far.
    line: u32,
    /// Bytes left in the current chunk; its size while the size is being read.
    left: u64,
}

impl Chunks {
    pub(crate) const START: Self = Self { phase: Phase::SizeStart, line: 0, left: 0 };

    /// Consumes bytes of the body. Returns how many were consumed, and whether the body is complete.
    ///
    /// `room`: how much longer the body may become. `buffer`: holds a trailer section that arrives in pieces.
    pub(crate) fn feed(
        &mut self,
        limits: &Limits,
        room: &mut u64,
        buffer: &mut Vec<u8>,
        input: &[u8],
        sink: &mut impl Sink,
    ) -> Result<(usize, bool), ProtocolError> {
        let mut at = 0;
        while at < input.len() {
            match self.phase {
                Phase::Data => at += self.data(&input[at..], sink),
                Phase::Trailers => {
                    let (taken, done) = trailers(limits, buffer, &input[at..], sink)?;
                    return Ok((at + taken, done));
                }
                _ => {
                    self.control(input[at], limits, room)?;
                    at += 1;
                }
            }
        }
        Ok((at, false))
    }

    fn data(&mut self, input: &[u8], sink: &mut impl Sink) -> usize {
        let length = usize::try_from(self.left).map_or(input.len(), |left| left.min(input.len()));
        sink.body(&input[..length]);
        self.left -= length as u64;
        if self.left == 0 {
            self.phase = Phase::DataCr;
        }
        length
    }

    /// Handles one byte that is neither data nor trailer.
    fn control(&mut self, byte: u8, limits: &Limits, room: &mut u64) -> Result<(), ProtocolError> {
        self.phase = match (self.phase, byte) {
            (Phase::SizeStart | Phase::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => self.digit(byte)?,
            (Phase::Size | Phase::Extension, b'\r') => Phase::SizeEnd,
            (Phase::Size | Phase::Extension | Phase::SizeEnd, b'\n') => self.sized(limits, room)?,
            (Phase::Size, b';' | b' ' | b'\t') | (Phase::Extension, _) => Phase::Extension,
            (Phase::DataCr, b'\r') => Phase::DataLf,
            (Phase::DataCr | Phase::DataLf, b'\n') => Phase::SizeStart,
            (Phase::DataCr | Phase::DataLf, _) => return Err(ProtocolError::ChunkEnd),
            _ => return Err(ProtocolError::ChunkSize),
        };
        let in_size_line = matches!(self.phase, Phase::Size | Phase::Extension);
        self.line = if in_size_line { self.line.saturating_add(1) } else { 0 };
        if self.line as usize > limits.head {
            return Err(ProtocolError::ChunkLineTooLong { limit: limits.head });
        }
        Ok(())
    }

    fn digit(&mut self, byte: u8) -> Result<Phase, ProtocolError> {
        let digit = char::from(byte).to_digit(16).ok_or(ProtocolError::ChunkSize)?;
        let shifted = self.left.checked_mul(16).ok_or(ProtocolError::ChunkSize)?;
        self.left = shifted | u64::from(digit);
        Ok(Phase::Size)
    }

    fn sized(&mut self, limits: &Limits, room: &mut u64) -> Result<Phase, ProtocolError> {
        if self.left == 0 {
            return Ok(Phase::Trailers);
        }
        *room = room.checked_sub(self.left).ok_or(ProtocolError::BodyTooLarge { limit: limits.body })?;
        Ok(Phase::Data)
    }
}

fn trailers(
    limits: &Limits,
    buffer: &mut Vec<u8>,
    input: &[u8],
    sink: &mut impl Sink,
) -> Result<(usize, bool), ProtocolError> {
    if buffer.is_empty() && input.starts_with(b"\r\n") {
        return Ok((2, true));
    }
    let taken = match gather(buffer, input, limits.head) {
        Gathered::Complete(taken) => taken,
        Gathered::Partial => return Ok((input.len(), false)),
        Gathered::TooLarge => return Err(ProtocolError::TrailersTooLarge { limit: limits.head }),
    };
    unfold(buffer);
    if framing::check_trailers(buffer, limits)? > 0 {
        sink.trailers(buffer);
    }
    Ok((taken, true))
}
