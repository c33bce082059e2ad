//! Any bytes, split anywhere, as a response: no panic, the same result as in one piece, limits are kept, and the head
//! is what httparse itself returns, or was mended to be one that it takes.

#![no_main]

use httparse::{EMPTY_HEADER, ParserConfig, Response, Status};
use libfuzzer_sys::fuzz_target;
use plimsoll_http::{Limits, ProtocolError, headers};

use transcript::{Event, Method, Transcript, cut, transcript};

#[path = "../../crates/http/tests/decoder/transcript.rs"]
mod transcript;

fuzz_target!(|input: &[u8]| {
    // fuzz/README.md describes this layout.
    let [settings, lengths @ .., b'\n'] = input.get(..5).unwrap_or_default() else { return };
    let response = &input[5..];
    let method = [Method::Get, Method::Head, Method::Connect, Method::Upgrade][usize::from(settings & 3)];
    let closed = settings & 4 != 0;
    let tight = Limits { head: 64, headers: 4, body: 32 };
    let limits = if settings & 8 != 0 { tight } else { Limits::default() };

    let whole = transcript(&limits, method, [response], closed);
    let pieces = cut(response, &places(lengths, response.len()));
    assert_eq!(transcript(&limits, method, pieces, closed), whole, "in pieces");
    assert_eq!(transcript(&limits, method, response.chunks(1), closed), whole, "in bytes");
    check_limits(&limits, &whole);
    check_head(&limits, response, &whole);
});

/// The ends of pieces with these lengths, repeated from the first.
fn places(lengths: &[u8], length: usize) -> Vec<usize> {
    let mut place = 0;
    let steps = lengths.iter().cycle().map(|&step| usize::from(step.max(1)));
    let places = steps.map(|step| {
        place += step;
        place
    });
    places.take_while(|&place| place < length).collect()
}

fn check_limits(limits: &Limits, got: &Transcript) {
    // After a switch of protocols, what follows has no limit here.
    let switched = got.events.iter().any(|event| matches!(event, Event::Head { status: 101, .. }));
    for event in &got.events {
        match event {
            Event::Interim(status) => assert!((100..200).contains(status)),
            Event::Head { raw, .. } => {
                assert!(raw.len() <= limits.head);
                assert!(headers(raw).len() <= limits.headers);
            }
            Event::Body(body) => assert!(switched || body.len() as u64 <= limits.body),
            Event::Trailers(raw) => assert!(raw.len() <= limits.head),
        }
    }
}

/// Compares the first head with httparse's result for the same bytes.
fn check_head(limits: &Limits, response: &[u8], got: &Transcript) {
    if !response.starts_with(b"HTTP/") {
        assert!(got.events.is_empty());
        return;
    }
    let mut slots = [EMPTY_HEADER; Limits::MAX_HEADERS];
    let mut direct = Response::new(&mut slots[..limits.headers]);
    let mut config = ParserConfig::default();
    config.allow_obsolete_multiline_headers_in_responses(true);
    match (config.parse_response(&mut direct, response), got.events.first()) {
        (Ok(Status::Complete(length)), Some(&Event::Interim(status))) => {
            assert!(length <= limits.head);
            assert_eq!(direct.code, Some(status));
        }
        (Ok(Status::Complete(length)), Some(Event::Head { status, minor, raw, .. })) => {
            assert_eq!((raw.len(), Some(*status), Some(*minor)), (length, direct.code, direct.version));
            let same = |(ours, theirs): (&(&[u8], &[u8]), &httparse::Header<'_>)| {
                ours.0 == theirs.name.as_bytes() && ours.1 == unfolded(theirs.value)
            };
            assert_eq!(headers(raw).len(), direct.headers.len());
            assert!(headers(raw).iter().zip(direct.headers.iter()).all(same));
        }
        (Ok(Status::Complete(length)), None) => assert!(
            length > limits.head
                || direct.code.is_some_and(|code| code < 100)
                || matches!(
                    got.end,
                    Err(ProtocolError::ContentLength
                        | ProtocolError::ContentLengthConflict
                        | ProtocolError::BodyTooLarge { .. })
                ),
            "httparse takes this head, we say {:?}",
            got.end
        ),
        // A head that is mended is one that httparse takes.
        (Err(_), Some(Event::Head { raw, .. })) => {
            let mut slots = [EMPTY_HEADER; Limits::MAX_HEADERS];
            let again = Response::new(&mut slots).parse(raw);
            assert_eq!(again, Ok(Status::Complete(raw.len())));
        }
        (Err(_), Some(Event::Interim(_)) | None) | (Ok(Status::Partial), None) => {}
        (_, Some(other)) => panic!("{other:?} before the head"),
    }
}

/// Joins folded lines like the decoder; httparse returns them unchanged.
fn unfolded(value: &[u8]) -> Vec<u8> {
    let blank = |&byte: &u8| if matches!(byte, b'\r' | b'\n') { b' ' } else { byte };
    value.trim_ascii().iter().map(blank).collect()
}
