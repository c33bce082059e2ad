//! What the streams of a shared connection bring, for the exchanges that they belong to.

use plimsoll_http::{Head, Sink};
use plimsoll_http2::{Events, StreamError};
use plimsoll_record::Outcome;
use slab::Slab;

use super::{Connection, Flight, Step};
use crate::call::{ExchangeId, Failure, Keep, unpack};
use crate::clock::StampClock;
use crate::protocol::unkept;

/// How often an exchange is sent again that the peer promises not to have acted on.
const MOST_RETRIES: u32 = 3;

/// The times of one read.
pub(super) struct Arrival<'a> {
    pub(super) clock: &'a mut StampClock,
    /// The kernel's stamp of the last segment, real time in ns.
    pub(super) stamp: Option<u64>,
    /// When it was read, monotonic ns.
    pub(super) read: u64,
}

impl Arrival<'_> {
    /// Stamps the exchange. As everywhere, the stamp belongs to the segment with the last byte of the read.
    #[inline]
    fn stamp(&mut self, flight: &mut Flight) {
        let (arrival, source) = self.clock.arrival(self.stamp, flight.exchange.sent, self.read);
        flight.exchange.arrival = arrival.max(flight.exchange.first_byte);
        flight.exchange.source = source;
        flight.exchange.read = self.read;
    }
}

/// Receives the events of one read.
pub(super) struct Answers<'a> {
    pub(super) connections: &'a mut Slab<Connection>,
    pub(super) arrival: Arrival<'a>,
    /// What follows for the exchanges, in order. One may have several steps.
    pub(super) steps: &'a mut Vec<(ExchangeId, Step)>,
}

impl Answers<'_> {
    /// Passes on to the exchange with this tag, and notes its next step.
    #[inline]
    fn with(&mut self, tag: u64, take: impl FnOnce(&mut Flight, &mut Arrival<'_>) -> Step) {
        let (place, serial) = unpack(tag);
        let Some(connection) = self.connections.get_mut(place).filter(|known| known.serial == serial) else { return };
        let Some(flight) = &mut connection.flight else { return };
        let step = take(flight, &mut self.arrival);
        flight.wait(self.arrival.read);
        if !matches!(step, Step::Wait) {
            self.steps.push((ExchangeId(tag), step));
        }
    }
}

impl Events for Answers<'_> {
    #[inline]
    fn frames(&mut self, tag: u64, bytes: usize) {
        let (place, serial) = unpack(tag);
        if let Some(connection) = self.connections.get_mut(place).filter(|known| known.serial == serial)
            && let Some(flight) = &mut connection.flight
        {
            flight.exchange.bytes_in += bytes as u64;
        }
    }

    fn interim(&mut self, tag: u64, status: u16) {
        self.with(tag, |flight, _| {
            let waits = flight.waits_for_continue();
            flight.collector().interim(status);
            if waits && !flight.waits_for_continue() { Step::Continue } else { Step::Wait }
        });
    }

    #[inline]
    fn head(&mut self, tag: u64, head: &Head<'_>) {
        self.with(tag, |flight, arrival| {
            arrival.stamp(flight);
            flight.exchange.first_byte = flight.exchange.arrival;
            let mut collector = flight.collector();
            collector.head(head);
            match collector.refused {
                true => Step::Failed(unkept()),
                false if flight.call.keep == Keep::Stream => Step::Streamed,
                false => Step::Wait,
            }
        });
    }

    #[inline]
    fn body(&mut self, tag: u64, chunk: &[u8]) {
        self.with(tag, |flight, arrival| {
            let mut collector = flight.collector();
            collector.body(chunk);
            if collector.refused {
                return Step::Failed(unkept());
            }
            if flight.call.keep != Keep::Stream {
                return Step::Wait;
            }
            arrival.stamp(flight);
            Step::Streamed
        });
    }

    fn trailers(&mut self, tag: u64, raw: &[u8]) {
        self.with(tag, |flight, _| {
            flight.collector().trailers(raw);
            Step::Wait
        });
    }

    #[inline]
    fn end(&mut self, tag: u64) {
        self.with(tag, |flight, arrival| {
            arrival.stamp(flight);
            if flight.call.keep != Keep::Stream {
                return Step::Done { keep: true };
            }
            flight.stream.get_or_insert_default().end = Some(Ok(()));
            Step::Streamed
        });
    }

    fn failed(&mut self, tag: u64, error: StreamError) {
        self.with(tag, |flight, _| {
            if error.is_unprocessed() && flight.can_be_repeated() && flight.exchange.retries < MOST_RETRIES {
                return Step::Again;
            }
            let outcome = match error {
                StreamError::Reset(_) | StreamError::GoneAway(_) => Outcome::Reset,
                _ => Outcome::Protocol,
            };
            flight.break_off(Failure::new(outcome, error.to_string()))
        });
    }
}
