//! The events of one stream: finds them in its body, and records them. For native users and for Python users.

use plimsoll_http::{self as http, Event, EventFormat, EventSplitter, EventTooLong};
use plimsoll_record::{EndpointId, Exchange, Recorder, StreamRows, TokenRows};
use plimsoll_scenario::{self as scenario, Chunk, Objectives};

use crate::text::Text;

/// What a stream has, and where it is recorded. No rows: its name is over the limit of names.
#[derive(Debug, Clone, Copy)]
pub enum EventRows {
    /// Events of any kind.
    Events(EventFormat, Option<StreamRows>),
    /// A chat completion, and what a good request is, if that was given.
    Text(Option<TokenRows>, Option<Objectives>),
}

impl EventRows {
    /// The rows for the streams of this endpoint.
    pub fn new(stream: scenario::Stream, endpoint: EndpointId, recorder: &mut Recorder) -> EventRows {
        match stream {
            scenario::Stream::Events(format) => EventRows::Events(format, recorder.stream_rows(endpoint)),
            scenario::Stream::Text(objectives) => EventRows::Text(recorder.token_rows(endpoint), objectives),
        }
    }

    /// Why a response with this head has no such events.
    pub fn wrong_type(self, head: &[u8]) -> Option<String> {
        let given = http::header(head, "content-type").unwrap_or_default();
        let essence = given.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
        if self.format() == EventFormat::Lines || essence.eq_ignore_ascii_case(b"text/event-stream") {
            return None;
        }
        let given = if essence.is_empty() { "missing".into() } else { String::from_utf8_lossy(essence) };
        let hint = if matches!(self, EventRows::Text(..)) { "; does the request say \"stream\": true?" } else { "" };
        Some(format!("the Content-Type is {given} and not text/event-stream{hint}"))
    }

    fn format(self) -> EventFormat {
        match self {
            EventRows::Events(format, _) => format,
            EventRows::Text(..) => EventFormat::Sse,
        }
    }
}

/// A stream that is being read.
#[derive(Debug)]
pub struct EventReader {
    /// None: the body has no events, because the response is an error or is of another type.
    splitter: Option<EventSplitter>,
    content: Content,
    /// Why the response has no events, although it is no error.
    wrong_type: Option<String>,
    /// Bytes of the decoded body so far.
    body: u64,
}

/// What takes the events.
#[derive(Debug)]
enum Content {
    Events {
        rows: Option<StreamRows>,
        /// Arrival of the last event.
        previous: Option<u64>,
    },
    Text(Text),
}

impl EventReader {
    /// `wrong_type`: as [`EventRows::wrong_type`] says it. `limit`: maximum bytes of an event.
    pub fn new(rows: EventRows, status: u16, wrong_type: Option<String>, limit: u64) -> EventReader {
        let has_events = status < 400 && wrong_type.is_none();
        EventReader {
            splitter: has_events.then(|| EventSplitter::new(rows.format(), limit)),
            content: match rows {
                EventRows::Events(_, rows) => Content::Events { rows, previous: None },
                EventRows::Text(rows, objectives) => Content::Text(Text::new(rows, objectives)),
            },
            wrong_type,
            body: 0,
        }
    }

    /// Records the events that end in these bytes of the decoded body, and passes them to `each`; the mark at the end of
    /// a chat completion is not passed. `exchange`: the stamps of the request, with the arrival of these bytes.
    pub fn feed(
        &mut self,
        recorder: &mut Recorder,
        exchange: &Exchange,
        bytes: &[u8],
        each: &mut dyn FnMut(&Event<'_>),
    ) -> Result<(), EventTooLong> {
        self.body += bytes.len() as u64;
        let EventReader { splitter, content, .. } = self;
        let Some(splitter) = splitter else { return Ok(()) };
        splitter.feed(bytes, &mut |event| content.event(recorder, exchange, &event, each))
    }

    /// The body is complete: the same with the event that ends with it.
    pub fn end(&mut self, recorder: &mut Recorder, exchange: &Exchange, each: &mut dyn FnMut(&Event<'_>)) {
        let EventReader { splitter, content, .. } = self;
        if let Some(splitter) = splitter {
            splitter.end(&mut |event| content.event(recorder, exchange, &event, each));
        }
    }

    /// Why the complete stream is not what it should be.
    pub fn wrong(&self) -> Option<String> {
        self.wrong_type.clone().or_else(|| if let Content::Text(text) = &self.content { text.wrong() } else { None })
    }

    /// Records what is known at the end of a stream whose request is a success.
    pub fn succeed(&self, recorder: &mut Recorder, exchange: &Exchange) {
        if let Content::Text(text) = &self.content {
            text.end(recorder, exchange, self.body);
        }
    }

    /// Bytes in memory: of the event whose end has not arrived.
    pub fn unfinished(&self) -> usize {
        self.splitter.as_ref().map_or(0, EventSplitter::unfinished)
    }

    /// Bytes of the decoded body so far.
    pub fn body(&self) -> u64 {
        self.body
    }
}

impl Content {
    fn event(
        &mut self,
        recorder: &mut Recorder,
        exchange: &Exchange,
        event: &Event<'_>,
        each: &mut dyn FnMut(&Event<'_>),
    ) {
        match self {
            Content::Text(text) => {
                text.event(recorder, exchange, event.data);
                if Chunk::is_done(event.data) {
                    return;
                }
            }
            Content::Events { rows, previous } => {
                if let Some(rows) = *rows {
                    recorder.event(rows, exchange, *previous, event.data.len() as u64);
                }
                *previous = Some(exchange.arrival);
            }
        }
        each(event);
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_http::EventFormat;
    use plimsoll_record::{Exchange, Recorder};
    use plimsoll_scenario::{Objectives, Stream};

    use super::{EventReader, EventRows};

    const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\n";
    const OBJECTIVES: Objectives = Objectives { first_token: 20, time_per_token: u64::MAX, time: 40 };

    fn at(arrival: u64) -> Exchange {
        Exchange { arrival, read: arrival, ..Exchange::default() }
    }

    /// Feeds pieces, of which each arrives 10 ns after the one before it. Returns the data of the events that were
    /// passed, why the stream is wrong, and the rows with their counts.
    fn read(
        stream: Stream,
        status: u16,
        head: &[u8],
        pieces: &[&str],
    ) -> (Vec<String>, Option<String>, Vec<(String, u64)>) {
        let mut recorder = Recorder::new(0);
        let request = recorder.endpoint("POST", "chat");
        let rows = EventRows::new(stream, request, &mut recorder);
        let mut reader = EventReader::new(rows, status, rows.wrong_type(head), 1000);
        let (mut passed, mut arrival) = (Vec::new(), 0);
        for piece in pieces {
            arrival += 10;
            let mut each =
                |event: &plimsoll_http::Event<'_>| passed.push(String::from_utf8(event.data.to_vec()).unwrap());
            reader.feed(&mut recorder, &at(arrival), piece.as_bytes(), &mut each).unwrap();
        }
        reader.end(&mut recorder, &at(arrival), &mut |event| {
            passed.push(String::from_utf8(event.data.to_vec()).unwrap());
        });
        assert_eq!(reader.body(), pieces.iter().map(|piece| piece.len() as u64).sum::<u64>());
        if reader.wrong().is_none() {
            reader.succeed(&mut recorder, &at(arrival));
        }
        let cells = recorder.take(None).cells;
        let mut counts: Vec<_> =
            cells.iter().map(|(_, id, _, cell)| (recorder.name(*id).unwrap().0.to_owned(), cell.count)).collect();
        counts.sort_unstable();
        (passed, reader.wrong(), counts)
    }

    fn counts(rows: &[(&str, u64)]) -> Vec<(String, u64)> {
        rows.iter().map(|(row, count)| ((*row).to_owned(), *count)).collect()
    }

    #[test]
    fn a_completion_is_recorded_and_the_mark_of_its_end_is_not_passed() {
        let word = r#"data: {"choices": [{"delta": {"content": "Hi"}}]}"#;
        let usage = r#"data: {"choices": [], "usage": {"completion_tokens": 7}}"#;
        let stream = Stream::Text(Some(OBJECTIVES));
        let ends = format!("{usage}\n\ndata: [DONE]\n\n");
        let (passed, wrong, rows) = read(stream, 200, HEAD, &[word, "\n\n", word, &format!("\n\n{ends}")]);
        assert_eq!((passed.len(), wrong), (3, None));
        let expected =
            [("each chunk", 2), ("each token", 7), ("first event", 1), ("first token", 1), ("good request", 1)];
        assert_eq!(rows, counts(&expected));
        let (.., rows) = read(stream, 200, HEAD, &[word, "\n\n", word, "\n\n", "\n"]);
        let expected = [("each chunk", 2), ("first event", 1), ("first token", 1), ("token by chunk", 2)];
        assert_eq!(rows, counts(&expected), "it ends after 50 ns, and has no usage");
    }

    #[test]
    fn other_streams_pass_every_event_and_a_line_without_end_is_one() {
        let (passed, wrong, rows) = read(Stream::Events(EventFormat::Lines), 200, b"", &["a\n[DO", "NE]\nb"]);
        assert_eq!((passed, wrong), (vec!["a".to_owned(), "[DONE]".to_owned(), "b".to_owned()], None));
        assert_eq!(rows, counts(&[("each event", 3), ("first event", 1)]));
    }

    #[test]
    fn errors_and_other_types_have_no_events() {
        let json = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";
        let (passed, wrong, rows) = read(Stream::Text(None), 200, json, &["data: {}\n\n"]);
        assert_eq!((passed.len(), rows.len()), (0, 0));
        assert!(wrong.unwrap().ends_with("not text/event-stream; does the request say \"stream\": true?"));
        let (passed, _, rows) = read(Stream::Events(EventFormat::Sse), 503, HEAD, &["data: {}\n\n"]);
        assert_eq!((passed.len(), rows.len()), (0, 0));
    }
}
