//! Content codings of a body that is still arriving, and of one that is decoded in steps.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::{decode_error, layers};
use crate::{DecodeError, Work};

/// Maximum bytes that one call returns. It limits the memory for highly compressed data.
const AT_MOST: usize = 64 << 10;

/// Decodes a body in pieces: [`push`](Decoding::push) each piece, then [`pull`](Decoding::pull) until it returns None.
pub struct Decoding {
    /// The listed codings, until the first bytes arrive.
    encoding: Vec<u8>,
    /// Never contended. A Python object must be shareable between threads, and decoders are not.
    reader: Option<Mutex<Box<dyn Read + Send>>>,
    source: Source,
    /// Maximum bytes of the result, and of each layer between it and the body.
    limit: u64,
    meter: Meter,
}

impl Decoding {
    /// Decodes the codings of a Content-Encoding value, with the limit of [`decode`](crate::decode).
    pub fn new(encoding: &[u8], limit: u64) -> Decoding {
        let (source, meter) = (Source::default(), Meter::default());
        Decoding { encoding: encoding.into(), reader: None, source, limit, meter }
    }

    /// Adds the next bytes of the body.
    pub fn push(&mut self, bytes: &[u8]) {
        self.source.locked().bytes.extend(bytes);
    }

    /// Marks the end of the body. A coding that is incomplete then is an error.
    pub fn end(&mut self) {
        self.source.locked().ended = true;
    }

    /// The next decoded bytes. None: there are none for now, or none at all, or no work is left; then there may be more.
    pub fn pull(&mut self, work: &mut Work) -> Result<Option<Vec<u8>>, DecodeError> {
        if self.reader.is_none() {
            if self.source.locked().bytes.is_empty() {
                return Ok(None);
            }
            let reader = layers(&self.encoding, Box::new(self.source.clone()), self.limit, &self.meter)?;
            self.reader = Some(Mutex::new(reader));
        }
        self.meter.set(work.left());
        let pulled = self.read();
        *work = Work::of(self.meter.left());
        pulled
    }

    fn read(&mut self) -> Result<Option<Vec<u8>>, DecodeError> {
        let Some(reader) = &mut self.reader else { return Ok(None) };
        let reader = reader.get_mut().unwrap_or_else(PoisonError::into_inner);
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

/// How much all layers together may still read. A layer may become nothing in the next one, so each counts.
#[derive(Clone)]
pub(super) struct Meter(Arc<AtomicU64>);

impl Default for Meter {
    fn default() -> Meter {
        Meter(Arc::new(AtomicU64::new(u64::MAX)))
    }
}

impl Meter {
    fn set(&self, bytes: u64) {
        self.0.store(bytes, Ordering::Relaxed);
    }

    fn left(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// How much of this many bytes may be read now, at least one. `WouldBlock`: none, before the next call.
    pub(super) fn allow(&self, bytes: usize) -> io::Result<usize> {
        match self.left() {
            0 => Err(ErrorKind::WouldBlock.into()),
            left => Ok(usize::try_from(left).map_or(bytes, |left| left.min(bytes))),
        }
    }

    pub(super) fn spend(&self, bytes: usize) {
        self.set(self.left().saturating_sub(bytes as u64));
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
