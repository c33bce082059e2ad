use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use plimsoll_http::{Head, Heads, Limits, Notes, Sink};

use super::{Connection, Io, Readiness, Step};
use crate::call::{Bytes, Call, ExchangeId, Failure, Keep, Wire};
use crate::clock::now;
use crate::origin::{Origin, OriginOptions};
use crate::protocol::{Collector, Progress, Protocol};
use crate::socket::Socket;

#[test]
#[allow(clippy::print_stdout)] // prints the size for maintainers
fn a_connection_is_small() {
    println!("{} bytes", size_of::<Connection>());
    assert!(size_of::<Connection>() <= 544);
}

/// A protocol of lines: a request is a line, and so is its response. It responds to `ping` with `pong`.
#[derive(Debug, Default)]
struct Lines {
    output: Vec<u8>,
    line: Vec<u8>,
}

impl Protocol for Lines {
    fn begin(&mut self, wire: &Wire) {
        self.output = [wire.bytes.as_slice(), b"\n"].concat();
        self.line.clear();
    }

    fn output<'a>(&'a mut self, _request: &'a [u8], written: usize) -> &'a [u8] {
        &self.output[written..]
    }

    fn input(&mut self, _heads: &mut Heads, bytes: &[u8], collector: &mut Collector<'_>) -> Result<Progress, Failure> {
        self.line.extend_from_slice(bytes);
        if self.line == b"ping\n" {
            self.line.clear();
            self.output.extend_from_slice(b"pong\n");
        }
        if !self.line.ends_with(b"\n") {
            return Ok(Progress::More);
        }
        collector.head(&Head { status: 200, minor: 0, raw: b"", content_length: None, notes: Notes::default() });
        collector.body(&self.line);
        Ok(Progress::Done { reusable: true })
    }
}

/// Handles the first connection: sends a ping, and returns the lines that it reads.
fn answer(listener: &TcpListener) -> Vec<String> {
    let (mut stream, _) = listener.accept().unwrap();
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map(Result::unwrap);
    let request = lines.next().unwrap();
    stream.write_all(b"ping\n").unwrap();
    let pong = lines.next().unwrap();
    stream.write_all(format!("got {request}\n").as_bytes()).unwrap();
    vec![request, pong]
}

#[test]
fn a_connection_speaks_the_protocol_that_it_is_made_with() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let peer = thread::spawn(move || answer(&listener));

    let origin = Arc::new(Origin::new(&format!("http://{address}"), &OriginOptions::default()).unwrap());
    let bytes = Bytes::Owned(b"hello".to_vec());
    let wire =
        Wire { bytes, head: 0, expect_continue: false, head_request: false, continues: false, idempotent: false };
    let call = Call {
        token: 1,
        wire,
        due: 0,
        free: 0,
        timeout: 0,
        since: 0,
        connect_timeout: 0,
        read_timeout: 0,
        keep: Keep::All,
    };
    let mut connection: Connection<Lines> = Connection::new(0, origin, call, now());
    let mut io = Io::new(Limits::default());
    connection.connecting(Socket::tcp(address, None).unwrap());
    while !connection.is_through() {
        thread::yield_now();
    }
    let mut step = connection.connected(&mut io);
    while matches!(step, Step::Wait) {
        thread::yield_now();
        step = connection.ready(&mut io, Readiness { readable: true, writable: true, ended: false });
    }

    assert!(matches!(step, Step::Done { keep: true }), "{step:?}");
    let finished = connection.rest().unwrap().finish(ExchangeId(1), None);
    assert_eq!(finished.result.unwrap().body(), b"got hello\n");
    assert_eq!(peer.join().unwrap(), ["hello", "pong"]);
    assert_eq!((finished.exchange.bytes_out, finished.exchange.bytes_in), (11, 15));
}
