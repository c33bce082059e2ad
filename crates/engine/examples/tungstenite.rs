//! A peer of the native users' WebSockets: the library tungstenite in the shortest loop, which measures nothing.
//!
//! `tungstenite URL USERS SECONDS`: each user sends a message of 100 bytes, waits for the next one, and sends again.
//! Prints the number of round trips as JSON.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Error, Message, WebSocket};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, url, users, seconds] = arguments.as_slice() else { panic!("usage: tungstenite URL USERS SECONDS") };
    let until = Instant::now() + Duration::from_secs_f64(seconds.parse().unwrap());
    let message = Message::text("x".repeat(100));
    let (mut poll, mut events) = (Poll::new().unwrap(), Events::with_capacity(1024));
    let mut sockets: Vec<WebSocket<TcpStream>> = (0..users.parse().unwrap()).map(|_| connect(url)).collect();
    for (place, socket) in sockets.iter_mut().enumerate() {
        poll.registry().register(socket.get_mut(), Token(place), Interest::READABLE).unwrap();
        socket.send(message.clone()).unwrap();
    }
    let mut count: u64 = 0;
    while Instant::now() < until {
        match poll.poll(&mut events, Some(Duration::from_millis(100))) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            done => done.unwrap(),
        }
        for event in &events {
            let socket = &mut sockets[event.token().0];
            // One message is under way at most, so nothing is left to read after it.
            match socket.read() {
                Ok(_) => {
                    count += 1;
                    socket.send(message.clone()).unwrap();
                }
                Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
    println!("{{\"requests\": {count}}}");
}

fn connect(url: &str) -> WebSocket<TcpStream> {
    let place = url.strip_prefix("ws://").unwrap().split('/').next().unwrap();
    let stream = std::net::TcpStream::connect(place).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_nonblocking(true).unwrap();
    // By default it clears 128 KiB before each read.
    let config = WebSocketConfig::default().read_buffer_size(4096);
    let mut shaking = tungstenite::client::client_with_config(url, TcpStream::from_std(stream), Some(config));
    loop {
        match shaking {
            Ok((socket, _)) => return socket,
            Err(tungstenite::HandshakeError::Interrupted(rest)) => shaking = rest.handshake(),
            Err(error) => panic!("{error}"),
        }
    }
}
