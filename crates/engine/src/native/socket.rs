//! The WebSocket of a user: its state, and how its messages are taken.

use std::collections::VecDeque;

use plimsoll_http as http;
use plimsoll_record::{Exchange, Recorder, SocketRows};
use plimsoll_websocket::{Accepted, Client, Key, Message, Offer};

use crate::call::{ExchangeId, Then};
use crate::engine::{Engine, WakeId};
use plimsoll_scenario::bodies::Held;

/// Maximum messages and bytes that wait for a step; the oldest ones are discarded.
const MOST_UNREAD: usize = 1000;
const MOST_UNREAD_BYTES: usize = 1 << 20;

/// Synchronous steps before other users run.
pub(super) const STREAK: u32 = 16;

/// When something was due and sent, monotonic ns.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Start {
    pub(super) due: u64,
    pub(super) free: u64,
    pub(super) sent: u64,
}

impl Start {
    /// The exchange from here to this arrival.
    pub(super) fn until(&self, at: &Exchange) -> Exchange {
        let Start { due, free, sent } = *self;
        // An unread message may be older than the step that takes it.
        let arrival = at.arrival.max(sent);
        Exchange {
            due,
            free,
            sent,
            first_byte: arrival,
            arrival,
            read: at.read.max(arrival),
            source: at.source,
            ..Exchange::default()
        }
    }
}

/// What the user waits for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Waiting {
    /// Nothing of its socket.
    Nothing,
    /// The socket has not accepted this many bytes of a message yet.
    Written(u64),
    /// A message. `reply`: one that answers what was sent last.
    Received { start: Start, reply: bool },
    /// The close frame of the peer.
    Closed(Start),
    /// The same; then the user ends.
    Left(Start),
}

/// An open connection.
#[derive(Debug)]
pub(super) struct Socket {
    pub(super) id: ExchangeId,
    /// The step that opened it.
    pub(super) opener: usize,
    pub(super) client: Client,
    pub(super) inbox: Inbox,
    /// The stamps of the last bytes.
    pub(super) last: Exchange,
    /// What follows the bytes that the client has.
    pub(super) then: Then,
    /// The wake for more work, while other users run.
    wake: Option<WakeId>,
    /// The wake at the deadline, for a user that waits for work then.
    alarm: Option<WakeId>,
    /// Steps since it last waited for something.
    pub(super) streak: u32,
    /// Deadline of what it waits for, monotonic ns; 0 = never.
    pub(super) deadline: u64,
    /// The memory of the message whose end has not arrived.
    pub(super) held: Held,
}

/// The messages of a connection, and who waits for them.
#[derive(Debug)]
pub(super) struct Inbox {
    pub(super) rows: Option<SocketRows>,
    pub(super) waiting: Waiting,
    /// Messages that no step has taken: arrival and read of each.
    unread: VecDeque<(Exchange, Vec<u8>)>,
    unread_bytes: usize,
    /// Their memory.
    held: Held,
    /// Steps of its flow take messages.
    keeps: bool,
    /// What was sent since the last message was taken.
    sends: Vec<Start>,
    is_answered: bool,
    /// Arrival of the last message.
    previous: Option<u64>,
}

impl Socket {
    pub(super) fn new(id: ExchangeId, opener: usize, rows: Option<SocketRows>, keeps: bool, client: Client) -> Socket {
        let inbox = Inbox {
            rows,
            waiting: Waiting::Nothing,
            unread: VecDeque::new(),
            unread_bytes: 0,
            held: Held::default(),
            keeps,
            sends: Vec::new(),
            is_answered: false,
            previous: None,
        };
        let last = Exchange::default();
        Socket {
            id,
            opener,
            client,
            inbox,
            last,
            then: Then::More,
            wake: None,
            alarm: None,
            streak: 0,
            deadline: 0,
            held: Held::default(),
        }
    }

    /// Writes what the client has to send.
    pub(super) fn flush(&mut self, engine: &mut Engine) {
        let output = self.client.output();
        if !output.is_empty() {
            engine.write(self.id, output);
            output.clear();
        }
        if *self.client.pongs() > 0 && engine.is_written(self.id) {
            *self.client.pongs() = 0;
        }
    }

    /// Sets the deadline of what the user waits for, monotonic ns; 0 = never.
    pub(super) fn end_by(&mut self, engine: &mut Engine, deadline: u64) {
        if self.deadline != 0 || deadline != 0 {
            engine.end_by(self.id, deadline);
            self.deadline = deadline;
        }
    }

    /// Has its user woken when there is work to lend for it, or at the deadline.
    pub(super) fn go_on_later(&mut self, engine: &mut Engine, token: u64) {
        self.wake = Some(engine.go_on_later(token, self.client.is_in_message()));
        self.alarm = (self.deadline != 0).then(|| engine.wake(token, self.deadline));
    }

    /// Its user has been woken, or need not be.
    pub(super) fn cancel_wakes(&mut self, engine: &mut Engine) {
        for wake in [self.wake.take(), self.alarm.take()].into_iter().flatten() {
            engine.cancel_wake(wake);
        }
    }

    /// Writes a message.
    pub(super) fn send(&mut self, engine: &mut Engine, message: Message<'_>, sent: Start) {
        self.inbox.sent(sent);
        self.client.send(message);
        self.flush(engine);
    }
}

impl Inbox {
    /// A message is sent. What came before the first one after an answer is no reply to it.
    fn sent(&mut self, sent: Start) {
        if self.is_answered || self.sends.is_empty() {
            self.sends.clear();
            self.unread.clear();
            self.unread_bytes = 0;
            self.held = Held::default();
            self.is_answered = false;
        }
        if self.keeps {
            self.sends.push(sent);
        }
    }

    /// Counts a message.
    pub(super) fn count(&mut self, recorder: &mut Recorder, message: &[u8], at: &Exchange) {
        if let Some(rows) = self.rows {
            recorder.message_in(rows, at, self.previous, message.len() as u64);
        }
        self.previous = Some(at.arrival);
    }

    /// Keeps a message for a later step. Returns false if there is no memory for those of all users.
    pub(super) fn keep(&mut self, message: &[u8], at: &Exchange) -> bool {
        if !self.keeps {
            return true;
        }
        self.unread_bytes += message.len();
        self.unread.push_back((*at, message.to_vec()));
        while self.unread.len() > MOST_UNREAD || self.unread_bytes > MOST_UNREAD_BYTES {
            self.take_oldest();
        }
        self.hold()
    }

    /// Takes the oldest unread message.
    pub(super) fn next_unread(&mut self) -> Option<(Exchange, Vec<u8>)> {
        let oldest = self.take_oldest()?;
        self.hold();
        Some(oldest)
    }

    fn take_oldest(&mut self) -> Option<(Exchange, Vec<u8>)> {
        let (at, message) = self.unread.pop_front()?;
        self.unread_bytes -= message.len();
        Some((at, message))
    }

    /// Counts the memory of what is unread.
    fn hold(&mut self) -> bool {
        self.held.follow(self.unread_bytes + self.unread.len() * size_of::<(Exchange, Vec<u8>)>())
    }

    /// The exchange that ends with a message. `start`: of the step that waits. `reply`: the message answers the last one
    /// that was sent before it.
    pub(super) fn exchange(&self, start: Start, reply: bool, at: &Exchange) -> Exchange {
        let before = || self.sends.iter().rev().find(|sent| sent.sent <= at.arrival).or(self.sends.first());
        let from = if reply { before().copied().unwrap_or(start) } else { start };
        from.until(at)
    }

    /// When the message was sent that a step waits to be answered.
    pub(super) fn last_sent(&self) -> Option<Start> {
        self.sends.last().copied()
    }

    /// A step has taken a message.
    pub(super) fn answered(&mut self) {
        self.is_answered = true;
        self.waiting = Waiting::Nothing;
    }
}

/// The bytes of a request for a new connection, with a key of its own.
pub(super) fn with_key(mut request: Vec<u8>) -> Vec<u8> {
    let key = Key::random();
    let placeholder = &plimsoll_scenario::KEY;
    // It is once in each request: the scenario refuses other headers of that name.
    if let Some(at) = request.windows(placeholder.len()).rposition(|window| window == placeholder) {
        request[at..at + placeholder.len()].copy_from_slice(key.as_bytes());
    }
    request
}

/// Checks the response to these bytes.
pub(super) fn check(offer: &Offer, request: &[u8], status: u16, head: &[u8]) -> Result<Accepted, String> {
    let key = http::header(request, "sec-websocket-key").and_then(|key| key.try_into().ok()).map(Key::from_bytes);
    let key = key.ok_or("the request has no key")?;
    offer.check(&key, status, head).map_err(|error| error.to_string())
}
