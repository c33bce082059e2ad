//! WebSockets that a server refuses: the reason in the body of its answer, and the wait before the user asks again.

use std::sync::Arc;

use plimsoll_record::{Exchange, Outcome, Recorder};

use super::NativeUsers;
use super::user::{State, Then};
use crate::backoff::{Refusals, forget, until};
use crate::call::{ExchangeId, Response, Then as Follows};
use crate::clock::now;
use crate::engine::Engine;
use crate::origin::Origin;

// As for Python users: users/http/websocket.py.
/// Bytes that are read of the body.
const MOST_OF_BODY: usize = 1024;
/// Characters of them that the failure quotes.
const MOST_SHOWN: usize = 200;
/// How long they are waited for, ns.
const BODY_WAIT: u64 = 1_000_000_000;

/// An answer whose body is being read.
#[derive(Debug)]
pub(super) struct Answer {
    id: ExchangeId,
    exchange: Exchange,
    outcome: Outcome,
    /// Why it is a failure, without the body.
    message: String,
    body: Vec<u8>,
    /// What follows it.
    then: Follows,
}

/// The servers that have refused a user, and since when it waits for the end of its backoff, monotonic ns.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    refusals: Refusals,
    since: u64,
}

impl NativeUsers {
    /// A server has refused the user's WebSocket. Reads why, and has the user wait before it asks again.
    pub(super) fn socket_refused(
        &mut self,
        engine: &mut Engine,
        recorder: &mut Recorder,
        place: usize,
        (id, exchange): (ExchangeId, Exchange),
        answer: &Response,
        (outcome, message): (Outcome, String),
    ) {
        let session = &self.users[place].session;
        let origin = self.steps[session.step().index()].origin_of(session.user());
        engine.refused_upgrade(&mut self.backoffs.entry(place).or_default().refusals, origin);
        engine.end_by(id, now() + BODY_WAIT);
        let then = if answer.open { Follows::More } else { Follows::End };
        let answer = Answer { id, exchange, outcome, message, body: answer.body().to_vec(), then };
        self.users[place].state = State::Streaming;
        self.refused.insert(place, answer);
        self.read_refusal(engine, recorder, place);
    }

    /// Reads what has arrived of the answer's body. Records the failure when it is enough.
    pub(super) fn read_refusal(&mut self, engine: &mut Engine, recorder: &mut Recorder, place: usize) {
        let Some(answer) = self.refused.get_mut(&place) else { return };
        while answer.then == Follows::More && answer.body.len() < MOST_OF_BODY {
            // Without a piece, the engine wakes the user with this token.
            let Some(piece) = engine.read(answer.id, self.mark | place as u64) else { return };
            answer.body.extend_from_slice(&piece.bytes);
            answer.then = piece.then;
        }
        self.end_refusal(engine, recorder, place);
        self.advance(engine, recorder, place, now());
    }

    /// Records the failure with what has arrived of the answer's body.
    pub(super) fn end_refusal(&mut self, engine: &mut Engine, recorder: &mut Recorder, place: usize) {
        let Some(answer) = self.refused.remove(&place) else { return };
        engine.hang_up(answer.id);
        let step = &self.steps[self.users[place].session.step().index()];
        let message = answer.message + &reason(&answer.body);
        step.faulty(recorder, &answer.exchange, answer.outcome, 0, &message);
    }

    /// Has the user wait if this server refused its last WebSocket. The next request is due when the wait ends. Returns
    /// false if it need not wait.
    pub(super) fn backs_off(&mut self, engine: &mut Engine, place: usize, origin: &Arc<Origin>) -> bool {
        let Some(backoff) = self.backoffs.get_mut(&place) else { return false };
        let now = now();
        let Some(until) = until(&backoff.refusals, origin, now) else { return false };
        backoff.since = now;
        self.pause(engine, place, until, Then::Connect);
        true
    }

    /// The wait is over.
    pub(super) fn backed_off(&mut self, engine: &mut Engine, place: usize) {
        if let Some(backoff) = self.backoffs.get(&place) {
            engine.add_backed_off(now().saturating_sub(backoff.since));
        }
    }

    /// The server has opened a WebSocket.
    pub(super) fn forget_refusals(&mut self, place: usize, origin: &Arc<Origin>) {
        if let Some(backoff) = self.backoffs.get_mut(&place) {
            forget(&mut backoff.refusals, origin);
        }
    }
}

/// The beginning of a body in one line, with ": " before it; "" for an empty one.
fn reason(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(MOST_OF_BODY)]);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ").replace(char::is_control, "\u{fffd}");
    match line.char_indices().nth(MOST_SHOWN) {
        _ if line.is_empty() => line,
        Some((end, _)) => format!(": {}…", &line[..end]),
        None => format!(": {line}"),
    }
}

#[cfg(test)]
mod tests {
    use super::reason;

    #[test]
    fn the_reason_is_one_line_of_bounded_length() {
        for (body, expected) in [
            (&b""[..], String::new()),
            (b" \r\n\t", String::new()),
            (b"{\"error\":\n  \"no\"}\x1b[2J", ": {\"error\": \"no\"}\u{fffd}[2J".into()),
            (&[b'x'; 200], format!(": {}", "x".repeat(200))),
            (&[b'x'; 5000], format!(": {}…", "x".repeat(200))),
            (b"\xff", ": \u{fffd}".into()),
        ] {
            assert_eq!(reason(body), expected);
        }
    }
}
