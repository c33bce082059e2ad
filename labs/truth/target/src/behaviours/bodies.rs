//! Bodies: length, framing and coding.

use std::io::Write;

use super::Context;
use crate::request::Request;
use crate::script::{End, FILLING, Script, Step, head, response};

/// The longest body of `/bytes`.
const MAX_BYTES: u64 = 1 << 30;
/// The longest body that is held in memory.
const MAX_MADE: usize = 16 << 20;

/// `?n=1024`: a body of this many bytes, up to 1 GiB.
pub(super) fn bytes(request: &Request, _: &mut Context<'_>) -> Result<Script, String> {
    let length: u64 = request.number("n", 1024)?;
    if length > MAX_BYTES {
        return Err(format!("n must be at most {MAX_BYTES}"));
    }
    let head = head("200 OK", &[&format!("Content-Length: {length}")]);
    Ok(Script::new([Step::Send(head), Step::Fill(length)], End::Keep))
}

/// `?n=10000&chunk=1000&trailers=1`: chunks of this many bytes, with two trailer lines on request.
pub(super) fn chunked(request: &Request, _: &mut Context<'_>) -> Result<Script, String> {
    let body = made(request, 10_000)?;
    let chunk: usize = request.number("chunk", 1000)?;
    let trailers = request.number("trailers", 0)? != 0;
    let declared = if trailers {
        &["Transfer-Encoding: chunked", "Trailer: X-Length, X-End"][..]
    } else {
        &["Transfer-Encoding: chunked"]
    };
    let mut bytes = head("200 OK", declared);
    for part in body.chunks(chunk.max(1)) {
        bytes.extend_from_slice(format!("{:x};name=\"value\"\r\n", part.len()).as_bytes());
        bytes.extend_from_slice(part);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n");
    if trailers {
        bytes.extend_from_slice(format!("X-Length: {}\r\nX-End: yes\r\n", body.len()).as_bytes());
    }
    bytes.extend_from_slice(b"\r\n");
    Ok(Script::reply(bytes))
}

/// `?n=10000`: no length; the body ends with the connection.
pub(super) fn close_delimited(request: &Request, _: &mut Context<'_>) -> Result<Script, String> {
    let mut bytes = head("200 OK", &["Connection: close"]);
    bytes.extend_from_slice(&made(request, 10_000)?);
    Ok(Script::new([Step::Send(bytes)], End::Close))
}

/// `?n=10000`: this many bytes when decoded.
pub(super) fn gzip(request: &Request, _: &mut Context<'_>) -> Result<Script, String> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let coded = encoder.write_all(&made(request, 10_000)?).and_then(|()| encoder.finish());
    Ok(coded_reply("gzip", &coded.map_err(|error| error.to_string())?))
}

/// Like `/gzip`.
pub(super) fn brotli(request: &Request, _: &mut Context<'_>) -> Result<Script, String> {
    let mut encoder = brotli::CompressorWriter::new(Vec::new(), 4096, 1, 20);
    encoder.write_all(&made(request, 10_000)?).map_err(|error| error.to_string())?;
    Ok(coded_reply("br", &encoder.into_inner()))
}

/// Like `/gzip`.
pub(super) fn zstd(request: &Request, _: &mut Context<'_>) -> Result<Script, String> {
    let coded = zstd::bulk::compress(&made(request, 10_000)?, 1).map_err(|error| error.to_string())?;
    Ok(coded_reply("zstd", &coded))
}

/// 100, 102 and 103 come before the final response.
pub(super) fn interim(_: &Request, _: &mut Context<'_>) -> Result<Script, String> {
    let mut bytes = head("100 Continue", &[]);
    bytes.extend(head("102 Processing", &[]));
    bytes.extend(head("103 Early Hints", &["Link: </style.css>; rel=preload; as=style"]));
    bytes.extend(response("200 OK", &[], b"ok\n"));
    Ok(Script::reply(bytes))
}

fn coded_reply(coding: &str, body: &[u8]) -> Script {
    Script::reply(response("200 OK", &[&format!("Content-Encoding: {coding}")], body))
}

/// A body of `n` bytes.
fn made(request: &Request, default: usize) -> Result<Vec<u8>, String> {
    let length: usize = request.number("n", default)?;
    if length > MAX_MADE {
        return Err(format!("n must be at most {MAX_MADE} here"));
    }
    Ok(FILLING.iter().copied().cycle().take(length).collect())
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use crate::behaviours::play;
    use crate::script::{End, FILLING, Script, Step};

    fn sent(script: &Script) -> (&str, &[u8]) {
        let Step::Send(bytes) = &script.steps[0] else { panic!("{script:?}") };
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
        (std::str::from_utf8(&bytes[..end]).unwrap(), &bytes[end..])
    }

    #[test]
    fn a_long_body_is_not_made_but_filled() {
        let script = play("/bytes?n=100000000");
        assert_eq!(sent(&script).0, "HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n");
        assert_eq!((script.steps[1].clone(), script.end), (Step::Fill(100_000_000), End::Keep));
        assert!(sent(&play("/bytes?n=9999999999")).0.starts_with("HTTP/1.1 400 "));
    }

    #[test]
    fn codings_undone_give_the_filling() {
        let mut body = Vec::new();
        flate2::read::GzDecoder::new(sent(&play("/gzip?n=5000")).1).read_to_end(&mut body).unwrap();
        assert_eq!(body, &FILLING[..5000]);
        body.clear();
        brotli::Decompressor::new(sent(&play("/br?n=5000")).1, 4096).read_to_end(&mut body).unwrap();
        assert_eq!(body, &FILLING[..5000]);
        assert_eq!(zstd::bulk::decompress(sent(&play("/zstd?n=5000")).1, 5000).unwrap(), &FILLING[..5000]);
    }

    #[test]
    fn chunks_have_their_sizes_and_the_trailers_come_last() {
        let script = play("/chunked?n=5&chunk=3&trailers=1");
        let (head, body) = sent(&script);
        assert!(head.contains("Trailer: X-Length, X-End\r\n"));
        let expected = "3;name=\"value\"\r\nabc\r\n2;name=\"value\"\r\nde\r\n0\r\nX-Length: 5\r\nX-End: yes\r\n\r\n";
        assert_eq!(body, expected.as_bytes());
        assert!(sent(&play("/chunked?n=5")).1.ends_with(b"\r\n0\r\n\r\n"));
    }

    #[test]
    fn a_body_without_length_ends_with_its_connection() {
        let script = play("/close-delimited?n=7");
        assert!(!sent(&script).0.contains("Length"));
        assert_eq!((sent(&script).1, script.end), (&b"abcdefg"[..], End::Close));
    }
}
