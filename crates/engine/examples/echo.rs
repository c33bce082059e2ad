//! A target of WebSockets and event streams that costs as little as one can: for benches that need the processor for
//! the generator.
//!
//! `echo` serves on a free port of 127.0.0.1 until its standard input is closed, and prints its address. A WebSocket
//! gets each of its messages back, all that one read brings by one write. Every other request gets a stream of 1,000
//! events of 100 bytes. A line of the input asks for the number of open connections, and of messages and events so far.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod serving;

use std::cell::Cell;
use std::io::{ErrorKind, Read, Write};

use mio::Interest;
use mio::net::{TcpListener, TcpStream};
use tungstenite::handshake::derive_accept_key;

const END: &[u8] = b"\r\n\r\n";
const KEY: &[u8] = b"\r\nsec-websocket-key: ";
const EVENTS: u64 = 1_000;
/// Of the data of an event.
const BYTES: usize = 100;

struct Peer {
    stream: TcpStream,
    /// What has come and is not whole.
    input: Vec<u8>,
    /// What the socket has not accepted.
    output: Vec<u8>,
    is_socket: bool,
}

fn main() {
    let listener = TcpListener::bind(([127, 0, 0, 1], 0).into()).unwrap();
    let stream = event_stream();
    let (mut buffer, count) = (vec![0; 65_536], Cell::new(0));
    serving::run(
        listener,
        Interest::READABLE | Interest::WRITABLE,
        |stream| Peer { stream, input: Vec::new(), output: Vec::new(), is_socket: false },
        |peer| peer.serve(&mut buffer, &stream, &count),
        |peers| format!("{peers} {}", count.get()),
    );
}

/// A response: all its events.
fn event_stream() -> Vec<u8> {
    let body = format!("data: {}\n\n", "x".repeat(BYTES)).repeat(EVENTS as usize);
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
    format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

impl Peer {
    /// Answers what has come; whether the peer is still there. Readiness is edge-triggered, but a read that does not
    /// fill the buffer has emptied the socket.
    fn serve(&mut self, buffer: &mut [u8], stream: &[u8], count: &Cell<u64>) -> bool {
        loop {
            let read = match self.stream.read(buffer) {
                Ok(0) => return false,
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return self.flush(),
                Err(_) => return false,
            };
            self.input.extend_from_slice(&buffer[..read]);
            self.answer(stream, count);
            if read < buffer.len() {
                return self.flush();
            }
        }
    }

    fn answer(&mut self, stream: &[u8], count: &Cell<u64>) {
        if !self.is_socket {
            let Some(end) = self.input.windows(END.len()).position(|window| window == END) else { return };
            let head = self.input[..end].to_ascii_lowercase();
            if let Some(at) = head.windows(KEY.len()).position(|window| window == KEY) {
                let accept = derive_accept_key(&self.input[at + KEY.len()..][..24]);
                let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
                self.output.extend_from_slice(format!("{head}Sec-WebSocket-Accept: {accept}\r\n\r\n").as_bytes());
                self.is_socket = true;
            } else {
                self.output.extend_from_slice(stream);
                count.set(count.get() + EVENTS);
            }
            self.input.drain(..end + END.len());
        }
        if self.is_socket {
            let mut taken = 0;
            while let Some((length, is_message)) = echo(&self.input[taken..], &mut self.output) {
                taken += length;
                count.set(count.get() + u64::from(is_message));
            }
            self.input.drain(..taken);
        }
    }

    fn flush(&mut self) -> bool {
        while !self.output.is_empty() {
            match self.stream.write(&self.output) {
                Ok(written) => drop(self.output.drain(..written)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            }
        }
        true
    }
}

/// Appends the first frame without its mask: a message, or the answer to a close frame, both below 64 KiB. Returns its
/// length, and whether it is a message; None if it is not whole.
fn echo(frame: &[u8], output: &mut Vec<u8>) -> Option<(usize, bool)> {
    let (size, length) = match *frame.get(1)? & 0x7f {
        126 => (4, usize::from(u16::from_be_bytes(frame.get(2..4)?.try_into().unwrap()))),
        short => (2, usize::from(short)),
    };
    let payload = frame.get(size + 4..size + 4 + length)?;
    output.extend_from_slice(&[frame[0], frame[1] & 0x7f]);
    output.extend_from_slice(&frame[2..size]);
    let key = &frame[size..size + 4];
    output.extend(payload.iter().zip(key.iter().cycle()).map(|(byte, key)| byte ^ key));
    Some((size + 4 + length, frame[0] & 15 < 8))
}
