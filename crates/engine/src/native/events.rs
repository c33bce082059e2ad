//! A user whose response is a stream: from its head to its end, event by event.

use std::mem::take;
use std::sync::{Mutex, PoisonError};

use plimsoll_http::{self as http, Decoding, EventFormat, EventSplitter};
use plimsoll_record::{Exchange, Outcome, Recorder, StreamRows};
use plimsoll_scenario::Verdict;

use super::step::Stream;
use super::text::Text;
use super::user::State;
use super::{NativeUsers, OURS};
use crate::call::{ExchangeId, Failure, Finished, Response, Then};
use crate::clock::now;
use crate::engine::{Engine, WakeId};

/// Pieces that are read before other users run, however fast a body arrives.
const STREAK: usize = 16;

/// A stream that is being read.
pub(super) struct Reading {
    id: ExchangeId,
    /// The stamps so far.
    exchange: Exchange,
    head: Response,
    content: Content,
    /// None: the body has no events, because the response is an error or is of another type.
    splitter: Option<EventSplitter>,
    /// Undoes the content coding, if there is one. Never contended: a Python object must be shareable between threads, and
    /// decoders are not.
    decoding: Option<Mutex<Decoding>>,
    /// Bytes of the decoded body so far.
    body: u64,
    /// The wake for the next pieces, while other users run.
    wake: Option<WakeId>,
}

/// What takes the events.
enum Content {
    Events {
        rows: Option<StreamRows>,
        /// Arrival of the last event.
        previous: Option<u64>,
    },
    Text(Text),
}

impl std::fmt::Debug for Reading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reading").field("id", &self.id).field("body", &self.body).finish_non_exhaustive()
    }
}

impl NativeUsers {
    /// Handles the head of a stream. Takes the response.
    #[inline(never)]
    pub(super) fn stream_begins(&mut self, engine: &mut Engine, recorder: &mut Recorder, finished: &mut Finished) {
        let place = (finished.token & OURS) as usize;
        let step = &self.steps[self.users[place].session.step().index()];
        if step.is_socket {
            return self.socket_opens(engine, recorder, finished);
        }
        let (Ok(head), Some(stream)) = (finished.result.as_mut().map(take), step.stream.as_deref().copied()) else {
            return;
        };
        if let Some(parts) = &head.timing {
            recorder.parts(step.endpoint, parts, finished.exchange.arrival);
        }
        if step.timeout > 0 {
            engine.end_by(finished.id, finished.exchange.sent + step.timeout);
        }
        let limit = self.rules.max_decoded;
        let has_events = head.status < 400 && wrong_type(stream, head.head()).is_none();
        let coding = http::header(head.head(), "content-encoding");
        let mut reading = Reading {
            id: finished.id,
            exchange: finished.exchange,
            content: match stream {
                Stream::Events(_, rows) => Content::Events { rows, previous: None },
                Stream::Text(rows, objectives) => Content::Text(Text::new(rows, objectives)),
            },
            splitter: has_events.then(|| EventSplitter::new(stream.format(), limit)),
            decoding: coding.map(|coding| Mutex::new(Decoding::new(coding, u64::MAX))),
            body: 0,
            wake: None,
            head,
        };
        let is_open = reading.head.open;
        let begun = reading.begin(recorder, is_open);
        self.users[place].state = State::Streaming;
        self.reading.insert(place, reading);
        match begun {
            Err(failure) => self.break_off(engine, recorder, place, &failure),
            Ok(()) if is_open => self.read_on(engine, recorder, place),
            Ok(()) => self.stream_ends(engine, recorder, place),
        }
    }

    /// Reads what has arrived.
    pub(super) fn read_on(&mut self, engine: &mut Engine, recorder: &mut Recorder, place: usize) {
        let token = self.mark | place as u64;
        let Some(reading) = self.reading.get_mut(&place) else { return };
        reading.wake = None;
        for _ in 0..STREAK {
            // Without a piece, the engine wakes the user with this token.
            let Some(piece) = engine.read(reading.id, token) else { return };
            reading.exchange = piece.exchange;
            let is_end = piece.then == Then::End;
            let split = reading.split(recorder, &piece.bytes, is_end);
            match (split, piece.then) {
                (Err(failure), _) => return self.break_off(engine, recorder, place, &failure),
                (Ok(()), Then::More) => {}
                (Ok(()), Then::End) => return self.stream_ends(engine, recorder, place),
                (Ok(()), Then::Failed(failure)) => return self.stream_fails(engine, recorder, place, &failure),
            }
        }
        reading.wake = Some(engine.wake(token, now()));
    }

    /// Cancels a stream that is being read, and records it.
    pub(super) fn cancel_stream(&mut self, engine: &mut Engine, recorder: &mut Recorder, place: usize) {
        let Some(mut reading) = self.reading.remove(&place) else { return };
        if let Some(wake) = reading.wake {
            engine.cancel_wake(wake);
        }
        engine.hang_up(reading.id);
        reading.stop(now());
        let step = &self.steps[self.users[place].session.step().index()];
        step.faulty(recorder, &reading.exchange, Outcome::Cancelled, reading.body, "");
    }

    /// Ends a stream whose body cannot be read.
    #[cold]
    fn break_off(&mut self, engine: &mut Engine, recorder: &mut Recorder, place: usize, failure: &Failure) {
        if let Some(reading) = self.reading.get_mut(&place) {
            engine.hang_up(reading.id);
        }
        self.stream_fails(engine, recorder, place, failure);
    }

    #[cold]
    fn stream_fails(&mut self, engine: &mut Engine, recorder: &mut Recorder, place: usize, failure: &Failure) {
        let Some(reading) = self.reading.remove(&place) else { return };
        let step = &self.steps[self.users[place].session.step().index()];
        step.failed(recorder, &reading.exchange, failure);
        self.advance(engine, recorder, place, reading.exchange.read);
    }

    /// Checks and records a complete stream, and continues the user.
    fn stream_ends(&mut self, engine: &mut Engine, recorder: &mut Recorder, place: usize) {
        let Some(Reading { mut exchange, head, body, content, .. }) = self.reading.remove(&place) else { return };
        exchange.status = head.status;
        let session = &mut self.users[place].session;
        let step = &self.steps[session.step().index()];
        let verdict = self.player.judge(session, head.status, head.head(), &[], exchange.times().response);
        let text = if let Content::Text(text) = &content { Some(text) } else { None };
        let wrong = step.stream.as_deref().and_then(|stream| wrong_type(*stream, head.head()));
        match (verdict, wrong.or_else(|| text.and_then(Text::wrong))) {
            (Verdict::Success, None) => {
                recorder.exchange(step.endpoint, &exchange, Outcome::Success, body);
                if let Some(text) = text {
                    text.end(recorder, &exchange, body);
                }
            }
            (Verdict::Http(message), _) => step.faulty(recorder, &exchange, Outcome::Http, body, &message),
            (Verdict::Assertion(message), _) | (Verdict::Success, Some(message)) => {
                step.faulty(recorder, &exchange, Outcome::Assertion, body, &message);
            }
        }
        self.advance(engine, recorder, place, exchange.read);
    }
}

impl Reading {
    /// Takes the part of the body that came with the head.
    fn begin(&mut self, recorder: &mut Recorder, is_open: bool) -> Result<(), Failure> {
        let body = self.head.bytes.split_off(self.head.head);
        self.split(recorder, &body, !is_open)
    }

    /// Records the events that end in these bytes. `is_end`: of the body.
    fn split(&mut self, recorder: &mut Recorder, bytes: &[u8], is_end: bool) -> Result<(), Failure> {
        let Reading { decoding, splitter, exchange, content, body, .. } = self;
        let mut each = |event: http::Event<'_>| match content {
            Content::Text(text) => text.event(recorder, exchange, event.data),
            Content::Events { rows, previous } => {
                if let Some(rows) = *rows {
                    recorder.event(rows, exchange, *previous, event.data.len() as u64);
                }
                *previous = Some(exchange.arrival);
            }
        };
        let mut feed = |bytes: &[u8]| {
            *body += bytes.len() as u64;
            let Some(splitter) = splitter.as_mut() else { return Ok(()) };
            splitter.feed(bytes, &mut each).map_err(|error| Failure::new(Outcome::Protocol, error.to_string()))
        };
        match decoding {
            None => feed(bytes)?,
            Some(decoding) => {
                let decoding = decoding.get_mut().unwrap_or_else(PoisonError::into_inner);
                decoding.push(bytes);
                if is_end {
                    decoding.end();
                }
                let damaged =
                    |error: http::DecodeError| Failure::new(Outcome::Protocol, format!("content coding: {error}"));
                while let Some(decoded) = decoding.pull().map_err(damaged)? {
                    feed(&decoded)?;
                }
            }
        }
        if is_end && let Some(splitter) = splitter {
            splitter.end(&mut each);
        }
        Ok(())
    }

    /// The exchange ends at `now` without its end.
    fn stop(&mut self, now: u64) {
        self.exchange.arrival = now;
        self.exchange.read = now;
    }
}

/// Why a response with this head has no events of this format.
fn wrong_type(stream: Stream, head: &[u8]) -> Option<String> {
    let given = http::header(head, "content-type").unwrap_or_default();
    let essence = given.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
    if stream.format() == EventFormat::Lines || essence.eq_ignore_ascii_case(b"text/event-stream") {
        return None;
    }
    let given = if essence.is_empty() { "missing".into() } else { String::from_utf8_lossy(essence) };
    let hint = if matches!(stream, Stream::Text(..)) { "; does the request say \"stream\": true?" } else { "" };
    Some(format!("the Content-Type is {given} and not text/event-stream{hint}"))
}
