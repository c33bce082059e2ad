//! Feeds bytes to a decoder in pieces and records its output. Shared with the fuzz targets.

use plimsoll_http::{Decoder, Done, Head, Heads, Limits, ProtocolError, Sink};

/// The kind of request that a response belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Head,
    Connect,
    Upgrade,
}

/// What a [`Sink`] received. Adjacent pieces of the body are joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    Interim(u16),
    Head { status: u16, minor: u8, raw: Vec<u8>, content_length: Option<u64> },
    Body(Vec<u8>),
    Trailers(Vec<u8>),
}

/// Everything observable about one response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Transcript {
    pub(crate) events: Vec<Event>,
    /// Bytes of the input that belong to the response.
    pub(crate) consumed: usize,
    /// `None`: the response is incomplete.
    pub(crate) end: Result<Option<Done>, ProtocolError>,
}

#[derive(Default)]
struct Events(Vec<Event>);

impl Sink for Events {
    fn interim(&mut self, status: u16) {
        self.0.push(Event::Interim(status));
    }

    fn head(&mut self, head: &Head<'_>) {
        let Head { status, minor, raw, content_length, .. } = *head;
        self.0.push(Event::Head { status, minor, raw: raw.to_vec(), content_length });
    }

    fn body(&mut self, chunk: &[u8]) {
        assert!(!chunk.is_empty(), "a piece of a body is never empty");
        match self.0.last_mut() {
            Some(Event::Body(body)) => body.extend_from_slice(chunk),
            _ => self.0.push(Event::Body(chunk.to_vec())),
        }
    }

    fn trailers(&mut self, raw: &[u8]) {
        self.0.push(Event::Trailers(raw.to_vec()));
    }
}

/// Decodes one response that arrives in these pieces, followed by the end of the connection if `closed`.
pub(crate) fn transcript<'a>(
    limits: &Limits,
    method: Method,
    pieces: impl IntoIterator<Item = &'a [u8]>,
    closed: bool,
) -> Transcript {
    let (mut heads, pieces) = (Heads::new(*limits), Vec::from_iter(pieces));
    let first = decode(&mut heads, method, &pieces, closed);
    assert_eq!(decode(&mut heads, method, &pieces, closed), first, "its head is known now");
    first
}

fn decode(heads: &mut Heads, method: Method, pieces: &[&[u8]], closed: bool) -> Transcript {
    let mut decoder = Decoder::new();
    match method {
        Method::Connect => decoder.begin_connect(),
        Method::Upgrade => decoder.begin_upgrade(),
        other => decoder.begin(other == Method::Head),
    }
    let mut events = Events::default();
    let mut consumed = 0;
    for piece in pieces {
        match decoder.feed(heads, piece, &mut events) {
            Ok(fed) => {
                assert!(fed.consumed <= piece.len());
                assert!(fed.done.is_some() || fed.consumed == piece.len(), "an unfinished response takes every byte");
                consumed += fed.consumed;
                assert_eq!(decoder.started(), consumed > 0);
                if fed.done.is_some() {
                    let more = decoder.feed(heads, b"more", &mut events).expect("a finished response wants nothing");
                    assert_eq!((more.consumed, more.done), (0, None));
                    return Transcript { events: events.0, consumed, end: Ok(fed.done) };
                }
            }
            Err(error) => return Transcript { events: events.0, consumed: 0, end: Err(error) },
        }
    }
    let end = if closed { decoder.eof().map(Some) } else { Ok(None) };
    Transcript { events: events.0, consumed, end }
}

/// Cuts `bytes` at these positions, in any order. Positions after the end are ignored.
pub(crate) fn cut<'a>(bytes: &'a [u8], places: &[usize]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = places.iter().map(|&place| place.min(bytes.len())).collect();
    places.sort_unstable();
    places.push(bytes.len());
    let starts = std::iter::once(0).chain(places.iter().copied());
    starts.zip(&places).map(|(start, &end)| &bytes[start..end]).collect()
}
