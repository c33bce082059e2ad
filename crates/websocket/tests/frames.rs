//! What a server may send and what it may not, by the categories of Autobahn's test suite; and the same messages however
//! the bytes are cut.

#![allow(clippy::unwrap_used)]

use plimsoll_http::Work;
use plimsoll_websocket::{Client, Decoder, Incoming, Message, NO_CODE, Parameters, ProtocolError};
use proptest::collection::vec;
use proptest::prelude::*;

const LIMIT: u64 = 1 << 20;

/// A frame of a server: its first byte, and its payload.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    match payload.len() {
        short @ 0..=125 => bytes.push(short as u8),
        middle @ 126..=0xffff => {
            bytes.push(126);
            bytes.extend((middle as u16).to_be_bytes());
        }
        long => {
            bytes.push(127);
            bytes.extend((long as u64).to_be_bytes());
        }
    }
    bytes.extend(payload);
    bytes
}

/// What these pieces contain, and how they end.
fn decode(limit: u64, deflate: bool, pieces: &[&[u8]]) -> (Vec<String>, Option<ProtocolError>) {
    let parameters = Parameters { no_context_takeover: false };
    let mut decoder = Decoder::new(limit, deflate.then_some(parameters));
    let mut found = Vec::new();
    for piece in pieces {
        let mut each = |incoming: Incoming<'_>| {
            found.push(match incoming {
                Incoming::Text(text) => format!("text {text}"),
                Incoming::Binary(bytes) => format!("binary {}", bytes.escape_ascii()),
                Incoming::Ping(bytes) => format!("ping {}", bytes.escape_ascii()),
                Incoming::Pong(bytes) => format!("pong {}", bytes.escape_ascii()),
                Incoming::Close(close) => format!("close {close:?}"),
            });
        };
        if let Err(error) = decoder.feed(piece, &mut Work::all(), &mut each) {
            return (found, Some(error));
        }
    }
    (found, None)
}

fn whole(frames: &[Vec<u8>]) -> (Vec<String>, Option<ProtocolError>) {
    decode(LIMIT, false, &[&frames.concat()])
}

fn refused(frames: &[Vec<u8>]) -> ProtocolError {
    whole(frames).1.expect("it is an error")
}

#[test]
fn messages_of_every_length() {
    for length in [0, 1, 125, 126, 127, 128, 65_535, 65_536, 100_000] {
        let text = "*".repeat(length);
        let (found, error) = whole(&[frame(0x81, text.as_bytes()), frame(0x82, text.as_bytes())]);
        assert!(error.is_none() && found == [format!("text {text}"), format!("binary {text}")], "{length}");
    }
}

#[test]
fn pings_and_pongs() {
    let longest = "p".repeat(125);
    let (found, error) = whole(&[frame(0x89, b""), frame(0x89, longest.as_bytes()), frame(0x8a, b"unasked")]);
    assert_eq!((found, error), (vec!["ping ".into(), format!("ping {longest}"), "pong unasked".into()], None));
    assert_eq!(refused(&[vec![0x89, 126, 0, 126]]), ProtocolError::ControlTooLong);
    assert_eq!(refused(&[frame(0x09, b"")]), ProtocolError::ControlFragmented);
}

#[test]
fn reserved_bits_opcodes_and_masks() {
    for bit in [0x40, 0x20, 0x10] {
        assert_eq!(refused(&[frame(0x81 | bit, b"x")]), ProtocolError::ReservedBits, "{bit:x}");
    }
    for opcode in [3, 4, 5, 6, 7, 11, 12, 13, 14, 15] {
        assert_eq!(refused(&[frame(0x80 | opcode, b"")]), ProtocolError::Opcode(opcode));
    }
    assert_eq!(refused(&[vec![0x81, 0x81, 0, 0, 0, 0, 65]]), ProtocolError::Masked);
}

#[test]
fn fragments_with_control_frames_between_them() {
    let (found, error) = whole(&[
        frame(0x01, b"Hel"),
        frame(0x89, b"?"),
        frame(0x00, b""),
        frame(0x80, b"lo"),
        frame(0x02, b""),
        frame(0x80, b"raw"),
    ]);
    assert_eq!((found, error), (vec!["ping ?".into(), "text Hello".into(), "binary raw".into()], None));
    assert_eq!(refused(&[frame(0x80, b"x")]), ProtocolError::ContinuationOfNothing);
    assert_eq!(refused(&[frame(0x00, b"x")]), ProtocolError::ContinuationOfNothing);
    assert_eq!(refused(&[frame(0x01, b"x"), frame(0x81, b"y")]), ProtocolError::MessageInMessage);
    assert_eq!(refused(&[frame(0x01, b""), frame(0x82, b"y")]), ProtocolError::MessageInMessage);
}

#[test]
fn texts_are_utf_8_as_a_whole() {
    let text = "\u{3ba}\u{1f600}";
    let (head, tail) = text.as_bytes().split_at(3);
    assert_eq!(whole(&[frame(0x01, head), frame(0x80, tail)]).0, [format!("text {text}")]);
    for wrong in [&b"\xff"[..], b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\xaf", b"\xce"] {
        assert_eq!(refused(&[frame(0x81, wrong)]), ProtocolError::Utf8);
        assert!(whole(&[frame(0x82, wrong)]).1.is_none());
    }
}

#[test]
fn close_codes_and_reasons() {
    let close = |code: u16, reason: &[u8]| frame(0x88, &[&code.to_be_bytes()[..], reason].concat());
    for code in [1000, 1001, 1003, 1007, 1011, 1014, 3000, 4999] {
        let (found, error) = whole(&[close(code, b"why"), frame(0x81, b"ignored")]);
        assert_eq!((found, error), (vec![format!("close Some(({code}, \"why\"))")], None));
    }
    for code in [0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65_535] {
        assert_eq!(refused(&[close(code, b"")]), ProtocolError::CloseCode(code));
    }
    assert_eq!(whole(&[frame(0x88, b"")]).0, ["close None"]);
    assert_eq!(refused(&[frame(0x88, b"\x03")]), ProtocolError::CloseLength);
    assert_eq!(refused(&[close(1000, b"\xff")]), ProtocolError::CloseReason);
}

#[test]
fn a_message_over_the_limit_is_refused_before_it_is_read() {
    let limit = |bytes: &[u8]| decode(10, false, &[bytes]).1;
    assert_eq!(limit(&frame(0x81, &[b'x'; 10])), None);
    assert_eq!(limit(&[0x82, 11]), Some(ProtocolError::MessageTooLong { limit: 10 }));
    assert_eq!(limit(&[0x82, 127, 127, 0, 0, 0, 0, 0, 0, 0]), Some(ProtocolError::MessageTooLong { limit: 10 }));
    let fragments = [frame(0x02, &[0; 6]), frame(0x80, &[0; 5])].concat();
    assert_eq!(limit(&fragments), Some(ProtocolError::MessageTooLong { limit: 10 }));
}

/// The examples of RFC 7692, sections 7.2.3.1 to 7.2.3.5.
#[test]
fn compressed_messages_of_the_standard() {
    const HELLO: [u8; 7] = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
    let decode = |frames: &[Vec<u8>]| decode(LIMIT, true, &[&frames.concat()]);
    let hello = (vec!["text Hello".to_owned()], None);
    assert_eq!(decode(&[frame(0xc1, &HELLO)]), hello);
    assert_eq!(decode(&[frame(0x41, &HELLO[..3]), frame(0x80, &HELLO[3..])]), hello, "fragments");
    let twice = (vec!["text Hello".to_owned(); 2], None);
    assert_eq!(decode(&[frame(0xc1, &HELLO), frame(0xc1, &[0xf2, 0x00, 0x11, 0x00, 0x00])]), twice, "takeover");
    let stored = [0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00];
    assert_eq!(decode(&[frame(0xc1, &stored)]), hello, "a block without compression");
    let last = [0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00];
    assert_eq!(decode(&[frame(0xc1, &last), frame(0xc1, &last)]), twice, "a final block");
    let two = [0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9, 0x07, 0x00];
    assert_eq!(decode(&[frame(0xc1, &two)]), hello, "two blocks");
    assert_eq!(decode(&[frame(0x81, b"plain"), frame(0xc1, &HELLO)]).0, ["text plain", "text Hello"]);
    assert_eq!(decode(&[frame(0xc1, b"\xff\xff\xff")]).1, Some(ProtocolError::Damaged));
    assert_eq!(decode(&[frame(0xc9, b"")]).1, Some(ProtocolError::ReservedBits), "a control frame");
    assert_eq!(decode(&[frame(0x41, &HELLO), frame(0xc0, b"")]).1, Some(ProtocolError::ReservedBits), "a later one");
}

#[test]
fn a_small_message_that_grows_over_the_limit_is_refused() {
    use std::io::Write;
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&vec![b'x'; 10_000_000]).unwrap();
    let bomb = encoder.finish().unwrap();
    assert!(bomb.len() < 20_000);
    assert_eq!(decode(LIMIT, true, &[&frame(0xc1, &bomb)]).1, Some(ProtocolError::MessageTooLong { limit: LIMIT }));
    assert_eq!(decode(10_000_000, true, &[&frame(0xc1, &bomb)]).1, None);
}

/// The frames of a client: (first byte, payload).
fn sent(mut bytes: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut frames = Vec::new();
    while let &[first, length, a, b, c, d, ref rest @ ..] = bytes {
        assert!(length & 0x80 != 0 && length < 0xfe, "masked and short");
        let (payload, others) = rest.split_at(usize::from(length & 0x7f));
        let key = [a, b, c, d].into_iter().cycle();
        frames.push((first, payload.iter().zip(key).map(|(byte, key)| byte ^ key).collect()));
        bytes = others;
    }
    frames
}

#[test]
fn a_client_answers_pings_and_the_first_close_frame_and_then_sends_nothing() {
    let mut client = Client::new(LIMIT, None, 1);
    let bytes = [frame(0x89, b"a"), frame(0x89, b"b"), frame(0x88, b"\x0f\xa0bye"), frame(0x89, b"c")].concat();
    client.feed(&bytes, &mut Work::all(), &mut |_| {}).unwrap();
    client.send(Message::Text("too late"));
    client.close(1000, "");
    let expected = [(0x8a, b"a".to_vec()), (0x8a, b"b".to_vec()), (0x88, b"\x0f\xa0".to_vec())];
    assert_eq!(sent(client.output()), expected);
    let close = client.closed().unwrap();
    assert_eq!((close.code, close.reason.as_str()), (4000, "bye"));
}

#[test]
fn a_client_that_closes_still_takes_messages_until_the_answer() {
    let mut client = Client::new(LIMIT, None, 1);
    client.close(1000, "done");
    assert!(client.has_closed() && client.closed().is_none());
    let mut got = Vec::new();
    let bytes = [frame(0x81, b"last"), frame(0x89, b"?"), frame(0x88, b"")].concat();
    client.feed(&bytes, &mut Work::all(), &mut |message| got.push(message.as_bytes().to_vec())).unwrap();
    assert_eq!((got, client.closed().unwrap().code), (vec![b"last".to_vec()], NO_CODE));
    assert_eq!(sent(client.output()), [(0x88, b"\x03\xe8done".to_vec())]);
}

#[test]
fn an_error_is_reported_to_the_server_with_its_code() {
    for (bytes, code) in [(frame(0x81, b"\xff"), 1007_u16), (vec![0x82, 11], 1009), (frame(0x83, b""), 1002)] {
        let mut client = Client::new(10, None, 1);
        assert_eq!(client.feed(&bytes, &mut Work::all(), &mut |_| {}).unwrap_err().close_code(), code);
        assert_eq!(sent(client.output()), [(0x88, code.to_be_bytes().to_vec())]);
    }
}

fn any_frame() -> impl Strategy<Value = Vec<u8>> {
    let first = prop_oneof![
        8 => prop::sample::select(vec![0x81_u8, 0x82, 0x01, 0x02, 0x00, 0x80, 0x89, 0x8a, 0xc1, 0x41]),
        1 => prop::sample::select(vec![0x88_u8]),
        1 => any::<u8>(),
    ];
    let payload = prop_oneof![vec(any::<u8>(), 0..200), "[a-z\u{e4}]{0,200}".prop_map(String::into_bytes)];
    (first, payload).prop_map(|(first, payload)| frame(first, &payload))
}

proptest! {
    /// Cuts make no difference: not to what is found, and not to the error.
    #[test]
    fn cuts_make_no_difference(frames in vec(any_frame(), 0..12), cuts in vec(1_usize..50, 1..20), deflate: bool) {
        let bytes = frames.concat();
        let mut pieces = Vec::new();
        let (mut rest, mut lengths) = (&bytes[..], cuts.iter().cycle());
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.len().min(*lengths.next().unwrap()));
            pieces.push(piece);
            rest = after;
        }
        prop_assert_eq!(decode(300, deflate, &pieces), decode(300, deflate, &[&bytes]));
    }
}

#[test]
fn a_server_that_does_not_read_is_sent_a_bounded_number_of_pongs() {
    let mut client = Client::new(LIMIT, None, 7);
    let pings = frame(0x89, b"x").repeat(3000);
    client.feed(&pings, &mut Work::all(), &mut |_| {}).unwrap();
    let most = client.output().len();
    client.feed(&pings, &mut Work::all(), &mut |_| {}).unwrap();
    assert_eq!((client.output().len(), *client.pongs()), (most, 1000));
    client.output().clear();
    *client.pongs() = 0;
    client.feed(&frame(0x89, b"x"), &mut Work::all(), &mut |_| {}).unwrap();
    assert_eq!(client.output().len(), 7, "the header, the mask and a byte");
}

#[test]
fn the_memory_of_a_message_is_known_until_its_end() {
    let mut client = Client::new(LIMIT, None, 7);
    for (bytes, unfinished) in [(frame(1, b"abc"), 3), (frame(0, b"de"), 5), (frame(0x80, b""), 0)] {
        client.feed(&bytes, &mut Work::all(), &mut |_| {}).unwrap();
        assert_eq!(client.unfinished(), unfinished);
    }
}

/// A frame with a message of zeros, compressed.
fn zeros(length: usize) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, &vec![0; length]).unwrap();
    std::io::Write::flush(&mut encoder).unwrap();
    let payload = encoder.get_ref();
    frame(0xc2, payload.strip_suffix(&[0, 0, 0xff, 0xff]).unwrap())
}

#[test]
fn messages_are_taken_as_far_as_there_is_work() {
    let bytes = [zeros(200_000), frame(0x82, b"short"), zeros(300), frame(0x88, b"")].concat();
    for share in [1, 100, 10_000, 1_000_000] {
        let mut client = Client::new(LIMIT, Some(Parameters { no_context_takeover: true }), 1);
        let (mut found, mut shares) = (Vec::new(), 1);
        let mut each = |message: Message<'_>| found.push(message.as_bytes().len());
        client.feed(&bytes, &mut Work::of(share), &mut each).unwrap();
        while client.is_pending() {
            client.feed(b"", &mut Work::of(share), &mut each).unwrap();
            shares += 1;
        }
        assert_eq!(found, [200_000, 5, 300], "shares of {share}");
        assert!(shares >= 200_000 / share.max(64 << 10), "{shares} shares of {share}");
        assert_eq!((client.closed().is_some(), client.unfinished()), (true, 0));
    }
}

#[test]
fn a_long_message_ends_its_share_of_work() {
    let bytes = [zeros(200_000), frame(0x82, b"next")].concat();
    let mut client = Client::new(LIMIT, Some(Parameters { no_context_takeover: true }), 1);
    let mut found = Vec::new();
    let mut before = 0;
    client.feed(&bytes, &mut Work::of(50_000), &mut |message| found.push(message.as_bytes().len())).unwrap();
    while client.is_pending() {
        assert!(found.len() <= before + 1);
        before = found.len();
        client.feed(b"", &mut Work::of(50_000), &mut |message| found.push(message.as_bytes().len())).unwrap();
    }
    assert_eq!(found, [200_000, 4]);
}

#[test]
fn a_message_that_is_too_long_and_damaged_is_the_same_however_it_is_cut() {
    let bytes = [
        193, 39, 242, 72, 237, 255, 255, 253, 201, 35, 193, 41, 4, 225, 7, 246, 246, 246, 246, 246, 246, 182, 155, 246,
        108, 246, 115, 16, 0, 0, 0, 0, 0, 0, 85, 85, 85, 45, 85, 85, 35, 193, 41, 4, 225, 7, 246, 246, 201, 7, 86, 9,
        0, 0, 0, 0, 0, 0, 86, 86, 46, 5, 86, 99, 8,
    ];
    let whole = decode(64, true, &[&bytes]);
    assert_eq!(whole.1, Some(ProtocolError::MessageTooLong { limit: 64 }));
    assert_eq!(decode(64, true, &bytes.chunks(1).collect::<Vec<_>>()), whole);
}
