//! Content codings, decoded on request.

mod decoding;

use std::io::{self, BufRead, BufReader, Read};

pub use decoding::Decoding;

use crate::DecodeError;

/// Maximum number of nested codings. Real responses have one, rarely two.
const MAX_CODINGS: usize = 5;
/// RFC 9659: the largest window in HTTP. It limits the decoder's allocation to 8 MiB.
const ZSTD_WINDOW_LOG: u32 = 23;
const BROTLI_INPUT_BUFFER: usize = 4096;

/// Decodes the codings of a Content-Encoding value: gzip, deflate, br, zstd, identity.
///
/// gzip may have several members and zstd several frames. Any other bytes after the end of a coding are an error.
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
    layers(if body.is_empty() { b"" } else { encoding }, Box::new(body), limit)
}

/// Nested readers, one per coding. `body` may return `WouldBlock` and be read again later.
fn layers<'a>(
    encoding: &[u8],
    body: Box<dyn Read + Send + 'a>,
    limit: u64,
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
        reader = Box::new(Limited { inner, limit, left: limit });
    }
    Ok(reader)
}

fn undo<'a>(coding: &[u8], body: Box<dyn Read + Send + 'a>) -> io::Result<Box<dyn Read + Send + 'a>> {
    Ok(match coding.to_ascii_lowercase().as_slice() {
        // These two look for another member or frame after the end, and fail on anything else.
        b"gzip" | b"x-gzip" => Box::new(flate2::read::MultiGzDecoder::new(body)),
        b"deflate" => Box::new(Deflate::Unknown(body)),
        b"br" => Box::new(Sole::new(brotli_decompressor::Decompressor::new(body, BROTLI_INPUT_BUFFER))),
        b"zstd" => {
            let mut decoder = zstd::stream::read::Decoder::new(body)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG)?;
            Box::new(decoder)
        }
        b"identity" => body,
        _ => return Err(io::Error::other(DecodeError::Unknown(String::from_utf8_lossy(coding).into()))),
    })
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
                        Box::new(Sole::new(flate2::bufread::ZlibDecoder::new(whole)))
                    } else {
                        Box::new(Sole::new(flate2::bufread::DeflateDecoder::new(whole)))
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

/// A decoder that stops at the end of its coding.
trait Stops: Read {
    /// Whether there is more input after the end. Called only at the end.
    fn has_rest(&mut self) -> io::Result<bool>;
}

impl<R: BufRead> Stops for flate2::bufread::ZlibDecoder<R> {
    fn has_rest(&mut self) -> io::Result<bool> {
        Ok(!self.get_mut().fill_buf()?.is_empty())
    }
}

impl<R: BufRead> Stops for flate2::bufread::DeflateDecoder<R> {
    fn has_rest(&mut self) -> io::Result<bool> {
        Ok(!self.get_mut().fill_buf()?.is_empty())
    }
}

impl<R: Read> Stops for brotli_decompressor::Decompressor<R> {
    fn has_rest(&mut self) -> io::Result<bool> {
        // Another read fails if the decoder itself holds more bytes. The rest is in the reader below.
        Ok(self.read(&mut [0]).is_err() || self.get_mut().read(&mut [0])? > 0)
    }
}

/// A reader that fails if there are bytes after the end of the coding.
struct Sole<D> {
    decoder: D,
    ended: bool,
}

impl<D: Stops> Sole<D> {
    fn new(decoder: D) -> Self {
        Self { decoder, ended: false }
    }
}

impl<D: Stops> Read for Sole<D> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.ended {
            let length = self.decoder.read(buffer)?;
            if length > 0 || buffer.is_empty() {
                return Ok(length);
            }
            self.ended = true;
        }
        if self.decoder.has_rest()? { Err(io::Error::other("there are bytes behind its end")) } else { Ok(0) }
    }
}

/// A reader that fails after more than `limit` bytes.
struct Limited<R> {
    inner: R,
    limit: u64,
    left: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
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
mod tests {
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use std::io::Write;

    use super::*;

    const TEXT: &[u8] = b"The Plimsoll line is the mark that shows how much load a ship can safely carry.";

    fn gzip(body: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(body).expect("memory");
        encoder.finish().expect("memory")
    }

    fn zlib(body: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(body).expect("memory");
        encoder.finish().expect("memory")
    }

    fn raw_deflate(body: &[u8]) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(body).expect("memory");
        encoder.finish().expect("memory")
    }

    fn br(body: &[u8]) -> Vec<u8> {
        let mut encoded = Vec::new();
        let parameters = brotli::enc::BrotliEncoderParams { quality: 5, ..Default::default() };
        brotli::BrotliCompress(&mut &*body, &mut encoded, &parameters).expect("memory");
        encoded
    }

    fn zstd(body: &[u8]) -> Vec<u8> {
        ::zstd::encode_all(body, 0).expect("memory")
    }

    type Encode = fn(&[u8]) -> Vec<u8>;

    fn codings() -> [(&'static str, Encode); 7] {
        [
            ("gzip", gzip),
            ("x-gzip", gzip),
            ("deflate", zlib),
            ("deflate", raw_deflate),
            ("br", br),
            ("ZStd", zstd),
            ("identity", <[u8]>::to_vec),
        ]
    }

    #[test]
    fn every_coding_gives_the_text_back_and_its_length() {
        for (name, encode) in codings() {
            let body = encode(TEXT);
            assert_eq!(decode(name.as_bytes(), &body, 1000).as_deref(), Ok(TEXT), "{name}");
            assert_eq!(decoded_length(name.as_bytes(), &body, 1000), Ok(TEXT.len() as u64), "{name}");
        }
    }

    /// Pushes the body in pieces of `size` bytes and pulls after each. Returns the text, and the piece that brought its
    /// first byte.
    fn in_pieces(coding: &[u8], body: &[u8], size: usize, limit: u64) -> Result<(Vec<u8>, usize), DecodeError> {
        let mut decoding = Decoding::new(coding, limit);
        let (mut text, mut first) = (Vec::new(), 0);
        for (index, piece) in body.chunks(size).enumerate() {
            decoding.push(piece);
            while let Some(bytes) = decoding.pull()? {
                assert!(!bytes.is_empty());
                first = if text.is_empty() { index } else { first };
                text.extend(bytes);
            }
        }
        decoding.end();
        while let Some(bytes) = decoding.pull()? {
            text.extend(bytes);
        }
        Ok((text, first))
    }

    #[test]
    fn a_body_in_pieces_gives_the_same_text_wherever_they_are_cut() {
        let layered: (&str, Encode) = ("gzip, deflate, zstd", |body| zstd(&raw_deflate(&gzip(body))));
        for (name, encode) in codings().into_iter().chain([layered]) {
            let body = encode(TEXT);
            for size in 1..=body.len() {
                let text = in_pieces(name.as_bytes(), &body, size, 1000).map(|(text, _)| text);
                assert_eq!(text.as_deref(), Ok(TEXT), "{name} in pieces of {size}");
            }
        }
    }

    #[test]
    fn a_body_in_pieces_is_damaged_and_limited_like_a_whole_one() {
        for (name, encode) in codings() {
            let body = encode(TEXT);
            let error = DecodeError::TooLarge { limit: 10 };
            assert_eq!(in_pieces(name.as_bytes(), &body, 3, 10), Err(error), "{name}");
            if name != "identity" {
                let cut = in_pieces(name.as_bytes(), &body[..body.len() - 1], 3, 1000);
                assert!(matches!(cut, Err(DecodeError::Damaged(_))), "{name}: {cut:?}");
            }
        }
        assert_eq!(in_pieces(b"compress", TEXT, 3, 1000), Err(DecodeError::Unknown("compress".into())));
        assert_eq!(in_pieces(b"gzip", b"", 3, 1000), Ok((Vec::new(), 0)));
    }

    /// Flushed text is readable before the rest arrives.
    #[test]
    fn text_that_was_flushed_comes_out_before_the_rest_comes_in() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        for line in [&b"data: one\n\n"[..], b"data: two\n\n"] {
            encoder.write_all(line).expect("memory");
            encoder.flush().expect("memory");
        }
        let body = encoder.finish().expect("memory");
        let (_, first) = in_pieces(b"gzip", &body, 1, 1000).expect("a sound body");
        assert!(first < body.len() / 2, "the first bytes came out with piece {first} of {}", body.len());
    }

    #[test]
    fn a_text_of_exactly_the_limit_is_fine_and_one_more_byte_is_not() {
        let limit = TEXT.len() as u64;
        for (name, encode) in codings() {
            let body = encode(TEXT);
            assert_eq!(decode(name.as_bytes(), &body, limit).as_deref(), Ok(TEXT), "{name}");
            let error = DecodeError::TooLarge { limit: limit - 1 };
            assert_eq!(decode(name.as_bytes(), &body, limit - 1), Err(error), "{name}");
        }
    }

    #[test]
    fn a_bomb_is_stopped_at_the_limit() {
        let zeros = vec![0; 1 << 20];
        for (name, encode) in codings() {
            let bomb = encode(&zeros);
            let error = DecodeError::TooLarge { limit: 100_000 };
            assert_eq!(decode(name.as_bytes(), &bomb, 100_000), Err(error.clone()), "{name}");
            assert_eq!(decoded_length(name.as_bytes(), &bomb, 100_000), Err(error), "{name}");
        }
        let layered = gzip(&gzip(&zeros));
        assert!(layered.len() < 1000);
        assert_eq!(decode(b"gzip, gzip", &layered, 100_000), Err(DecodeError::TooLarge { limit: 100_000 }));
    }

    #[test]
    fn a_truncated_body_is_damaged_and_never_a_shorter_text() {
        for (name, encode) in codings().into_iter().filter(|&(name, _)| name != "identity") {
            let body = encode(TEXT);
            for end in 1..body.len() {
                let result = decode(name.as_bytes(), &body[..end], 1000);
                assert!(matches!(result, Err(DecodeError::Damaged(_))), "{name}, {end} bytes: {result:?}");
            }
        }
    }

    #[test]
    fn a_body_of_another_coding_is_damaged() {
        for name in ["gzip", "br", "zstd"] {
            let result = decode(name.as_bytes(), b"<html>no</html>", 1000);
            assert!(matches!(result, Err(DecodeError::Damaged(_))), "{name}: {result:?}");
        }
    }

    #[test]
    fn a_zstd_window_over_the_limit_of_http_is_refused_before_it_is_allocated() {
        for (window_log, allowed) in [(23, true), (24, false)] {
            let mut encoder = ::zstd::Encoder::new(Vec::new(), 0).expect("memory");
            encoder.set_parameter(::zstd::zstd_safe::CParameter::WindowLog(window_log)).expect("a window in range");
            encoder.write_all(TEXT).expect("memory");
            // Without the flush the encoder knows the length, and declares a smaller window.
            encoder.flush().expect("memory");
            let body = encoder.finish().expect("memory");
            assert_eq!(decode(b"zstd", &body, 1000).is_ok(), allowed, "2^{window_log} bytes");
        }
    }

    #[test]
    fn several_gzip_members_and_zstd_frames_are_one_text() {
        let twice = [TEXT, TEXT].concat();
        assert_eq!(decode(b"gzip", &[gzip(TEXT), gzip(TEXT)].concat(), 1000), Ok(twice.clone()));
        assert_eq!(decode(b"zstd", &[zstd(TEXT), zstd(TEXT)].concat(), 1000), Ok(twice));
    }

    /// The same rule for every coding, for a whole body and for one in pieces.
    #[test]
    fn bytes_behind_the_end_of_a_coding_are_damage() {
        for (name, encode) in codings().into_iter().filter(|&(name, _)| name != "identity") {
            // More than any decoder reads ahead, and less.
            for rest in [&b"\0"[..], b"junk", &vec![7; 100_000]] {
                let body = [&encode(TEXT), rest].concat();
                let size = rest.len();
                let whole = decode(name.as_bytes(), &body, 1 << 20);
                assert!(matches!(whole, Err(DecodeError::Damaged(_))), "{name}, {size} bytes behind: {whole:?}");
                assert!(decoded_length(name.as_bytes(), &body, 1 << 20).is_err(), "{name}, {size} bytes behind");
                for piece in [1, 7, body.len() - size, body.len()] {
                    let result = in_pieces(name.as_bytes(), &body, piece, 1 << 20);
                    assert!(matches!(result, Err(DecodeError::Damaged(_))), "{name}, {size} bytes behind, by {piece}");
                }
            }
        }
        let layered = zstd(&[br(TEXT), b"junk".to_vec()].concat());
        assert!(matches!(decode(b"br, zstd", &layered, 1000), Err(DecodeError::Damaged(_))));
    }

    /// fuzz/seeds/content/br-rest, without its first two bytes.
    #[test]
    fn a_brotli_stream_that_ends_early_is_damage_in_one_piece_and_in_several() {
        let body = b"\x37\0\0\0ello\n\x03";
        let whole = decode(b"br", body, 1 << 20);
        assert!(matches!(whole, Err(DecodeError::Damaged(_))), "{whole:?}");
        assert_eq!(in_pieces(b"br", body, 1 + 0x37 % 32, 1 << 20).map(|(text, _)| text), whole);
    }

    #[test]
    fn codings_are_undone_from_the_last_to_the_first() {
        assert_eq!(decode(b"gzip,br", &br(&gzip(TEXT)), 1000).as_deref(), Ok(TEXT));
        assert_eq!(decode(b" deflate , identity,, ZSTD ", &zstd(&zlib(TEXT)), 1000).as_deref(), Ok(TEXT));
        assert_eq!(decode(b"", TEXT, 1000).as_deref(), Ok(TEXT));
    }

    #[test]
    fn a_body_that_is_not_there_needs_no_decoding() {
        for (name, _) in codings() {
            assert_eq!(decode(name.as_bytes(), b"", 0), Ok(Vec::new()), "{name}");
            assert_eq!(decoded_length(name.as_bytes(), b"", 0), Ok(0), "{name}");
        }
    }

    #[test]
    fn unknown_codings_and_too_many_are_refused_by_name_and_number() {
        assert_eq!(decode(b"gzip, compress", TEXT, 1000), Err(DecodeError::Unknown("compress".into())));
        assert_eq!(decode(b"br,br,br,br,br,br", TEXT, 1000), Err(DecodeError::TooMany { limit: 5 }));
    }
}
