//! The rules of the response decoder, one per test.

use crate::transcript::{Event, Method, Transcript, transcript};
use plimsoll_http::{Decoder, Done, Heads, Limits, ProtocolError};

const KEPT: Done = Done { keep_alive: true };
const CLOSED: Done = Done { keep_alive: false };

/// The same transcript for the whole input and for single bytes.
fn decode_with(limits: &Limits, method: Method, input: &[u8], closed: bool) -> Transcript {
    let whole = transcript(limits, method, [input], closed);
    assert_eq!(transcript(limits, method, input.chunks(1), closed), whole, "{}", input.escape_ascii());
    whole
}

fn decode(input: &str) -> Transcript {
    decode_with(&Limits::default(), Method::Get, input.as_bytes(), false)
}

fn body(transcript: &Transcript) -> &[u8] {
    let mut bodies = transcript.events.iter().filter_map(|event| match event {
        Event::Body(body) => Some(body.as_slice()),
        _ => None,
    });
    bodies.next().unwrap_or_default()
}

fn statuses(transcript: &Transcript) -> Vec<u16> {
    let status = |event: &Event| match *event {
        Event::Interim(status) | Event::Head { status, .. } => Some(status),
        Event::Body(_) | Event::Trailers(_) => None,
    };
    transcript.events.iter().filter_map(status).collect()
}

#[track_caller]
fn assert_body(input: &str, expected: &str, end: Done) {
    let got = decode(input);
    assert_eq!(body(&got).escape_ascii().to_string(), expected, "{input:?}");
    assert_eq!(got.end, Ok(Some(end)), "{input:?}");
    assert_eq!(got.consumed, input.len(), "{input:?}");
}

#[track_caller]
fn assert_error(input: &str, error: ProtocolError) {
    assert_eq!(decode(input).end, Err(error), "{input:?}");
}

#[test]
fn a_head_is_handed_over_with_its_bytes() {
    let head = "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nX: y\r\n\r\n";
    let got = decode(&format!("{head}ok"));
    let raw = head.as_bytes().to_vec();
    assert_eq!(got.events[0], Event::Head { status: 404, minor: 1, raw, content_length: Some(2) });
}

#[test]
fn content_length_sets_the_end_of_a_body() {
    assert_body("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello", KEPT);
    assert_body("HTTP/1.1 200 OK\r\ncontent-length:0005 \r\n\r\nhello", "hello", KEPT);
    assert_body("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "", KEPT);
}

#[test]
fn bytes_behind_a_response_are_left_alone() {
    for response in [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n\r\n",
        "HTTP/1.1 204 No Content\r\n\r\n",
    ] {
        let got = decode(&format!("{response}HTTP/1.1 200 OK\r\n\r\n"));
        assert_eq!((got.consumed, got.end), (response.len(), Ok(Some(KEPT))), "{response:?}");
    }
}

#[test]
fn a_length_that_is_no_number_is_an_error() {
    for value in ["", "-1", "+1", "1a", "0x1", "1 2", "1,2", ",", "1.0", "18446744073709551616"] {
        assert_error(&format!("HTTP/1.1 200 OK\r\nContent-Length: {value}\r\n\r\n"), ProtocolError::ContentLength);
    }
}

#[test]
fn a_second_length_must_be_the_same_number() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n";
    assert_body(&format!("{head}content-length: 02\r\n\r\nok"), "ok", KEPT);
    assert_body("HTTP/1.1 200 OK\r\nContent-Length: 2, 02\r\n\r\nok", "ok", KEPT);
    assert_error(&format!("{head}content-length: 3\r\n\r\n"), ProtocolError::ContentLengthConflict);
}

#[test]
fn chunks_are_joined() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (chunks, expected) in [
        ("0\r\n\r\n", ""),
        ("5\r\nhello\r\n0\r\n\r\n", "hello"),
        ("2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", "hello"),
        ("00A\r\n0123456789\r\n000\r\n\r\n", "0123456789"),
        ("a\r\n0123456789\r\n0\r\n\r\n", "0123456789"),
        ("2;name=value\r\nok\r\n0;last\r\n\r\n", "ok"),
        ("2 ; name=\"a;b\"\r\nok\r\n0 \r\n\r\n", "ok"),
        ("2\r\n\r\n\r\n0\r\n\r\n", "\\r\\n"),
        ("2\nok\n0\n\n", "ok"),
        ("2;x\nok\r\n0\n\r\n", "ok"),
    ] {
        assert_body(&format!("{head}{chunks}"), expected, KEPT);
    }
}

#[test]
fn a_chunk_that_is_not_as_it_should_be_is_an_error() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (chunks, error) in [
        ("\r\n", ProtocolError::ChunkSize),
        (";x\r\n", ProtocolError::ChunkSize),
        (" 2\r\nok\r\n", ProtocolError::ChunkSize),
        ("g\r\n", ProtocolError::ChunkSize),
        ("-1\r\n", ProtocolError::ChunkSize),
        ("0x2\r\nok\r\n", ProtocolError::ChunkSize),
        ("2\rok\r\n", ProtocolError::ChunkSize),
        ("10000000000000000\r\n", ProtocolError::ChunkSize),
        ("2\r\nokay\r\n", ProtocolError::ChunkEnd),
        ("2\r\nok\r\r", ProtocolError::ChunkEnd),
        ("2\r\nok \n", ProtocolError::ChunkEnd),
        ("0\r\nno colon\r\n\r\n", ProtocolError::Trailers),
        ("0\r\n folded: x\r\n\r\n", ProtocolError::Trailers),
    ] {
        assert_error(&format!("{head}{chunks}"), error);
    }
}

#[test]
fn trailers_are_handed_over_when_there_are_any() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n";
    for (trailers, expected) in [
        ("\r\n", None),
        ("\n", None),
        ("A: b\r\nC: d\r\n\r\n", Some("A: b\r\nC: d\r\n\r\n")),
        ("A: b\nC: d\n\n", Some("A: b\nC: d\n\n")),
        ("A: b\r\n c\r\n\r\n", Some("A: b   c\r\n\r\n")),
    ] {
        let got = decode(&format!("{head}{trailers}"));
        let raw = expected.map(|raw| Event::Trailers(raw.into()));
        assert_eq!(got.events.get(2), raw.as_ref(), "{trailers:?}");
        assert_eq!(got.end, Ok(Some(KEPT)), "{trailers:?}");
    }
}

#[test]
fn without_length_and_coding_the_body_ends_with_the_connection() {
    for head in ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\n"] {
        let input = format!("{head}hello");
        assert_eq!(decode(&input).end, Ok(None));
        let got = decode_with(&Limits::default(), Method::Get, input.as_bytes(), true);
        assert_eq!((body(&got), &got.end), (&b"hello"[..], &Ok(Some(CLOSED))));
        let got = decode_with(&Limits::default(), Method::Get, head.as_bytes(), true);
        assert_eq!((body(&got), &got.end), (&b""[..], &Ok(Some(CLOSED))));
    }
}

#[test]
fn some_responses_have_no_body_whatever_their_headers_say() {
    let headers = "Content-Length: 5\r\n\r\n";
    for (method, status, end) in [
        (Method::Head, 200, KEPT),
        (Method::Head, 404, KEPT),
        (Method::Get, 204, KEPT),
        (Method::Get, 304, KEPT),
        (Method::Get, 101, CLOSED),
    ] {
        let head = format!("HTTP/1.1 {status} X\r\n{headers}");
        let got = decode_with(&Limits::default(), method, format!("{head}hello").as_bytes(), false);
        assert_eq!((got.consumed, got.end), (head.len(), Ok(Some(end))), "{method:?} {status}");
        assert!(matches!(got.events[..], [Event::Head { content_length: Some(5), .. }]), "{:?}", got.events);
    }
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let got = decode_with(&Limits::default(), Method::Head, chunked.as_bytes(), false);
    assert_eq!((got.consumed, got.end), (chunked.len(), Ok(Some(KEPT))));
}

#[test]
fn a_tunnel_begins_behind_the_head_of_a_2xx_to_connect() {
    let head = "HTTP/1.1 200 Established\r\nContent-Length: nonsense\r\nTransfer-Encoding: chunked\r\n\r\n";
    let got = decode_with(&Limits::default(), Method::Connect, format!("{head}\x16\x03").as_bytes(), false);
    assert_eq!((got.consumed, got.end), (head.len(), Ok(Some(KEPT))));
    let refused = "HTTP/1.1 407 Who are you\r\nContent-Length: 2\r\n\r\nno";
    let got = decode_with(&Limits::default(), Method::Connect, refused.as_bytes(), false);
    assert_eq!((body(&got), got.consumed), (&b"no"[..], refused.len()));
}

#[test]
fn after_a_101_to_a_request_for_it_all_bytes_belong_to_the_other_protocol() {
    let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nContent-Length: 2\r\n\r\n";
    let limits = Limits { body: 3, ..Limits::default() };
    let got = decode_with(&limits, Method::Upgrade, format!("{head}\x00\x01any length").as_bytes(), true);
    assert_eq!(got.events.last(), Some(&Event::Body(b"\x00\x01any length".to_vec())));
    assert_eq!(got.end, Ok(Some(CLOSED)));
    let refused = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    assert_eq!(decode_with(&limits, Method::Upgrade, refused, false).end, Ok(Some(KEPT)));
}

#[test]
fn interim_responses_come_before_the_final_one() {
    let got = decode(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: x\r\n\r\n\
         HTTP/1.1 199 ?\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    );
    assert_eq!(statuses(&got), [100, 103, 199, 200]);
    assert_eq!(got.end, Ok(Some(KEPT)));
}

#[test]
fn a_connection_is_kept_or_not_by_version_and_connection_tokens() {
    for (version, connection, expected) in [
        ("1.1", "X: y", KEPT),
        ("1.1", "Connection: close", CLOSED),
        ("1.1", "connection: Foo , CLOSE,bar", CLOSED),
        ("1.1", "Connection: keep-alive", KEPT),
        ("1.1", "Connection: keep-alive\r\nConnection: close", CLOSED),
        ("1.1", "Connection: closed", KEPT),
        ("1.1", "Proxy-Connection: close", KEPT),
        ("1.0", "X: y", CLOSED),
        ("1.0", "Connection: Keep-Alive", KEPT),
        ("1.0", "Connection: keep-alive, close", CLOSED),
        ("1.0", "Proxy-Connection: keep-alive", CLOSED),
    ] {
        let input = format!("HTTP/{version} 200 OK\r\n{connection}\r\nContent-Length: 0\r\n\r\n");
        assert_eq!(decode(&input).end, Ok(Some(expected)), "{input:?}");
    }
}

#[test]
fn a_transfer_coding_overrides_the_length_but_not_for_a_second_response() {
    let chunks = "\r\n\r\n2\r\nok\r\n0\r\n\r\n";
    for (head, expected) in [
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked", KEPT),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3", CLOSED),
        ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked", CLOSED),
        ("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked", CLOSED),
    ] {
        let got = decode(&format!("{head}{chunks}"));
        assert_eq!((body(&got), &got.end), (&b"ok"[..], &Ok(Some(expected))), "{head:?}");
        assert!(matches!(got.events[0], Event::Head { content_length: None, .. }), "{head:?}");
    }
}

#[test]
fn only_the_last_transfer_coding_decides_about_the_end() {
    for (lines, expected) in [
        ("Transfer-Encoding: gzip, chunked", Some("ok")),
        ("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", Some("ok")),
        ("Transfer-Encoding: chunked, identity", Some("ok")),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", Some("ok")),
        ("Transfer-Encoding: chunked, gzip", None),
        ("Transfer-Encoding: gzip", None),
        ("Transfer-Encoding: chunked;q=1", None),
    ] {
        let input = format!("HTTP/1.1 200 OK\r\n{lines}\r\n\r\n2\r\nok\r\n0\r\n\r\n");
        let got = decode_with(&Limits::default(), Method::Get, input.as_bytes(), true);
        assert_eq!(body(&got), expected.unwrap_or("2\r\nok\r\n0\r\n\r\n").as_bytes(), "{lines:?}");
        assert_eq!(got.end, Ok(Some(Done { keep_alive: expected.is_some() })), "{lines:?}");
    }
    assert_body("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok", "ok", KEPT);
}

#[test]
fn bare_line_feeds_are_tolerated_and_folded_lines_joined() {
    assert_body("HTTP/1.1 200 OK\nContent-Length: 2\n\nok", "ok", KEPT);
    let folded = "HTTP/1.1 200 OK\r\nA: b\r\n\tc\r\nContent-Length:\r\n 2\r\n\r\n";
    let got = decode(&format!("{folded}ok"));
    let raw = b"HTTP/1.1 200 OK\r\nA: b  \tc\r\nContent-Length:   2\r\n\r\n".to_vec();
    assert_eq!(raw.len(), folded.len());
    assert_eq!(got.events[0], Event::Head { status: 200, minor: 1, raw, content_length: Some(2) });
    assert_eq!(body(&got), b"ok");
}

#[test]
fn a_malformed_head_is_an_error_that_says_where() {
    for (head, error) in [
        ("SSH-2.0-OpenSSH", ProtocolError::NotHttp),
        ("HTTQ", ProtocolError::NotHttp),
        ("\r\nHTTP/1.1 200 OK\r\n\r\n", ProtocolError::NotHttp),
        ("HTTP/2.0 200 OK\r\n\r\n", ProtocolError::Version),
        ("HTTP/1.1 20 OK\r\n\r\n", ProtocolError::StatusLine),
        ("HTTP/1.1 2000 OK\r\n\r\n", ProtocolError::StatusLine),
        ("HTTP/1.1 099 OK\r\n\r\n", ProtocolError::StatusLine),
        ("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", ProtocolError::HeaderName),
        ("HTTP/1.1 200 OK\r\nA: b\0c\r\n\r\n", ProtocolError::HeaderValue),
    ] {
        assert_error(head, error);
    }
}

#[test]
fn heads_that_curl_and_requests_read_are_mended() {
    for (head, raw) in [
        ("HTTP/1.2 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n"),
        ("HTTP/1.1  200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n"),
        ("HTTP/1.1 200 a\x01b\r\n\r\n", "HTTP/1.1 200 a b\r\n\r\n"),
        ("HTTP/1.1 200 OK\r\nA : b\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n\r\n"),
        ("HTTP/1.1 200 OK\r\n: b\r\nX(y): c\r\nA: b\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n\r\n"),
        ("HTTP/1.1 200 OK\r\n folded: x\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n"),
        ("HTTP/1.1 200 OK\r\nA: b\rc\x1b\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b c \r\n\r\n"),
    ] {
        let got = decode_with(&Limits::default(), Method::Head, head.as_bytes(), false);
        let raw = raw.as_bytes().to_vec();
        assert_eq!(got.events, [Event::Head { status: 200, minor: 1, raw, content_length: None }], "{head:?}");
        assert_eq!((got.consumed, got.end), (head.len(), Ok(Some(KEPT))), "{head:?}");
    }
    assert_body("HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok", "ok", KEPT);
}

#[test]
fn a_head_of_exactly_the_limit_is_fine_and_one_more_byte_is_not() {
    let input = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    let limits = Limits { head: input.len(), ..Limits::default() };
    assert_eq!(decode_with(&limits, Method::Get, input, false).end, Ok(Some(KEPT)));
    let limits = Limits { head: input.len() - 1, ..limits };
    let limit = limits.head;
    assert_eq!(decode_with(&limits, Method::Get, input, false).end, Err(ProtocolError::HeadTooLarge { limit }));
    let endless = [b"HTTP/1.1 200 OK\r\nA: ".as_slice(), &[b'x'; 100]].concat();
    assert_eq!(decode_with(&limits, Method::Get, &endless, false).end, Err(ProtocolError::HeadTooLarge { limit }));
}

#[test]
fn interim_responses_without_end_run_into_the_limit_on_the_head() {
    let limits = Limits { head: 1000, ..Limits::default() };
    let input = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(41);
    let end = decode_with(&limits, Method::Get, &input, false).end;
    assert_eq!(end, Err(ProtocolError::HeadTooLarge { limit: 1000 }));
}

#[test]
fn header_and_trailer_lines_are_limited() {
    let limits = Limits { headers: 2, ..Limits::default() };
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n";
    let two = format!("{head}A: b\r\n\r\n0\r\nA: b\r\nC: d\r\n\r\n");
    assert_eq!(decode_with(&limits, Method::Get, two.as_bytes(), false).end, Ok(Some(KEPT)));
    for three in [format!("{head}A: b\r\nC: d\r\n\r\n"), format!("{head}\r\n0\r\nA: b\r\nC: d\r\nE: f\r\n\r\n")] {
        let end = decode_with(&limits, Method::Get, three.as_bytes(), false).end;
        assert_eq!(end, Err(ProtocolError::TooManyHeaders { limit: 2 }), "{three:?}");
    }
}

#[test]
fn a_body_of_exactly_the_limit_is_fine_and_one_more_byte_is_not() {
    let limits = Limits { body: 4, ..Limits::default() };
    for (fits, exceeds) in [
        ("Content-Length: 4\r\n\r\n1234", "Content-Length: 5\r\n\r\n12345"),
        (
            "Transfer-Encoding: chunked\r\n\r\n1\r\n1\r\n3\r\n234\r\n0\r\n\r\n",
            "Transfer-Encoding: chunked\r\n\r\n1\r\n1\r\n4\r\n2345\r\n0\r\n\r\n",
        ),
        ("\r\n1234", "\r\n12345"),
    ] {
        let decode = |rest| {
            let input = format!("HTTP/1.1 200 OK\r\n{rest}");
            decode_with(&limits, Method::Get, input.as_bytes(), true)
        };
        assert_eq!(body(&decode(fits)), b"1234", "{fits:?}");
        assert!(decode(fits).end.is_ok(), "{fits:?}");
        assert_eq!(decode(exceeds).end, Err(ProtocolError::BodyTooLarge { limit: 4 }), "{exceeds:?}");
        assert!(body(&decode(exceeds)).len() <= 4, "{exceeds:?}");
    }
}

#[test]
fn chunk_lines_and_trailers_are_limited_as_the_head_is() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let limits = Limits { head: head.len(), ..Limits::default() };
    let limit = limits.head;
    let spaces = " ".repeat(limit);
    for (rest, error) in [
        (format!("2;{spaces}"), ProtocolError::ChunkLineTooLong { limit }),
        (format!("0\r\nA:{spaces}"), ProtocolError::TrailersTooLarge { limit }),
    ] {
        let end = decode_with(&limits, Method::Get, format!("{head}{rest}").as_bytes(), false).end;
        assert_eq!(end, Err(error), "{rest:?}");
    }
    let many = format!("{head}{}0\r\n\r\n", "2;12345678\r\nok\r\n".repeat(limit));
    assert_eq!(decode_with(&limits, Method::Get, many.as_bytes(), false).end, Ok(Some(KEPT)));
}

#[test]
fn an_early_end_of_the_connection_is_an_error_that_says_where() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (input, error) in [
        (String::new(), ProtocolError::ClosedBeforeResponse),
        ("HTTP/1.1 2".into(), ProtocolError::ClosedInHead),
        ("HTTP/1.1 100 Continue\r\n\r\n".into(), ProtocolError::ClosedInHead),
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok".into(), ProtocolError::ClosedInBody { missing: 7 }),
        (format!("{chunked}2\r\no"), ProtocolError::ClosedInChunks),
        (format!("{chunked}2\r\nok\r\n"), ProtocolError::ClosedInChunks),
        (format!("{chunked}0\r\nA: b\r\n"), ProtocolError::ClosedInChunks),
    ] {
        let end = decode_with(&Limits::default(), Method::Get, input.as_bytes(), true).end;
        assert_eq!(end, Err(error), "{input:?}");
    }
}

#[test]
fn one_decoder_serves_many_responses_and_forgets_what_went_before() {
    let mut decoder = Decoder::new();
    let mut heads = Heads::new(Limits::default());
    assert!(!decoder.started());
    for cut in [5, 40] {
        decoder.begin(false);
        assert!(!decoder.started());
        let input = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok";
        decoder.feed(&mut heads, &input[..cut], &mut Ignore).expect("a good beginning");
        assert!(decoder.started());
    }
    for _ in 0..2 {
        decoder.begin(false);
        let input = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
        let fed = decoder.feed(&mut heads, input, &mut Ignore).expect("a good response");
        assert_eq!((fed.consumed, fed.done), (input.len(), Some(KEPT)));
    }
    decoder.begin(false);
    decoder.feed(&mut heads, b"nonsense", &mut Ignore).expect_err("a bad response");
    assert_eq!(decoder.feed(&mut heads, b"more", &mut Ignore).expect("nothing is wanted").consumed, 0);
}

struct Ignore;

impl plimsoll_http::Sink for Ignore {
    fn head(&mut self, _: &plimsoll_http::Head<'_>) {}
    fn body(&mut self, _: &[u8]) {}
}

#[test]
fn a_decoder_is_small_for_there_is_one_per_connection() {
    assert!(size_of::<Decoder>() <= 96, "{}", size_of::<Decoder>());
}

#[test]
fn limits_out_of_range_are_refused() {
    assert_eq!(Limits::new(64 << 10, 128, 1 << 30), Ok(Limits::default()));
    assert!(Limits::new(Limits::MIN_HEAD - 1, 0, 0).is_err());
    assert!(Limits::new(Limits::MIN_HEAD, Limits::MAX_HEADERS + 1, 0).is_err());
    let shortest = Limits::new(Limits::MIN_HEAD, 0, 0).expect("limits in range");
    assert_eq!(decode_with(&shortest, Method::Head, b"HTTP/1.1 200\r\n\r\n", false).end, Ok(Some(KEPT)));
}
