//! Users with a WebSocket: from one step to the next, and from bytes to messages.

use std::mem::replace;
use std::sync::Arc;

use plimsoll_http::Work;
use plimsoll_record::{Exchange, Outcome, Recorder};
use plimsoll_scenario::{Prepared, Verdict, WebSocket};
use plimsoll_websocket::{Client, Close, Message, random};

use super::late::{is_over, too_late};
use super::socket::{STREAK, Socket, Start, Waiting, check, with_key};
use super::step::outcome;
use super::user::{State, Then};
use super::{NativeUsers, OURS, SOCKET};
use crate::call::{Bytes, Call, Failure, Finished, Keep, Then as Follows};
use crate::clock::now;
use crate::engine::Engine;
use crate::protocol::unkept;

/// How long the server may take to answer the close frame of a user that ends, ns.
const CLOSE_WAIT: u64 = 1_000_000_000;

impl NativeUsers {
    /// Begins a step of a WebSocket.
    #[inline(never)]
    pub(super) fn socket_step(
        &mut self,
        engine: &mut Engine,
        recorder: &mut Recorder,
        place: usize,
        due: u64,
        free: u64,
    ) {
        let index = self.users[place].session.step().index();
        let sent = now();
        let start = Start { due: if due == 0 { sent } else { due.min(sent) }, free: free.min(sent), sent };
        let is_open = self.sockets.get(place).is_some_and(Option::is_some);
        let websocket = self.player.scenario().steps()[index].websocket.clone();
        match websocket {
            Some(WebSocket::Connect(_)) => {
                if self.socket(place).is_some_and(|socket| socket.opener == index) {
                    return self.go_on(engine, recorder, place, start.due, Some(free));
                }
                self.leave(engine, place);
                self.open_socket(engine, recorder, place, due, free);
            }
            // The connection failed or was closed: there is nothing that this step could do.
            _ if !is_open => self.skip(engine, recorder, place, start.due, free),
            Some(WebSocket::Send { binary }) => self.send_message(engine, recorder, place, binary, start),
            Some(WebSocket::Receive { reply }) => self.receive(engine, recorder, place, reply, start),
            Some(WebSocket::Wait(time)) => self.pause(engine, place, start.sent + time, Then::Advance),
            Some(WebSocket::Close(code)) => self.close_socket(engine, place, code, start),
            None => {}
        }
    }

    pub(super) fn socket(&mut self, place: usize) -> Option<&mut Socket> {
        self.sockets.get_mut(place)?.as_deref_mut()
    }

    fn take_socket(&mut self, place: usize) -> Option<Box<Socket>> {
        self.sockets.get_mut(place)?.take()
    }

    /// Leaves a step that ended without waiting. After many of them other users run first. `skipped`: the step did
    /// nothing; its `free`.
    fn go_on(&mut self, engine: &mut Engine, recorder: &mut Recorder, place: usize, due: u64, skipped: Option<u64>) {
        let Some(socket) = self.socket(place) else { return };
        socket.streak += 1;
        if socket.streak < STREAK {
            return match skipped {
                Some(free) => self.skip(engine, recorder, place, due, free),
                None => self.advance(engine, recorder, place, due),
            };
        }
        socket.streak = 0;
        self.pause(engine, place, now(), Then::Advance);
    }

    /// Asks for a connection, or waits before that.
    fn open_socket(&mut self, engine: &mut Engine, recorder: &mut Recorder, place: usize, due: u64, free: u64) {
        self.budget.take_request();
        let session = &self.users[place].session;
        let origin = Arc::clone(self.steps[session.step().index()].origin_of(session.user()));
        if !self.backs_off(engine, place, &origin) {
            self.ask_for_socket(engine, recorder, place, due, free);
        }
    }

    /// Asks for a connection.
    pub(super) fn ask_for_socket(
        &mut self,
        engine: &mut Engine,
        recorder: &mut Recorder,
        place: usize,
        due: u64,
        free: u64,
    ) {
        let user = &mut self.users[place];
        let mut made = Vec::new();
        let head = match self.player.request(&mut user.session, &mut made) {
            Ok(Prepared::Constant(shared)) => {
                made.extend_from_slice(&shared.bytes);
                shared.head
            }
            Ok(Prepared::Made { head, .. }) => head,
            Err(reason) => return self.unsendable(engine, recorder, place, (due, free), &reason),
        };
        let head = match self.authorize(place, &mut made, head) {
            Ok(head) => head,
            Err(reason) => return self.unsendable(engine, recorder, place, (due, free), &reason),
        };
        let user = &mut self.users[place];
        let step = &self.steps[user.session.step().index()];
        let call = Call {
            token: self.mark | place as u64,
            wire: step.wire(Bytes::Owned(with_key(made)), head, false),
            due,
            free,
            timeout: step.timeout,
            since: 0,
            connect_timeout: step.idle_timeout,
            // A WebSocket may be quiet for any time.
            read_timeout: 0,
            keep: Keep::Stream,
        };
        user.state = State::Sending(engine.send(user.client, step.origin_of(user.session.user()), call));
    }

    /// Handles the response to the request for a connection. Takes the response.
    pub(super) fn socket_opens(&mut self, engine: &mut Engine, recorder: &mut Recorder, finished: &mut Finished) {
        let place = (finished.token & OURS) as usize;
        let Ok(head) = finished.result.as_mut().map(std::mem::take) else { return };
        let session = &mut self.users[place].session;
        let (index, user) = (session.step().index(), session.user());
        let step = &self.steps[index];
        let exchange = &finished.exchange;
        let verdict = self.player.judge(session, head.status, head.head(), &[], exchange.times().response);
        let scenario = self.player.scenario();
        let Some(WebSocket::Connect(offer)) = &scenario.steps()[index].websocket else { return };
        let accepted = check(offer, finished.wire.bytes.as_slice(), head.status, head.head());
        let (how, message) = match (verdict, &accepted) {
            (Verdict::Success, Err(message)) if head.status < 400 => (Outcome::Protocol, message.clone()),
            // Or the plan expects this refusal.
            (verdict, _) => outcome(verdict),
        };
        if how != Outcome::Success && head.status != 101 {
            if head.status == 401 {
                self.denied(engine, recorder, place, exchange, &head);
            }
            let asked = (finished.id, *exchange);
            return self.socket_refused(engine, recorder, place, asked, &head, (how, message));
        }
        step.faulty(recorder, exchange, how, 0, &message);
        let rows = step.socket_rows;
        match accepted {
            Ok(accepted) if how == Outcome::Success => {
                let client = Client::new(self.rules.max_decoded, accepted.deflate, random());
                let keeps = self.receives(index);
                let mut socket = Box::new(Socket::new(finished.id, index, rows, keeps, client));
                socket.last = *exchange;
                let origin = Arc::clone(step.origin_of(user));
                self.forget_refusals(place, &origin);
                if self.sockets.len() <= place {
                    self.sockets.resize_with(place + 1, || None);
                }
                self.sockets[place] = Some(socket);
                self.users[place].state = State::Streaming;
                let mut work = engine.lend_work();
                self.take_bytes(engine, recorder, place, head.body(), exchange, &mut work);
                engine.give_back(work);
            }
            _ => drop(engine.hang_up(finished.id)),
        }
        self.advance(engine, recorder, place, exchange.read);
        self.read_socket(engine, recorder, place);
    }

    /// Whether a step of the flow takes messages of the connection that this step opens.
    fn receives(&self, opener: usize) -> bool {
        let scenario = self.player.scenario();
        let flow = scenario.flows().iter().find(|flow| flow.steps.contains(&opener));
        flow.is_some_and(|flow| {
            let steps = &scenario.steps()[flow.steps.clone()];
            steps.iter().any(|step| matches!(step.websocket, Some(WebSocket::Receive { .. })))
        })
    }

    fn send_message(&mut self, engine: &mut Engine, recorder: &mut Recorder, place: usize, binary: bool, start: Start) {
        let session = &self.users[place].session;
        let row = self.steps[session.step().index()].message_row;
        let Some(socket) = self.sockets[place].as_deref_mut() else { return };
        let message = match self.player.message(session) {
            Ok(message) => message,
            Err(reason) => return self.unsendable(engine, recorder, place, (start.due, start.free), &reason),
        };
        let length = message.len() as u64;
        match std::str::from_utf8(message) {
            Ok(text) if !binary => socket.send(engine, Message::Text(text), start),
            _ => socket.send(engine, Message::Binary(message), start),
        }
        if engine.is_written(socket.id) {
            if let Some(row) = row {
                recorder.message_out(row, start.sent, length);
            }
            return self.go_on(engine, recorder, place, start.sent, None);
        }
        socket.inbox.waiting = Waiting::Written(length);
        self.wait_for(engine, place, start);
    }

    fn receive(&mut self, engine: &mut Engine, recorder: &mut Recorder, place: usize, reply: bool, start: Start) {
        self.budget.take_request();
        if let Some(reason) = self.player.cannot_await(&self.users[place].session) {
            let due = (start.due, start.free);
            return self.impossible(engine, recorder, place, due, Outcome::Assertion, &reason);
        }
        let Some(socket) = self.sockets[place].as_deref_mut() else { return };
        let session = &mut self.users[place].session;
        while let Some((at, message)) = socket.inbox.next_unread() {
            if self.player.awaits(session, &message) {
                let exchange = socket.inbox.exchange(start, reply, &at);
                let verdict = self.player.judge(session, 101, b"", &message, exchange.times().response);
                socket.inbox.answered();
                self.received(recorder, place, &exchange, verdict, message.len());
                return self.go_on(engine, recorder, place, now(), None);
            }
        }
        socket.inbox.waiting = Waiting::Received { start, reply };
        let from = if reply { socket.inbox.last_sent().unwrap_or(start) } else { start };
        self.wait_for(engine, place, from);
    }

    /// Waits for something of the socket, at most as long as the step says.
    fn wait_for(&mut self, engine: &mut Engine, place: usize, from: Start) {
        self.users[place].state = State::Streaming;
        let timeout = self.steps[self.users[place].session.step().index()].timeout;
        if let Some(socket) = self.socket(place) {
            socket.streak = 0;
            socket.end_by(engine, if timeout == 0 { 0 } else { from.sent.saturating_add(timeout) });
        }
    }

    fn close_socket(&mut self, engine: &mut Engine, place: usize, code: u16, start: Start) {
        let Some(socket) = self.socket(place) else { return };
        socket.client.close(code, "");
        socket.flush(engine);
        socket.inbox.waiting = Waiting::Closed(start);
        self.wait_for(engine, place, start);
    }

    /// Records a message that a step has taken.
    fn received(
        &mut self,
        recorder: &mut Recorder,
        place: usize,
        exchange: &Exchange,
        verdict: Verdict,
        length: usize,
    ) {
        let step = &self.steps[self.users[place].session.step().index()];
        let exchange = Exchange { bytes_in: length as u64, ..*exchange };
        step.judged(recorder, &exchange, verdict, length as u64);
    }

    /// Reads what has arrived on the user's socket, as far as there is work for it.
    pub(super) fn read_socket(&mut self, engine: &mut Engine, recorder: &mut Recorder, place: usize) {
        let mut work = engine.lend_work();
        self.read_messages(engine, recorder, place, &mut work);
        engine.give_back(work);
    }

    fn read_messages(&mut self, engine: &mut Engine, recorder: &mut Recorder, place: usize, work: &mut Work) {
        let token = self.mark | SOCKET | place as u64;
        while let Some(socket) = self.socket(place) {
            socket.cancel_wakes(engine);
            let (id, at) = (socket.id, socket.last);
            if let Waiting::Written(length) = socket.inbox.waiting
                && engine.is_written(id)
            {
                socket.inbox.waiting = Waiting::Nothing;
                socket.end_by(engine, 0);
                if let Some(row) = self.steps[self.users[place].session.step().index()].message_row {
                    recorder.message_out(row, now(), length);
                }
                self.advance(engine, recorder, place, now());
            } else if (socket.client.is_pending() || !work.is_left()) && is_over(socket.deadline) {
                // Waiting for a share again would wake the user at once, and put it at the end of the queue each time.
                let (mut at, deadline) = (at, socket.deadline);
                let failure = too_late(&mut at, deadline, 0);
                self.socket_fails(engine, recorder, place, &at, &failure);
            } else if !work.is_left() {
                return socket.go_on_later(engine, token);
            } else if socket.client.is_pending() {
                self.take_bytes(engine, recorder, place, &[], &at, work);
            } else {
                match std::mem::take(&mut socket.then) {
                    Follows::More => {}
                    Follows::End => return self.socket_closes(engine, recorder, place, &Close::missing()),
                    Follows::Failed(failure) => return self.socket_fails(engine, recorder, place, &at, &failure),
                }
                // Without a piece, the engine wakes the user with this token.
                let Some(piece) = engine.read(id, token) else { return };
                socket.then = piece.then;
                self.take_bytes(engine, recorder, place, &piece.bytes, &piece.exchange, work);
            }
        }
    }

    /// Takes bytes of the server, and those that are left of earlier ones, and continues a user that waits for them.
    fn take_bytes(
        &mut self,
        engine: &mut Engine,
        recorder: &mut Recorder,
        place: usize,
        bytes: &[u8],
        at: &Exchange,
        work: &mut Work,
    ) {
        let Some(mut socket) = self.take_socket(place) else { return };
        socket.last = *at;
        socket.streak = 0;
        let (session, player) = (&mut self.users[place].session, &mut self.player);
        let Socket { client, inbox, .. } = &mut *socket;
        let (mut taken, mut has_room) = (None, true);
        let fed = client.feed(bytes, work, &mut |message| {
            let message = message.as_bytes();
            inbox.count(recorder, message, at);
            match inbox.waiting {
                Waiting::Received { start, reply } if player.awaits(session, message) => {
                    let exchange = inbox.exchange(start, reply, at);
                    let verdict = player.judge(session, 101, b"", message, exchange.times().response);
                    inbox.answered();
                    taken = Some((exchange, verdict, message.len()));
                }
                Waiting::Received { .. } => {}
                _ => has_room &= inbox.keep(message, at),
            }
        });
        socket.flush(engine);
        has_room &= socket.held.follow(socket.client.unfinished());
        let close = socket.client.closed().cloned();
        let is_taken = taken.is_some();
        if is_taken {
            socket.end_by(engine, 0);
        }
        self.sockets[place] = Some(socket);
        if let Some((exchange, verdict, length)) = taken {
            self.received(recorder, place, &exchange, verdict, length);
        }
        if let Err(error) = fed {
            self.socket_ends(engine, recorder, place, Outcome::Protocol, &error.to_string(), false);
        } else if let Some(close) = close {
            self.socket_closes(engine, recorder, place, &close);
        } else if !has_room {
            self.socket_fails(engine, recorder, place, at, &unkept());
        }
        if is_taken {
            self.advance(engine, recorder, place, at.read);
        }
    }

    /// Ends a socket whose connection failed.
    fn socket_fails(
        &mut self,
        engine: &mut Engine,
        recorder: &mut Recorder,
        place: usize,
        at: &Exchange,
        failure: &Failure,
    ) {
        if let Some(errno) = failure.errno {
            recorder.errno(errno, at.arrival);
        }
        let limit = self.steps[self.users[place].session.step().index()].timeout as f64 / 1e9;
        let Some(socket) = self.socket(place) else { return };
        socket.last = *at;
        // The step fails, and this end closes the connection: the close is not a second failure.
        let is_given_up =
            failure.outcome == Outcome::Timeout && matches!(socket.inbox.waiting, Waiting::Received { .. });
        let message = match socket.inbox.waiting {
            _ if failure.outcome != Outcome::Timeout => failure.message.clone(),
            Waiting::Received { .. } => format!("no message that the step waits for within {limit} s"),
            Waiting::Written(_) => format!("the server did not read for {limit} s"),
            _ => "the server did not answer the close frame in time".to_owned(),
        };
        self.socket_ends(engine, recorder, place, failure.outcome, &message, is_given_up);
    }

    /// Ends a socket that the server has closed.
    fn socket_closes(&mut self, engine: &mut Engine, recorder: &mut Recorder, place: usize, close: &Close) {
        let is_answer = self
            .socket(place)
            .is_some_and(|socket| matches!(socket.inbox.waiting, Waiting::Closed(_) | Waiting::Left(_)));
        let is_clean = close.is_clean(is_answer);
        self.socket_ends(engine, recorder, place, Outcome::Reset, &close.to_string(), is_clean);
    }

    /// Ends a socket, records its end, and continues a user that waits for something of it. `outcome`: of a step that
    /// waits for a message, and of the end unless that `is_clean`.
    fn socket_ends(
        &mut self,
        engine: &mut Engine,
        recorder: &mut Recorder,
        place: usize,
        outcome: Outcome,
        message: &str,
        is_clean: bool,
    ) {
        let Some(mut socket) = self.take_socket(place) else { return };
        socket.cancel_wakes(engine);
        engine.hang_up(socket.id);
        let at = &socket.last;
        let start = Start { due: at.arrival, free: 0, sent: at.arrival };
        let from = match socket.inbox.waiting {
            Waiting::Closed(start) | Waiting::Left(start) => start,
            _ => start,
        };
        let exchange = from.until(at);
        if let Some(rows) = socket.inbox.rows {
            let outcome = if is_clean { Outcome::Success } else { outcome };
            recorder.socket_closed(rows, &exchange, outcome, message);
        }
        if let Waiting::Received { start, reply } = socket.inbox.waiting {
            let session = &self.users[place].session;
            let step = &self.steps[session.step().index()];
            step.faulty(recorder, &socket.inbox.exchange(start, reply, at), outcome, 0, message);
        }
        match socket.inbox.waiting {
            Waiting::Nothing => {}
            Waiting::Left(_) => {
                self.leaving -= 1;
                self.remove(engine, place);
            }
            _ => self.advance(engine, recorder, place, at.read),
        }
    }

    /// Cancels what the user waits for, and records it.
    pub(super) fn cancel_socket(&mut self, recorder: &mut Recorder, place: usize) {
        let at = now();
        let Some(socket) = self.socket(place) else { return };
        let Waiting::Received { start, reply } = replace(&mut socket.inbox.waiting, Waiting::Nothing) else { return };
        let exchange = socket.inbox.exchange(start, reply, &Exchange { arrival: at, read: at, ..Exchange::default() });
        let step = &self.steps[self.users[place].session.step().index()];
        step.faulty(recorder, &exchange, Outcome::Unanswered, 0, "");
    }

    /// Begins to close the socket of a user that ends. To end the connection at once would make the system discard what
    /// was sent and not read yet. Returns false if it has none.
    pub(super) fn begins_to_close(&mut self, engine: &mut Engine, place: usize) -> bool {
        let Some(socket) = self.socket(place) else { return false };
        let sent = now();
        socket.client.close(1000, "");
        socket.flush(engine);
        socket.inbox.waiting = Waiting::Left(Start { due: sent, free: 0, sent });
        socket.end_by(engine, sent + CLOSE_WAIT);
        self.leaving += 1;
        if let State::Pausing { wake, .. } = std::mem::replace(&mut self.users[place].state, State::Streaming) {
            engine.cancel_wake(wake);
        }
        true
    }

    /// Closes the user's socket without waiting for the server.
    pub(super) fn leave(&mut self, engine: &mut Engine, place: usize) {
        let Some(mut socket) = self.take_socket(place) else { return };
        socket.cancel_wakes(engine);
        socket.client.close(1001, "");
        socket.flush(engine);
        engine.hang_up(socket.id);
    }
}
