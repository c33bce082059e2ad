//! The event loop: readiness, timers, freezes and stalls.

use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::time::Duration;

use mio::net::TcpListener;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use slab::Slab;

use crate::behaviours::{self, Context};
use crate::clock::{StampClock, now, sleep_until};
use crate::connection::{Connection, Heard, Played};
use crate::control::{Control, Freezes, control};
use crate::draws::Draws;
use crate::record::{Fate, Record, Source};
use crate::request::{Keeping, Request};
use crate::script::{End, Script, response};
use crate::socket::{self, Timer};
use crate::timers::Timers;

const LISTENER: Token = Token(usize::MAX - 1);
const TIMER: Token = Token(usize::MAX - 2);
const LEASH: Token = Token(usize::MAX - 3);
/// This long before a deadline, stop sleeping and poll the clock, ns: waking up takes up to this.
const SPIN: u64 = 100_000;
/// Wait after a failed accept, ns.
const RETRY: u64 = 10_000_000;
const CLOSING: &str = "Connection: close";

/// The target.
pub(crate) struct Server {
    poll: Poll,
    listener: TcpListener,
    timer: Timer,
    connections: Slab<Connection>,
    timers: Timers,
    record: Record,
    draws: Draws,
    clock: StampClock,
    freezes: Option<Freezes>,
    /// End of the accept stall, monotonic ns; 0 = accepting.
    stalled: u64,
    scratch: Vec<u8>,
}

impl Server {
    /// Bound, not yet serving. port: 0 chooses a free one.
    pub(crate) fn new(port: u16) -> io::Result<Server> {
        let (poll, mut listener, timer) = (Poll::new()?, socket::listen(port)?, Timer::new()?);
        socket::wait_for_stamps()?;
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        poll.registry().register(&mut SourceFd(&timer.as_raw_fd()), TIMER, Interest::READABLE)?;
        // Files and /dev/null cannot be polled and never close. Then only a signal ends the program.
        drop(poll.registry().register(&mut SourceFd(&io::stdin().as_raw_fd()), LEASH, Interest::READABLE));
        Ok(Server {
            poll,
            listener,
            timer,
            connections: Slab::new(),
            timers: Timers::default(),
            record: Record::new(),
            draws: Draws::default(),
            clock: StampClock::default(),
            freezes: None,
            stalled: 0,
            scratch: vec![0; 65_536],
        })
    }

    pub(crate) fn port(&self) -> io::Result<u16> {
        Ok(self.listener.local_addr()?.port())
    }

    /// Serves until standard input is closed.
    pub(crate) fn run(&mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(1024);
        loop {
            let timeout = self.prepare();
            match self.poll.poll(&mut events, timeout) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                done => done?,
            }
            for event in &events {
                self.freeze_if_due();
                match event.token() {
                    LEASH if event.is_read_closed() => return Ok(()),
                    LISTENER => self.accept(),
                    LEASH | TIMER => {}
                    Token(place) => self.ready(place, event.is_readable()),
                }
            }
        }
    }

    /// Does what is due, and returns how long to wait for readiness: not at all if something is due very soon.
    fn prepare(&mut self) -> Option<Duration> {
        self.freeze_if_due();
        while let Some(place) = self.timers.take(now()) {
            self.freeze_if_due();
            self.play(place);
        }
        if self.stalled != 0 && now() >= self.stalled {
            self.stalled = 0;
            self.accept();
        }
        let stall = (self.stalled != 0).then_some(self.stalled);
        let next = [self.timers.next(), self.freezes.map(|freezes| freezes.next()), stall].into_iter().flatten().min();
        let asleep = next.map_or(0, |at| at.saturating_sub(SPIN));
        if next.is_some() && asleep <= now() {
            return Some(Duration::ZERO);
        }
        self.timer.set(asleep);
        None
    }

    /// Freezes when it is time. Called before every event, so that nothing is served during a freeze.
    fn freeze_if_due(&mut self) {
        let begin = now();
        let Some(freezes) = self.freezes.as_mut().filter(|freezes| begin >= freezes.next()) else { return };
        let end = freezes.enter();
        sleep_until(end);
        self.record.froze(begin, now());
    }

    fn accept(&mut self) {
        while self.stalled == 0 {
            let mut stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => continue,
                // Out of descriptors. Retry later: the kernel does not report it again.
                Err(_) => return self.stalled = now() + RETRY,
            };
            let entry = self.connections.vacant_entry();
            let token = Token(entry.key());
            let interest = Interest::READABLE | Interest::WRITABLE;
            if stream.set_nodelay(true).is_ok() && self.poll.registry().register(&mut stream, token, interest).is_ok() {
                entry.insert(Connection::new(stream));
            }
        }
    }

    fn ready(&mut self, place: usize, readable: bool) {
        if readable {
            let Some(connection) = self.connections.get_mut(place) else { return };
            if !connection.fill(&mut self.scratch, &mut self.clock) {
                return self.lose(place);
            }
        }
        self.play(place);
    }

    /// Continues the connection's response, then its next requests.
    fn play(&mut self, place: usize) {
        while let Some(connection) = self.connections.get_mut(place) {
            if connection.playing.is_none() && !self.listen_to(place) {
                return;
            }
            let Some(connection) = self.connections.get_mut(place) else { return };
            match connection.play() {
                Played::Blocked => return,
                Played::Until(due) => return self.timers.add(due, place),
                Played::Lost => return self.lose(place),
                Played::Ended(handed, end) => self.finish(place, handed, end),
            }
        }
    }

    /// Takes the connection's next request. Returns whether there is one.
    fn listen_to(&mut self, place: usize) -> bool {
        let connection = &mut self.connections[place];
        match connection.hear() {
            Heard::Nothing => return false,
            Heard::Nonsense(why) => {
                self.record.refused();
                let reply = response("400 Bad Request", &[CLOSING], why.as_bytes());
                connection.playing = Some((Script { end: End::Close, ..Script::reply(reply) }, None));
            }
            Heard::Request(request, arrival, source) => match control(&request) {
                Some(asked) => {
                    let end = if request.keeping == Keeping::Close { End::Close } else { End::Keep };
                    let script = Script { end, ..Script::reply(self.obey(asked)) };
                    self.connections[place].playing = Some((script, None));
                }
                None => self.answer(place, &request, arrival, source),
            },
        }
        true
    }

    fn answer(&mut self, place: usize, request: &Request, arrival: u64, source: Source) {
        let connection = &mut self.connections[place];
        let entry = self.record.received(request, arrival, source, &mut connection.place);
        let mut context = Context { draws: &mut self.draws, turn: connection.turn };
        let mut script = behaviours::script(request, &mut context);
        if script.end == End::Switch {
            connection.opened = Some(request.target.clone());
        }
        match request.keeping {
            Keeping::Close if script.end == End::Keep => script.end = End::Close,
            Keeping::Asked => script.say_keep_alive(),
            Keeping::Close | Keeping::Usual => {}
        }
        connection.playing = Some((script, Some(entry)));
    }

    /// Executes a control request and returns the response.
    fn obey(&mut self, asked: Result<Control, String>) -> Vec<u8> {
        match asked {
            Err(why) => return response("400 Bad Request", &[], why.as_bytes()),
            Ok(Control::Tell) => {
                let json = self.record.json(self.clock.error());
                return response("200 OK", &["Content-Type: application/json"], json.as_bytes());
            }
            Ok(Control::Reset) => {
                self.record.reset();
                self.draws.restart();
            }
            Ok(Control::Freeze { length: 0, .. }) => self.freezes = None,
            Ok(Control::Freeze { period, length }) => self.freezes = Some(Freezes::new(period, length, now())),
            Ok(Control::Stall { length }) => {
                self.stalled = now() + length;
                self.record.stalled(now(), self.stalled);
            }
        }
        response("204 No Content", &[], b"")
    }

    /// The response is complete: records it, and handles the connection as the script says.
    fn finish(&mut self, place: usize, handed: u64, end: End) {
        let connection = &mut self.connections[place];
        if let Some((_, Some(entry))) = connection.playing.take() {
            self.record.ended(entry, if end == End::Reset { Fate::Reset } else { Fate::Replied(handed) });
        }
        match end {
            End::Keep | End::Hang | End::Switch => return,
            End::Reset => socket::reset(&connection.stream),
            End::Close => {}
        }
        self.connections.remove(place);
    }

    /// The peer has closed the connection. Its earlier requests count as received.
    fn lose(&mut self, place: usize) {
        let mut connection = self.connections.remove(place);
        if let Some((_, Some(entry))) = connection.playing {
            self.record.ended(entry, Fate::Cut);
        }
        while let Heard::Request(request, arrival, source) = connection.hear() {
            if control(&request).is_none() {
                let entry = self.record.received(&request, arrival, source, &mut connection.place);
                self.record.ended(entry, Fate::Cut);
            }
        }
        if connection.is_within_request() {
            self.record.partial();
        }
    }
}
