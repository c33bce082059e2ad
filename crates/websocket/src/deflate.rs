//! permessage-deflate (RFC 7692), for messages of the server.

use flate2::{Decompress, FlushDecompress, Status};
use plimsoll_http::Work;

use crate::ProtocolError;

/// The end of a message's last block, which the sender leaves out.
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];
/// Bytes of output to make room for at a time: from the first to the second, as a message grows.
const ROOM: usize = 4096;
const MOST_ROOM: usize = 64 << 10;

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

    /// Appends what these bytes of a message become to `out`, as long as there is work left. Returns how many of them were
    /// taken, and whether all that they become is there. It stops soon after `limit` bytes, whatever the message grows to.
    pub(crate) fn inflate(
        &mut self,
        data: &[u8],
        limit: u64,
        work: &mut Work,
        out: &mut Vec<u8>,
    ) -> Result<(usize, bool), ProtocolError> {
        let mut taken = 0;
        while work.is_left() {
            let length = out.len();
            // One byte over the limit shows that the message is too long, wherever the rest of it would be damaged.
            let most = usize::try_from(limit.saturating_add(1)).map_or(usize::MAX, |most| most.saturating_sub(length));
            let room = length.clamp(ROOM, MOST_ROOM).min(most);
            out.resize(length + room, 0);
            let (consumed, made) = (self.state.total_in(), self.state.total_out());
            let status = self.state.decompress(&data[taken..], &mut out[length..], FlushDecompress::Sync);
            let consumed = (self.state.total_in() - consumed) as usize;
            let made = (self.state.total_out() - made) as usize;
            out.truncate(length + made);
            taken += consumed;
            work.spend((consumed + made) as u64);
            if out.len() as u64 > limit {
                return Err(ProtocolError::MessageTooLong { limit });
            }
            let status = status.map_err(|_| ProtocolError::Damaged)?;
            let is_all = taken == data.len();
            if status == Status::StreamEnd {
                // A message may end with a final block. The next block begins a new stream.
                self.state.reset(false);
            } else if made < room && !is_all && consumed == 0 && made == 0 {
                return Err(ProtocolError::Damaged);
            }
            if is_all && (status == Status::StreamEnd || made < room) {
                return Ok((taken, true));
            }
        }
        Ok((taken, false))
    }

    /// The same for the end of a message; `taken`: bytes of it that were taken. Returns whether the message is complete.
    pub(crate) fn end(
        &mut self,
        taken: &mut usize,
        limit: u64,
        work: &mut Work,
        out: &mut Vec<u8>,
    ) -> Result<bool, ProtocolError> {
        let (more, is_complete) = self.inflate(&TAIL[*taken..], limit, work, out)?;
        *taken += more;
        if is_complete && self.parameters.no_context_takeover {
            self.state.reset(false);
        }
        Ok(is_complete)
    }
}
