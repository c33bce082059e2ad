//! The way through a proxy, from its accepted connection to the first byte of the target: CONNECT of HTTP, or SOCKS 5.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;

use plimsoll_http::{Decoder, Head, Sink};
use plimsoll_record::Outcome;

use super::{Connection, Io, Stage, Step};
use crate::call::Failure;
use crate::origin::Tunnel;
use crate::protocol::Protocol;
use crate::socks5::{Destination, Handshake, Progress};

/// What is known of the way through the proxy of a connection.
#[derive(Debug)]
pub(super) enum Passage {
    /// Decodes the response to CONNECT.
    Connect(Decoder),
    /// Addresses of the target, resolved here, that were not tried; the next one is the last element. None are left, or
    /// there never were any, if the proxy resolves.
    Targets(Vec<SocketAddr>),
    /// In the handshake of SOCKS 5, with the same addresses.
    Socks5(Handshake, Vec<SocketAddr>),
}

/// Receives a proxy's response to CONNECT. Only its status is used.
#[derive(Default)]
struct ProxyAnswer {
    status: u16,
}

impl Sink for ProxyAnswer {
    fn head(&mut self, head: &Head<'_>) {
        self.status = head.status;
    }

    fn body(&mut self, _chunk: &[u8]) {}
}

impl<P: Protocol> Connection<P> {
    /// The host and port of the target whose addresses it needs before it connects to its proxy.
    pub(crate) fn asks_for_target(&self) -> Option<(&str, u16)> {
        self.origin.target_resolved_here().filter(|_| self.passage.is_none())
    }

    /// Takes the addresses of the target, in order; at least one.
    pub(crate) fn aim(&mut self, mut addresses: Vec<SocketAddr>) {
        addresses.reverse();
        self.passage = Some(Box::new(Passage::Targets(addresses)));
    }

    /// Asks the proxy, which has accepted, for a tunnel.
    pub(super) fn ask_proxy(&mut self) -> Step {
        let (passage, message) = match &self.origin.tunnel {
            None => return Step::Wait,
            Some(Tunnel::Connect { target, authorization }) => {
                let line = authorization.as_ref().map(|value| format!("Proxy-Authorization: {value}\r\n"));
                let request =
                    format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{}\r\n", line.unwrap_or_default());
                let mut decoder = Decoder::default();
                decoder.begin_connect();
                (Passage::Connect(decoder), request.into_bytes())
            }
            Some(Tunnel::Socks5 { login, destination, .. }) => {
                let mut left = match self.passage.take().map(|passage| *passage) {
                    Some(Passage::Targets(left) | Passage::Socks5(_, left)) => left,
                    _ => Vec::new(),
                };
                let resolved = left.pop().map(|address| Destination::Address(address.ip(), address.port()));
                let handshake = Handshake::new(login.clone(), resolved.unwrap_or_else(|| destination.clone()));
                let greeting = handshake.greeting().to_vec();
                (Passage::Socks5(handshake, left), greeting)
            }
        };
        self.passage = Some(Box::new(passage));
        self.stage = Stage::Tunnelling;
        self.tell_proxy(&message)
    }

    fn tell_proxy(&mut self, message: &[u8]) -> Step {
        let Some(transport) = &mut self.transport else { return Step::Wait };
        match transport.write(message) {
            // A new socket has room for these few bytes.
            Ok(written) if written == message.len() => Step::Wait,
            Ok(_) => refused("the proxy takes no data"),
            Err(error) => Step::Failed(Failure::io(Outcome::Connect, &error)),
        }
    }

    /// Reads what the proxy says.
    #[inline(never)]
    pub(super) fn tunnel(&mut self, io: &mut Io) -> Step {
        loop {
            let (Some(transport), Some(passage)) = (&mut self.transport, &mut self.passage) else { return Step::Wait };
            let most = match &**passage {
                Passage::Socks5(handshake, _) => handshake.wanted(),
                _ => io.scratch.len(),
            };
            let received = match transport.receive(&mut io.scratch[..most]) {
                Ok(received) if received.length > 0 => received,
                Ok(_) => return refused("the proxy closed the connection"),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Step::Wait,
                Err(error) => return Step::Failed(Failure::io(Outcome::Connect, &error)),
            };
            let bytes = &io.scratch[..received.length];
            match &mut **passage {
                Passage::Connect(decoder) => {
                    let mut answer = ProxyAnswer::default();
                    let fed = match decoder.feed(&mut io.heads, bytes, &mut answer) {
                        Ok(fed) => fed,
                        Err(error) => return refused(&format!("the proxy's answer: {error}")),
                    };
                    match answer.status {
                        0 => {}
                        200..=299 if fed.consumed == received.length => break,
                        // No request was sent through the proxy yet.
                        200..=299 => return refused("the proxy sent more than its answer"),
                        status => return refused(&format!("the proxy refused with status {status}")),
                    }
                }
                Passage::Socks5(handshake, left) => match handshake.input(bytes) {
                    Ok(Progress::More) => {}
                    Ok(Progress::Open) => break,
                    Ok(Progress::Send(message)) => match self.tell_proxy(&message) {
                        Step::Wait => {}
                        step => return step,
                    },
                    Err(refusal) if refusal.is_about_address && !left.is_empty() => {
                        return self.ask_for_next(refusal.message);
                    }
                    Err(refusal) => return refused(&refusal.message),
                },
                Passage::Targets(_) => return Step::Wait,
            }
        }
        (self.passage, self.dial) = (None, None);
        self.lap(|exchange| &mut exchange.connect);
        self.secure(io)
    }

    /// Connects to the proxy again, for the next address of the target.
    fn ask_for_next(&mut self, message: String) -> Step {
        if let Some(dial) = &mut self.dial {
            dial.repeat();
        }
        Step::NextAddress(io::Error::other(message))
    }
}

fn refused(message: &str) -> Step {
    Step::Failed(Failure::new(Outcome::Connect, message))
}
