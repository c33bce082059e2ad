//! Errors of shapes, and the checks of their arguments.

use std::fmt::{self, Display};

/// ns in a second.
pub(crate) const SECOND: u64 = 1_000_000_000;

/// The highest level, events per second (one per ns) or users.
pub(crate) const HIGHEST: f64 = 1e9;

/// The longest time, s: 31 years.
pub(crate) const LONGEST: f64 = 1e9;

/// Maximum events of a shape. Up to here every whole number is exact as a float.
pub(crate) const MOST: u64 = 1 << 53;

/// An invalid argument: not a number, out of range, or in conflict with the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShapeError {
    argument: String,
    rule: String,
}

impl ShapeError {
    /// `rule` follows the name of the argument: "must be …; it is …".
    pub(crate) fn new(argument: impl Display, rule: impl Display) -> Self {
        Self { argument: argument.to_string(), rule: rule.to_string() }
    }

    /// The name of the argument, such as `seconds` or `steps[2].level`.
    pub fn argument(&self) -> &str {
        &self.argument
    }
}

impl Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.argument, self.rule)
    }
}

impl std::error::Error for ShapeError {}

/// A level within 0 ..= [`HIGHEST`].
pub(crate) fn level(argument: impl Display, level: f64) -> Result<f64, ShapeError> {
    if (0.0..=HIGHEST).contains(&level) {
        Ok(level)
    } else {
        Err(ShapeError::new(argument, format_args!("must be from 0 to {HIGHEST:e}; it is {level}")))
    }
}

/// A point in time in ns, from 0 to [`LONGEST`].
pub(crate) fn time(argument: impl Display, seconds: f64) -> Result<u64, ShapeError> {
    if (0.0..=LONGEST).contains(&seconds) {
        Ok(nanos(seconds))
    } else {
        Err(ShapeError::new(argument, format_args!("must be from 0 to {LONGEST:e} s; it is {seconds}")))
    }
}

/// A length of time in ns, from 1 to [`LONGEST`].
pub(crate) fn length(argument: impl Display, seconds: f64) -> Result<u64, ShapeError> {
    match time("", seconds) {
        Ok(nanos) if nanos > 0 => Ok(nanos),
        _ => Err(ShapeError::new(
            argument,
            format_args!("must be above 0 (1 ns) and at most {LONGEST:e} s; it is {seconds}"),
        )),
    }
}

/// Rejects a shape of more than [`MOST`] events. `argument` is the one that makes it too long.
pub(crate) fn total(argument: &str, events: f64) -> Result<(), ShapeError> {
    if events <= MOST as f64 {
        Ok(())
    } else {
        Err(ShapeError::new(argument, format_args!("must leave at most {MOST} events in all; there are {events:e}")))
    }
}

/// Converts seconds to ns and rounds once. Whole seconds are converted apart from the fraction, so the result has the
/// full precision of the float. Negative or not a number: 0. Too large for 64 bits: the maximum.
pub fn nanos(seconds: f64) -> u64 {
    (seconds as u64).saturating_mul(SECOND).saturating_add((seconds.fract() * SECOND as f64).round() as u64)
}

/// Converts ns to seconds, with the precision of a float.
pub fn seconds(nanos: u64) -> f64 {
    (nanos / SECOND) as f64 + (nanos % SECOND) as f64 / SECOND as f64
}
