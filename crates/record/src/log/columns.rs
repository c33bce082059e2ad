//! Rows of the log as columns.

use super::{
    ARRIVAL, BEFORE, BYTES_BODY, BYTES_IN, BYTES_OUT, CONNECT, DNS, DUE, ENDPOINT, FIELDS, FIRST_BYTE, HOPS, KIND,
    READ, RETRIES, Row, SENT, SERIAL, TLS, expected,
};
use crate::zigzag;

/// The stamps, which are counted from another zero.
const STAMPS: [(&str, usize); 5] =
    [("due", DUE), ("sent", SENT), ("first_byte", FIRST_BYTE), ("arrival", ARRIVAL), ("read", READ)];
const NUMBERS: [(&str, usize); 7] = [
    ("serial", SERIAL),
    ("dns", DNS),
    ("connect", CONNECT),
    ("tls", TLS),
    ("bytes_out", BYTES_OUT),
    ("bytes_in", BYTES_IN),
    ("bytes_body", BYTES_BODY),
];

/// Rows by column.
#[derive(Debug)]
pub struct Columns {
    /// Number of rows.
    pub rows: usize,
    /// (name, values), the values little-endian, one after the other: stamps as i64, ns since `zero`; serials, times
    /// and bytes as u64; `status`, `hops` and `retries` as u16; `endpoint`, `outcome` and `stamp` (the source of
    /// `arrival`) as i32. `has_first_byte` is a bit per row, the lowest first.
    pub columns: Vec<(&'static str, Vec<u8>)>,
}

/// What was taken from a log at once, by column. None if it is something else.
pub fn columns(packed: &[u8], zero: u64) -> Option<Columns> {
    let rows = unpack(packed)?;
    let mut columns = Vec::with_capacity(19);
    for (name, field) in STAMPS {
        columns.push((name, values(&rows, |row| row[field].wrapping_sub(zero).to_le_bytes())));
    }
    for (name, field) in NUMBERS {
        columns.push((name, values(&rows, |row| row[field].to_le_bytes())));
    }
    columns.push(("status", values(&rows, |row| ((row[KIND] >> 16) as u16).to_le_bytes())));
    columns.push(("hops", values(&rows, |row| (row[HOPS] as u16).to_le_bytes())));
    columns.push(("retries", values(&rows, |row| (row[RETRIES] as u16).to_le_bytes())));
    columns.push(("endpoint", values(&rows, |row| (row[ENDPOINT] as i32).to_le_bytes())));
    columns.push(("outcome", values(&rows, |row| i32::from((row[KIND] >> 8) as u8).to_le_bytes())));
    columns.push(("stamp", values(&rows, |row| i32::from(row[KIND] as u8).to_le_bytes())));
    let bits =
        rows.chunks(8).map(|some| some.iter().rev().fold(0, |bits, row| bits << 1 | u8::from(row[FIRST_BYTE] != 0)));
    columns.push(("has_first_byte", bits.collect()));
    Some(Columns { rows: rows.len(), columns })
}

fn values<const N: usize>(rows: &[Row], value: impl Fn(&Row) -> [u8; N]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(rows.len() * N);
    for row in rows {
        bytes.extend_from_slice(&value(row));
    }
    bytes
}

fn unpack(mut packed: &[u8]) -> Option<Vec<Row>> {
    let (mut rows, mut last) = (Vec::new(), BEFORE);
    while let Some((unexpected, rest)) = packed.split_first_chunk() {
        let unexpected = u16::from_le_bytes(*unexpected);
        packed = rest;
        let mut row = [0; FIELDS];
        for field in 0..FIELDS {
            row[field] = expected(field, &row, &last);
            if unexpected >> field & 1 == 1 {
                let (difference, length) = zigzag::read(packed)?;
                row[field] = row[field].wrapping_add_signed(difference);
                packed = &packed[length..];
            }
        }
        rows.push(row);
        last = row;
    }
    packed.is_empty().then_some(rows)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::columns;
    use crate::log::Log;
    use crate::{EndpointId, Exchange, Outcome, StampSource};

    /// Of one column, as numbers without a sign.
    fn values(packed: &[u8], zero: u64, name: &str) -> Vec<u64> {
        let columns = columns(packed, zero).unwrap();
        let (_, bytes) = columns.columns.iter().find(|column| column.0 == name).unwrap();
        let size = bytes.len() / columns.rows;
        bytes.chunks(size).map(|value| value.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte))).collect()
    }

    fn packed(exchanges: &[Exchange]) -> Vec<u8> {
        let mut log = Log::default();
        for exchange in exchanges {
            log.push(EndpointId(0), exchange, Outcome::Success, 0);
        }
        log.take(<[u8]>::to_vec)
    }

    #[test]
    fn stamps_count_from_zero() {
        let rows = packed(&[Exchange { due: 90, sent: 100, arrival: 103, read: 104, ..Exchange::default() }]);
        let stamps = ["due", "sent", "arrival", "read"].map(|name| values(&rows, 100, name)[0].cast_signed());
        assert_eq!(stamps, [-10, 0, 3, 4]);
    }

    #[test]
    fn rows_without_a_first_byte_are_marked() {
        let rows: Vec<_> =
            [7, 0, 0, 9, 0, 0, 0, 0, 3].map(|first_byte| Exchange { first_byte, ..Exchange::default() }).into();
        let columns = columns(&packed(&rows), 0).unwrap();
        assert_eq!(columns.columns.last().unwrap(), &("has_first_byte", vec![0b0000_1001, 1]));
    }

    #[test]
    fn the_source_of_the_arrival_is_a_number() {
        let sources = [StampSource::Kernel, StampSource::User, StampSource::Rejected];
        let rows = packed(&sources.map(|source| Exchange { source, ..Exchange::default() }));
        assert_eq!(values(&rows, 0, "stamp"), [0, 1, 2]);
    }

    #[test]
    fn other_bytes_are_no_rows() {
        let stamp = 1 << 40;
        let stamps =
            Exchange { due: stamp, sent: stamp, first_byte: stamp, arrival: stamp, read: stamp, ..Exchange::default() };
        let rows = packed(&[stamps; 2]);
        assert_eq!(columns(&[], 0).unwrap().rows, 0);
        for end in 1..rows.len() {
            assert_eq!(
                columns(&rows[..end], 0).map(|columns| columns.rows),
                (end == rows.len() - 2).then_some(1),
                "{end}"
            );
        }
        assert!(
            columns(&[1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0], 0).is_none(),
            "too long"
        );
    }

    /// Endpoint, exchange, place of the outcome, bytes of the body.
    type Recorded = (u32, Exchange, usize, u64);

    fn exchange() -> impl Strategy<Value = Recorded> {
        // Small and large numbers, so that rows repeat some of the row before.
        let number = || prop_oneof![0..3_u64, any::<u64>()];
        let stamps = prop::array::uniform5(number());
        let rest = prop::array::uniform6(number());
        let kinds = (0..Outcome::ALL.len(), any::<u16>(), any::<u16>(), any::<u16>());
        (prop_oneof![0..2_u32, any::<u32>()], stamps, rest, kinds).prop_map(|(endpoint, stamps, rest, kinds)| {
            let [due, sent, first_byte, arrival, read] = stamps;
            let [dns, connect, tls, bytes_out, bytes_in, body] = rest;
            let (outcome, status, hops, retries) = kinds;
            let (hops, retries) = (hops.into(), retries.into());
            let stamps = Exchange { due, sent, first_byte, arrival, read, ..Exchange::default() };
            (
                endpoint,
                Exchange { dns, connect, tls, bytes_out, bytes_in, hops, retries, status, ..stamps },
                outcome,
                body,
            )
        })
    }

    proptest! {
        #[test]
        fn columns_are_what_was_recorded(rows in prop::collection::vec(exchange(), 1..20), before in 0..20_usize) {
            let mut log = Log::default();
            let before = before.min(rows.len() - 1);
            for (place, (endpoint, exchange, outcome, body)) in rows.iter().enumerate() {
                if place == before {
                    log.take(|_| ());
                }
                log.push(EndpointId(*endpoint), exchange, Outcome::ALL[*outcome], *body);
            }
            let packed = log.take(<[u8]>::to_vec);
            let rows = &rows[before..];
            let check = |name: &str, value: &dyn Fn(&Recorded) -> u64| {
                let expected: Vec<u64> = rows.iter().map(value).collect();
                prop_assert_eq!(values(&packed, 0, name), expected, "{}", name);
                Ok(())
            };
            prop_assert_eq!(
                values(&packed, 0, "serial"),
                (0..rows.len()).map(|place| (before + place) as u64).collect::<Vec<_>>()
            );
            check("due", &|row| row.1.due)?;
            check("sent", &|row| row.1.sent)?;
            check("first_byte", &|row| row.1.first_byte)?;
            check("arrival", &|row| row.1.arrival)?;
            check("read", &|row| row.1.read)?;
            check("dns", &|row| row.1.dns)?;
            check("connect", &|row| row.1.connect)?;
            check("tls", &|row| row.1.tls)?;
            check("bytes_out", &|row| row.1.bytes_out)?;
            check("bytes_in", &|row| row.1.bytes_in)?;
            check("bytes_body", &|row| row.3)?;
            check("endpoint", &|row| row.0.into())?;
            check("outcome", &|row| row.2 as u64)?;
            check("status", &|row| row.1.status.into())?;
            check("hops", &|row| row.1.hops.into())?;
            check("retries", &|row| row.1.retries.into())?;
        }
    }
}
