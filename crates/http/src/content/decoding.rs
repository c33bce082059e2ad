//! Content codings of a body that is still arriving.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read};
use std::sync::{Arc, Mutex, PoisonError};

use super::{decode_error, layers};
use crate::DecodeError;

/// Maximum bytes that one call returns. It limits the memory for highly compressed data.
const AT_MOST: usize = 64 << 10;

/// Decodes a body in pieces: [`push`](Decoding::push) each piece, then [`pull`](Decoding::pull) until it returns None.
pub struct Decoding {
    /// The listed codings, until the first bytes arrive.
    encoding: Vec<u8>,
    reader: Option<Box<dyn Read + Send>>,
    source: Source,
    /// Maximum bytes of the result, and of each layer between it and the body.
    limit: u64,
}

impl Decoding {
    /// Decodes the codings of a Content-Encoding value, with the limit of [`decode`](crate::decode).
    pub fn new(encoding: &[u8], limit: u64) -> Decoding {
        Decoding { encoding: encoding.into(), reader: None, source: Source::default(), limit }
    }

    /// Adds the next bytes of the body.
    pub fn push(&mut self, bytes: &[u8]) {
        self.source.locked().bytes.extend(bytes);
    }

    /// Marks the end of the body. A coding that is incomplete then is an error.
    pub fn end(&mut self) {
        self.source.locked().ended = true;
    }

    /// The next decoded bytes; None if there are none for now, or none at all.
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

/// The bytes that the decoders have not read yet.
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
