//! The exchange log: one row of fixed layout per exchange, on request.
//!
//! A row is [`ROW`] bytes, little-endian, without padding:
//!
//! | offset | type | field |
//! |---|---|---|
//! | 0 | u64 | `due`, ns on the monotonic clock, like the next four |
//! | 8 | u64 | `sent` |
//! | 16 | u64 | `first_byte`; 0 without a response head |
//! | 24 | u64 | `arrival` |
//! | 32 | u64 | `read` |
//! | 40 | u64 | `dns`, ns, like the next two |
//! | 48 | u64 | `connect` |
//! | 56 | u64 | `tls` |
//! | 64 | u64 | `bytes_out` |
//! | 72 | u64 | `bytes_in` |
//! | 80 | u64 | bytes of the response body |
//! | 88 | u32 | endpoint, by its id |
//! | 92 | u16 | status; 0 without a response |
//! | 94 | u16 | hops; at most 65,535, like the next |
//! | 96 | u16 | retries |
//! | 98 | u8 | outcome, by its index in [`Outcome::ALL`] |
//! | 99 | u8 | source of `arrival`: 0 kernel, 1 user, 2 rejected |
//! | 100 | u64 | serial: 0 for the first row of this recorder, then 1 more per row |
//! | 108 | 4 bytes | 0 |
//!
//! Rows are in the order of recording. An exchange that was timed elsewhere, or never sent, has only the stamps that
//! are known; the other fields repeat them.

use crate::{EndpointId, Exchange, Outcome, StampSource};

/// Bytes of a row.
pub const ROW: usize = 112;

/// The memory for rows grows by at least this, bytes: about one second of a fast run, so that it is rarely copied.
const STEP: usize = 32_768 * ROW;

/// Rows that were not taken yet.
#[derive(Debug, Default)]
pub(crate) struct Log {
    rows: Vec<u8>,
    /// Serial of the next row.
    serial: u64,
}

impl Log {
    pub(crate) fn push(&mut self, endpoint: EndpointId, exchange: &Exchange, outcome: Outcome, body: u64) {
        if self.rows.capacity() - self.rows.len() < ROW {
            self.rows.reserve_exact(STEP.max(self.rows.len()));
        }
        self.rows.extend_from_slice(&row(endpoint, exchange, outcome, body, self.serial));
        self.serial += 1;
    }

    /// Takes the rows. The serials continue.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.rows)
    }
}

fn row(endpoint: EndpointId, exchange: &Exchange, outcome: Outcome, body: u64, serial: u64) -> [u8; ROW] {
    let Exchange { due, sent, first_byte, arrival, read, dns, connect, tls, bytes_out, bytes_in, .. } = *exchange;
    let mut row = [0; ROW];
    let mut end = 0;
    let mut put = |bytes: &[u8]| {
        row[end..end + bytes.len()].copy_from_slice(bytes);
        end += bytes.len();
    };
    for value in [due, sent, first_byte, arrival, read, dns, connect, tls, bytes_out, bytes_in, body] {
        put(&value.to_le_bytes());
    }
    put(&endpoint.0.to_le_bytes());
    put(&exchange.status.to_le_bytes());
    put(&saturated(exchange.hops).to_le_bytes());
    put(&saturated(exchange.retries).to_le_bytes());
    put(&[outcome as u8, source(exchange.source)]);
    put(&serial.to_le_bytes());
    row
}

fn saturated(count: u32) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

fn source(source: StampSource) -> u8 {
    match source {
        StampSource::Kernel => 0,
        StampSource::User => 1,
        StampSource::Rejected => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::{Log, ROW, STEP};
    use crate::{EndpointId, Exchange, Outcome, StampSource};

    /// Each field has a different value, so that the test detects swapped fields.
    fn exchange() -> Exchange {
        Exchange {
            free: 0,
            due: 0x0101,
            sent: 0x0202,
            first_byte: 0x0303,
            arrival: 0x0404,
            read: 0x0505,
            dns: 0x0606,
            connect: 0x0707,
            tls: 0x0808,
            bytes_out: 0x0909,
            bytes_in: 0x0a0a,
            hops: 70_000,
            retries: 2,
            source: StampSource::Rejected,
            status: 404,
            trace: 0,
        }
    }

    #[test]
    fn a_row_is_what_the_table_says() {
        let mut log = Log::default();
        log.push(EndpointId(9), &exchange(), Outcome::Http, 0x0b0b);
        log.push(EndpointId(9), &exchange(), Outcome::Assertion, 0x0b0b);
        let rows = log.take();
        assert_eq!(rows.len(), 2 * ROW);
        let mut expected: Vec<u8> = (1..=11u8).flat_map(|n| [n, n, 0, 0, 0, 0, 0, 0]).collect();
        expected.extend([9, 0, 0, 0, 0x94, 0x01, 0xff, 0xff, 2, 0, 1, 2]);
        expected.extend([0; 12]);
        assert_eq!(rows[..ROW], expected);
        assert_eq!((rows[ROW + 98], rows[ROW + 100]), (Outcome::Assertion as u8, 1), "the second row");
    }

    #[test]
    fn the_source_of_the_arrival_is_a_number() {
        let mut log = Log::default();
        for source in [StampSource::Kernel, StampSource::User, StampSource::Rejected] {
            log.push(EndpointId(0), &Exchange { source, ..exchange() }, Outcome::Success, 0);
        }
        let sources: Vec<u8> = log.take().chunks(ROW).map(|row| row[99]).collect();
        assert_eq!(sources, [0, 1, 2]);
    }

    #[test]
    fn serials_continue_after_a_take() {
        let mut log = Log::default();
        log.push(EndpointId(0), &exchange(), Outcome::Success, 0);
        assert_eq!(log.take()[100], 0);
        assert!(log.take().is_empty());
        log.push(EndpointId(0), &exchange(), Outcome::Success, 0);
        assert_eq!(log.take()[100], 1);
    }

    #[test]
    fn memory_is_asked_for_rarely() {
        let mut log = Log::default();
        let mut capacities = std::collections::BTreeSet::new();
        for _ in 0..100_000 {
            log.push(EndpointId(0), &exchange(), Outcome::Success, 0);
            capacities.insert(log.rows.capacity());
        }
        assert!(capacities.len() <= 3, "{capacities:?}");
        assert!(capacities.iter().all(|capacity| *capacity >= STEP));
    }
}
