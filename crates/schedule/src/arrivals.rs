//! The due times of a shape, and the share of each worker.

use std::iter::FusedIterator;
use std::sync::Arc;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::error::MOST;
use crate::{Shape, ShapeError};

/// How events are spaced at a constant level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    /// At equal distances, the first one at time 0.
    Uniform,
    /// Random and independent: the distances are exponentially distributed, like those of independent customers. The
    /// same seed gives the same times.
    Poisson {
        /// Any number.
        seed: u64,
    },
}

/// Due times in ns since the start of a shape, never decreasing.
///
/// The n-th event (from 0) is due when the integral of the level reaches n (uniform), or the sum of n + 1 draws with
/// mean 1 (Poisson). Worker `index` of `of` takes the events n ≡ index (mod of), so the workers together have all
/// events and each has an equal share of every period. The maximum is 2^53 events.
#[derive(Debug, Clone)]
pub struct Arrivals {
    shape: Arc<dyn Shape>,
    /// `None`: uniform.
    draws: Option<Draws>,
    /// Number of this worker's next event, counted over all workers.
    next: u64,
    /// Number of workers, above 0.
    of: u64,
    /// Events of all workers, at most 2^53.
    end: u64,
    /// The previous due time, ns.
    last: u64,
}

impl Arrivals {
    /// The events of worker `index` of `of`. `limit`: maximum number of events over all workers.
    ///
    /// Errors: an index that is not below `of`, a limit over 2^53, Poisson spacing of a replay.
    pub fn new(
        shape: Arc<dyn Shape>,
        spacing: Spacing,
        index: u32,
        of: u32,
        limit: Option<u64>,
    ) -> Result<Self, ShapeError> {
        if index >= of {
            return Err(ShapeError::new("index", format_args!("must be below of = {of}; it is {index}")));
        }
        let end = limit.unwrap_or(MOST);
        if end > MOST {
            return Err(ShapeError::new("limit", format_args!("must be at most {MOST}; it is {end}")));
        }
        let draws = match spacing {
            Spacing::Uniform => None,
            Spacing::Poisson { .. } if shape.spaces_itself() => {
                return Err(ShapeError::new(
                    "spacing",
                    "must be uniform with a replay, whose times are given; it is Poisson",
                ));
            }
            Spacing::Poisson { seed } => Some(Draws::new(seed)),
        };
        Ok(Self { shape, draws, next: index.into(), of: of.into(), end, last: 0 })
    }
}

impl Iterator for Arrivals {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.next >= self.end {
            return None;
        }
        let count = match &mut self.draws {
            None => self.next as f64,
            Some(draws) => draws.sum_up_to(self.next),
        };
        let due = self.shape.reach(count)?;
        self.next += self.of;
        // Two Poisson events may be closer than the precision of a float. Rounding must not change their order.
        self.last = self.last.max(due);
        Some(self.last)
    }
}

impl FusedIterator for Arrivals {}

/// Partial sums of exponential draws with mean 1: the events of a Poisson process with rate 1.
#[derive(Debug, Clone)]
struct Draws {
    rng: Xoshiro256PlusPlus,
    /// Number of draws so far.
    drawn: u64,
    sum: f64,
}

impl Draws {
    fn new(seed: u64) -> Self {
        Self { rng: Xoshiro256PlusPlus::seed_from_u64(seed), drawn: 0, sum: 0.0 }
    }

    /// The sum of draws 0 ..= n; n never decreases. Draws of other workers are included, so all see the same sums.
    fn sum_up_to(&mut self, n: u64) -> f64 {
        while self.drawn <= n {
            // Uniform in [0, 1) on 2^53 equally spaced floats; 1 - u is exact and never 0.
            let u = (self.rng.next_u64() >> 11) as f64 / MOST as f64;
            self.sum -= (1.0 - u).ln();
            self.drawn += 1;
        }
        self.sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{constant, error, ramp, replay};

    const SEED: u64 = 42;

    fn arrivals(shape: Arc<dyn Shape>, spacing: Spacing) -> Arrivals {
        Arrivals::new(shape, spacing, 0, 1, None).expect("arguments in range")
    }

    fn poisson(rate: f64) -> Arrivals {
        arrivals(constant(rate, None).expect("arguments in range"), Spacing::Poisson { seed: SEED })
    }

    /// Largest distance between the distribution of `values` and the expected one (Kolmogorov-Smirnov), times √n. It
    /// exceeds
    /// 1.63 in one of a hundred cases; the fixed seed is not such a case.
    fn distance(mut values: Vec<f64>, share_below: impl Fn(f64) -> f64) -> f64 {
        values.sort_unstable_by(f64::total_cmp);
        let n = values.len() as f64;
        let apart = |(i, &value): (usize, &f64)| {
            let share = share_below(value);
            (share - i as f64 / n).max((i + 1) as f64 / n - share)
        };
        values.iter().enumerate().map(apart).fold(0.0, f64::max) * n.sqrt()
    }

    #[test]
    fn a_seed_always_gives_the_same_times() {
        // Computed separately, from the published definitions of SplitMix64 and xoshiro256++.
        let due: Vec<_> = poisson(1000.0).take(5).collect();
        assert_eq!(due, [1_683_651, 2_067_581, 6_196_155, 7_403_920, 8_981_397]);
    }

    #[test]
    fn another_seed_means_other_times() {
        let shape = constant(1000.0, None).expect("arguments in range");
        let other = arrivals(shape, Spacing::Poisson { seed: SEED + 1 });
        assert!(poisson(1000.0).zip(other).take(100).all(|(a, b)| a != b));
    }

    #[test]
    fn gaps_of_a_poisson_process_are_exponential_and_independent() {
        let due: Vec<_> = poisson(1000.0).take(100_000).map(|due| due as f64 / 1e6).collect(); // ms
        let gaps: Vec<_> = due.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = due[due.len() - 1] / due.len() as f64;
        assert!((mean - 1.0).abs() < 4.0 / (due.len() as f64).sqrt(), "{mean}");
        let following: f64 = gaps.windows(2).map(|pair| (pair[0] - 1.0) * (pair[1] - 1.0)).sum();
        assert!(following.abs() / (gaps.len() as f64).sqrt() < 4.0, "{following}");
        let distance = distance(gaps, |gap| 1.0 - (-gap).exp());
        assert!(distance < 1.63, "{distance}");
    }

    #[test]
    fn on_a_ramp_a_poisson_process_is_as_dense_as_the_level() {
        let shape = ramp(0.0, 1000.0, 100.0).expect("arguments in range");
        let due: Vec<_> = arrivals(shape, Spacing::Poisson { seed: SEED }).map(error::seconds).collect();
        assert!((due.len() as f64 - 50_000.0).abs() < 4.0 * 50_000_f64.sqrt(), "{}", due.len());
        let distance = distance(due, |seconds| (seconds / 100.0).powi(2));
        assert!(distance < 1.63, "{distance}");
    }

    #[test]
    fn a_constant_rate_does_not_drift_and_ends_where_floats_end_to_count() {
        let shape = constant(1e6, None).expect("arguments in range");
        let far = MOST - 1;
        let mut arrivals = Arrivals { next: far, ..arrivals(shape, Spacing::Uniform) };
        assert_eq!(arrivals.next(), Some(far * 1000));
        assert_eq!(arrivals.next(), None);
    }

    #[test]
    fn two_events_that_rounding_would_turn_round_keep_their_order() {
        #[derive(Debug)]
        struct Turned;
        impl Shape for Turned {
            fn level(&self, _: u64) -> f64 {
                1.0
            }
            fn reach(&self, count: f64) -> Option<u64> {
                [5, 4, 6].get(count as usize).copied()
            }
            fn length(&self) -> Option<u64> {
                None
            }
            fn total(&self) -> Option<f64> {
                None
            }
        }
        assert_eq!(arrivals(Arc::new(Turned), Spacing::Uniform).collect::<Vec<_>>(), [5, 5, 6]);
    }

    #[test]
    fn invalid_arguments_are_refused_by_name() {
        let with = |spacing, index, of, limit| {
            let shape = replay(&[1.0]).expect("arguments in range");
            Arrivals::new(shape, spacing, index, of, limit).expect_err("arguments out of range").to_string()
        };
        assert_eq!(with(Spacing::Uniform, 2, 2, None), "index must be below of = 2; it is 2");
        assert_eq!(with(Spacing::Uniform, 0, 0, None), "index must be below of = 0; it is 0");
        assert_eq!(
            with(Spacing::Uniform, 0, 1, Some(MOST + 1)),
            "limit must be at most 9007199254740992; it is 9007199254740993"
        );
        assert_eq!(
            with(Spacing::Poisson { seed: 1 }, 0, 1, None),
            "spacing must be uniform with a replay, whose times are given; it is Poisson"
        );
    }
}
