//! Durations: seconds in a definition, nanoseconds everywhere else.

use crate::DefinitionError;
use crate::definition;
use crate::random::Random;

/// About three years. More is probably a typing error, and sums of ns stay within 64 bits.
const MOST_SECONDS: f64 = 1e8;

/// Converts seconds, which must be 0..=1e8, to ns.
pub(crate) fn nanos(seconds: f64, field: &str) -> Result<u64, DefinitionError> {
    if !(0.0..=MOST_SECONDS).contains(&seconds) {
        let reason = format!("{seconds} is not a time in seconds, from 0 to {MOST_SECONDS:e}");
        return Err(DefinitionError::new(field, reason));
    }
    Ok((seconds * 1e9).round() as u64)
}

/// How long a user pauses after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Think {
    /// ns
    Constant(u64),
    /// Uniform between the two, ns; the first is not above the second.
    Between(u64, u64),
    /// Exponentially distributed with this mean, ns.
    Exponential(u64),
}

impl Think {
    pub(crate) fn new(think: Option<definition::Think>, field: &str) -> Result<Self, DefinitionError> {
        Ok(match think {
            None => Think::Constant(0),
            Some(definition::Think::Constant(time)) => Think::Constant(nanos(time, &format!("{field}.constant"))?),
            Some(definition::Think::Between(least, most)) => {
                let ends =
                    (nanos(least, &format!("{field}.between[0]"))?, nanos(most, &format!("{field}.between[1]"))?);
                if ends.0 > ends.1 {
                    let reason = format!("{least} is more than {most}; the smaller one comes first");
                    return Err(DefinitionError::new(format!("{field}.between"), reason));
                }
                Think::Between(ends.0, ends.1)
            }
            Some(definition::Think::Exponential(mean)) => {
                Think::Exponential(nanos(mean, &format!("{field}.exponential"))?)
            }
        })
    }

    /// Returns ns. Draws no random number for a constant.
    #[inline]
    pub(crate) fn draw(self, random: &mut Random) -> u64 {
        match self {
            Think::Constant(time) => time,
            Think::Between(least, most) => least + (random.unit() * (most - least) as f64) as u64,
            // 1 - [0, 1) is never 0, whose logarithm is infinite.
            Think::Exponential(mean) => (-(1.0 - random.unit()).ln() * mean as f64) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Think, nanos};
    use crate::definition::Think as Given;
    use crate::random::Random;

    #[test]
    fn seconds_become_nanoseconds_within_their_range() {
        assert_eq!(nanos(0.3, "t"), Ok(300_000_000));
        assert_eq!(nanos(1e8, "t"), Ok(100_000_000_000_000_000));
        for bad in [-0.1, 1.1e8, f64::NAN, f64::INFINITY] {
            let error = nanos(bad, "a.b").unwrap_err().to_string();
            assert!(error.starts_with(&format!("a.b: {bad} is not a time in seconds")), "{error}");
        }
    }

    #[test]
    fn a_bad_think_time_is_reported_with_its_place() {
        for (given, begins) in [
            (Given::Constant(-1.0), "t.constant: -1"),
            (Given::Between(-1.0, 0.0), "t.between[0]: -1"),
            (Given::Between(1.0, 1e9), "t.between[1]: 1000000000"),
            (Given::Between(2.0, 1.0), "t.between: 2 is more than 1"),
            (Given::Exponential(f64::NAN), "t.exponential: NaN"),
        ] {
            let error = Think::new(Some(given), "t").unwrap_err().to_string();
            assert!(error.starts_with(begins), "{error}");
        }
    }

    #[test]
    fn think_times_have_their_range_and_mean() {
        let draw = |think: Option<Given>| {
            let (think, mut random) = (Think::new(think, "t").unwrap(), Random::new(5, 0));
            let times: Vec<f64> = (0..20_000).map(|_| think.draw(&mut random) as f64 / 1e9).collect();
            let (least, most) =
                (times.iter().copied().fold(f64::MAX, f64::min), times.iter().copied().fold(0.0, f64::max));
            (least, most, times.iter().sum::<f64>() / 20_000.0)
        };
        assert_eq!(draw(None), (0.0, 0.0, 0.0));
        let (least, most, _) = draw(Some(Given::Constant(0.5)));
        assert!(least.to_bits() == 0.5_f64.to_bits() && most.to_bits() == 0.5_f64.to_bits());
        let (least, most, mean) = draw(Some(Given::Between(1.0, 3.0)));
        assert!((1.0..1.01).contains(&least) && (2.99..3.0).contains(&most) && (1.97..2.03).contains(&mean));
        let (least, most, mean) = draw(Some(Given::Exponential(2.0)));
        assert!(least < 0.01 && most > 10.0 && (1.9..2.1).contains(&mean), "{least} {most} {mean}");
    }
}
