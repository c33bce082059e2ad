//! Responses that have arrived as a whole and are decoded now, one after another: in shares of work, because a body may grow
//! to more than fits into a turn. Only one of them is half decoded at any time.

use plimsoll_grpc::{FrameError, MessageSplitter, push_message};
use plimsoll_http::{self as http, StepDecoder, Work};
use plimsoll_record::{Exchange, Outcome, Recorder};

use super::late::{is_over, too_late};
use super::step::Step;
use super::user::State;
use super::{NativeUsers, UNPACKING};
use crate::call::{Failure, Finished, Response};
use crate::clock::now;
use crate::engine::Engine;
use crate::protocol::unkept;
use plimsoll_scenario::bodies::Held;

/// The minor version of responses with HTTP/2: see `plimsoll_http::Head::minor`.
const HTTP2: u8 = 10;

/// A response whose body is encoded.
#[derive(Debug)]
pub(super) struct Packed {
    /// The user's place.
    place: usize,
    exchange: Exchange,
    response: Response,
    coding: Coding,
    /// Deadline of the exchange, monotonic ns; 0 = never.
    deadline: u64,
    /// The memory of what it becomes.
    held: Held,
    /// It takes more than the turn in which it was read.
    has_waited: bool,
}

/// How a body is encoded, and what is decoded of it.
enum Coding {
    /// By a Content-Encoding.
    Content(StepDecoder),
    /// The messages of a call: what they become, without compression.
    Messages { splitter: MessageSplitter, passed: bool, plain: Vec<u8> },
}

impl std::fmt::Debug for Coding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Coding").field("unfinished", &self.unfinished()).finish()
    }
}

impl Coding {
    /// The coding of a response that the step reads; None if its body can be read as it is.
    fn of(step: &Step, response: &Response, limit: u64) -> Option<Coding> {
        if step.is_call {
            let encoding = http::header(response.head(), "grpc-encoding").filter(|name| *name != b"identity")?;
            let splitter = MessageSplitter::of_whole_body(Some(encoding), limit);
            return Some(Coding::Messages { splitter, passed: false, plain: Vec::new() });
        }
        let coding = http::list(response.head(), "content-encoding")?;
        Some(Coding::Content(StepDecoder::new(&coding, limit, true)))
    }

    /// Decodes as much as there is work for. Returns whether the body is complete.
    fn go_on(&mut self, body: &[u8], work: &mut Work) -> Result<bool, String> {
        match self {
            Coding::Content(decoder) => decoder.go_on(body, work).map_err(|error| format!("content coding: {error}")),
            Coding::Messages { splitter, passed, plain } => {
                let bytes = if std::mem::replace(passed, true) { &[][..] } else { body };
                let fed = splitter.feed(bytes, work, &mut |message| push_message(message, false, plain));
                let ended = fed.and_then(|()| splitter.end());
                match ended {
                    Ok(()) => Ok(true),
                    // It ends inside a message, or there was no more work.
                    Err(FrameError::Truncated { .. }) if !work.is_left() => Ok(false),
                    Err(error) => Err(error.to_string()),
                }
            }
        }
    }

    /// Bytes in memory.
    fn unfinished(&self) -> usize {
        match self {
            Coding::Content(decoder) => decoder.unfinished(),
            Coding::Messages { splitter, plain, .. } => splitter.unfinished() + plain.len(),
        }
    }

    fn into_plain(self) -> Vec<u8> {
        match self {
            Coding::Content(decoder) => decoder.into_text(),
            Coding::Messages { plain, .. } => plain,
        }
    }
}

impl NativeUsers {
    /// Whether the response may have to be decoded before the user's step can read it. Calls have HTTP/2.
    #[inline]
    pub(super) fn may_be_packed(finished: &Finished) -> bool {
        finished.result.as_ref().is_ok_and(|response| response.notes.coding || response.minor == HTTP2)
    }

    /// Decodes a response and continues its user: now, or when those before it are done. Takes the response. Returns false
    /// if there is nothing to decode.
    #[inline(never)]
    pub(super) fn unpack(
        &mut self,
        engine: &mut Engine,
        recorder: &mut Recorder,
        place: usize,
        finished: &mut Finished,
    ) -> bool {
        let step = &self.steps[self.users[place].session.step().index()];
        let Ok(response) = &mut finished.result else { return false };
        let is_read = step.is_call || step.needs_body && response.notes.coding;
        if response.body_length == 0 || !is_read {
            return false;
        }
        let Some(coding) = Coding::of(step, response, self.rules.max_decoded) else { return false };
        let exchange = finished.exchange;
        let deadline = if step.timeout > 0 { exchange.sent + step.timeout } else { 0 };
        let response = std::mem::take(response);
        self.users[place].state = State::Streaming;
        self.packed.push_back(Packed {
            place,
            exchange,
            response,
            coding,
            deadline,
            held: Held::default(),
            has_waited: false,
        });
        if self.packed.len() == 1 {
            self.unpack_on(engine, recorder);
        }
        true
    }

    /// Decodes responses as far as there is work for them.
    pub(super) fn unpack_on(&mut self, engine: &mut Engine, recorder: &mut Recorder) {
        self.end_overdue(engine, recorder);
        let mut work = engine.lend_work();
        while work.is_left()
            && let Some(packed) = self.packed.front_mut()
        {
            let decoded = packed.coding.go_on(packed.response.body(), &mut work);
            let is_kept = packed.held.follow(packed.coding.unfinished());
            let failure = match decoded {
                Ok(false) if is_kept => break,
                Ok(true) if is_kept => None,
                Ok(_) => Some(unkept()),
                Err(message) => Some(Failure::new(Outcome::Protocol, message)),
            };
            let Some(packed) = self.packed.pop_front() else { break };
            self.unpacked(engine, recorder, packed, failure);
        }
        engine.give_back(work);
        self.packed.iter_mut().for_each(|packed| packed.has_waited = true);
        if !self.packed.is_empty() {
            engine.go_on_later(self.mark | UNPACKING, false);
        }
    }

    /// Records a response that is decoded, or why it cannot be, and continues its user.
    fn unpacked(&mut self, engine: &mut Engine, recorder: &mut Recorder, packed: Packed, failure: Option<Failure>) {
        let Packed { place, exchange, response, coding, held, has_waited, .. } = packed;
        let step = &self.steps[self.users[place].session.step().index()];
        let is_over = if let Some(failure) = failure {
            step.faulty(recorder, &exchange, failure.outcome, response.body_length, &failure.message);
            true
        } else {
            self.record_response(engine, recorder, place, &exchange, &response, Some(&coding.into_plain()))
        };
        drop((response, held));
        if !is_over {
            return;
        }
        // The user has its response now, and not when it was read.
        let read = if has_waited { now() } else { exchange.read };
        self.advance(engine, recorder, place, read);
    }

    /// Ends the exchanges whose deadlines pass before their responses are decoded.
    fn end_overdue(&mut self, engine: &mut Engine, recorder: &mut Recorder) {
        while let Some(index) = self.packed.iter().position(|packed| is_over(packed.deadline)) {
            let Some(mut packed) = self.packed.remove(index) else { return };
            let step = &self.steps[self.users[packed.place].session.step().index()];
            let failure = too_late(&mut packed.exchange, packed.deadline, step.timeout);
            self.unpacked(engine, recorder, packed, Some(failure));
        }
    }

    /// Cancels an exchange whose response is not decoded, and records it.
    pub(super) fn cancel_packed(&mut self, recorder: &mut Recorder, place: usize) {
        let Some(index) = self.packed.iter().position(|packed| packed.place == place) else { return };
        let Some(Packed { mut exchange, response, .. }) = self.packed.remove(index) else { return };
        let at = now();
        (exchange.arrival, exchange.read) = (at, at);
        let step = &self.steps[self.users[place].session.step().index()];
        step.faulty(recorder, &exchange, Outcome::Unanswered, response.body_length, "");
    }
}
