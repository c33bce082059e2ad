//! The exchange log: every exchange as a row, on request, packed for its way to the coordinator.
//!
//! A row is 16 numbers of 64 bits. Each has a value that is expected of it, so that few of them need bytes:
//!
//! | number | field | expected |
//! |---|---|---|
//! | 0 | serial: 0 for the first row of this recorder, then 1 more per row | 1 more than in the row before |
//! | 1 | `due`, ns on the monotonic clock, like the next four | as in the row before |
//! | 2 | `sent` | `due` |
//! | 3 | `arrival` | `sent` |
//! | 4 | `read` | `arrival` |
//! | 5 | `first_byte`; 0 without a response head | `arrival` |
//! | 6 | `dns`, ns, like the next two | 0 |
//! | 7 | `connect` | 0 |
//! | 8 | `tls` | 0 |
//! | 9 | `bytes_out` | as in the row before |
//! | 10 | `bytes_in` | as in the row before |
//! | 11 | bytes of the response body | as in the row before |
//! | 12 | endpoint, by its id | as in the row before |
//! | 13 | kind: status · 65,536 + outcome · 256 + source | as in the row before |
//! | 14 | hops; at most 65,535, like the next | 0 |
//! | 15 | retries | 0 |
//!
//! The outcome is its index in [`Outcome::ALL`], the source that of `arrival`: 0 kernel, 1 user, 2 rejected.
//!
//! A packed row begins with 2 bytes, little-endian, in which bit n is set if number n is not as expected. Of each of
//! these numbers follows, ascending, the difference number − expected, modulo 2⁶⁴ and as a signed number, as in a packed
//! histogram (`zigzag`): the sign in the lowest bit, then groups of 7 bits, the lowest first. A ninth byte has 8 bits.
//!
//! What is taken at once can be read without what was taken before: the row before its first has the serial −1 and is
//! 0 elsewhere. Rows are in the order of recording. An exchange that was timed elsewhere, or never sent, has only the
//! stamps that are known; the other fields repeat them.

use crate::{EndpointId, Exchange, Outcome, StampSource, zigzag};

pub mod columns;

const FIELDS: usize = 16;
const SERIAL: usize = 0;
const DUE: usize = 1;
const SENT: usize = 2;
const ARRIVAL: usize = 3;
const READ: usize = 4;
const FIRST_BYTE: usize = 5;
const DNS: usize = 6;
const CONNECT: usize = 7;
const TLS: usize = 8;
const BYTES_OUT: usize = 9;
const BYTES_IN: usize = 10;
const BYTES_BODY: usize = 11;
const ENDPOINT: usize = 12;
const KIND: usize = 13;
const HOPS: usize = 14;
const RETRIES: usize = 15;

type Row = [u64; FIELDS];

/// The row before the first.
const BEFORE: Row = {
    let mut row = [0; FIELDS];
    row[SERIAL] = u64::MAX;
    row
};

/// Rows that were not taken yet.
#[derive(Debug)]
pub(crate) struct Log {
    packed: Vec<u8>,
    last: Row,
    /// Serial of the next row.
    serial: u64,
}

impl Default for Log {
    fn default() -> Self {
        Self { packed: Vec::new(), last: BEFORE, serial: 0 }
    }
}

impl Log {
    // A call, so that recording without a log has none of its instructions.
    #[inline(never)]
    pub(crate) fn push(&mut self, endpoint: EndpointId, exchange: &Exchange, outcome: Outcome, body: u64) {
        let row = row(endpoint, exchange, outcome, body, self.serial);
        pack(&row, &self.last, &mut self.packed);
        self.last = row;
        self.serial += 1;
    }

    /// Hands over the rows, and forgets them. Their memory is used again: fresh pages would cost a fault each. The
    /// serials continue.
    pub(crate) fn take<T>(&mut self, to: impl FnOnce(&[u8]) -> T) -> T {
        let taken = to(&self.packed);
        self.packed.clear();
        self.last = BEFORE;
        taken
    }
}

fn row(endpoint: EndpointId, exchange: &Exchange, outcome: Outcome, body: u64, serial: u64) -> Row {
    let mut row = [0; FIELDS];
    row[SERIAL] = serial;
    row[DUE] = exchange.due;
    row[SENT] = exchange.sent;
    row[ARRIVAL] = exchange.arrival;
    row[READ] = exchange.read;
    row[FIRST_BYTE] = exchange.first_byte;
    row[DNS] = exchange.dns;
    row[CONNECT] = exchange.connect;
    row[TLS] = exchange.tls;
    row[BYTES_OUT] = exchange.bytes_out;
    row[BYTES_IN] = exchange.bytes_in;
    row[BYTES_BODY] = body;
    row[ENDPOINT] = u64::from(endpoint.0);
    row[KIND] = u64::from(exchange.status) << 16 | (outcome as u64) << 8 | source(exchange.source);
    row[HOPS] = saturated(exchange.hops);
    row[RETRIES] = saturated(exchange.retries);
    row
}

fn saturated(count: u32) -> u64 {
    u64::from(u16::try_from(count).unwrap_or(u16::MAX))
}

fn source(source: StampSource) -> u64 {
    match source {
        StampSource::Kernel => 0,
        StampSource::User => 1,
        StampSource::Rejected => 2,
    }
}

/// What a field is expected to be. `row`: its row, of which only fields with lower numbers are read.
#[inline(always)]
#[allow(clippy::inline_always)] // with a known field it is one load
fn expected(field: usize, row: &Row, last: &Row) -> u64 {
    match field {
        SERIAL => last[SERIAL].wrapping_add(1),
        SENT => row[DUE],
        ARRIVAL => row[SENT],
        READ | FIRST_BYTE => row[ARRIVAL],
        DNS | CONNECT | TLS | HOPS | RETRIES => 0,
        _ => last[field],
    }
}

fn pack(row: &Row, last: &Row, packed: &mut Vec<u8>) {
    let differences: Row = std::array::from_fn(|field| row[field].wrapping_sub(expected(field, row, last)));
    let mut unexpected = 0_u16;
    for (field, difference) in differences.iter().enumerate() {
        unexpected |= u16::from(*difference != 0) << field;
    }
    packed.extend_from_slice(&unexpected.to_le_bytes());
    while unexpected != 0 {
        zigzag::push(packed, differences[unexpected.trailing_zeros() as usize].cast_signed());
        unexpected &= unexpected - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{BEFORE, Log};
    use crate::{EndpointId, Exchange, Outcome, StampSource};

    fn taken(log: &mut Log) -> Vec<u8> {
        log.take(<[u8]>::to_vec)
    }

    #[test]
    fn a_row_is_what_the_table_says() {
        let mut log = Log::default();
        let exchange = Exchange {
            free: 0,
            due: 1_000,
            sent: 1_001,
            first_byte: 1_003,
            arrival: 1_004,
            read: 1_006,
            dns: 7,
            connect: 8,
            tls: 9,
            bytes_out: 10,
            bytes_in: 11,
            hops: 70_000,
            retries: 2,
            source: StampSource::Rejected,
            status: 404,
            trace: 0,
        };
        log.push(EndpointId(12), &exchange, Outcome::Http, 300);
        log.push(EndpointId(12), &Exchange { hops: 0, retries: 0, ..exchange }, Outcome::Http, 299);
        let mut expected = vec![0xfe, 0xff, 0xd0, 0x0f, 2, 6, 4, 1, 14, 16, 18, 20, 22, 0xd8, 0x04, 24];
        expected.extend([0x84, 0x84, 0xa0, 0x19]); // 2 · (404 · 65,536 + 1 · 256 + 2)
        expected.extend([0xfe, 0xff, 0x07, 4]);
        expected.extend([0xfc, 0x09, 2, 6, 4, 1, 14, 16, 18, 1]);
        assert_eq!(taken(&mut log), expected);
    }

    #[test]
    fn what_is_taken_begins_anew() {
        let mut log = Log::default();
        let exchange = Exchange { due: 5, sent: 5, arrival: 5, read: 5, bytes_in: 9, ..Exchange::default() };
        log.push(EndpointId(3), &exchange, Outcome::Success, 0);
        let first = taken(&mut log);
        assert_eq!(taken(&mut log), []);
        assert_eq!(log.last, BEFORE);
        log.push(EndpointId(3), &exchange, Outcome::Success, 0);
        let second = taken(&mut log);
        assert_eq!((first[0] & 1, second[0] & 1), (0, 1), "only the serial is not that of a first row");
        assert_eq!(first[2..], second[3..]);
        assert_eq!(second[2], 2, "the serials continue");
    }

    #[test]
    fn memory_is_used_again() {
        let mut log = Log::default();
        let mut capacities = std::collections::BTreeSet::new();
        for _ in 0..10 {
            for due in 0..1_000 {
                log.push(EndpointId(0), &Exchange { due, ..Exchange::default() }, Outcome::Success, 0);
            }
            taken(&mut log);
            capacities.insert(log.packed.capacity());
        }
        assert_eq!(capacities.len(), 1, "{capacities:?}");
        assert!(*capacities.first().unwrap() > 0);
    }

    #[test]
    fn a_row_of_a_usual_exchange_is_short() {
        let mut log = Log::default();
        for n in 0..1_000 {
            let due = 1_000_000_000 + n * 50_000;
            let (sent, arrival) = (due + 25_000, due + 90_000);
            let exchange =
                Exchange { due, sent, first_byte: arrival, arrival, read: arrival + 4_000, ..Exchange::default() };
            log.push(EndpointId(0), &exchange, Outcome::Success, 100);
        }
        assert!(taken(&mut log).len() < 16 * 1_000);
    }
}
