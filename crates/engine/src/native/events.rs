//! A user whose response is a stream: from its head to its end, event by event.

use std::mem::take;

use plimsoll_http::{self as http, Decoding, Work};
use plimsoll_record::{Exchange, Outcome, Recorder};
use plimsoll_scenario::{Reply, Verdict};

use super::late::{is_over, too_late};
use super::user::State;
use super::{FETCHING, NativeUsers, OURS};
use crate::call::{ExchangeId, Failure, Finished, Response, Then};
use crate::clock::now;
use crate::engine::{Engine, WakeId};
use crate::event_reader::EventReader;
use crate::protocol::unkept;
use crate::reply_reader::ReplyReader;
use plimsoll_scenario::bodies::Held;

/// Bytes of a body in which events are looked for at a time.
const PORTION: usize = 64 << 10;

/// A stream that is being read.
pub(super) struct Reading {
    id: ExchangeId,
    /// The stamps so far.
    exchange: Exchange,
    head: Response,
    reader: Reader,
    /// The memory of what the reader keeps.
    held: Held,
    /// Undoes the content coding, if there is one.
    decoding: Option<Decoding>,
    /// The part of the body that was read and not taken yet.
    rest: Vec<u8>,
    /// What follows it.
    then: Then,
    /// Deadline of the whole exchange, monotonic ns; 0 = never.
    deadline: u64,
    /// The wake for more work, while other users run.
    wake: Option<WakeId>,
    /// The wake at the deadline, for a user that waits for work then.
    alarm: Option<WakeId>,
    /// It has waited for work.
    has_waited: bool,
}

/// What follows a share of work on a stream.
enum Next {
    /// Nothing before more of the body arrives.
    Wait,
    /// More work.
    GoOn,
    End,
    /// Its body cannot be read.
    Broken(Failure),
    /// It has failed, and its connection is gone.
    Failed(Failure),
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
        if finished.token & FETCHING == FETCHING {
            return self.token_answered(engine, recorder, finished);
        }
        let place = (finished.token & OURS) as usize;
        let step = &self.steps[self.users[place].session.step().index()];
        if step.is_special {
            if step.is_socket {
                return self.socket_opens(engine, recorder, finished);
            }
            if self.denies(engine, recorder, place, finished) {
                return;
            }
        }
        let step = &self.steps[self.users[place].session.step().index()];
        let Ok(head) = finished.result.as_mut().map(take) else { return };
        if let Some(parts) = &head.timing {
            recorder.parts(step.endpoint, parts, recorder.counted_at(&finished.exchange));
        }
        if step.timeout > 0 {
            engine.end_by(finished.id, finished.exchange.sent + step.timeout);
        }
        let limit = self.rules.max_decoded;
        let reader = match step.stream.as_deref().copied() {
            Some(rows) => Reader::Events(EventReader::new(rows, head.status, rows.wrong_type(head.head()), limit)),
            None => Reader::Replies(ReplyReader::new(head.head(), step.replies, step.needs_body, limit)),
        };
        let coding = http::list(head.head(), "content-encoding").filter(|_| !step.is_call);
        let mut reading = Reading {
            id: finished.id,
            exchange: finished.exchange,
            reader,
            held: Held::default(),
            decoding: coding.map(|coding| Decoding::new(&coding, u64::MAX)),
            rest: Vec::new(),
            then: if head.open { Then::More } else { Then::End },
            deadline: if step.timeout > 0 { finished.exchange.sent + step.timeout } else { 0 },
            wake: None,
            alarm: None,
            has_waited: false,
            head,
        };
        let body = reading.head.bytes.split_off(reading.head.head);
        reading.push(body);
        self.users[place].state = State::Streaming;
        self.reading.insert(place, reading);
        self.read_on(engine, recorder, place);
    }

    /// Takes what has arrived, as far as there is work for it.
    pub(super) fn read_on(&mut self, engine: &mut Engine, recorder: &mut Recorder, place: usize) {
        let token = self.mark | place as u64;
        let Some(reading) = self.reading.get_mut(&place) else { return };
        let was_late = reading.wake.take().map(|wake| engine.cancel_wake(wake)).is_some() && is_over(reading.deadline);
        let next = if was_late {
            let step = &self.steps[self.users[place].session.step().index()];
            Next::Broken(too_late(&mut reading.exchange, reading.deadline, step.timeout))
        } else {
            let mut work = engine.lend_work();
            let next = reading.go_on(engine, recorder, token, &mut work);
            engine.give_back(work);
            next
        };
        match next {
            Next::Wait => {}
            Next::GoOn => reading.go_on_later(engine, token),
            Next::End => self.stream_ends(engine, recorder, place),
            Next::Broken(failure) => self.break_off(engine, recorder, place, &failure),
            Next::Failed(failure) => self.stream_fails(engine, recorder, place, &failure),
        }
    }

    /// The user's stream, which ends here.
    fn take_reading(&mut self, engine: &mut Engine, place: usize) -> Option<Reading> {
        let mut reading = self.reading.remove(&place)?;
        for wake in [reading.wake.take(), reading.alarm.take()].into_iter().flatten() {
            engine.cancel_wake(wake);
        }
        Some(reading)
    }

    /// Cancels a stream that is being read, and records it.
    pub(super) fn cancel_stream(&mut self, engine: &mut Engine, recorder: &mut Recorder, place: usize) {
        let Some(mut reading) = self.take_reading(engine, place) else { return };
        engine.hang_up(reading.id);
        reading.stop(now());
        let step = &self.steps[self.users[place].session.step().index()];
        step.faulty(recorder, &reading.exchange, Outcome::Unanswered, reading.reader.body(), "");
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
        let Some(reading) = self.take_reading(engine, place) else { return };
        let step = &self.steps[self.users[place].session.step().index()];
        step.failed(recorder, &reading.exchange, failure);
        self.advance(engine, recorder, place, reading.exchange.read);
    }

    /// Checks and records a complete stream, and continues the user.
    fn stream_ends(&mut self, engine: &mut Engine, recorder: &mut Recorder, place: usize) {
        let Some(Reading { mut exchange, head, reader, has_waited, .. }) = self.take_reading(engine, place) else {
            return;
        };
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
                    (verdict, _) => {
                        let is_refused = verdict != Verdict::Success;
                        step.judged(recorder, &exchange, verdict, body);
                        if is_refused && step.scheme.is_some() {
                            self.call_refused(place, &exchange, &head);
                        }
                    }
                }
            }
        }
        // The user has its response now, and not when its end was read.
        let read = if has_waited { now() } else { exchange.read };
        self.advance(engine, recorder, place, read);
    }
}

impl Reader {
    /// Records the events or replies that end in these bytes.
    fn feed(
        &mut self,
        recorder: &mut Recorder,
        exchange: &Exchange,
        bytes: &[u8],
        work: &mut Work,
    ) -> Result<(), Failure> {
        let fed = match self {
            Reader::Events(reader) => {
                work.spend(bytes.len() as u64);
                let fed = reader.feed(recorder, exchange, bytes, &mut |_| work.spend_message(0));
                fed.map_err(|error| error.to_string())
            }
            Reader::Replies(replies) => replies.feed(recorder, exchange, bytes, work, &mut |_| {}),
        };
        fed.map_err(|reason| Failure::new(Outcome::Protocol, reason))
    }

    /// Bytes in memory.
    fn unfinished(&self) -> usize {
        match self {
            Reader::Events(reader) => reader.unfinished(),
            Reader::Replies(replies) => replies.unfinished(),
        }
    }

    /// Whether something is half done that takes memory.
    fn is_in_message(&self) -> bool {
        matches!(self, Reader::Replies(replies) if replies.is_in_message())
    }

    /// Bytes of the body so far.
    fn body(&self) -> u64 {
        match self {
            Reader::Events(reader) => reader.body(),
            Reader::Replies(replies) => replies.body(),
        }
    }
}

impl Reading {
    /// Adds bytes of the body.
    fn push(&mut self, bytes: Vec<u8>) {
        match &mut self.decoding {
            Some(decoding) => decoding.push(&bytes),
            None => self.rest = bytes,
        }
        if self.then == Then::End
            && let Some(decoding) = &mut self.decoding
        {
            decoding.end();
        }
    }

    /// Takes what has arrived, and reads what arrives, as long as there is work left.
    fn go_on(&mut self, engine: &mut Engine, recorder: &mut Recorder, token: u64, work: &mut Work) -> Next {
        loop {
            if let Err(failure) = self.take_rest(recorder, work) {
                return Next::Broken(failure);
            }
            if !work.is_left() {
                return Next::GoOn;
            }
            match take(&mut self.then) {
                Then::More => {}
                Then::End => {
                    if let Reader::Events(reader) = &mut self.reader {
                        reader.end(recorder, &self.exchange, &mut |_| {});
                    }
                    return Next::End;
                }
                Then::Failed(failure) => return Next::Failed(failure),
            }
            // Without a piece, the engine wakes the user with this token.
            let Some(piece) = engine.read(self.id, token) else { return Next::Wait };
            self.exchange = piece.exchange;
            self.head.trailers.extend_from_slice(&piece.trailers);
            self.then = piece.then;
            self.push(piece.bytes);
        }
    }

    /// Records the events and replies in the part of the body that was read, as long as there is work left.
    fn take_rest(&mut self, recorder: &mut Recorder, work: &mut Work) -> Result<(), Failure> {
        let Reading { decoding, exchange, reader, held, rest, .. } = self;
        let mut feed = |bytes: &[u8], work: &mut Work| {
            reader.feed(recorder, exchange, bytes, work)?;
            if held.follow(reader.unfinished()) { Ok(()) } else { Err(unkept()) }
        };
        let Some(decoding) = decoding else {
            // Replies of a call: the reader keeps what it cannot take yet.
            while work.is_left() {
                let portion = rest.len().min(PORTION);
                feed(&rest[..portion], work)?;
                rest.drain(..portion);
                if rest.is_empty() {
                    break;
                }
            }
            return Ok(());
        };
        let damaged = |error: http::DecodeError| Failure::new(Outcome::Protocol, format!("content coding: {error}"));
        while let Some(decoded) = decoding.pull(work).map_err(damaged)? {
            feed(&decoded, work)?;
        }
        Ok(())
    }

    /// Has its user woken when there is work to lend for it, or at its deadline.
    fn go_on_later(&mut self, engine: &mut Engine, token: u64) {
        self.has_waited = true;
        self.wake = Some(engine.go_on_later(token, self.reader.is_in_message()));
        if self.deadline != 0 && self.alarm.is_none() {
            self.alarm = Some(engine.wake(token, self.deadline));
        }
    }

    /// The exchange ends at `now` without its end.
    fn stop(&mut self, now: u64) {
        self.exchange.arrival = now;
        self.exchange.read = now;
    }
}
