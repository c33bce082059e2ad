//! From the bytes of the socket to the response: **latency is stamped here**.

use std::io::ErrorKind;

use plimsoll_http::Heads;
use plimsoll_record::{Outcome, StampSource};

use super::{Connection, Io, READS, Step};
use crate::call::Failure;
use crate::clock::{StampClock, now};
use crate::protocol::{Progress, Protocol, asks_to_upgrade};
use crate::tls::words;
use crate::transport::Transport;

impl<P: Protocol> Connection<P> {
    /// Reads and stamps the available bytes. This is the only place that takes an arrival time.
    ///
    /// A read that does not fill the buffer has drained the socket. Later bytes cause a new event. The end of the
    /// stream is different: its event (`ended`) is the last one.
    #[inline]
    pub(super) fn receive(&mut self, io: &mut Io, ended: bool) -> Step {
        for _ in 0..READS {
            let Some(transport) = &mut self.transport else { return Step::Close };
            let received = match transport.receive(&mut io.scratch) {
                Ok(received) => received,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return self.send_rest(io),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return self.lost(Failure::io(Outcome::Reset, &error)),
            };
            let read = now();
            if received.length == 0 {
                return self.cut_off(read, &mut io.heads);
            }
            let emptied = received.length < io.scratch.len();
            let fresh = &io.scratch[..received.length];
            let step = if transport.is_secure() {
                self.take_sealed(fresh, received.stamp, read, &mut io.plain, &mut io.heads, &mut io.clock)
            } else {
                self.take(fresh, received.stamp, read, &mut io.heads, &mut io.clock)
            };
            match step {
                Step::Wait if ended || !emptied => {}
                Step::Wait => return self.send_rest(io),
                Step::Done { keep: true } if ended || !emptied => {
                    return Step::Done { keep: !ended && !self.is_stale() };
                }
                step => return step,
            }
        }
        Step::Unread { ended }
    }

    /// Writes what the input has released: the body after 100 (Continue), or a response of the protocol itself.
    #[inline]
    pub(super) fn send_rest(&mut self, io: &mut Io) -> Step {
        if self.has_unsent() { self.transmit(io) } else { Step::Wait }
    }

    /// Passes encrypted bytes to TLS, in portions that TLS can decrypt.
    #[inline(never)]
    pub(super) fn take_sealed(
        &mut self,
        mut sealed: &[u8],
        stamp: Option<u64>,
        read: u64,
        plain: &mut [u8],
        heads: &mut Heads,
        clock: &mut StampClock,
    ) -> Step {
        while !sealed.is_empty() {
            let Some(transport) = &mut self.transport else { return Step::Close };
            if let Err(error) = transport.unseal(&mut sealed) {
                return Step::Failed(Failure::new(Outcome::Tls, words(&error, self.origin.port())));
            }
            match self.take_opened(stamp, read, plain, heads, clock) {
                Step::Wait => {}
                Step::Done { keep: true } => {
                    let clean = self.transport.as_mut().is_some_and(|transport| transport.is_clean(sealed));
                    return Step::Done { keep: clean };
                }
                step => return step,
            }
        }
        Step::Wait
    }

    /// Passes decrypted bytes to the protocol.
    pub(super) fn take_opened(
        &mut self,
        stamp: Option<u64>,
        read: u64,
        plain: &mut [u8],
        heads: &mut Heads,
        clock: &mut StampClock,
    ) -> Step {
        loop {
            let Some(transport) = &mut self.transport else { return Step::Close };
            match transport.open(plain) {
                Ok(0) => return self.ended(read, heads),
                Ok(length) => match self.take(&plain[..length], stamp, read, heads, clock) {
                    Step::Wait => {}
                    step => return step,
                },
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Step::Wait,
                Err(error) => return self.lost(Failure::io(Outcome::Reset, &error)),
            }
        }
    }

    /// Passes response bytes to the protocol. `stamp` belongs to the segment with the last byte.
    #[inline]
    pub(super) fn take(
        &mut self,
        fresh: &[u8],
        stamp: Option<u64>,
        read: u64,
        heads: &mut Heads,
        clock: &mut StampClock,
    ) -> Step {
        let Some(flight) = &mut self.flight else { return Step::Close };
        flight.exchange.bytes_in += fresh.len() as u64;
        let headless = flight.response.status == 0;
        let progress = match self.protocol.input(heads, fresh, &mut flight.collector()) {
            Ok(progress) => progress,
            Err(failure) => return Step::Failed(failure),
        };
        let has_head = headless && flight.response.status != 0;
        if has_head || progress != Progress::More || flight.stream.is_some() {
            let (arrival, source) = clock.arrival(stamp, flight.exchange.sent, read);
            if has_head {
                flight.exchange.first_byte = arrival;
            }
            // After a clock correction, two stamps may be out of order.
            flight.exchange.arrival = arrival.max(flight.exchange.first_byte);
            flight.exchange.source = source;
        }
        let Progress::Done { reusable } = progress else {
            flight.wait(read);
            return Step::Wait;
        };
        flight.exchange.read = read;
        if !self.reused {
            self.origin.answers();
        }
        // The peer did not read the whole request: never reuse the connection.
        let is_sent = self.protocol.output(flight.call.wire.bytes.as_slice(), flight.written).is_empty();
        Step::Done { keep: reusable && is_sent }
    }

    /// Handles the end of the stream. It is correct if it ends the body.
    #[cold]
    fn ended(&mut self, read: u64, heads: &mut Heads) -> Step {
        let Some(flight) = &mut self.flight else { return Step::Close };
        if !flight.is_answered() {
            return self.lost(Failure::new(Outcome::Reset, "connection closed without a response"));
        }
        match self.protocol.input(heads, &[], &mut flight.collector()) {
            Ok(_) => {
                flight.exchange.arrival = read;
                flight.exchange.source = StampSource::User;
                flight.exchange.read = read;
                Step::Done { keep: false }
            }
            Err(failure) => Step::Failed(failure),
        }
    }

    /// Handles the end of the socket. TLS must have announced it; otherwise a third party may have cut the connection.
    #[cold]
    pub(super) fn cut_off(&mut self, read: u64, heads: &mut Heads) -> Step {
        let is_secure = self.transport.as_ref().is_some_and(Transport::is_secure);
        match self.ended(read, heads) {
            Step::Done { .. } if is_secure => Step::Failed(Failure::new(
                Outcome::Reset,
                "the connection was closed without the end of TLS (close_notify): the response may be incomplete",
            )),
            step => step,
        }
    }

    /// Handles a broken connection. If a kept one never responded, the peer had closed it before the request arrived.
    /// The retry uses a new connection, so a request is sent at most twice.
    #[cold]
    pub(super) fn lost(&self, mut failure: Failure) -> Step {
        let Some(flight) = &self.flight else { return Step::Close };
        if self.reused && !flight.is_answered() && flight.call.wire.idempotent {
            return Step::Redial;
        }
        if !flight.is_answered() && self.origin.may_want_tls() {
            let is_socket = asks_to_upgrade(&flight.call.wire);
            failure.message.push_str(if is_socket { "; is it wss?" } else { "; is it https?" });
        }
        Step::Failed(failure)
    }
}
