//! permessage-deflate (RFC 7692), for messages of the server.

use flate2::{Decompress, FlushDecompress, Status};

use crate::ProtocolError;

/// The end of a message's last block, which the sender leaves out.
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];
/// Bytes of output to make room for at a time.
const ROOM: usize = 4096;

/// The parameters that the server chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameters {
    /// Each message is compressed on its own.
    pub no_context_takeover: bool,
}

/// The state of decompression. It has about 40 KiB of memory.
#[derive(Debug)]
pub(crate) struct Inflater {
    state: Decompress,
    parameters: Parameters,
}

impl Inflater {
    pub(crate) fn new(parameters: Parameters) -> Inflater {
        Inflater { state: Decompress::new(false), parameters }
    }

    /// Appends the decompressed message to `out`. It stops soon after `limit` bytes, whatever the message grows to.
    pub(crate) fn message(&mut self, data: &[u8], limit: u64, out: &mut Vec<u8>) -> Result<(), ProtocolError> {
        self.inflate(data, limit, out)?;
        self.inflate(&TAIL, limit, out)?;
        if self.parameters.no_context_takeover {
            self.state.reset(false);
        }
        Ok(())
    }

    fn inflate(&mut self, mut data: &[u8], limit: u64, out: &mut Vec<u8>) -> Result<(), ProtocolError> {
        loop {
            if out.len() == out.capacity() {
                out.reserve(ROOM);
            }
            let (before, length) = (self.state.total_in(), out.len());
            let status = self.state.decompress_vec(data, out, FlushDecompress::Sync);
            let status = status.map_err(|_| ProtocolError::Damaged)?;
            let consumed = (self.state.total_in() - before) as usize;
            data = &data[consumed..];
            if out.len() as u64 > limit {
                return Err(ProtocolError::MessageTooLong { limit });
            }
            if status == Status::StreamEnd {
                // A message may end with a final block. The next block begins a new stream.
                self.state.reset(false);
            } else if out.len() < out.capacity() {
                if data.is_empty() {
                    return Ok(());
                }
                if consumed == 0 && out.len() == length {
                    return Err(ProtocolError::Damaged);
                }
            }
            if data.is_empty() && status == Status::StreamEnd {
                return Ok(());
            }
        }
    }
}
