//! Setup of a connection, from the connecting socket to the first byte of the request: proxy, then TLS.

use std::io::ErrorKind;

use plimsoll_http::{Head, Sink};
use plimsoll_record::Outcome;

use super::{Connection, Io, Stage, Step};
use crate::call::Failure;
use crate::clock::now;
use crate::origin::Tunnel;
use crate::protocol::Protocol;
use crate::tls::{NO_HTTP2, words};

/// The usual cause is a server that reads the first bytes of TLS as a request.
const CLOSED: &str = "connection closed in the handshake of TLS; did you mean http://, ws:// or grpc://?";

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
    /// Handles the end of the TCP connect.
    #[inline(never)]
    pub(crate) fn connected(&mut self, io: &mut Io) -> Step {
        let Some(transport) = &self.transport else { return Step::Wait };
        if let Err(error) = transport.socket.connected() {
            return Step::NextAddress(error);
        }
        self.dial = None;
        self.lap(|exchange| &mut exchange.connect);
        match self.origin.tunnel.clone() {
            Some(tunnel) => self.ask_proxy(&tunnel),
            None => self.secure(io),
        }
    }

    fn ask_proxy(&mut self, tunnel: &Tunnel) -> Step {
        let authorization = tunnel.authorization.as_ref().map(|value| format!("Proxy-Authorization: {value}\r\n"));
        let target = &tunnel.target;
        let request =
            format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{}\r\n", authorization.unwrap_or_default());
        self.proxy.insert(Box::default()).begin_connect();
        self.stage = Stage::Tunnelling;
        let Some(transport) = &mut self.transport else { return Step::Wait };
        match transport.write(request.as_bytes()) {
            // A new socket has room for these few bytes.
            Ok(written) if written == request.len() => Step::Wait,
            Ok(_) => Step::Failed(Failure::new(Outcome::Connect, "the proxy takes no data")),
            Err(error) => Step::Failed(Failure::io(Outcome::Connect, &error)),
        }
    }

    /// Reads the proxy's response.
    #[inline(never)]
    pub(super) fn tunnel(&mut self, io: &mut Io) -> Step {
        let refused = |message: String| Step::Failed(Failure::new(Outcome::Connect, message));
        loop {
            let (Some(transport), Some(decoder)) = (&mut self.transport, &mut self.proxy) else { return Step::Wait };
            let received = match transport.receive(&mut io.scratch) {
                Ok(received) if received.length > 0 => received,
                Ok(_) => return refused("the proxy closed the connection".into()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Step::Wait,
                Err(error) => return Step::Failed(Failure::io(Outcome::Connect, &error)),
            };
            let mut answer = ProxyAnswer::default();
            let fed = match decoder.feed(&mut io.heads, &io.scratch[..received.length], &mut answer) {
                Ok(fed) => fed,
                Err(error) => return refused(format!("the proxy's answer: {error}")),
            };
            match answer.status {
                0 => {}
                200..=299 if fed.consumed == received.length => break,
                // No request was sent through the proxy yet.
                200..=299 => return refused("the proxy sent more than its answer".into()),
                status => return refused(format!("the proxy refused with status {status}")),
            }
        }
        self.proxy = None;
        self.lap(|exchange| &mut exchange.connect);
        self.secure(io)
    }

    /// Starts TLS if the origin needs it, else sends the request.
    fn secure(&mut self, io: &mut Io) -> Step {
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
