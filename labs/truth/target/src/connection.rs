//! One connection: parses requests from its input, and plays their scripts.

use std::io::{self, ErrorKind, Write};
use std::os::fd::AsRawFd;

use mio::net::TcpStream;

use crate::clock::{StampClock, now};
use crate::record::{Entry, Place, Source};
use crate::request::{Parsed, Request, parse, parse_frame};
use crate::script::{End, FILLING, Script, Step};
use crate::socket;

/// The server side of one client's connection.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) stream: TcpStream,
    /// Its entry in the record.
    pub(crate) place: Place,
    /// Number of requests so far, with the current one.
    pub(crate) turn: u64,
    /// The current response, and its request in the record; None for a control request.
    pub(crate) playing: Option<(Script, Option<Entry>)>,
    /// The target that it was opened with, if it is a WebSocket.
    pub(crate) opened: Option<String>,
    /// Bytes that were read and not parsed yet.
    input: Vec<u8>,
    /// The head of a request whose body is incomplete, and the number of missing bytes.
    reading: Option<(Request, u64)>,
    /// Time of the last received segment, monotonic ns, and its clock.
    arrival: (u64, Source),
    /// Arrival of the current request.
    asked: u64,
    /// Bytes of the script's first step that were written.
    sent: u64,
    /// The time before the last write, monotonic ns.
    handed: u64,
}

/// The result of reading.
#[derive(Debug)]
pub(crate) enum Heard {
    /// A whole request, when it was complete, and by which clock.
    Request(Request, u64, Source),
    /// No whole request yet.
    Nothing,
    /// Input that is not a request.
    Nonsense(String),
}

/// The result of playing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Played {
    /// Wait until this time, monotonic ns.
    Until(u64),
    /// The socket is full.
    Blocked,
    /// The response is complete since this time, monotonic ns. Then do this with the connection.
    Ended(u64, End),
    /// The peer has closed the connection.
    Lost,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> Connection {
        Connection {
            stream,
            place: Place::default(),
            turn: 0,
            playing: None,
            opened: None,
            input: Vec::new(),
            reading: None,
            arrival: (0, Source::User),
            asked: 0,
            sent: 0,
            handed: 0,
        }
    }

    /// Reads all available bytes. Returns whether the peer is still connected.
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

    /// Whether a part of a request has arrived.
    pub(crate) fn is_within_request(&self) -> bool {
        self.reading.is_some() || !self.input.is_empty()
    }

    /// Takes the next request from the input.
    pub(crate) fn hear(&mut self) -> Heard {
        if self.reading.is_none() {
            let parsed = match &self.opened {
                None => parse(&self.input),
                Some(target) => parse_frame(&self.input, target),
            };
            match parsed {
                Parsed::Partial => return Heard::Nothing,
                Parsed::Refused(why) => return Heard::Nonsense(why),
                Parsed::Head(request, length) => {
                    self.input.drain(..length);
                    if request.expects_continue && self.input.is_empty() {
                        // 25 bytes always fit into the empty buffer of an idle socket.
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

    /// Continues the script as far as possible.
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
            // Before the write: on loopback, the peer's kernel stamps the arrival during the write.
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
