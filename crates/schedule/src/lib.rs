//! Load shapes as arithmetic: which event is due when. No clock, no sleeping, no I/O.
//!
//! # Layout
//!
//! - [`Shape`]: a level over time (events per second, or users) and its integral.
//! - [`constant()`], [`ramp`], [`steps`], [`stages`], [`staircase`], [`spike`], [`sine()`], [`replay()`]: the shapes.
//! - [`Arrivals`]: the due times of a shape, evenly or randomly spaced, shared out to workers.
//! - [`Batches`]: several events at once at even distances, as Locust spawns users.
//! - `linear`: straight lines, of which most shapes are made; `profiles` makes them.
//! - `rate`: the exact time of the n-th event; `error`: what is refused.

mod arrivals;
mod batches;
mod constant;
#[cfg(test)]
mod contract;
mod error;
mod linear;
mod profiles;
mod rate;
mod replay;
mod sine;

use std::fmt::Debug;

pub use arrivals::{Arrivals, Spacing};
pub use batches::Batches;
pub use constant::constant;
pub use error::{ShapeError, nanos, seconds};
pub use profiles::{ramp, spike, stages, staircase, steps};
pub use rate::RateError;
pub use replay::replay;
pub use sine::sine;

/// A level over time: events per second, or users. Times are ns since its start.
pub trait Shape: Send + Sync + Debug {
    /// The level at `at`, 0 or above; 0 from `length` on. Where it jumps, the new level.
    fn level(&self, at: u64) -> f64;

    /// When the integral of the level passes `count` (events, >= 0), in whole ns; `None`: it never does.
    ///
    /// Passing is more than reaching: the event that falls on the border to a stretch of level 0 comes after it, and the
    /// one that falls on the end does not come. A constant level is right to the ns up to 2^53 events; the others to
    /// the precision of a float in seconds, which is 1 ns in the first days. Later counts never come earlier, but for the last
    /// digit of a float.
    fn reach(&self, count: f64) -> Option<u64>;

    /// How long it lasts, ns; `None`: without end.
    fn length(&self) -> Option<u64>;

    /// The integral over its length: events in all, at most 2^53; `None`: without end.
    fn total(&self) -> Option<f64>;

    /// Whether its events have times of their own, so that no other spacing can be had.
    fn spaces_itself(&self) -> bool {
        false
    }
}
