//! Events at recorded times.

use std::sync::Arc;

use crate::Shape;
use crate::error::{self, SECOND, ShapeError};
use crate::profiles::not_empty;

/// Recorded times. The level is the number of events in each whole second.
#[derive(Debug)]
struct Replay {
    /// ns since the start, ascending, not empty.
    times: Vec<u64>,
}

/// Events at these seconds since the start (0 to 1e9), in any order. The shape lasts to the end of the last event's
/// whole second. Its spacing is fixed, so no other can be set.
pub fn replay(times: &[f64]) -> Result<Arc<dyn Shape>, ShapeError> {
    not_empty("times", times)?;
    let nanos = |(i, &seconds)| error::time(format_args!("times[{i}]"), seconds);
    let mut times = times.iter().enumerate().map(nanos).collect::<Result<Vec<_>, _>>()?;
    times.sort_unstable();
    Ok(Arc::new(Replay { times }))
}

impl Shape for Replay {
    fn level(&self, at: u64) -> f64 {
        let second = at / SECOND;
        let before = |second: u64| self.times.partition_point(|time| time / SECOND < second);
        (before(second + 1) - before(second)) as f64
    }

    fn reach(&self, count: f64) -> Option<u64> {
        self.times.get(count as usize).copied()
    }

    fn length(&self) -> Option<u64> {
        let last = self.times.last().expect("an empty replay is refused");
        Some((last / SECOND + 1) * SECOND)
    }

    fn total(&self) -> Option<f64> {
        Some(self.times.len() as f64)
    }

    fn spaces_itself(&self) -> bool {
        true
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp)] // these levels are exact
mod tests {
    use super::*;

    #[test]
    fn times_come_in_order_each_as_often_as_it_is_there() {
        let replay = replay(&[2.5, 0.000_000_001, 2.5, 1.25]).expect("arguments in range");
        let times: Vec<_> = (0..5).map(|n| replay.reach(f64::from(n))).collect();
        assert_eq!(times, [Some(1), Some(1_250_000_000), Some(2_500_000_000), Some(2_500_000_000), None]);
    }

    #[test]
    fn the_level_counts_the_events_of_a_whole_second_and_the_last_second_is_whole() {
        let replay = replay(&[0.0, 0.5, 2.0]).expect("arguments in range");
        let levels = [0, 999_999_999, SECOND, 2 * SECOND, 3 * SECOND].map(|at| replay.level(at));
        assert_eq!(levels, [2.0, 2.0, 0.0, 1.0, 0.0]);
        assert_eq!(replay.length(), Some(3 * SECOND));
    }
}
