//! A level that swings around a mean, such as day and night.

use std::f64::consts::{PI, TAU};
use std::sync::Arc;

use crate::Shape;
use crate::error::{self, HIGHEST, ShapeError};

/// mean + amplitude · sin(2π t / period).
///
/// Its integral is mean · t + amplitude · period / π · sin²(π t / period). The swing adds nothing over a whole period,
/// so whole periods are subtracted and only the rest is solved.
#[derive(Debug)]
struct Sine {
    /// 0 ..= 1e9.
    mean: f64,
    /// 0 ..= mean, and mean + amplitude <= 1e9.
    amplitude: f64,
    /// ns, above 0.
    period: u64,
    /// ns, above 0.
    length: Option<u64>,
}

/// `mean + amplitude * sin(2π t / period)` for `seconds`, or without end. It starts at `mean` and rises. `amplitude` is
/// at most `mean`, and both together at most 1e9.
pub fn sine(mean: f64, amplitude: f64, period: f64, seconds: Option<f64>) -> Result<Arc<dyn Shape>, ShapeError> {
    let mean = error::level("mean", mean)?;
    let most = mean.min(HIGHEST - mean);
    if !(0.0..=most).contains(&amplitude) {
        let rule =
            format!("must be from 0 to {most} (at most mean, and with mean at most {HIGHEST:e}); it is {amplitude}");
        return Err(ShapeError::new("amplitude", rule));
    }
    let period = error::length("period", period)?;
    let length = seconds.map(|seconds| error::length("seconds", seconds)).transpose()?;
    let sine = Sine { mean, amplitude, period, length };
    error::total("seconds", sine.total().unwrap_or(0.0))?;
    Ok(Arc::new(sine))
}

impl Sine {
    /// Events per period.
    fn per_period(&self) -> f64 {
        self.mean * error::seconds(self.period)
    }

    /// Events in the first `nanos` of a period.
    fn events(&self, nanos: f64) -> f64 {
        let share = nanos / self.period as f64;
        let swing = (PI * share).sin();
        (self.mean * share + self.amplitude / PI * swing * swing) * error::seconds(self.period)
    }

    /// Time since the start of a period at which `count` events are over, ns, to the nearest.
    ///
    /// Bisection evaluates the same points for every count, so a higher count never gets an earlier time, despite
    /// rounding. A faster search such as Newton's method does not guarantee that.
    fn time_to(&self, count: f64) -> u64 {
        let (mut low, mut high) = (0, self.period);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.events(middle as f64 + 0.5) > count {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }
}

impl Shape for Sine {
    fn level(&self, at: u64) -> f64 {
        if self.length.is_some_and(|length| at >= length) {
            return 0.0;
        }
        let share = (at % self.period) as f64 / self.period as f64;
        (TAU * share).sin().mul_add(self.amplitude, self.mean)
    }

    fn reach(&self, count: f64) -> Option<u64> {
        if self.mean == 0.0 {
            return None;
        }
        let periods = (count / self.per_period()).floor();
        // The division may have rounded up to the next period. Then this is slightly below 0.
        let rest = periods.mul_add(-self.per_period(), count).max(0.0);
        let due = (periods as u64).checked_mul(self.period)?.checked_add(self.time_to(rest))?;
        self.length.is_none_or(|length| due < length).then_some(due)
    }

    fn length(&self) -> Option<u64> {
        self.length
    }

    fn total(&self) -> Option<f64> {
        let length = self.length?;
        let periods = (length / self.period) as f64;
        Some(periods.mul_add(self.per_period(), self.events((length % self.period) as f64)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn it_starts_at_the_mean_and_rises_first() {
        let sine = sine(100.0, 50.0, 40.0, Some(80.0)).expect("arguments in range");
        for (at, expected, sentence) in [
            (0, 100.0, "the start"),
            (10, 150.0, "a quarter: the top"),
            (20, 100.0, "half way"),
            (30, 50.0, "three quarters: the bottom"),
            (79, 100.0 - 50.0 * (TAU / 40.0).sin(), "a second before the end"),
            (80, 0.0, "the end"),
        ] {
            assert!((sine.level(at * SECOND) - expected).abs() < 1e-9, "{sentence}");
        }
    }

    #[test]
    fn it_reaches_a_count_to_the_nanosecond() {
        // Two whole swings of 1000 events a second. Each first half has 2 · 500 / (2π) · 2 = 318.3 more than its second
        // half.
        let sine = sine(1000.0, 500.0, 2.0, Some(4.0)).expect("arguments in range");
        let half = 1000.0 + 500.0 * 2.0 / PI;
        for (count, expected, sentence) in [
            (0.0, Some(0), "the first event at once"),
            (half, Some(SECOND), "the first half"),
            (2000.0, Some(2 * SECOND), "a whole period"),
            (2000.0 + half, Some(3 * SECOND), "the first half of the second period"),
            (4000.0, None, "none at the end"),
        ] {
            let got = sine.reach(count);
            let near = got.zip(expected).is_some_and(|(got, expected)| got.abs_diff(expected) <= 1);
            assert!(near || got == expected, "{sentence}: {got:?}");
        }
    }

    #[test]
    fn whole_periods_do_not_drift() {
        let sine = sine(1000.0, 1000.0, 1.0, None).expect("arguments in range");
        assert_eq!(sine.reach(1e12), Some(1_000_000_000 * SECOND));
    }

    #[test]
    fn counts_keep_their_order_where_the_level_touches_0() {
        let sine = sine(1e6, 1e6, 4.0, Some(4.0)).expect("arguments in range");
        let times: Vec<_> = (0..4000).map(|n| sine.reach(f64::from(n) * 1000.0).expect("within the length")).collect();
        assert!(times.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn a_sine_of_zero_has_no_events() {
        let sine = sine(0.0, 0.0, 1.0, None).expect("arguments in range");
        assert_eq!((sine.reach(0.0), sine.level(SECOND)), (None, 0.0));
    }
}
