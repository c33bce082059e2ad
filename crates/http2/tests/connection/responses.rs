//! What a server may send and what it may not; and the same responses however the bytes are cut.

use plimsoll_http::Limits;
use plimsoll_http2::{Code, ConnectionError, HpackError, Options};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::support::{
    END, END_HEADERS, END_STREAM, Log, PADDED, SETTINGS, block, connection, data, frame, goaway, head,
};
use crate::support::{read, setting, window_update, written};

/// What these frames do to a connection with two requests, after SETTINGS.
fn whole(frames: &[Vec<u8>]) -> (Vec<String>, Option<ConnectionError>) {
    read(2, &Limits::default(), &[&SETTINGS, &frames.concat()])
}

/// What these frames report; there is no error of the connection.
fn log(frames: &[Vec<u8>]) -> Vec<String> {
    let (log, error) = whole(frames);
    assert_eq!(error, None);
    log
}

fn broken(frames: &[Vec<u8>]) -> ConnectionError {
    whole(frames).1.expect("it is an error")
}

#[test]
fn a_response_has_its_parts_in_order() {
    let found = log(&[
        head(END_HEADERS, 1, "103", &[("link", "x")]),
        head(END_HEADERS, 1, "200", &[("content-type", "text/plain")]),
        data(0, 1, b"hel"),
        data(0, 1, b"lo"),
        frame(1, END, 1, &block(&[("grpc-status", "0")])),
    ]);
    let expected = [
        "1 interim 103",
        "1 head HTTP/2 200|content-type: text/plain||",
        "1 body hello",
        "1 trailers grpc-status: 0||",
    ];
    assert_eq!(found[..4], expected);
    assert_eq!(found[4..], ["1 end"]);
    assert_eq!(log(&[head(END, 1, "204", &[])]), ["1 head HTTP/2 204||", "1 end"]);
    let empty_end = [head(END_HEADERS, 1, "200", &[]), data(END_STREAM, 1, b"")];
    assert_eq!(log(&empty_end), ["1 head HTTP/2 200||", "1 end"]);
}

#[test]
fn responses_of_two_streams_may_be_mixed() {
    let found = log(&[
        head(END_HEADERS, 3, "200", &[]),
        head(END_HEADERS, 1, "404", &[]),
        data(0, 3, b"b"),
        data(END_STREAM, 1, b"a"),
        data(END_STREAM, 3, b"b"),
    ]);
    let expected = ["2 head HTTP/2 200||", "1 head HTTP/2 404||", "2 body b", "1 body a", "1 end", "2 body b", "2 end"];
    assert_eq!(found, expected);
}

#[test]
fn padding_priority_and_unknown_frames_change_nothing() {
    let fields = block(&[(":status", "200")]);
    let found = log(&[
        frame(1, END_HEADERS | PADDED | 0x20, 1, &[&[3, 0, 0, 0, 0, 9][..], &fields, &[0; 3]].concat()),
        frame(2, 0, 1, &[0; 5]),
        frame(0xbe, 0xff, 7, b"an extension"),
        data(PADDED, 1, b"\x02ab\0\0"),
        data(PADDED, 1, b"\x00c"),
        data(PADDED, 1, b"\x02\0\0"),
        data(PADDED | END_STREAM, 1, b"\x00"),
    ]);
    assert_eq!(found, ["1 head HTTP/2 200||", "1 body abc", "1 end"]);
}

#[test]
fn a_header_block_may_be_in_pieces() {
    let fields = block(&[(":status", "200"), ("server", "x")]);
    let found =
        log(&[frame(1, END_STREAM, 1, &fields[..5]), frame(9, 0, 1, b""), frame(9, END_HEADERS, 1, &fields[5..])]);
    assert_eq!(found, ["1 head HTTP/2 200|server: x||", "1 end"]);
    let start = || frame(1, 0, 1, &fields[..5]);
    assert_eq!(broken(&[start(), frame(9, END_HEADERS, 3, &fields[5..])]), ConnectionError::HeaderBlock);
    assert_eq!(broken(&[start(), data(0, 3, b"")]), ConnectionError::HeaderBlock);
    assert_eq!(broken(&[start(), frame(6, 0, 0, &[0; 8])]), ConnectionError::HeaderBlock);
    assert_eq!(broken(&[frame(9, END_HEADERS, 1, &fields)]), ConnectionError::HeaderBlock);
}

#[test]
fn each_wrong_response_fails_its_stream_alone() {
    let other = ["2 head HTTP/2 200||", "2 end"];
    for (frames, what) in [
        (vec![data(0, 1, b"x")], "wrong order"),
        (vec![head(END_HEADERS, 1, "200", &[]), head(END_HEADERS, 1, "200", &[])], "wrong order"),
        (vec![head(END, 1, "100", &[])], "wrong order"),
        (vec![head(END_HEADERS, 1, "101", &[])], "101"),
        (vec![head(END, 1, "2x0", &[])], "status"),
        (vec![head(END, 1, "200", &[("connection", "close")])], "HTTP/2 forbids"),
        (vec![head(END, 1, "200", &[("a", "b\r\nc: d")])], "control character"),
        (vec![head(END, 1, "200", &[("content-length", "1")])], "1 bytes that its head announces"),
        (vec![head(END_HEADERS, 1, "200", &[("content-length", "1")]), data(0, 1, b"xy")], "1 bytes"),
        (vec![head(END_HEADERS, 1, "204", &[]), data(0, 1, b"x")], "0 bytes"),
        (vec![window_update(1, 0)], "WINDOW_UPDATE"),
        (vec![window_update(1, 0x7fff_ffff)], "WINDOW_UPDATE"),
        (vec![frame(3, 0, 1, &[0, 0, 0, 7])], "refused the request (REFUSED_STREAM)"),
        (vec![frame(3, 0, 1, &[0, 0, 1, 0])], "reset the stream with the error code 0x100"),
    ] {
        let found = log(&[frames, vec![head(END, 3, "200", &[])]].concat());
        let (failed, rest) = found.split_at(found.len() - 2);
        let failed = failed.last().unwrap();
        assert!(failed.starts_with("1 failed ") && failed.contains(what), "{failed} does not say {what}");
        assert_eq!(rest, other);
    }
}

#[test]
fn each_wrong_frame_breaks_the_connection() {
    let fields = |index| frame(1, END, 1, &[0x88, index]);
    for (frame, error) in [
        (frame(4, 0, 1, b""), ConnectionError::Frame(4)),
        (frame(4, 0, 0, b"12345"), ConnectionError::FrameSize(4)),
        (frame(4, 1, 0, &[0; 6]), ConnectionError::FrameSize(4)),
        (setting(2, 1), ConnectionError::Setting(2)),
        (setting(4, 0x8000_0000), ConnectionError::Setting(4)),
        (setting(5, 16_383), ConnectionError::Setting(5)),
        (setting(5, 1 << 24), ConnectionError::Setting(5)),
        (frame(6, 0, 0, &[0; 7]), ConnectionError::FrameSize(6)),
        (frame(6, 0, 1, &[0; 8]), ConnectionError::Frame(6)),
        (frame(7, 0, 0, &[0; 7]), ConnectionError::FrameSize(7)),
        (frame(7, 0, 1, &[0; 8]), ConnectionError::Frame(7)),
        (frame(8, 0, 0, &[0; 5]), ConnectionError::FrameSize(8)),
        (window_update(0, 0), ConnectionError::WindowUpdate),
        (window_update(0, 0x7fff_ffff), ConnectionError::WindowUpdate),
        (window_update(5, 1), ConnectionError::IdleStream(5)),
        (frame(3, 0, 1, &[0; 3]), ConnectionError::FrameSize(3)),
        (frame(3, 0, 5, &[0; 4]), ConnectionError::IdleStream(5)),
        (frame(2, 0, 1, &[0; 4]), ConnectionError::FrameSize(2)),
        (frame(5, END_HEADERS, 1, &[0; 9]), ConnectionError::Push),
        (data(0, 0, b"x"), ConnectionError::IdleStream(0)),
        (data(0, 2, b"x"), ConnectionError::IdleStream(2)),
        (data(PADDED, 1, b""), ConnectionError::Frame(0)),
        (data(PADDED, 1, b"\x01"), ConnectionError::Frame(0)),
        (head(END, 5, "200", &[]), ConnectionError::IdleStream(5)),
        (frame(1, END | PADDED, 1, b"\x09\x88"), ConnectionError::Frame(1)),
        (frame(1, END | 0x20, 1, b"\0\0\0\0"), ConnectionError::Frame(1)),
        (vec![0, 0x40, 1, 0, 0, 0, 0, 0, 1], ConnectionError::FrameSize(0)),
        (fields(0xbe), ConnectionError::Hpack(HpackError::Index(62))),
        (fields(0x40), ConnectionError::Hpack(HpackError::Truncated)),
        (fields(0x20), ConnectionError::Hpack(HpackError::TableSize)),
    ] {
        assert_eq!(broken(&[frame]), error);
    }
}

#[test]
fn a_server_without_http_2_is_recognised() {
    let first = |bytes: &[u8]| read(1, &Limits::default(), &[bytes]).1;
    assert_eq!(first(b"HTTP/1.1 400 Bad Request\r\n\r\n"), Some(ConnectionError::Http1));
    assert_eq!(first(b"\x15\x03\x01\x00\x02\x02\x46"), Some(ConnectionError::Tls));
    assert_eq!(first(b"SSH-2.0-OpenSSH_9"), Some(ConnectionError::NotHttp2));
    assert_eq!(first(&head(END, 1, "200", &[])), Some(ConnectionError::NotHttp2));
    assert_eq!(first(&frame(4, 1, 0, b"")), Some(ConnectionError::NotHttp2), "an ACK is not SETTINGS");
}

#[test]
fn limits_fail_a_stream() {
    let limits = Limits { head: 100, headers: 2, body: 10 };
    let found = |frames: &[Vec<u8>]| read(1, &limits, &[&SETTINGS, &frames.concat()]).0.pop().unwrap();
    let long = "x".repeat(90);
    assert!(found(&[head(END, 1, "200", &[("a", &long)])]).contains("over the limit of 100 bytes"));
    let interim = |count| vec![head(END_HEADERS, 1, "103", &[("a", &long[..20])]); count];
    assert_eq!(found(&interim(2)), "1 interim 103");
    assert!(found(&interim(3)).contains("over the limit of 100 bytes"));
    assert!(found(&[head(END, 1, "200", &[("a", ""), ("b", ""), ("c", "")])]).contains("limit of 2 header lines"));
    let over = "1 failed the response body is over the limit of 10 bytes";
    assert_eq!(found(&[head(END_HEADERS, 1, "200", &[("content-length", "11")])]), over);
    assert_eq!(found(&[head(END_HEADERS, 1, "200", &[]), data(0, 1, &[0; 11])]), over);
    assert_eq!(found(&[head(END_HEADERS, 1, "200", &[]), data(END_STREAM, 1, b"1234567890")]), "1 end");
    let pieces = [frame(1, 0, 1, &[0; 50]), frame(9, 0, 1, &[0; 30]), frame(9, 0, 1, &[0; 3])].concat();
    let error = read(1, &limits, &[&SETTINGS, &pieces]).1;
    assert_eq!(error, Some(ConnectionError::HeaderBlockTooLong { limit: 100 }), "frames count as bytes");
}

#[test]
fn a_response_to_head_has_no_body() {
    let mut connection = connection(0, &Options::default());
    let mut log = Log::default();
    for tag in 1..=2 {
        connection.open(b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", b"", true, tag).unwrap();
    }
    let length = [("content-length", "5")];
    let frames = [head(END, 1, "200", &length), head(END_HEADERS, 3, "200", &length), data(0, 3, b"x")];
    connection.input(&[SETTINGS.to_vec(), frames.concat()].concat(), &Limits::default(), &mut log).unwrap();
    assert_eq!(log.0[..2], ["1 head HTTP/2 200|content-length: 5||", "1 end"]);
    assert!(log.0[3].starts_with("2 failed"), "{:?}", log.0);
}

#[test]
fn goaway_says_which_requests_were_not_taken() {
    let mut connection = connection(3, &Options::default());
    let mut log = Log::default();
    let limits = Limits::default();
    connection.input(&[&SETTINGS[..], &goaway(3, 11, b"too_many_pings")].concat(), &limits, &mut log).unwrap();
    let why = "the server closes the connection (GOAWAY with ENHANCE_YOUR_CALM) and has not taken this request";
    assert_eq!(log.0, [format!("3 failed {why}")]);
    assert_eq!(connection.gone_away(), Some((Code::ENHANCE_YOUR_CALM, &b"too_many_pings"[..])));
    assert_eq!((connection.room(), connection.accepts_streams(), connection.open_streams()), (0, false, 2));
    assert_eq!(connection.tags().collect::<Vec<_>>(), [1, 2]);
    assert!(connection.open(b"GET / HTTP/1.1\r\n\r\n", b"", true, 9).is_err());
    let rest = [head(END, 1, "200", &[]), head(END, 3, "200", &[]), head(END, 5, "200", &[])].concat();
    connection.input(&rest, &limits, &mut log).unwrap();
    assert_eq!(log.0[1..], ["1 head HTTP/2 200||", "1 end", "2 head HTTP/2 200||", "2 end"]);
}

#[test]
fn frames_of_a_cancelled_stream_are_ignored() {
    let mut connection = connection(0, &Options::default());
    let stream = connection.open(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"", true, 1).unwrap();
    written(&mut connection);
    connection.cancel(stream);
    connection.cancel(stream);
    assert_eq!(written(&mut connection), [(3, 0, 1, vec![0, 0, 0, 8])]);
    let late = [head(END_HEADERS, 1, "200", &[]), data(0, 1, b"x"), window_update(1, 1), frame(3, 0, 1, &[0; 4])];
    let mut log = Log::default();
    connection.input(&[SETTINGS.to_vec(), late.concat()].concat(), &Limits::default(), &mut log).unwrap();
    assert_eq!(log.0, [""; 0]);
}

#[test]
fn floods_end_the_connection() {
    assert_eq!(broken(&[frame(6, 0, 0, &[0; 8]).repeat(1001)]), ConnectionError::Flood);
    assert_eq!(broken(&[SETTINGS.repeat(1001)]), ConnectionError::Flood);
    let empty = data(0, 1, b"").repeat(1001);
    assert_eq!(broken(&[head(END_HEADERS, 1, "200", &[]), empty]), ConnectionError::Flood);
    let calm = [data(0, 1, b"").repeat(1000), data(0, 1, b"x")].concat();
    assert_eq!(whole(&[head(END_HEADERS, 1, "200", &[]), calm.repeat(3)]).1, None);
    // An answer that was written no longer counts.
    let mut connection = connection(1, &Options::default());
    for _ in 0..5 {
        let pings = frame(6, 0, 0, b"12345678").repeat(900);
        connection.input(&[&SETTINGS[..], &pings].concat(), &Limits::default(), &mut Log::default()).unwrap();
        let answers = written(&mut connection);
        assert_eq!(answers.len(), 901);
        assert_eq!(answers[1], (6, 1, 0, b"12345678".to_vec()));
    }
}

#[test]
fn an_error_is_reported_to_the_server_and_ends_the_reading() {
    let mut connection = connection(1, &Options::default());
    let mut log = Log::default();
    let limits = Limits::default();
    let error = connection.input(&[&SETTINGS[..], &frame(1, END, 1, b"\xbe")].concat(), &limits, &mut log);
    assert_eq!(
        error.unwrap_err().to_string(),
        "the server's header block is malformed: it refers to header 62 of a table that must be empty"
    );
    assert_eq!(written(&mut connection).pop(), Some((7, 0, 0, vec![0, 0, 0, 0, 0, 0, 0, 9])));
    assert_eq!(connection.input(&head(END, 1, "200", &[]), &limits, &mut log), Ok(()));
    assert_eq!((log.0.len(), connection.accepts_streams(), connection.tags().next()), (0, false, Some(1)));
}

fn any_frame() -> impl Strategy<Value = Vec<u8>> {
    let stream = || prop::sample::select(vec![1_u32, 1, 3, 3, 5, 7]);
    let flags = || prop::sample::select(vec![0_u8, END_STREAM, PADDED, PADDED | END_STREAM]);
    let status = prop::sample::select(vec!["200", "204", "103", "500"]);
    let name = prop::sample::select(vec!["content-length", "server", "set-cookie", "x"]);
    prop_oneof![
        4 => (stream(), status, name, "[0-9]{0,3}", any::<bool>()).prop_map(|(stream, status, name, value, ends)|
            head(END_HEADERS | u8::from(ends), stream, status, &[(name, &value)])),
        4 => (stream(), flags(), vec(any::<u8>(), 0..60)).prop_map(|(stream, flags, bytes)| data(flags, stream, &bytes)),
        1 => (stream(), vec(any::<u8>(), 0..60)).prop_map(|(stream, bytes)| frame(1, END, stream, &bytes)),
        1 => (stream(), 0_u32..9).prop_map(|(stream, code)| frame(3, 0, stream, &code.to_be_bytes())),
        1 => (stream(), any::<u32>()).prop_map(|(stream, increment)| window_update(stream, increment)),
        1 => (0_u32..9, 0_u32..9).prop_map(|(last, code)| goaway(last, code, b"why")),
        1 => Just(frame(6, 0, 0, b"12345678")),
        1 => (1_u16..8, any::<u32>()).prop_map(|(number, value)| setting(number, value)),
        1 => (any::<u8>(), any::<u8>(), stream(), vec(any::<u8>(), 0..20))
            .prop_map(|(kind, flags, stream, bytes)| frame(kind, flags, stream, &bytes)),
    ]
}

proptest! {
    /// Cuts make no difference: not to what is found, not to the answers, and not to the error.
    #[test]
    fn cuts_make_no_difference(frames in vec(any_frame(), 0..12), cuts in vec(1_usize..50, 1..20)) {
        let bytes = [SETTINGS.to_vec(), frames.concat()].concat();
        let read = |pieces: &[&[u8]]| {
            let (mut connection, mut log, mut error) = (connection(3, &Options::default()), Log::default(), None);
            for piece in pieces {
                let limits = Limits { head: 100, headers: 2, body: 50 };
                error = error.or(connection.input(piece, &limits, &mut log).err());
            }
            (log, error, written(&mut connection), connection.open_streams())
        };
        let mut pieces = Vec::new();
        let (mut rest, mut lengths) = (&bytes[..], cuts.iter().cycle());
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.len().min(*lengths.next().unwrap()));
            pieces.push(piece);
            rest = after;
        }
        prop_assert_eq!(read(&pieces), read(&[&bytes]));
    }
}
