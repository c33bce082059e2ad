//! Setup of a connection, from the connecting socket to the first byte of the request: proxy (`tunnel`), then TLS.

use std::io::ErrorKind;

use plimsoll_record::Outcome;

use super::{Connection, Io, Stage, Step};
use crate::call::Failure;
use crate::clock::now;
use crate::protocol::Protocol;
use crate::tls::{NO_HTTP2, words};

/// The usual cause is a server that reads the first bytes of TLS as a request.
const CLOSED: &str = "connection closed in the handshake of TLS; did you mean http://, ws:// or grpc://?";

impl<P: Protocol> Connection<P> {
    /// Handles the end of the TCP connect.
    #[inline(never)]
    pub(crate) fn connected(&mut self, io: &mut Io) -> Step {
        let Some(transport) = &self.transport else { return Step::Wait };
        if let Err(error) = transport.socket.connected() {
            return Step::NextAddress(error);
        }
        self.lap(|exchange| &mut exchange.connect);
        if self.origin.tunnel.is_some() {
            return self.ask_proxy();
        }
        self.dial = None;
        self.secure(io)
    }

    /// Starts TLS if the origin needs it, else sends the request.
    pub(super) fn secure(&mut self, io: &mut Io) -> Step {
        let (Some(secure), Some(transport)) = (&self.origin.secure, &mut self.transport) else {
            return self.request(io);
        };
        if let Err(error) = transport.secure(secure) {
            return Step::Failed(Failure::new(Outcome::Tls, words(&error, self.origin.port())));
        }
        self.stage = Stage::Handshaking;
        self.handshake(io)
    }

    /// Continues the handshake as far as the socket allows.
    #[inline(never)]
    pub(super) fn handshake(&mut self, io: &mut Io) -> Step {
        let Some(transport) = &mut self.transport else { return Step::Wait };
        loop {
            match transport.flush() {
                Err(error) if error.kind() != ErrorKind::WouldBlock => {
                    return Step::Failed(Failure::io(Outcome::Tls, &error));
                }
                _ if !transport.is_handshaking() => break,
                _ => {}
            }
            let received = match transport.receive(&mut io.scratch) {
                Ok(received) if received.length > 0 => received,
                Ok(_) => return Step::Failed(Failure::new(Outcome::Tls, CLOSED)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Step::Wait,
                Err(error) => return Step::Failed(Failure::io(Outcome::Tls, &error)),
            };
            let mut sealed = &io.scratch[..received.length];
            while !sealed.is_empty() {
                if let Err(error) = transport.unseal(&mut sealed) {
                    return Step::Failed(Failure::new(Outcome::Tls, words(&error, self.origin.port())));
                }
            }
        }
        if self.origin.http2 && !transport.speaks_http2() {
            return Step::Failed(Failure::new(Outcome::Tls, NO_HTTP2));
        }
        self.lap(|exchange| &mut exchange.tls);
        match self.request(io) {
            // A response may follow the last handshake message without a further event.
            Step::Wait => {
                let step = self.take_opened(None, now(), &mut io.plain, &mut io.heads, &mut io.clock);
                self.go_on(io, step)
            }
            step => step,
        }
    }

    /// The connection is ready: sends its first request.
    fn request(&mut self, io: &mut Io) -> Step {
        if let Some(session) = &mut self.session {
            session.transport = self.transport.take();
            self.stage = Stage::Shared;
            return Step::Made;
        }
        let Some(flight) = &mut self.flight else { return Step::Close };
        self.protocol.begin(&flight.call.wire);
        self.stage = flight.stage();
        flight.wait(flight.phase);
        let step = self.transmit(io);
        self.go_on(io, step)
    }
}
