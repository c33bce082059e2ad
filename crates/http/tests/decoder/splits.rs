//! Properties of generated responses: the decoder's result is correct for any split of the bytes.

use plimsoll_http::{Done, Limits};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::transcript::{Event, Method, Transcript, cut, transcript};

/// The bytes of a response, and the expected result.
#[derive(Debug, Clone)]
struct Case {
    bytes: Vec<u8>,
    expected: Transcript,
    /// The body ends with the connection.
    closed: bool,
}

/// How a body ends, with its bytes and its meaning.
#[derive(Debug, Clone)]
enum Framing {
    Length(Vec<u8>),
    Chunked { chunks: Vec<(Vec<u8>, &'static str)>, trailers: Vec<u8> },
    UntilClose(Vec<u8>),
}

impl Framing {
    fn header(&self) -> String {
        match self {
            Self::Length(body) => format!("Content-Length: {}", body.len()),
            Self::Chunked { .. } => "Transfer-Encoding: chunked".into(),
            Self::UntilClose(_) => "X-Framing: none".into(),
        }
    }

    fn content_length(&self) -> Option<u64> {
        if let Self::Length(body) = self { Some(body.len() as u64) } else { None }
    }

    fn body(&self) -> Vec<u8> {
        match self {
            Self::Length(body) | Self::UntilClose(body) => body.clone(),
            Self::Chunked { chunks, .. } => chunks.iter().flat_map(|(data, _)| data.clone()).collect(),
        }
    }

    fn wire(&self) -> Vec<u8> {
        let Self::Chunked { chunks, trailers } = self else {
            return self.body();
        };
        let mut wire = Vec::new();
        for (data, extension) in chunks {
            wire.extend(format!("{:x}{extension}\r\n", data.len()).bytes());
            wire.extend([data, b"\r\n".as_slice()].concat());
        }
        [&wire, b"0\r\n".as_slice(), trailers].concat()
    }

    fn trailers(&self) -> Option<Vec<u8>> {
        match self {
            Self::Chunked { trailers, .. } if trailers != b"\r\n" => Some(trailers.clone()),
            _ => None,
        }
    }
}

fn bytes(lengths: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u8>> {
    // Mostly bytes with a special meaning in HTTP.
    vec(prop_oneof![4 => select(b"\r\n0123456789af:; H".as_slice()), 1 => any::<u8>()], lengths)
}

fn framing() -> impl Strategy<Value = Framing> {
    let extension = select(["", ";a", "; a=\"b;c\"", "  "].as_slice());
    let trailers = select(["\r\n", "A: b\r\n\r\n", "A:\nB: c\n\n"].as_slice());
    prop_oneof![
        bytes(0..80).prop_map(Framing::Length),
        (vec((bytes(1..40), extension), 0..5), trailers)
            .prop_map(|(chunks, trailers)| Framing::Chunked { chunks, trailers: trailers.into() }),
        bytes(0..80).prop_map(Framing::UntilClose),
    ]
}

fn case(method: Method) -> impl Strategy<Value = Case> {
    let interim = vec((select([100_u16, 102, 103].as_slice()), select(["", "Link: </a>\r\n"].as_slice())), 0..3);
    let status = select([200_u16, 201, 204, 302, 304, 404, 500, 999].as_slice());
    let line = select(
        ["Server: x", "Connection: close", "Connection: keep-alive", "Set-Cookie: a=\"b\"", "Empty:", "X-Y:\t \u{fc} "]
            .as_slice(),
    );
    let line_break = select(["\r\n", "\n"].as_slice());
    (interim, 0..=1_u8, status, vec(line, 0..6), framing(), line_break, bytes(0..10)).prop_map(
        move |(interim, minor, status, lines, framing, line_break, behind)| {
            let mut wire = Vec::new();
            let mut events = Vec::new();
            for (status, link) in interim {
                wire.extend(format!("HTTP/1.1 {status} Wait\r\n{link}\r\n").bytes());
                events.push(Event::Interim(status));
            }
            let framing_line = framing.header();
            let all = lines.iter().copied().chain([framing_line.as_str(), ""]);
            let head: String =
                all.fold(format!("HTTP/1.{minor} {status} \u{fc}"), |head, line| head + line_break + line);
            let raw = (head + line_break).into_bytes();
            wire.extend(&raw);
            events.push(Event::Head { status, minor, raw, content_length: framing.content_length() });

            let bodiless = method == Method::Head || matches!(status, 204 | 304);
            let closed = !bodiless && matches!(framing, Framing::UntilClose(_));
            if !bodiless {
                wire.extend(framing.wire());
                events.extend(Some(framing.body()).filter(|body| !body.is_empty()).map(Event::Body));
                events.extend(framing.trailers().map(Event::Trailers));
            }
            let keep_alive = !closed
                && !lines.contains(&"Connection: close")
                && (minor == 1
                    || (lines.contains(&"Connection: keep-alive") && !matches!(framing, Framing::Chunked { .. })));
            let consumed = wire.len();
            if !closed {
                wire.extend(behind);
            }
            let expected = Transcript { events, consumed, end: Ok(Some(Done { keep_alive })) };
            Case { bytes: wire, expected, closed }
        },
    )
}

/// Positions of the cuts.
fn places(indices: &[Index], length: usize) -> Vec<usize> {
    indices.iter().map(|index| index.index(length + 1)).collect()
}

proptest! {
    #[test]
    fn a_response_means_what_it_was_built_from(case in case(Method::Get), indices in vec(any::<Index>(), 0..12)) {
        let pieces = cut(&case.bytes, &places(&indices, case.bytes.len()));
        prop_assert_eq!(transcript(&Limits::default(), Method::Get, pieces, case.closed), case.expected);
    }

    #[test]
    fn a_response_to_head_ends_with_its_head(case in case(Method::Head), indices in vec(any::<Index>(), 0..12)) {
        let pieces = cut(&case.bytes, &places(&indices, case.bytes.len()));
        prop_assert_eq!(transcript(&Limits::default(), Method::Head, pieces, case.closed), case.expected);
    }

    #[test]
    fn a_damaged_response_means_the_same_in_pieces_as_in_one(
        case in case(Method::Get),
        damage in vec((any::<Index>(), select(b"\r\n0f:; \t\0".as_slice())), 0..4),
        end in any::<Index>(),
        closed in any::<bool>(),
        indices in vec(any::<Index>(), 0..12),
        limits in (16..200_usize, 0..8_usize, 0..100_u64),
    ) {
        let mut bytes = case.bytes;
        for (index, byte) in damage {
            let place = index.index(bytes.len());
            bytes[place] = byte;
        }
        bytes.truncate(end.index(bytes.len() + 1));
        let (head, headers, body) = limits;
        let limits = Limits { head, headers, body };
        let whole = transcript(&limits, Method::Get, [bytes.as_slice()], closed);
        let pieces = cut(&bytes, &places(&indices, bytes.len()));
        prop_assert_eq!(transcript(&limits, Method::Get, pieces, closed), whole.clone());
        prop_assert_eq!(transcript(&limits, Method::Get, bytes.chunks(1), closed), whole);
    }
}
