//! A user whose response is a stream: from its head to its end, event by event.

use std::mem::take;
use std::sync::{Mutex, PoisonError};

use plimsoll_http::{self as http, Decoding};
use plimsoll_record::{Exchange, Outcome, Recorder};
use plimsoll_scenario::{Reply, Verdict};

use super::sockets::TURN;
use super::user::State;
use super::{NativeUsers, OURS};
use crate::bodies::Held;
use crate::call::{ExchangeId, Failure, Finished, Response, Then};
use crate::clock::now;
use crate::engine::{Engine, WakeId};
use crate::event_reader::EventReader;
use crate::protocol::unkept;
use crate::reply_reader::ReplyReader;

/// Pieces that are read before other users run, however fast a body arrives.
const STREAK: usize = 16;

/// A stream that is being read.
pub(super) struct Reading {
    id: ExchangeId,
    /// The stamps so far.
    exchange: Exchange,
    head: Response,
    reader: Reader,
    /// The memory of what the reader keeps.
    held: Held,
    /// Undoes the content coding, if there is one. Never contended: a Python object must be shareable between threads, and
    /// decoders are not.
    decoding: Option<Mutex<Decoding>>,
    /// The wake for the next pieces, while other users run.
    wake: Option<WakeId>,
}

/// What finds the parts of the body, and records them.
#[derive(Debug)]
enum Reader {
    Events(EventReader),
    Replies(ReplyReader),
}

impl std::fmt::Debug for Reading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reading").field("id", &self.id).field("reader", &self.reader).finish_non_exhaustive()
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
        let Ok(head) = finished.result.as_mut().map(take) else { return };
        if let Some(parts) = &head.timing {
            recorder.parts(step.endpoint, parts, finished.exchange.arrival);
        }
        if step.timeout > 0 {
            engine.end_by(finished.id, finished.exchange.sent + step.timeout);
        }
        let limit = self.rules.max_decoded;
        let reader = match step.stream.as_deref().copied() {
            Some(rows) => Reader::Events(EventReader::new(rows, head.status, rows.wrong_type(head.head()), limit)),
            None => Reader::Replies(ReplyReader::new(head.head(), step.replies, step.needs_body, limit)),
        };
        let coding = http::header(head.head(), "content-encoding").filter(|_| !step.is_call);
        let mut reading = Reading {
            id: finished.id,
            exchange: finished.exchange,
            reader,
            held: Held::default(),
            decoding: coding.map(|coding| Mutex::new(Decoding::new(coding, u64::MAX))),
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
        let mut began = 0;
        for _ in 0..STREAK {
            // Without a piece, the engine wakes the user with this token.
            let Some(piece) = engine.read(reading.id, token) else { return };
            reading.exchange = piece.exchange;
            began = if began == 0 { piece.exchange.read } else { began };
            reading.head.trailers.extend_from_slice(&piece.trailers);
            let is_end = piece.then == Then::End;
            let split = reading.split(recorder, &piece.bytes, is_end);
            match (split, piece.then) {
                (Err(failure), _) => return self.break_off(engine, recorder, place, &failure),
                (Ok(()), Then::More) if piece.exchange.read.saturating_sub(began) > TURN => break,
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
        step.faulty(recorder, &reading.exchange, Outcome::Cancelled, reading.reader.body(), "");
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
        let Some(Reading { mut exchange, head, reader, .. }) = self.reading.remove(&place) else { return };
        exchange.status = head.status;
        let session = &mut self.users[place].session;
        let step = &self.steps[session.step().index()];
        let (body, time) = (reader.body(), exchange.times().response);
        match reader {
            Reader::Events(reader) => {
                let verdict = self.player.judge(session, head.status, head.head(), &[], time);
                match (verdict, reader.wrong()) {
                    (Verdict::Success, None) => {
                        recorder.exchange(step.endpoint, &exchange, Outcome::Success, body);
                        reader.succeed(recorder, &exchange);
                    }
                    (Verdict::Success, Some(message)) => {
                        step.faulty(recorder, &exchange, Outcome::Assertion, body, &message);
                    }
                    (verdict, _) => step.judged(recorder, &exchange, verdict, body),
                }
            }
            Reader::Replies(replies) => {
                let (status, trailers) = (head.status, &*head.trailers);
                let reply = Reply { status, head: head.head(), body: replies.kept(), trailers };
                let verdict = self.player.judge_call(session, &reply, self.rules.max_decoded, time);
                match (verdict, replies.end()) {
                    (Verdict::Success, Err(reason)) => {
                        step.faulty(recorder, &exchange, Outcome::Protocol, body, &reason);
                    }
                    (verdict, _) => step.judged(recorder, &exchange, verdict, body),
                }
            }
        }
        self.advance(engine, recorder, place, exchange.read);
    }
}

impl Reader {
    /// Bytes of the body so far.
    fn body(&self) -> u64 {
        match self {
            Reader::Events(reader) => reader.body(),
            Reader::Replies(replies) => replies.body(),
        }
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
        let Reading { decoding, exchange, reader, held, .. } = self;
        let mut feed = |bytes: &[u8]| {
            let fed = match reader {
                Reader::Events(reader) => {
                    reader.feed(recorder, exchange, bytes, &mut |_| {}).map_err(|error| error.to_string())
                }
                Reader::Replies(replies) => replies.feed(recorder, exchange, bytes, &mut |_| {}),
            };
            fed.map_err(|reason| Failure::new(Outcome::Protocol, reason))?;
            let unfinished = match reader {
                Reader::Events(reader) => reader.unfinished(),
                Reader::Replies(replies) => replies.unfinished(),
            };
            if held.follow(unfinished) { Ok(()) } else { Err(unkept()) }
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
        if is_end && let Reader::Events(reader) = reader {
            reader.end(recorder, exchange, &mut |_| {});
        }
        Ok(())
    }

    /// The exchange ends at `now` without its end.
    fn stop(&mut self, now: u64) {
        self.exchange.arrival = now;
        self.exchange.read = now;
    }
}
