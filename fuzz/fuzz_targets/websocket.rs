//! Any bytes as those of a WebSocket server: the same messages in one piece, in pieces and byte by byte, and none over the
//! limit.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_http::Work;
use plimsoll_websocket::{Client, Close, Message, Parameters, ProtocolError};

type Found = (bool, Vec<u8>);

fuzz_target!(|input: &[u8]| {
    // fuzz/README.md describes this layout.
    let [setting, length, bytes @ ..] = input else { return };
    let limit = 1_u64 << (setting >> 2 & 15);
    let parameters = Parameters { no_context_takeover: setting & 2 != 0 };
    let deflate = (setting & 1 != 0).then_some(parameters);

    let whole = read(limit, deflate, bytes, bytes.len().max(1));
    assert_eq!(read(limit, deflate, bytes, 1), whole);
    assert_eq!(read(limit, deflate, bytes, usize::from(*length).max(1)), whole);
    assert!(whole.0.iter().all(|(_, message)| message.len() as u64 <= limit));
});

fn read(
    limit: u64,
    deflate: Option<Parameters>,
    bytes: &[u8],
    length: usize,
) -> (Vec<Found>, Option<ProtocolError>, Option<Close>, Vec<u8>) {
    let mut client = Client::new(limit, deflate, 1);
    let mut found = Vec::new();
    let mut error = None;
    for piece in bytes.chunks(length) {
        let mut each = |message: Message<'_>| {
            found.push((matches!(message, Message::Text(_)), message.as_bytes().to_vec()));
        };
        error = client.feed(piece, &mut Work::of(1000), &mut each).err();
        while error.is_none() && client.is_pending() {
            error = client.feed(b"", &mut Work::of(1000), &mut each).err();
        }
        if error.is_some() {
            break;
        }
    }
    let close = client.closed().cloned();
    (found, error, close, std::mem::take(client.output()))
}
