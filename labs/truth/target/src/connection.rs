//! One connection: requests are cut out of what comes in, scripts are played out.

use std::io::{self, ErrorKind, Write};
use std::os::fd::AsRawFd;

use mio::net::TcpStream;

use crate::clock::{StampClock, now};
use crate::record::{Entry, Place, Source};
use crate::request::{Parsed, Request, parse};
use crate::script::{End, FILLING, Script, Step};
use crate::socket;

/// The other side of one client's connection.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) stream: TcpStream,
    /// Where the record has it.
    pub(crate) place: Place,
    /// Requests on it, the present one included.
    pub(crate) turn: u64,
    /// What is being replied, and to which request of the record; none for a control request.
    pub(crate) playing: Option<(Script, Option<Entry>)>,
    /// Bytes read and not yet understood.
    input: Vec<u8>,
    /// The head whose body is still coming, and bytes that are missing of it.
    reading: Option<(Request, u64)>,
    /// When the last segment came in, monotonic ns, and by which clock.
    arrival: (u64, Source),
    /// When the request being answered came in.
    asked: u64,
    /// Bytes of the script's first step that are out.
    sent: u64,
    /// The moment before the last write, monotonic ns.
    handed: u64,
}

/// What came of reading.
#[derive(Debug)]
pub(crate) enum Heard {
    /// A whole request, when it was complete, and by which clock.
    Request(Request, u64, Source),
    /// No whole one yet.
    Nothing,
    /// Something that is not a request.
    Nonsense(String),
}

/// What came of playing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Played {
    /// Nothing before this time, monotonic ns.
    Until(u64),
    /// The socket takes no more at present.
    Blocked,
    /// All is said, the last of it at this time, monotonic ns; this becomes of the connection.
    Ended(u64, End),
    /// The peer has gone.
    Lost,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> Connection {
        Connection {
            stream,
            place: Place::default(),
            turn: 0,
            playing: None,
            input: Vec::new(),
            reading: None,
            arrival: (0, Source::User),
            asked: 0,
            sent: 0,
            handed: 0,
        }
    }

    /// Takes in everything that is there; whether the peer is still there too.
    pub(crate) fn fill(&mut self, scratch: &mut [u8], clock: &mut StampClock) -> bool {
        loop {
            match socket::receive(self.stream.as_raw_fd(), scratch) {
                Ok(received) if received.length == 0 => return false,
                Ok(received) => {
                    let read = now();
                    self.arrival = match received.stamp {
                        Some(stamp) => (clock.monotonic(stamp).min(read), Source::Kernel),
                        None => (read, Source::User),
                    };
                    self.input.extend_from_slice(&scratch[..received.length]);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
    }

    /// Whether part of a request has come.
    pub(crate) fn is_within_request(&self) -> bool {
        self.reading.is_some() || !self.input.is_empty()
    }

    /// The next request among what has come in.
    pub(crate) fn hear(&mut self) -> Heard {
        if self.reading.is_none() {
            match parse(&self.input) {
                Parsed::Partial => return Heard::Nothing,
                Parsed::Refused(why) => return Heard::Nonsense(why),
                Parsed::Head(request, length) => {
                    self.input.drain(..length);
                    if request.expects_continue && self.input.is_empty() {
                        // 25 bytes into the empty buffer of a socket that has nothing else to send.
                        drop(self.stream.write(b"HTTP/1.1 100 Continue\r\n\r\n"));
                    }
                    let body = request.body;
                    self.reading = Some((request, body));
                }
            }
        }
        let Some((request, missing)) = self.reading.take() else { return Heard::Nothing };
        let taken = missing.min(self.input.len() as u64);
        self.input.drain(..taken as usize);
        if taken < missing {
            self.reading = Some((request, missing - taken));
            return Heard::Nothing;
        }
        self.turn += 1;
        self.asked = self.arrival.0;
        Heard::Request(request, self.arrival.0, self.arrival.1)
    }

    /// Goes on with the script as far as it can.
    pub(crate) fn play(&mut self) -> Played {
        let Some((script, _)) = &mut self.playing else { return Played::Blocked };
        loop {
            let chunk = match script.steps.front() {
                None if script.end == End::Hang => return Played::Blocked,
                None => return Played::Ended(self.handed, script.end),
                Some(Step::Wait(after)) => {
                    let due = self.asked + after;
                    if now() < due {
                        return Played::Until(due);
                    }
                    &[]
                }
                Some(Step::Send(bytes)) => &bytes[self.sent as usize..],
                Some(Step::Fill(length)) => &FILLING[..(length - self.sent).min(FILLING.len() as u64) as usize],
                Some(Step::Endless(bytes)) => bytes,
            };
            if chunk.is_empty() {
                script.steps.pop_front();
                self.sent = 0;
                continue;
            }
            // Before the write: on loopback it is within the write that the peer's kernel stamps the arrival.
            self.handed = now();
            match write(&mut self.stream, chunk) {
                Ok(length) => self.sent += length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Played::Blocked,
                Err(_) => return Played::Lost,
            }
        }
    }
}

fn write(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<u64> {
    loop {
        match stream.write(bytes) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            done => return done.map(|length| length as u64),
        }
    }
}
