//! The deadline of a call, as it is sent to the server.

/// The most digits that the specification allows.
const MOST: u64 = 99_999_999;
/// Units and their ns.
const UNITS: [(char, u64); 6] =
    [('n', 1), ('u', 1_000), ('m', 1_000_000), ('S', 1_000_000_000), ('M', 60_000_000_000), ('H', 3_600_000_000_000)];

/// The value of `grpc-timeout` for so many ns: in the finest unit in which it has at most eight digits, rounded up.
pub fn timeout_header(ns: u64) -> String {
    let fits = |&(_, unit): &(char, u64)| ns.div_ceil(unit) <= MOST;
    let (name, unit) = UNITS.into_iter().find(fits).expect("2^64 ns are 5 million hours");
    format!("{}{name}", ns.div_ceil(unit))
}

#[cfg(test)]
mod tests {
    use super::timeout_header;

    #[test]
    fn a_timeout_has_at_most_eight_digits() {
        for (ns, expected) in [
            (1, "1n"),
            (99_999_999, "99999999n"),
            (100_000_000, "100000u"),
            (1_500_000_000, "1500000u"),
            (100_000_000_001, "100001m"),
            (86_400_000_000_000, "86400000m"),
            (u64::MAX, "5124096H"),
        ] {
            assert!(expected.len() <= 9, "{expected}");
            assert_eq!(timeout_header(ns), expected);
        }
    }
}
