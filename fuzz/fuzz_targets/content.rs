//! Any bytes as the body of any coding: no panic, never more than the limit, and both functions agree.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_http::{decode, decoded_length};

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
    // Not which error it is: of a body both damaged and too large, the size of a read decides what shows first.
    assert_eq!(decoded_length(coding, body, limit).ok(), decoded.ok().map(|text| text.len() as u64));
});
