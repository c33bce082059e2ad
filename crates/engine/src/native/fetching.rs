//! Requests for tokens: they are sent outside of the flows, and recorded in rows of their own.

use std::mem::{replace, take};

use plimsoll_record::{Exchange, Outcome, Recorder};
use plimsoll_scenario::read_token;

use super::tokens::{Fetch, MOST_AT_ONCE, Running, Tokens};
use super::{FETCHING, NativeUsers, OURS};
use crate::call::{Bytes, Call, Failure, Finished, Keep, Response, Then, Wire};
use crate::clock::now;
use crate::engine::Engine;

/// The longest reply of a token service, bytes.
const LONGEST_REPLY: usize = 1 << 20;

impl NativeUsers {
    /// Fetches a token that a user waits for, now or after the wait that a failure has left.
    pub(super) fn fetch(&mut self, engine: &mut Engine, recorder: &mut Recorder, slot: usize) {
        let Some(tokens) = &mut self.tokens else { return };
        let kept = &mut tokens.kept[slot];
        if !matches!(kept.fetch, Fetch::Nothing) {
            return;
        }
        if kept.not_before > now() {
            let wake = engine.wake(self.mark | FETCHING | slot as u64, kept.not_before);
            kept.fetch = Fetch::Held(wake);
        } else if let Err(reason) = self.fetch_now(engine, slot) {
            self.token_missing(engine, recorder, slot, &reason);
        }
    }

    /// Sends a request for a token, or has it wait until others have ended.
    pub(super) fn fetch_now(&mut self, engine: &mut Engine, slot: usize) -> Result<(), String> {
        let Some(tokens) = &mut self.tokens else { return Ok(()) };
        if tokens.running >= MOST_AT_ONCE {
            tokens.kept[slot].fetch = Fetch::Queued;
            tokens.queue.push_back(slot);
            return Ok(());
        }
        let Tokens { services, kept, running, .. } = &mut **tokens;
        let kept = &mut kept[slot];
        let Some(service) = &services[kept.service] else { return Ok(()) };
        let (form, is_refresh) = kept.form();
        let (bytes, head) = self.player.token_request(kept.service, &kept.identity, &form)?;
        let (client, sent) = (engine.client(), now());
        let call = Call {
            token: self.mark | FETCHING | slot as u64,
            wire: Wire {
                bytes: Bytes::Owned(bytes),
                head,
                expect_continue: false,
                head_request: false,
                continues: false,
                idempotent: false,
            },
            due: sent,
            free: 0,
            timeout: service.timeout,
            since: 0,
            connect_timeout: service.timeout,
            read_timeout: service.timeout,
            keep: Keep::Stream,
        };
        let id = engine.send(client, &service.origin, call);
        let sent = now();
        *running += 1;
        kept.fetch = Fetch::Running(Box::new(Running {
            id,
            client,
            exchange: Exchange { due: sent, sent, ..Exchange::default() },
            head: Response::default(),
            body: Vec::new(),
            then: Then::More,
            is_refresh,
        }));
        Ok(())
    }

    /// The request for a token that is in flight in this slot.
    fn running(&mut self, slot: usize) -> Option<&mut Running> {
        match &mut self.tokens.as_mut()?.kept.get_mut(slot)?.fetch {
            Fetch::Running(running) => Some(running),
            _ => None,
        }
    }

    /// Handles the head of a token service's reply. Takes the response.
    #[cold]
    pub(super) fn token_answered(&mut self, engine: &mut Engine, recorder: &mut Recorder, finished: &mut Finished) {
        let slot = (finished.token & OURS & !FETCHING) as usize;
        let Ok(mut head) = finished.result.as_mut().map(take) else { return };
        let Some(running) = self.running(slot).filter(|running| running.id == finished.id) else { return };
        running.exchange = Exchange { status: head.status, ..finished.exchange };
        running.body = head.bytes.split_off(head.head);
        running.then = if head.open { Then::More } else { Then::End };
        running.head = head;
        let tokens = self.tokens.as_ref();
        let service = tokens.and_then(|tokens| tokens.services[tokens.kept[slot].service].as_ref());
        engine.end_by(finished.id, finished.exchange.sent + service.map_or(0, |service| service.timeout));
        self.read_token(engine, recorder, slot);
    }

    /// A token service has not answered.
    #[cold]
    pub(super) fn token_failed(
        &mut self,
        engine: &mut Engine,
        recorder: &mut Recorder,
        finished: &Finished,
        failure: &Failure,
    ) {
        let slot = (finished.token & OURS & !FETCHING) as usize;
        let Some(running) = self.running(slot).filter(|running| running.id == finished.id) else { return };
        running.exchange = finished.exchange;
        if let Some(errno) = failure.errno {
            recorder.errno(errno, finished.exchange.arrival);
        }
        self.fetch_ends(engine, recorder, slot, Some(failure.clone()));
    }

    /// Goes on with a token: more of its reply has arrived, or the wait before its request is over.
    #[cold]
    pub(super) fn token_woken(&mut self, engine: &mut Engine, recorder: &mut Recorder, token: u64) {
        let slot = (token & OURS & !FETCHING) as usize;
        let Some(kept) = self.tokens.as_mut().and_then(|tokens| tokens.kept.get_mut(slot)) else { return };
        if matches!(kept.fetch, Fetch::Held(_)) {
            kept.fetch = Fetch::Nothing;
            if !kept.waiting.is_empty() {
                self.fetch(engine, recorder, slot);
            }
        } else {
            self.read_token(engine, recorder, slot);
        }
    }

    /// Reads what has arrived of a token service's reply.
    fn read_token(&mut self, engine: &mut Engine, recorder: &mut Recorder, slot: usize) {
        let token = self.mark | FETCHING | slot as u64;
        let Some(running) = self.running(slot) else { return };
        while running.then == Then::More && running.body.len() <= LONGEST_REPLY {
            // Without a piece, the engine wakes the users with this token.
            let Some(piece) = engine.read(running.id, token) else { return };
            running.body.extend_from_slice(&piece.bytes);
            running.exchange = Exchange { status: running.exchange.status, ..piece.exchange };
            running.then = piece.then;
        }
        let failure = match take(&mut running.then) {
            Then::Failed(failure) => Some(failure),
            _ if running.body.len() > LONGEST_REPLY => {
                let reason = format!("its reply is longer than {} MiB", LONGEST_REPLY >> 20);
                Some(Failure::new(Outcome::Protocol, reason))
            }
            _ => None,
        };
        self.fetch_ends(engine, recorder, slot, failure);
    }

    /// A request for a token has ended: records it, and continues the users that wait. `failure`: there is no reply.
    fn fetch_ends(&mut self, engine: &mut Engine, recorder: &mut Recorder, slot: usize, failure: Option<Failure>) {
        let Some(tokens) = &mut self.tokens else { return };
        let kept = &mut tokens.kept[slot];
        let Fetch::Running(running) = replace(&mut kept.fetch, Fetch::Nothing) else { return };
        let Running { client, exchange, head, body, is_refresh, .. } = *running;
        engine.close(client);
        tokens.running -= 1;
        let is_answered = failure.is_none();
        let token = match failure {
            Some(failure) => Err((failure.outcome, failure.message)),
            None => read_token(head.status, &body).map_err(|reason| (refusal(head.status), reason)),
        };
        let Some(service) = &tokens.services[kept.service] else { return };
        let (outcome, message) = match &token {
            Ok(_) => (Outcome::Success, ""),
            Err((outcome, reason)) => (*outcome, reason.as_str()),
        };
        recorder.auth_exchange(service.row, &exchange, outcome, body.len() as u64, message);
        let now = now();
        match token {
            Ok(token) => {
                tokens.take(slot, token, now);
                let waiting = take(&mut tokens.kept[slot].waiting);
                for waiting in waiting {
                    self.resume(engine, recorder, waiting, now);
                }
            }
            Err((_, reason)) => {
                let reason = format!("cannot be sent: {} gives no token: {reason}", service.name);
                if tokens.fail(slot, is_refresh, is_answered, now) {
                    self.fetch(engine, recorder, slot);
                } else {
                    self.token_missing(engine, recorder, slot, &reason);
                }
            }
        }
        self.fetch_queued(engine, recorder);
    }

    /// Fetches tokens that had to wait for others.
    fn fetch_queued(&mut self, engine: &mut Engine, recorder: &mut Recorder) {
        while let Some(tokens) = &mut self.tokens
            && tokens.running < MOST_AT_ONCE
            && let Some(slot) = tokens.queue.pop_front()
        {
            tokens.kept[slot].fetch = Fetch::Nothing;
            if let Err(reason) = self.fetch_now(engine, slot) {
                self.token_missing(engine, recorder, slot, &reason);
            }
        }
    }

    /// Ends all requests for tokens.
    pub(super) fn end_fetches(&mut self, engine: &mut Engine) {
        let Some(tokens) = &mut self.tokens else { return };
        tokens.running = 0;
        tokens.queue.clear();
        for (_, kept) in &mut tokens.kept {
            match replace(&mut kept.fetch, Fetch::Nothing) {
                Fetch::Running(running) => drop(engine.close(running.client)),
                Fetch::Held(wake) => drop(engine.cancel_wake(wake)),
                Fetch::Nothing | Fetch::Queued => {}
            }
        }
    }
}

/// The outcome of a reply without a token.
fn refusal(status: u16) -> Outcome {
    if status >= 400 { Outcome::Http } else { Outcome::Protocol }
}
