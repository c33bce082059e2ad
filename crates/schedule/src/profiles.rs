//! The load profiles that consist of straight lines.

use std::sync::Arc;

use crate::Shape;
use crate::error::{self, HIGHEST, ShapeError};
use crate::linear::Builder;

/// Maximum levels of a staircase. It stores two lines for each.
const MOST_LEVELS: i64 = 100_000;

/// From the level `start` to the level `end` in `seconds`. Levels 0 to 1e9.
pub fn ramp(start: f64, end: f64, seconds: f64) -> Result<Arc<dyn Shape>, ShapeError> {
    let mut lines = Builder::new("seconds");
    lines.line(error::length("seconds", seconds)?, error::level("start", start)?, error::level("end", end)?);
    lines.build()
}

/// (seconds, level) in sequence. A level of 0 is a pause.
pub fn steps(steps: &[(f64, f64)]) -> Result<Arc<dyn Shape>, ShapeError> {
    not_empty("steps", steps)?;
    let mut lines = Builder::new("steps");
    for (i, &(seconds, level)) in steps.iter().enumerate() {
        let length = error::length(format_args!("steps[{i}].seconds"), seconds)?;
        let level = error::level(format_args!("steps[{i}].level"), level)?;
        lines.line(length, level, level);
    }
    lines.build()
}

/// (seconds, target) in sequence: a straight line from the previous level, at first `start`, to each target. A stage of
/// 0 seconds is a jump.
pub fn stages(stages: &[(f64, f64)], start: f64) -> Result<Arc<dyn Shape>, ShapeError> {
    not_empty("stages", stages)?;
    let mut lines = Builder::new("stages");
    let mut level = error::level("start", start)?;
    for (i, &(seconds, target)) in stages.iter().enumerate() {
        let length = error::time(format_args!("stages[{i}].seconds"), seconds)?;
        let target = error::level(format_args!("stages[{i}].target"), target)?;
        lines.line(length, level, target);
        level = target;
    }
    lines.build()
}

/// `count` levels (1 to 100,000), `start`, `start + step`, … (all 0 to 1e9, `step` may be negative), each held for
/// `each` seconds. From one to the next in `rise` seconds, 0 = a jump.
pub fn staircase(start: f64, step: f64, each: f64, count: i64, rise: f64) -> Result<Arc<dyn Shape>, ShapeError> {
    if !(1..=MOST_LEVELS).contains(&count) {
        return Err(ShapeError::new("count", format_args!("must be from 1 to {MOST_LEVELS}; it is {count}")));
    }
    let start = error::level("start", start)?;
    let last = level_of_stair(start, step, count - 1);
    if !(0.0..=HIGHEST).contains(&last) {
        let rule = format!(
            "must keep the last level, start + (count - 1) * step, from 0 to {HIGHEST:e}; step is {step}, the level {last}"
        );
        return Err(ShapeError::new("step", rule));
    }
    let (each, rise) = (error::length("each", each)?, error::time("rise", rise)?);
    let mut lines = Builder::new("count");
    let mut level = start;
    for n in 0..count {
        let next = level_of_stair(start, step, n);
        lines.line(if n == 0 { 0 } else { rise }, level, next);
        lines.line(each, next, next);
        level = next;
    }
    lines.build()
}

/// start + n * step. A difference from 0 that is only a rounding error, such as 0.3 - 3 * 0.1, becomes 0.
fn level_of_stair(start: f64, step: f64, n: i64) -> f64 {
    let level = (n as f64).mul_add(step, start);
    if level.abs() < 1e-12 * start { 0.0 } else { level }
}

/// `base` for `at` seconds, then up to `peak` in `rise` seconds, held for `hold`, down again in `rise`, and `base` until
/// `seconds`. Levels 0 to 1e9; a peak below the base is a dip.
pub fn spike(base: f64, peak: f64, at: f64, hold: f64, seconds: f64, rise: f64) -> Result<Arc<dyn Shape>, ShapeError> {
    let (base, peak) = (error::level("base", base)?, error::level("peak", peak)?);
    let (before, top, all) = (error::time("at", at)?, error::time("hold", hold)?, error::length("seconds", seconds)?);
    let edge = error::time("rise", rise)?;
    if top + edge == 0 {
        return Err(ShapeError::new("hold", "must be above 0 (1 ns) when rise is 0; it is 0"));
    }
    let end = before + edge + top + edge;
    let Some(after) = all.checked_sub(end) else {
        let end = error::seconds(end);
        return Err(ShapeError::new(
            "seconds",
            format!("must be at least at + rise + hold + rise = {end}; it is {seconds}"),
        ));
    };
    let mut lines = Builder::new("seconds");
    lines.line(before, base, base);
    lines.line(edge, base, peak);
    lines.line(top, peak, peak);
    lines.line(edge, peak, base);
    lines.line(after, base, base);
    lines.build()
}

/// Refuses an empty list.
pub(crate) fn not_empty<T>(argument: &str, list: &[T]) -> Result<(), ShapeError> {
    if list.is_empty() { Err(ShapeError::new(argument, "must have at least one element; it is empty")) } else { Ok(()) }
}

#[cfg(test)]
#[allow(clippy::float_cmp)] // these levels are exact
mod tests {
    use super::*;
    use crate::{constant, replay, sine};

    /// The levels at these seconds.
    fn levels<const N: usize>(shape: Result<Arc<dyn Shape>, ShapeError>, at: [f64; N]) -> [f64; N] {
        let shape = shape.expect("arguments in range");
        at.map(|seconds| shape.level(error::nanos(seconds)))
    }

    #[test]
    fn profiles_have_the_levels_that_they_name() {
        assert_eq!(levels(ramp(10.0, 20.0, 10.0), [0.0, 5.0, 9.0, 10.0]), [10.0, 15.0, 19.0, 0.0]);
        assert_eq!(
            levels(steps(&[(1.0, 5.0), (2.0, 0.0), (1.0, 7.0)]), [0.0, 1.0, 2.5, 3.0, 4.0]),
            [5.0, 0.0, 0.0, 7.0, 0.0]
        );
        assert_eq!(
            levels(stages(&[(2.0, 10.0), (2.0, 0.0)], 0.0), [0.0, 1.0, 2.0, 3.0, 4.0]),
            [0.0, 5.0, 10.0, 5.0, 0.0]
        );
        assert_eq!(
            levels(staircase(10.0, 5.0, 4.0, 3, 0.0), [0.0, 4.0, 8.0, 11.0, 12.0]),
            [10.0, 15.0, 20.0, 20.0, 0.0]
        );
        assert_eq!(
            levels(staircase(10.0, 5.0, 4.0, 2, 2.0), [3.0, 4.0, 5.0, 6.0, 9.0, 10.0]),
            [10.0, 10.0, 12.5, 15.0, 15.0, 0.0]
        );
        assert_eq!(
            levels(spike(1.0, 9.0, 2.0, 3.0, 12.0, 2.0), [1.0, 3.0, 4.0, 6.0, 8.0, 9.0, 11.0, 12.0]),
            [1.0, 5.0, 9.0, 9.0, 5.0, 1.0, 1.0, 0.0]
        );
        assert_eq!(levels(spike(9.0, 0.0, 0.0, 1.0, 1.0, 0.0), [0.0, 1.0]), [0.0, 0.0]);
    }

    #[test]
    fn what_is_0_but_for_rounding_is_0() {
        assert_eq!(levels(staircase(0.3, -0.1, 1.0, 4, 0.0), [3.5]), [0.0]);
        assert!(spike(1.0, 2.0, 0.1, 0.2, 0.3, 0.0).is_ok(), "0.1 + 0.2 is 0.3 in ns");
    }

    #[test]
    fn arguments_at_the_limits_are_accepted() {
        let (level, seconds) = (f64::from(1 << 24), f64::from(1 << 29));
        assert!(constant(level, Some(seconds)).is_ok(), "2^53 events");
        assert!(constant(level + 1.0, Some(seconds)).is_err(), "more");
        assert!(constant(1e9, Some(1e-9)).is_ok(), "1 ns");
        assert!(spike(1.0, 2.0, 0.0, 0.0, 2.0, 1.0).is_ok(), "a peak that is not held");
    }

    #[test]
    fn invalid_arguments_are_refused_by_name_and_range() {
        const NAN: f64 = f64::NAN;
        const INF: f64 = f64::INFINITY;
        for (made, expected) in [
            (constant(NAN, None), "level must be from 0 to 1e9; it is NaN"),
            (constant(-1.0, None), "level must be from 0 to 1e9; it is -1"),
            (constant(INF, None), "level must be from 0 to 1e9; it is inf"),
            (constant(1e9 + 1.0, None), "level must be from 0 to 1e9; it is 1000000001"),
            (constant(1.0, Some(0.0)), "seconds must be above 0 (1 ns) and at most 1e9 s; it is 0"),
            (constant(1.0, Some(1e-10)), "seconds must be above 0 (1 ns) and at most 1e9 s; it is 0.0000000001"),
            (constant(1.0, Some(NAN)), "seconds must be above 0 (1 ns) and at most 1e9 s; it is NaN"),
            (constant(1.0, Some(INF)), "seconds must be above 0 (1 ns) and at most 1e9 s; it is inf"),
            (constant(1.0, Some(-2.0)), "seconds must be above 0 (1 ns) and at most 1e9 s; it is -2"),
            (constant(1e9, Some(1e9)), "seconds must leave at most 9007199254740992 events in all; there are 1e18"),
            (ramp(-1.0, 1.0, 1.0), "start must be from 0 to 1e9; it is -1"),
            (ramp(1.0, NAN, 1.0), "end must be from 0 to 1e9; it is NaN"),
            (ramp(1.0, 1.0, 0.0), "seconds must be above 0 (1 ns) and at most 1e9 s; it is 0"),
            (ramp(1e9, 1e9, 1e9), "seconds must leave at most 9007199254740992 events in all; there are 1e18"),
            (steps(&[]), "steps must have at least one element; it is empty"),
            (steps(&[(1.0, 1.0), (0.0, 1.0)]), "steps[1].seconds must be above 0 (1 ns) and at most 1e9 s; it is 0"),
            (steps(&[(1.0, 1.0), (1.0, -1.0)]), "steps[1].level must be from 0 to 1e9; it is -1"),
            (
                steps(&[(1e9, 1.0), (1.0, 1.0)]),
                "steps must last above 0 (1 ns) and at most 1e9 s in all; it lasts 1000000001",
            ),
            (stages(&[], 0.0), "stages must have at least one element; it is empty"),
            (stages(&[(1.0, 1.0)], INF), "start must be from 0 to 1e9; it is inf"),
            (stages(&[(-1.0, 1.0)], 0.0), "stages[0].seconds must be from 0 to 1e9 s; it is -1"),
            (stages(&[(1.0, NAN)], 0.0), "stages[0].target must be from 0 to 1e9; it is NaN"),
            (stages(&[(0.0, 1.0)], 0.0), "stages must last above 0 (1 ns) and at most 1e9 s in all; it lasts 0"),
            (staircase(1.0, 1.0, 1.0, 0, 0.0), "count must be from 1 to 100000; it is 0"),
            (staircase(1.0, 1.0, 1.0, 100_001, 0.0), "count must be from 1 to 100000; it is 100001"),
            (
                staircase(1.0, -1.0, 1.0, 3, 0.0),
                "step must keep the last level, start + (count - 1) * step, from 0 to 1e9; step is -1, the level -1",
            ),
            (
                staircase(1.0, NAN, 1.0, 1, 0.0),
                "step must keep the last level, start + (count - 1) * step, from 0 to 1e9; step is NaN, the level NaN",
            ),
            (staircase(1.0, 1.0, 0.0, 1, 0.0), "each must be above 0 (1 ns) and at most 1e9 s; it is 0"),
            (staircase(1.0, 1.0, 1.0, 1, -1.0), "rise must be from 0 to 1e9 s; it is -1"),
            (spike(-1.0, 1.0, 1.0, 1.0, 9.0, 0.0), "base must be from 0 to 1e9; it is -1"),
            (spike(1.0, NAN, 1.0, 1.0, 9.0, 0.0), "peak must be from 0 to 1e9; it is NaN"),
            (spike(1.0, 2.0, -1.0, 1.0, 9.0, 0.0), "at must be from 0 to 1e9 s; it is -1"),
            (spike(1.0, 2.0, 1.0, INF, 9.0, 0.0), "hold must be from 0 to 1e9 s; it is inf"),
            (spike(1.0, 2.0, 1.0, 0.0, 9.0, 0.0), "hold must be above 0 (1 ns) when rise is 0; it is 0"),
            (spike(1.0, 2.0, 1.0, 1.0, 0.0, 0.0), "seconds must be above 0 (1 ns) and at most 1e9 s; it is 0"),
            (spike(1.0, 2.0, 1.0, 1.0, 9.0, NAN), "rise must be from 0 to 1e9 s; it is NaN"),
            (spike(1.0, 2.0, 1.0, 1.0, 3.0, 1.0), "seconds must be at least at + rise + hold + rise = 4; it is 3"),
            (sine(-1.0, 0.0, 1.0, None), "mean must be from 0 to 1e9; it is -1"),
            (
                sine(10.0, 11.0, 1.0, None),
                "amplitude must be from 0 to 10 (at most mean, and with mean at most 1e9); it is 11",
            ),
            (
                sine(9e8, 2e8, 1.0, None),
                "amplitude must be from 0 to 100000000 (at most mean, and with mean at most 1e9); it is 200000000",
            ),
            (
                sine(1.0, NAN, 1.0, None),
                "amplitude must be from 0 to 1 (at most mean, and with mean at most 1e9); it is NaN",
            ),
            (sine(1.0, 1.0, 0.0, None), "period must be above 0 (1 ns) and at most 1e9 s; it is 0"),
            (sine(1.0, 1.0, 1.0, Some(0.0)), "seconds must be above 0 (1 ns) and at most 1e9 s; it is 0"),
            (
                sine(5e8, 5e8, 1.0, Some(1e9)),
                "seconds must leave at most 9007199254740992 events in all; there are 5e17",
            ),
            (replay(&[]), "times must have at least one element; it is empty"),
            (replay(&[1.0, -1.0]), "times[1] must be from 0 to 1e9 s; it is -1"),
            (replay(&[NAN]), "times[0] must be from 0 to 1e9 s; it is NaN"),
        ] {
            assert_eq!(made.expect_err(expected).to_string(), expected);
        }
    }

    #[test]
    fn an_error_knows_the_name_of_its_argument() {
        let error = steps(&[(1.0, -1.0)]).expect_err("a level below 0");
        assert_eq!(error.argument(), "steps[0].level");
    }
}
