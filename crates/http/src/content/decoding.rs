//! Content codings of a body that is still coming in.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read};
use std::sync::{Arc, Mutex, PoisonError};

use super::{decode_error, layers};
use crate::DecodeError;

/// Bytes that one call hands out at most: of what little bytes may unfold to, no more than that is held.
const AT_MOST: usize = 64 << 10;

/// Undoes content codings of a body in pieces: [`push`](Decoding::push) what has come, then [`pull`](Decoding::pull)
/// until there is nothing more.
pub struct Decoding {
    /// The codings listed, while nothing has come that would need them.
    encoding: Vec<u8>,
    reader: Option<Box<dyn Read + Send>>,
    source: Source,
    /// Bytes that the result may have, and each layer between it and the body.
    limit: u64,
}

impl Decoding {
    /// For the codings that a Content-Encoding value lists, with the limit of [`decode`](crate::decode).
    pub fn new(encoding: &[u8], limit: u64) -> Decoding {
        Decoding { encoding: encoding.into(), reader: None, source: Source::default(), limit }
    }

    /// Takes in the next bytes of the body.
    pub fn push(&mut self, bytes: &[u8]) {
        self.source.locked().bytes.extend(bytes);
    }

    /// Nothing comes behind what was taken in: what is cut off there is damaged.
    pub fn end(&mut self) {
        self.source.locked().ended = true;
    }

    /// The next bytes of the text, as far as they are known; None when there are no more for now, or at all.
    pub fn pull(&mut self) -> Result<Option<Vec<u8>>, DecodeError> {
        if self.reader.is_none() {
            if self.source.locked().bytes.is_empty() {
                return Ok(None);
            }
            self.reader = Some(layers(&self.encoding, Box::new(self.source.clone()), self.limit)?);
        }
        let Some(reader) = &mut self.reader else { return Ok(None) };
        let mut piece = vec![0; AT_MOST];
        loop {
            match reader.read(&mut piece) {
                Ok(0) => return Ok(None),
                Ok(length) => {
                    piece.truncate(length);
                    return Ok(Some(piece));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(decode_error(error)),
            }
        }
    }
}

/// What has come and was not yet read by the decoders above.
#[derive(Clone, Default)]
struct Source(Arc<Mutex<Incoming>>);

#[derive(Default)]
struct Incoming {
    bytes: VecDeque<u8>,
    ended: bool,
}

impl Source {
    fn locked(&self) -> std::sync::MutexGuard<'_, Incoming> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut incoming = self.locked();
        if incoming.bytes.is_empty() && !incoming.ended && !buffer.is_empty() {
            return Err(ErrorKind::WouldBlock.into());
        }
        incoming.bytes.read(buffer)
    }
}
