use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use std::io::Write;

use super::*;
use crate::Work;

/// Length of a gzip checksum, which may be missing.
const CHECKSUM: usize = 8;

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

/// Pulls all that is there, in shares of so little work that layers pause in their middle.
fn pull_all(decoding: &mut Decoding, text: &mut Vec<u8>, share: u64) -> Result<(), DecodeError> {
    loop {
        let mut work = Work::of(share);
        match decoding.pull(&mut work)? {
            Some(bytes) => {
                assert!(!bytes.is_empty() && bytes.len() as u64 <= share);
                text.extend(bytes);
            }
            None if work.is_left() => return Ok(()),
            None => {}
        }
    }
}

/// Pushes the body in pieces of `size` bytes and pulls after each. Returns the text, and the piece that brought its
/// first byte.
fn in_pieces(coding: &[u8], body: &[u8], size: usize, limit: u64) -> Result<(Vec<u8>, usize), DecodeError> {
    let mut decoding = Decoding::new(coding, limit);
    let (mut text, mut first, share) = (Vec::new(), 0, if body.len() < 1000 { 7 } else { 10_000 });
    for (index, piece) in body.chunks(size).enumerate() {
        decoding.push(piece);
        first = if text.is_empty() { index } else { first };
        pull_all(&mut decoding, &mut text, share)?;
    }
    decoding.end();
    pull_all(&mut decoding, &mut text, share)?;
    Ok((text, first))
}

/// Decodes a whole body in shares of this much work. Returns the text, and how many shares it took.
fn in_steps(coding: &[u8], body: &[u8], share: u64, limit: u64) -> Result<(Vec<u8>, usize), DecodeError> {
    let mut decoder = StepDecoder::new(coding, limit, true);
    let mut shares = 1;
    while !decoder.go_on(body, &mut Work::of(share))? {
        shares += 1;
    }
    assert_eq!(decoder.length(), decoder.unfinished().min(decoder.length() as usize) as u64);
    Ok((decoder.into_text(), shares))
}

#[test]
fn a_body_in_steps_gives_the_same_text_and_one_that_stays_small_needs_one() {
    let long: Vec<u8> = (0..1_000_000_u32).flat_map(u32::to_be_bytes).collect();
    for (name, encode) in codings() {
        assert_eq!(in_steps(name.as_bytes(), &encode(TEXT), 1, 1000), Ok((TEXT.to_vec(), 1)), "{name}");
        let (text, shares) = in_steps(name.as_bytes(), &encode(&long), 100_000, 1 << 22).expect("a sound body");
        assert!(text == long && shares >= 40, "{name}: {shares} shares for {} bytes", long.len());
    }
    assert_eq!(in_steps(b"gzip", b"", 1, 0), Ok((Vec::new(), 1)));
}

#[test]
fn a_body_in_steps_is_damaged_and_limited_like_a_whole_one() {
    let zeros = vec![0; 2 << 20];
    for (name, encode) in codings() {
        let body = encode(&zeros);
        for limit in [100_000, 1 << 20] {
            let error = in_steps(name.as_bytes(), &body, 1 << 20, limit);
            assert_eq!(error, Err(DecodeError::TooLarge { limit }), "{name}");
        }
        if name != "identity" {
            let cut = in_steps(name.as_bytes(), &body[..body.len() - CHECKSUM - 1], 1 << 20, 1 << 22);
            assert!(matches!(cut, Err(DecodeError::Damaged(_))), "{name}");
        }
    }
}

/// What one layer becomes may be nothing in the next one, a thousand times as long all the same.
#[test]
fn layers_that_become_nothing_count_as_work() {
    let nothing = gzip(b"").repeat(200_000);
    let body = gzip(&nothing);
    assert!(body.len() < nothing.len() / 100);
    let (text, shares) = in_steps(b"gzip, gzip", &body, 100_000, 1 << 23).expect("a sound body");
    assert!(text.is_empty() && shares >= nothing.len() / 100_000, "{shares} shares");
    let mut decoding = Decoding::new(b"gzip, gzip", u64::MAX);
    decoding.push(&body);
    let mut work = Work::of(100_000);
    assert_eq!((decoding.pull(&mut work), work.is_left()), (Ok(None), false));
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
            let cut = in_pieces(name.as_bytes(), &body[..body.len() - CHECKSUM - 1], 3, 1000);
            assert!(matches!(cut, Err(DecodeError::Damaged(_))), "{name}: {cut:?}");
        }
    }
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
fn a_truncated_body_is_damaged_and_never_a_shorter_text_but_gzip_needs_no_checksum() {
    for (name, encode) in codings().into_iter().filter(|&(name, _)| name != "identity") {
        let body = encode(TEXT);
        for end in 1..body.len() {
            let result = decode(name.as_bytes(), &body[..end], 1000);
            if name.contains("gzip") && end + CHECKSUM >= body.len() {
                assert_eq!(result.as_deref(), Ok(TEXT), "{name}: its data are complete in {end} bytes");
            } else {
                assert!(matches!(result, Err(DecodeError::Damaged(_))), "{name}, {end} bytes: {result:?}");
            }
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

/// The same rule for a whole body and for one in pieces.
#[test]
fn bytes_behind_the_end_of_a_coding_are_damage_but_for_gzip_and_deflate() {
    for (name, encode) in codings().into_iter().filter(|&(name, _)| name == "br" || name == "ZStd") {
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

#[test]
fn gzip_and_deflate_end_with_their_data() {
    for (name, encode) in codings().into_iter().filter(|&(name, _)| name.contains("gzip") || name == "deflate") {
        let body = [&encode(TEXT)[..], &[0; 20]].concat();
        assert_eq!(decode(name.as_bytes(), &body, 1000).as_deref(), Ok(TEXT), "{name}");
        assert_eq!(in_pieces(name.as_bytes(), &body, 7, 1000).map(|(text, _)| text).as_deref(), Ok(TEXT), "{name}");
    }
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
fn names_of_no_coding_change_nothing() {
    for name in [&b"none"[..], b"utf-8", b"aws-chunked", b"compress"] {
        assert_eq!(decode(name, TEXT, 1000).as_deref(), Ok(TEXT));
        assert_eq!(in_steps(name, TEXT, 1000, 1000), Ok((TEXT.to_vec(), 1)));
    }
    assert_eq!(decode(b"gzip, aws-chunked", &gzip(TEXT), 1000).as_deref(), Ok(TEXT));
}

#[test]
fn gzip_ends_where_no_member_follows() {
    for rest in [&[0; 20][..], b"\r\n", b"garbage"] {
        let body = [gzip(TEXT), gzip(TEXT), rest.to_vec()].concat();
        assert_eq!(decode(b"gzip", &body, 1000), Ok(TEXT.repeat(2)), "{rest:?}");
        for size in 1..4 {
            let text = in_pieces(b"gzip", &body, size, 1000).map(|(text, _)| text);
            assert_eq!(text, Ok(TEXT.repeat(2)), "{rest:?} in pieces of {size}");
        }
    }
}

#[test]
fn too_many_codings_are_refused_by_number() {
    assert_eq!(decode(b"br,br,br,br,br,br", TEXT, 1000), Err(DecodeError::TooMany { limit: 5 }));
}
