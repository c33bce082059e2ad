//! Seeded random delays: the n-th request of a path always gets the n-th draw.

use std::collections::HashMap;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// One generator per path.
#[derive(Debug, Default)]
pub(crate) struct Draws(HashMap<String, Xoshiro256PlusPlus>);

impl Draws {
    /// The path's next number, uniform in (0, 1).
    pub(crate) fn uniform(&mut self, target: &str, seed: u64) -> f64 {
        if !self.0.contains_key(target) {
            self.0.insert(target.to_owned(), Xoshiro256PlusPlus::seed_from_u64(seed));
        }
        let bits = self.0.get_mut(target).map_or(0, Rng::next_u64) >> 12;
        (bits as f64 + 0.5) / (1_u64 << 52) as f64
    }

    /// The path's next number of a standard normal distribution (Box-Muller transform, one of its two).
    pub(crate) fn normal(&mut self, target: &str, seed: u64) -> f64 {
        let (radius, angle) = (self.uniform(target, seed), self.uniform(target, seed));
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }

    /// Restarts all generators.
    pub(crate) fn restart(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::Draws;

    #[test]
    fn a_seed_gives_the_same_draws_again_and_another_gives_others() {
        let mut draws = Draws::default();
        let first: Vec<f64> = (0..5).map(|_| draws.uniform("/a", 1)).collect();
        draws.restart();
        assert_eq!(first, (0..5).map(|_| draws.uniform("/a", 1)).collect::<Vec<_>>());
        assert_ne!(first, (0..5).map(|_| draws.uniform("/b", 2)).collect::<Vec<_>>());
        assert!(first.iter().all(|draw| 0.0 < *draw && *draw < 1.0));
    }

    #[test]
    fn normal_draws_have_mean_0_and_variance_1() {
        let mut draws = Draws::default();
        let sample: Vec<f64> = (0..100_000).map(|_| draws.normal("/a", 7)).collect();
        let mean = sample.iter().sum::<f64>() / 1e5;
        let variance = sample.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / 1e5;
        // Five standard errors. The seed is fixed, so the result is always the same.
        assert!(mean.abs() < 5.0 / 1e5_f64.sqrt(), "{mean}");
        assert!((variance - 1.0).abs() < 5.0 * (2.0 / 1e5_f64).sqrt(), "{variance}");
    }
}
