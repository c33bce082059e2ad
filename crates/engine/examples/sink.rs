//! A target that costs as little as one can: for benches that need the processor for the generator.
//!
//! `sink [PORT]` serves on 127.0.0.1, also beside others at the same port, until its standard input is closed, and prints its address. Every request gets the
//! same 100 bytes; all that one read brings are answered by one write. A line of the input asks for the number of requests,
//! which is printed.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod serving;

use std::cell::Cell;
use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;

use mio::Interest;
use mio::net::{TcpListener, TcpStream};
use socket2::{Domain, Socket, Type};

const BODY: usize = 100;
const END: &[u8] = b"\r\n\r\n";
/// Requests of one read that are answered by one write.
const BATCH: usize = 64;

fn main() {
    let port: u16 = std::env::args().nth(1).map_or(0, |port| port.parse().unwrap());
    let answers = answer(&"x".repeat(BODY)).repeat(BATCH);
    let (mut buffer, count) = (vec![0; 65_536], Cell::new(0));
    serving::run(
        listen(([127, 0, 0, 1], port).into()),
        Interest::READABLE,
        |stream| stream,
        |stream| serve(stream, &mut buffer, answers.as_bytes(), &count),
        |_| count.get().to_string(),
    );
}

/// The kernel spreads connections over all sinks of a port.
fn listen(address: SocketAddr) -> TcpListener {
    let socket = Socket::new(Domain::IPV4, Type::STREAM.nonblocking(), None).unwrap();
    socket.set_reuse_port(true).unwrap();
    socket.bind(&address.into()).unwrap();
    socket.listen(1024).unwrap();
    TcpListener::from_std(socket.into())
}

fn answer(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// Answers what has come; whether the peer is still there. Readiness is edge-triggered, but a read that does not fill
/// the buffer has emptied the socket, so most requests cost one read. A request ends with its head, and is whole.
fn serve(stream: &mut TcpStream, buffer: &mut [u8], answers: &[u8], count: &Cell<u64>) -> bool {
    loop {
        let read = match stream.read(buffer) {
            Ok(0) => return false,
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return error.kind() == ErrorKind::WouldBlock,
        };
        let taken = &buffer[..read];
        let requests = taken.windows(END.len()).filter(|window| *window == END).count();
        count.set(count.get() + requests as u64);
        if stream.write_all(&answers[..answers.len() / BATCH * requests]).is_err() {
            return false;
        }
        if read < buffer.len() {
            return true;
        }
    }
}
