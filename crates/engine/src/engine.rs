//! The reactor: sends, waits for readiness, returns what has finished. `ahead`: memory that is asked for early;
//! `batching`: replies that are read, and requests that are written, together; `clients`: groups of connections;
//! `connecting`: new connections; `gathering`: sleeps that make turns larger; `retransmissions`: how many there were;
//! `sessions`: connections that carry many exchanges; `settings`: limits and traces; `streaming`: bodies that are read in
//! pieces; `waking`: timers; `working`: work that takes longer than a turn.

mod ahead;
mod batching;
mod clients;
mod connecting;
mod gathering;
mod retransmissions;
mod sessions;
mod settings;
mod streaming;
mod waking;
mod working;

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::time::Duration;

use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token, Waker};
pub use plimsoll_http::Limits;
use plimsoll_record::Outcome;
use slab::Slab;

use crate::allow::AllowedHosts;
use crate::backoff::{Backoff, forget};
use crate::call::{Call, ExchangeId, Failure, Finished, unpack};
use crate::clock::now;
use crate::connection::{Connection, Io, Readiness, Step};
use crate::origin::Origin;
use crate::platform::StampSwitch;
use crate::resolve::{Place, Resolver};
use crate::source::Sources;
use crate::timer::Timers;
use crate::trace::Tracer;
pub use ahead::{fetch, fetch_all};
use clients::Client;
pub(crate) use clients::make_room;
use gathering::Gathering;
use retransmissions::Retransmissions;
use waking::Wake;
use working::Working;

const TIMER: Token = Token(usize::MAX);
const WAKER: Token = Token(usize::MAX - 1);

/// Serials use 31 bits. The highest bit of the packed value marks wakes.
const SERIAL: u32 = u32::MAX >> 1;

/// The value of `next_ready` when the caller has taken all events.
const BETWEEN_TURNS: usize = usize::MAX;

/// Maximum events per poll. It limits how long a turn keeps the caller busy. What the kernel has touched of that many
/// sockets is still in the processor's caches when they are read.
const EVENTS_PER_POLL: usize = 128;

/// A group of connections, such as those of one user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClientId(pub usize);

/// Identifies a pending [`wake`](Engine::wake).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WakeId(pub u64);

/// Marks timers that are wakes. The others belong to connections.
const WAKE: u64 = 1 << 63;

/// The output of a turn.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // the large variant is the common one, and is moved once
pub enum Event {
    /// An exchange has finished, or the head of a streamed one has arrived.
    Finished(Finished),
    /// The wake with this token is due, or there may be something to [`read`](Engine::read).
    Woken(u64),
}

#[derive(Clone, Copy)]
struct Ready {
    token: Token,
    readiness: Readiness,
}

/// The reactor. Call [`send`](Engine::send) at any time; then [`poll`](Engine::poll), and
/// [`next_event`](Engine::next_event) until it returns None. Each `next_event` reads one socket. If the caller is slow
/// between two of them, the time appears in `delay`.
pub struct Engine {
    poll: Poll,
    events: Events,
    ready: Vec<Ready>,
    /// The next one to handle, or [`BETWEEN_TURNS`].
    next_ready: usize,
    connections: Slab<Connection>,
    clients: Slab<Client>,
    /// Slot in `connections` of the last response.
    answered: usize,
    /// Local addresses that new clients get, in turn.
    addresses: Vec<IpAddr>,
    /// Number of clients with such an address.
    assigned: usize,
    /// Exchanges that finished outside of a readiness event.
    finished: VecDeque<Finished>,
    /// How many of these this turn returns. An exchange that fails during `send` is returned in the next turn.
    /// Otherwise a caller that always sends again would never leave the turn.
    turn: usize,
    /// Pending wakes. The entry of a cancelled wake stays in `timers` until its time.
    wakes: Slab<Wake>,
    /// Due wakes that were not returned yet.
    woken: VecDeque<u64>,
    /// Wakes whose time had passed when they were requested. They are returned in the next turn. Otherwise a caller
    /// that always asks again would never leave the turn.
    overdue: Vec<u64>,
    /// Shared connections with output that waits for the end of the current event: slots in `connections`.
    unwritten: Vec<usize>,
    /// Connections that have more than one turn reads, for the next one.
    unread: Vec<Ready>,
    working: Working,
    /// Exchanges on shared connections whose writer waits until its bytes are written.
    writers: Vec<ExchangeId>,
    /// Kept for its memory.
    steps: Vec<(ExchangeId, Step)>,
    /// Slots in `connections` that have no connection of their own.
    sharing: usize,
    /// Connections that wait for the resolver: (slot in `connections`, serial).
    waiting: HashMap<Place, Vec<(usize, u32)>>,
    timers: Timers,
    resolver: Resolver,
    sources: Sources,
    allowed: AllowedHosts,
    backoff: Backoff,
    tracer: Option<Tracer>,
    waker: Arc<Waker>,
    io: Io,
    in_flight: usize,
    sent: u64,
    /// Counters that distinguish users of the same slot; they wrap after 2^32 and 2^31.
    generation: u32,
    serial: u32,
    stamps: Option<StampSwitch>,
    gathering: Gathering,
    retransmissions: Retransmissions,
    /// Requests that have not been written yet: (slot in `connections`, serial).
    batch: Vec<(usize, u32)>,
}

impl Engine {
    /// An engine without connections. Fails if the system has no descriptors left.
    pub fn new(limits: Limits) -> io::Result<Engine> {
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKER)?);
        let timers = Timers::new()?;
        poll.registry().register(&mut SourceFd(&timers.as_raw_fd()), TIMER, Interest::READABLE)?;
        Ok(Engine {
            poll,
            events: Events::with_capacity(EVENTS_PER_POLL),
            ready: Vec::with_capacity(EVENTS_PER_POLL),
            next_ready: BETWEEN_TURNS,
            connections: Slab::new(),
            clients: Slab::new(),
            answered: 0,
            addresses: Vec::new(),
            assigned: 0,
            finished: VecDeque::new(),
            turn: 0,
            wakes: Slab::new(),
            woken: VecDeque::new(),
            overdue: Vec::new(),
            unwritten: Vec::new(),
            unread: Vec::new(),
            working: Working::default(),
            writers: Vec::new(),
            steps: Vec::new(),
            sharing: 0,
            waiting: HashMap::new(),
            timers,
            resolver: Resolver::new(Arc::clone(&waker)),
            sources: Sources::default(),
            allowed: AllowedHosts::default(),
            backoff: Backoff::new(now()),
            tracer: None,
            waker,
            io: Io::new(limits),
            in_flight: 0,
            sent: 0,
            generation: 0,
            serial: 0,
            stamps: StampSwitch::new().ok(),
            gathering: Gathering::default(),
            retransmissions: Retransmissions::default(),
            batch: Vec::new(),
        })
    }

    /// Exchanges that were sent and have not finished. A streamed exchange finishes with its head. Exchanges in backoff
    /// do not count.
    pub fn in_flight(&self) -> usize {
        self.in_flight - self.backoff.held
    }

    /// Number of calls of [`send`](Engine::send).
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Connections that are open or opening.
    pub fn connections(&self) -> usize {
        self.connections.len() - self.sharing
    }

    /// Sends a request on a kept connection of this client, or on a new one. Its [`Finished`] comes in a later turn.
    /// The client must not be closed.
    #[inline]
    pub fn send(&mut self, client: ClientId, origin: &Arc<Origin>, call: Call) -> ExchangeId {
        self.begin(client, origin, call, false)
    }

    /// later: on a kept connection it waits for [`write_batch`](Engine::write_batch).
    #[inline]
    fn begin(&mut self, client: ClientId, origin: &Arc<Origin>, mut call: Call, later: bool) -> ExchangeId {
        let trace = if self.tracer.is_some() { self.mark(&mut call) } else { 0 };
        self.in_flight += 1;
        self.sent += 1;
        self.serial = self.serial.wrapping_add(1) & SERIAL;
        let sent = now();
        if origin.http2 {
            return self.begin_shared(client, origin, call, trace, sent);
        }
        let (place, step) = match self.idle_connection(client, origin, sent) {
            Some((place, sent)) => {
                let connection = &mut self.connections[place];
                connection.serial = self.serial;
                connection.prepare(call, sent);
                if later {
                    self.batch.push((place, self.serial));
                    (place, Step::Wait)
                } else {
                    (place, connection.transmit(&mut self.io))
                }
            }
            None => self.dial(client, origin, call, sent),
        };
        if trace != 0
            && let Some(flight) = &mut self.connections[place].flight
        {
            flight.carries(trace);
        }
        let id = ExchangeId::new(place, self.serial);
        if let Some(finished) = self.settle(place, step) {
            self.finish_later(finished);
        }
        id
    }

    /// Cancels an exchange and closes its connection. Returns its state, as unanswered, and no event follows.
    /// None if the exchange was returned already.
    pub fn cancel(&mut self, id: ExchangeId) -> Option<Finished> {
        let current = self.in_progress(id);
        if let Some(place) = current.filter(|place| !self.connections[*place].is_streaming()) {
            return self.end(place, Some(Failure::new(Outcome::Unanswered, "given up")));
        }
        let queued = self.finished.iter().position(|finished| finished.id == id)?;
        self.turn -= usize::from(queued < self.turn);
        self.finished.remove(queued)
    }

    /// Fetches readiness and returns the number of pending items. Does not wait while items are left.
    pub fn poll(&mut self, timeout: Option<Duration>) -> io::Result<usize> {
        if self.next_ready < self.ready.len() {
            // Deadlines do not wait for items that take long.
            self.expire();
            return Ok(self.ready.len() - self.next_ready + self.finished.len() + self.woken.len());
        }
        self.write_batch();
        self.flush();
        self.timers.settle();
        self.woken.extend(self.overdue.drain(..));
        self.ready.clear();
        if !self.unread.is_empty() {
            self.take_unread();
        }
        self.working.begin_turn();
        let pending = self.ready.len() + self.finished.len() + self.woken.len() + self.working.pending();
        let timeout = if pending == 0 { timeout } else { Some(Duration::ZERO) };
        self.next_ready = 0;
        self.turn = self.finished.len();
        match self.poll.poll(&mut self.events, timeout) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
            Err(_) => self.events.clear(),
            Ok(()) => {}
        }
        self.ready.extend(self.events.iter().map(|event| Ready {
            token: event.token(),
            readiness: Readiness {
                readable: event.is_readable() || event.is_read_closed() || event.is_error(),
                writable: event.is_writable(),
                ended: event.is_read_closed() || event.is_error(),
            },
        }));
        Ok(self.ready.len() + self.finished.len() + self.woken.len() + self.working.pending())
    }

    /// Works through what `poll` fetched until there is an event; None at the end.
    #[inline]
    pub fn next_event(&mut self) -> Option<Event> {
        loop {
            if self.turn > 0 {
                self.turn -= 1;
                return self.finished.pop_front().map(Event::Finished);
            }
            if let Some(event) = self.next_woken() {
                return Some(event);
            }
            if self.working.is_wanted()
                && let Some(event) = self.next_working()
            {
                return Some(event);
            }
            let Some(&ready) = self.ready.get(self.next_ready) else {
                self.next_ready = BETWEEN_TURNS;
                self.write_batch();
                self.flush();
                self.timers.settle();
                if self.working.is_wanted() {
                    self.ring();
                } else {
                    self.gather();
                }
                return None;
            };
            self.next_ready += 1;
            self.fetch_ahead();
            match ready.token {
                TIMER => self.expire(),
                WAKER => self.resolved(),
                token => {
                    if let Some(finished) = self.advance(token, ready) {
                        return Some(Event::Finished(finished));
                    }
                }
            }
        }
    }

    #[inline]
    fn advance(&mut self, token: Token, ready: Ready) -> Option<Finished> {
        let (place, generation) = unpack(token.0 as u64);
        let connection = self.connections.get_mut(place).filter(|known| known.generation == generation)?;
        let step = connection.ready(&mut self.io, ready.readiness);
        self.settle(place, step)
    }

    /// Performs a connection's step.
    #[inline]
    fn settle(&mut self, place: usize, step: Step) -> Option<Finished> {
        match step {
            Step::Wait => {
                self.watch(place);
                None
            }
            Step::Done { keep: true } => {
                self.in_flight -= 1;
                self.answered = place;
                let connection = &mut self.connections[place];
                let id = ExchangeId::new(place, connection.serial);
                let flight = connection.rest()?;
                self.gathering.read(flight.arrival());
                Some(flight.finish(id, None))
            }
            step => self.settle_other(place, step),
        }
    }

    /// The steps that are not part of most exchanges.
    #[inline(never)]
    fn settle_other(&mut self, place: usize, mut step: Step) -> Option<Finished> {
        loop {
            step = match step {
                Step::Wait | Step::Done { keep: true } => return self.settle(place, step),
                Step::Done { keep: false } => return self.end(place, None),
                Step::Failed(failure) => return self.end(place, Some(failure)),
                Step::Close => {
                    self.remove(place);
                    return None;
                }
                Step::Redial => {
                    self.count_retransmissions(place);
                    let connection = &mut self.connections[place];
                    connection.restart();
                    forget(&mut self.clients[connection.client].refusals, &connection.origin);
                    self.open(place)
                }
                Step::Dial { waited } => {
                    self.backoff.held -= 1;
                    self.backoff.waited += waited;
                    if self.connections[place].origin.http2 {
                        self.join(place, now(), false);
                        return None;
                    }
                    self.open(place)
                }
                Step::NextAddress(error) => {
                    self.count_retransmissions(place);
                    self.connect(place, error)
                }
                Step::Streamed => return self.streamed(place),
                Step::Unread { ended } => {
                    self.watch(place);
                    self.read_later(place, ended);
                    return None;
                }
                Step::Written => {
                    self.watch(place);
                    self.woken.extend(self.connections[place].take_writer());
                    return None;
                }
                Step::Made | Step::Shared(_) | Step::Continue | Step::Again => return self.settle_shared(place, &step),
            }
        }
    }

    /// Ends the exchange in flight and its connection.
    fn end(&mut self, place: usize, failure: Option<Failure>) -> Option<Finished> {
        if self.connections[place].session.is_some() {
            self.lose(place, &failure?);
            return None;
        }
        let mut connection = self.remove(place);
        let id = ExchangeId::new(place, connection.serial);
        self.in_flight -= 1;
        if failure.as_ref().is_some_and(|failure| failure.outcome != Outcome::Unanswered) && !connection.is_made() {
            self.refused(&connection);
        }
        self.woken.extend(connection.take_writer());
        let mut flight = connection.flight?;
        flight.count_parts();
        Some(flight.finish(id, failure))
    }

    /// Records that a connection could not be made.
    fn refused(&mut self, connection: &Connection) {
        // The exchanges on a shared connection do not count one by one.
        if connection.share.is_none()
            && let Some(client) = self.clients.get_mut(connection.client)
        {
            self.backoff.refused(&mut client.refusals, &connection.origin);
        }
    }

    /// Whether the caller takes the events of a turn.
    fn in_turn(&self) -> bool {
        self.next_ready != BETWEEN_TURNS
    }

    /// Queues an exchange that finished in this turn besides the current event.
    fn finish_now(&mut self, finished: Finished) {
        self.finished.push_back(finished);
        self.turn += 1;
    }

    /// Queues an exchange that finished outside of `poll`, and makes the descriptor readable.
    fn finish_later(&mut self, finished: Finished) {
        self.finished.push_back(finished);
        self.ring();
    }

    /// Makes the descriptor readable.
    fn ring(&self) {
        // A full eventfd counter is readable already.
        let _ = self.waker.wake();
    }
}

impl AsRawFd for Engine {
    /// Readable when `poll` would find something to do, if the caller has taken all earlier events.
    fn as_raw_fd(&self) -> RawFd {
        self.poll.as_raw_fd()
    }
}

#[cfg(test)]
mod tests;
