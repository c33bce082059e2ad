//! Content codings, decoded on request.

mod decoding;
mod steps;

use std::io::{self, BufRead, BufReader, Read};

pub use decoding::Decoding;
use decoding::Meter;
pub use steps::StepDecoder;

use crate::DecodeError;

/// Maximum number of nested codings. Real responses have one, rarely two.
const MAX_CODINGS: usize = 5;
/// RFC 9659: the largest window in HTTP. It limits the decoder's allocation to 8 MiB.
const ZSTD_WINDOW_LOG: u32 = 23;
const BROTLI_INPUT_BUFFER: usize = 4096;

/// Decodes the codings of a Content-Encoding value: gzip, deflate, br, zstd. Any other name leaves the bytes as they are, as
/// in requests: servers put charsets there, and storage services `aws-chunked`.
///
/// gzip may have several members, and ends where none follows; its last checksum may be missing. deflate ends with its
/// data. curl and requests read both so: some servers pad them or cut them short. zstd may have several frames. Any
/// other bytes after the end of a coding are an error, and so are data without an end.
///
/// `limit`: maximum bytes of the result, and of each layer between it and the body.
pub fn decode(encoding: &[u8], body: &[u8], limit: u64) -> Result<Vec<u8>, DecodeError> {
    let mut decoded = Vec::new();
    decoder(encoding, body, limit)?.read_to_end(&mut decoded).map_err(decode_error)?;
    Ok(decoded)
}

/// The length of what `decode` would return, without storing it.
pub fn decoded_length(encoding: &[u8], body: &[u8], limit: u64) -> Result<u64, DecodeError> {
    io::copy(&mut decoder(encoding, body, limit)?, &mut io::sink()).map_err(decode_error)
}

fn decoder<'a>(encoding: &[u8], body: &'a [u8], limit: u64) -> Result<Box<dyn Read + Send + 'a>, DecodeError> {
    // A response without a body (HEAD, 304) may still name the coding that its body would have.
    layers(if body.is_empty() { b"" } else { encoding }, Box::new(body), limit, &Meter::default())
}

/// Nested readers, one per coding. `body` may return `WouldBlock` and be read again later; so may the result, when the
/// meter allows no more.
fn layers<'a>(
    encoding: &[u8],
    body: Box<dyn Read + Send + 'a>,
    limit: u64,
    meter: &Meter,
) -> Result<Box<dyn Read + Send + 'a>, DecodeError> {
    let codings = encoding.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).filter(|coding| !coding.is_empty());
    let mut codings: Vec<_> = codings.take(MAX_CODINGS + 1).collect();
    if codings.len() > MAX_CODINGS {
        return Err(DecodeError::TooMany { limit: MAX_CODINGS });
    }
    if codings.is_empty() {
        codings = vec![b"identity"];
    }
    let mut reader = body;
    // The header lists them in the order in which they were applied.
    for coding in codings.into_iter().rev() {
        let inner = undo(coding, reader).map_err(decode_error)?;
        reader = Box::new(Limited { inner, limit, left: limit, meter: meter.clone() });
    }
    Ok(reader)
}

fn undo<'a>(coding: &[u8], body: Box<dyn Read + Send + 'a>) -> io::Result<Box<dyn Read + Send + 'a>> {
    Ok(match coding.to_ascii_lowercase().as_slice() {
        b"gzip" | b"x-gzip" => Box::new(Gzip::member(BufReader::new(body))),
        b"deflate" => Box::new(Deflate::Unknown(body)),
        b"br" => Box::new(Sole::new(body)),
        // It looks for another frame after the end, and fails on anything else.
        b"zstd" => {
            let mut decoder = zstd::stream::read::Decoder::new(body)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG)?;
            Box::new(decoder)
        }
        _ => body,
    })
}

const GZIP_FIRST: u8 = 0x1f;

/// Members of gzip, up to what is none.
enum Gzip<'a> {
    Member(Box<flate2::bufread::GzDecoder<BufReader<Box<dyn Read + Send + 'a>>>>),
    Ended,
}

impl<'a> Gzip<'a> {
    fn member(body: BufReader<Box<dyn Read + Send + 'a>>) -> Self {
        Gzip::Member(Box::new(flate2::bufread::GzDecoder::new(body)))
    }
}

impl Read for Gzip<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let Gzip::Member(decoder) = self else { return Ok(0) };
            let length = match decoder.read(buffer) {
                Err(error) if is_without_checksum(&error, decoder.header().is_some()) => 0,
                read => read?,
            };
            if length > 0 || buffer.is_empty() {
                return Ok(length);
            }
            if decoder.get_mut().fill_buf()?.first() != Some(&GZIP_FIRST) {
                *self = Gzip::Ended;
            } else if let Gzip::Member(decoder) = std::mem::replace(self, Gzip::Ended) {
                *self = Gzip::member(decoder.into_inner());
            }
        }
    }
}

/// Whether the input ended behind the data. When it ends within them, flate2 gives the error a text of its own.
fn is_without_checksum(error: &io::Error, is_behind_header: bool) -> bool {
    error.kind() == io::ErrorKind::UnexpectedEof && error.get_ref().is_none() && is_behind_header
}

/// "deflate" means zlib (RFC 9110 §8.4.1.2), but some servers send raw deflate: the first byte shows which.
enum Deflate<'a> {
    Unknown(Box<dyn Read + Send + 'a>),
    Known(Box<dyn Read + Send + 'a>),
}

impl Read for Deflate<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self {
                Deflate::Known(reader) => return reader.read(buffer),
                Deflate::Unknown(body) => {
                    let mut first = [0];
                    let length = body.read(&mut first)?;
                    let body = std::mem::replace(body, Box::new(io::empty()));
                    let whole = BufReader::new(io::Cursor::new(first).take(length as u64).chain(body));
                    *self = Deflate::Known(if is_zlib(first[0]) {
                        Box::new(flate2::bufread::ZlibDecoder::new(whole))
                    } else {
                        Box::new(flate2::bufread::DeflateDecoder::new(whole))
                    });
                }
            }
        }
    }
}

/// zlib's first byte has 8 in its low half. In raw deflate that would be a stored block with a set padding bit, which
/// no encoder writes.
fn is_zlib(first: u8) -> bool {
    first & 0x0f == 8
}

/// A brotli decoder that fails if there are bytes after the end of the coding.
struct Sole<R: Read> {
    decoder: brotli_decompressor::Decompressor<R>,
    ended: bool,
}

impl<R: Read> Sole<R> {
    fn new(body: R) -> Self {
        Self { decoder: brotli_decompressor::Decompressor::new(body, BROTLI_INPUT_BUFFER), ended: false }
    }

    /// Called only at the end. Another read fails if the decoder itself holds more bytes; the rest is in the reader below.
    fn has_rest(&mut self) -> io::Result<bool> {
        Ok(self.decoder.read(&mut [0]).is_err() || self.decoder.get_mut().read(&mut [0])? > 0)
    }
}

impl<R: Read> Read for Sole<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.ended {
            let length = self.decoder.read(buffer)?;
            if length > 0 || buffer.is_empty() {
                return Ok(length);
            }
            self.ended = true;
        }
        if self.has_rest()? { Err(io::Error::other("there are bytes behind its end")) } else { Ok(0) }
    }
}

/// A reader that fails after more than `limit` bytes, and pauses when the meter allows no more.
struct Limited<R> {
    inner: R,
    limit: u64,
    left: u64,
    meter: Meter,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let allowed = self.meter.allow(buffer.len())?;
        let length = self.inner.read(&mut buffer[..allowed])?;
        self.meter.spend(length);
        let too_large = || io::Error::other(DecodeError::TooLarge { limit: self.limit });
        self.left = self.left.checked_sub(length as u64).ok_or_else(too_large)?;
        Ok(length)
    }
}

/// Our own errors pass through the libraries' readers inside an `io::Error`. Any other error means damaged data.
fn decode_error(error: io::Error) -> DecodeError {
    match error.downcast::<DecodeError>() {
        Ok(ours) => ours,
        Err(error) => DecodeError::Damaged(error.to_string()),
    }
}

#[cfg(test)]
mod tests;
