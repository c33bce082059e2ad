//! Load shapes as arithmetic: when each event is due. No clock, no sleeping, no I/O.
//!
//! # Layout
//!
//! - [`Shape`]: a level over time (events per second, or users) and its integral.
//! - [`constant()`], [`ramp`], [`steps`], [`stages`], [`staircase`], [`spike`], [`sine()`], [`replay()`]: the shapes.
//! - [`Arrivals`]: the due times of a shape, with even or random spacing, split among workers.
//! - [`Batches`]: batches of events at equal distances, as Locust spawns users.
//! - `linear`: straight lines, the basis of most shapes; `profiles` builds them.
//! - `rate`: the exact time of the n-th event; `error`: the errors.

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
    /// The level at `at`, 0 or above; 0 from `length` on. At a jump, the new level.
    fn level(&self, at: u64) -> f64;

    /// When the integral of the level exceeds `count` (events, >= 0), in whole ns; `None`: never.
    ///
    /// An event exactly at the start of a pause (level 0) comes after it, and one exactly at the end does not come. A
    /// constant level is exact to the ns up to 2^53 events. The others have the precision of a float in seconds, which
    /// is 1 ns in the first days. Later counts never come earlier, except in the last digit of a float.
    fn reach(&self, count: f64) -> Option<u64>;

    /// How long it lasts, ns; `None`: without end.
    fn length(&self) -> Option<u64>;

    /// The integral over its length: the total number of events, at most 2^53; `None`: without end.
    fn total(&self) -> Option<f64>;

    /// Whether its events have fixed times, so that no other spacing is possible.
    fn spaces_itself(&self) -> bool {
        false
    }
}
