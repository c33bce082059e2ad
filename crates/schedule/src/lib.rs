//! Load shapes as arithmetic: which event is due when. No clock, no sleeping, no I/O.
//!
//! # Layout
//!
//! - [`Schedule`]: the one question that a load shape answers.
//! - [`Constant`]: one event after another at even distances.
//! - [`Batches`]: several events at once at even distances, as Locust spawns users.
//! - `rate`: events per second, and the exact time of the n-th.

mod batches;
mod constant;
mod rate;

pub use batches::Batches;
pub use constant::Constant;
pub use rate::RateError;

/// When each event of a load shape is due.
///
/// The answers never decrease with `n`, and once the schedule has ended it stays so.
pub trait Schedule {
    /// Due time in ns of the n-th event (0-based) since the start; `None` when the schedule has ended.
    fn due(&self, n: u64) -> Option<u64>;
}

#[cfg(test)]
mod contract {
    //! What holds for every load shape. A new one joins by a line in `shapes`.

    use proptest::prelude::*;

    use super::*;

    fn shapes(rate: f64, total: Option<u64>) -> [(&'static str, Box<dyn Schedule>); 2] {
        [
            ("constant", Box::new(Constant::new(rate, total).expect("a rate in range"))),
            ("batches", Box::new(Batches::new(rate, total).expect("a rate in range"))),
        ]
    }

    /// From a year between two events to 1 ns.
    fn rates() -> impl Strategy<Value = f64> {
        (-7.5..9.0_f64).prop_map(|exponent| 10_f64.powf(exponent))
    }

    proptest! {
        #[test]
        fn the_first_event_is_due_at_once(rate in rates(), total in proptest::option::of(1..u64::MAX)) {
            for (name, shape) in shapes(rate, total) {
                prop_assert_eq!(shape.due(0), Some(0), "{}", name);
            }
        }

        #[test]
        fn due_times_never_decrease(rate in rates(), n in 0..1_u64 << 52) {
            for (name, shape) in shapes(rate, None) {
                if let (Some(this), Some(next)) = (shape.due(n), shape.due(n + 1)) {
                    prop_assert!(this <= next, "{name}: {n} at {this}, {} at {next}", n + 1);
                }
            }
        }

        #[test]
        fn the_end_comes_after_the_total_and_stays(rate in rates(), total in 0..100_u64, past in 0..u64::MAX - 100) {
            for (name, shape) in shapes(rate, Some(total)) {
                prop_assert!((0..total).all(|n| shape.due(n).is_some()), "{}", name);
                prop_assert_eq!(shape.due(total + past), None, "{}", name);
            }
        }

        #[test]
        fn times_that_no_clock_can_show_are_the_end(n in 0..u64::MAX) {
            for (name, shape) in shapes(1e-300, None) {
                prop_assert_eq!(shape.due(n.max(1)), None, "{}", name);
            }
        }
    }
}
