//! Any bytes as the body of any coding: no panic, never more than the limit, and all decoders agree.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_http::{DecodeError, Decoding, StepDecoder, Work, decode, decoded_length};

const CODINGS: [&[u8]; 8] =
    [b"gzip", b"deflate", b"br", b"zstd", b"identity", b"gzip, gzip", b"deflate, br, zstd", b"compress"];

fuzz_target!(|input: &[u8]| {
    // fuzz/README.md describes this layout.
    let [coding, limit, body @ ..] = input else { return };
    let coding = CODINGS[usize::from(coding % 8)];
    let limit = 1_u64 << (limit % 21);

    let decoded = decode(coding, body, limit);
    if let Ok(text) = &decoded {
        assert!(text.len() as u64 <= limit);
    }
    // Do not compare the errors: if a body is both damaged and too large, the read size decides which error comes
    // first.
    let length = decoded_length(coding, body, limit).ok();
    let pieces = in_pieces(coding, body, limit).ok();
    let steps = in_steps(coding, body, limit).ok();
    let decoded = decoded.ok();
    // If the last block of a zstd frame is empty, libzstd checks the length that the frame declares only when it decodes
    // the frame in one go, so only one of these may be an error.
    let is_zstd = coding.windows(4).any(|part| part == b"zstd");
    if !is_zstd || (length.is_some() && decoded.is_some()) {
        assert_eq!(length, decoded.as_ref().map(|text| text.len() as u64));
    }
    if !is_zstd || (pieces.is_some() && decoded.is_some()) {
        assert_eq!(pieces, decoded);
    }
    if !is_zstd || (steps.is_some() && decoded.is_some()) {
        assert_eq!(steps, decoded);
    }
});

/// As a streamed body: in pieces, whose sizes come from the body itself.
fn in_pieces(coding: &[u8], mut body: &[u8], limit: u64) -> Result<Vec<u8>, DecodeError> {
    let mut decoding = Decoding::new(coding, limit);
    let mut text = Vec::new();
    while let [first, ..] = body {
        let (piece, rest) = body.split_at(body.len().min(1 + usize::from(first % 32)));
        decoding.push(piece);
        pull_all(&mut decoding, &mut text)?;
        body = rest;
    }
    decoding.end();
    pull_all(&mut decoding, &mut text)?;
    Ok(text)
}

/// In shares of work that let each layer pause in its middle.
fn pull_all(decoding: &mut Decoding, text: &mut Vec<u8>) -> Result<(), DecodeError> {
    loop {
        let mut work = Work::of(1000);
        match decoding.pull(&mut work)? {
            Some(bytes) => text.extend(bytes),
            None if work.is_left() => return Ok(()),
            None => {}
        }
    }
}

/// As a whole body, in shares of work.
fn in_steps(coding: &[u8], body: &[u8], limit: u64) -> Result<Vec<u8>, DecodeError> {
    let mut decoder = StepDecoder::new(coding, limit, true);
    while !decoder.go_on(body, &mut Work::of(1000))? {}
    Ok(decoder.into_text())
}
