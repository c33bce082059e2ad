//! A constant level.

use std::sync::Arc;

use crate::{Shape, ShapeError, error, rate};

/// A constant level, for a time or without end.
#[derive(Debug)]
struct Constant {
    /// 0 ..= 1e9.
    level: f64,
    /// ns, above 0.
    length: Option<u64>,
}

/// `level` (0 to 1e9) for `seconds` (1 ns to 1e9 s), or without end.
pub fn constant(level: f64, seconds: Option<f64>) -> Result<Arc<dyn Shape>, ShapeError> {
    let level = error::level("level", level)?;
    let length = seconds.map(|seconds| error::length("seconds", seconds)).transpose()?;
    let constant = Constant { level, length };
    error::total("seconds", constant.total().unwrap_or(0.0))?;
    Ok(Arc::new(constant))
}

impl Shape for Constant {
    fn level(&self, at: u64) -> f64 {
        if self.length.is_none_or(|length| at < length) { self.level } else { 0.0 }
    }

    fn reach(&self, count: f64) -> Option<u64> {
        let due = rate::time_to(count, self.level)?;
        self.length.is_none_or(|length| due < length).then_some(due)
    }

    fn length(&self) -> Option<u64> {
        self.length
    }

    fn total(&self) -> Option<f64> {
        self.length.map(|length| self.level * error::seconds(length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_evenly_spaced_and_end_with_the_length() {
        for (level, seconds, count, expected, sentence) in [
            (10.0, None, 1.0, Some(100_000_000), "10/s: the event 1 after 100 ms"),
            (10.0, None, 25.0, Some(2_500_000_000), "10/s: the event 25 after 2.5 s"),
            (10.0, None, 2.5, Some(250_000_000), "10/s: two and a half events after 250 ms"),
            (0.1, None, 3.0, Some(30_000_000_000), "one in 10 s: the event 3 after 30 s"),
            (1e9, None, 1_000_000_007.0, Some(1_000_000_007), "1e9/s: event n after n ns"),
            (10.0, Some(0.2), 1.0, Some(100_000_000), "two events: the second is there"),
            (10.0, Some(0.2), 2.0, None, "two events: the third would be at the end"),
            (0.1, Some(30.0), 3.0, None, "three events, though 0.1 has no exact float"),
            (0.0, None, 0.0, None, "none: not even a first"),
            (0.0, Some(10.0), 1.0, None, "none for a while: none"),
            (1e-300, None, 1.0, None, "later than any clock shows: none"),
        ] {
            let constant = constant(level, seconds).expect("arguments in range");
            assert_eq!(constant.reach(count), expected, "{sentence}");
        }
    }
}
