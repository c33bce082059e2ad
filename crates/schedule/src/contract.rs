//! Properties of every shape, for any parameters. Add a new shape to `shapes`.

use std::sync::Arc;

use proptest::prelude::*;

use crate::error::{SECOND, seconds};
use crate::{Arrivals, Shape, Spacing, constant, ramp, replay, sine, spike, stages, staircase, steps};

/// All times in these shapes are multiples of this, ns. Within one cell a level is smooth.
const CELL: u64 = SECOND / 20;

/// Maximum time tested for shapes without end, ns.
const FAR: u64 = 30 * SECOND;

/// Four levels, and four lengths in cells.
type Given = ([f64; 4], [u8; 4]);

fn given() -> impl Strategy<Value = Given> {
    (prop::array::uniform4(prop_oneof![1 => Just(0.0), 5 => 0.0..100.0]), prop::array::uniform4(1..100_u8))
}

#[allow(clippy::many_single_char_names)] // a to d are levels, p to s lengths in seconds
fn shapes(([a, b, c, d], cells): Given) -> [(&'static str, Arc<dyn Shape>); 14] {
    let [p, q, r, s] = cells.map(|n| seconds(u64::from(n) * CELL));
    [
        ("constant", constant(a, Some(p))),
        ("constant without end", constant(a, None)),
        ("ramp", ramp(a, b, p)),
        ("ramp from nothing", ramp(0.0, b, q)),
        ("ramp to nothing", ramp(a, 0.0, r)),
        ("steps", steps(&[(p, a), (q, b), (r, c), (s, d)])),
        ("steps with a pause", steps(&[(p, a), (q, 0.0), (r, 0.0), (s, d)])),
        ("stages", stages(&[(p, b), (0.0, c), (q, c), (r, 0.0), (s, d)], a)),
        ("staircase", staircase(a, b / 4.0, p, 4, 0.0)),
        ("staircase with slopes", staircase(a, -a / 3.0, p, 4, q)),
        ("spike", spike(a, b, p, q, p + q + 2.0 * r + s, r)),
        ("sine", sine(a.max(b), a.min(b), p + 1.0, Some(q + r))),
        ("sine without end", sine(a, a, q + 1.0, None)),
        ("replay", replay(&[p, q, r, s, a, b, c, d, a])),
    ]
    .map(|(name, shape)| (name, shape.expect(name)))
}

/// Uniform and Poisson spacing, if the shape allows them.
fn spacings(shape: &dyn Shape, seed: u64) -> impl Iterator<Item = Spacing> {
    [Spacing::Uniform, Spacing::Poisson { seed }].into_iter().take(if shape.spaces_itself() { 1 } else { 2 })
}

/// Due times before the end, or before [`FAR`].
fn due_times(shape: &Arc<dyn Shape>, spacing: Spacing, index: u32, of: u32, limit: Option<u64>) -> Vec<u64> {
    let arrivals = Arrivals::new(shape.clone(), spacing, index, of, limit).expect("arguments in range");
    let end = if shape.length().is_none() { FAR } else { u64::MAX };
    arrivals.take_while(|&due| due < end).collect()
}

/// The integral of the level up to `end`, by two-point Gauss quadrature per cell. It is exact for straight lines, and
/// evaluates only points inside cells, so jumps at their borders do no harm.
fn integral(shape: &dyn Shape, end: u64) -> f64 {
    let of_cell = |start: u64| {
        let length = CELL.min(end - start);
        let at = |share: f64| shape.level(start + (share * length as f64) as u64);
        let apart = 0.75_f64.sqrt() / 3.0;
        f64::midpoint(at(0.5 - apart), at(0.5 + apart)) * seconds(length)
    };
    (0..end.div_ceil(CELL)).map(|cell| of_cell(cell * CELL)).sum()
}

/// Tolerance of [`integral`] in events: for the cells of a sine, which has 20 or more per period.
const DOUBT: f64 = 1e-3;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn due_times_never_decrease_and_lie_within_the_shape(given in given(), seed: u64) {
        for (name, shape) in shapes(given) {
            for spacing in spacings(&*shape, seed) {
                let due = due_times(&shape, spacing, 0, 1, None);
                prop_assert!(due.is_sorted(), "{name} {spacing:?}");
                prop_assert!(due.last() < shape.length().as_ref() || due.is_empty() || shape.length().is_none(), "{name} {spacing:?}");
            }
        }
    }

    #[test]
    fn the_level_is_never_below_0_and_0_after_the_end(given in given(), share in 0.0..1.0_f64, past: u64) {
        for (name, shape) in shapes(given) {
            let end = shape.length().unwrap_or(FAR);
            prop_assert!(shape.level((share * end as f64) as u64) >= 0.0, "{}", name);
            prop_assert!(shape.length().is_none_or(|end| shape.level(end) == 0.0), "{}", name);
            prop_assert!(shape.length().is_none_or(|end| shape.level(end.saturating_add(past)) == 0.0), "{}", name);
        }
    }

    #[test]
    fn up_to_any_time_as_many_are_due_as_the_integral_of_the_level_says(given in given(), share in 0.0..1.0_f64) {
        for (name, shape) in shapes(given) {
            let mut end = (share * shape.length().unwrap_or(FAR) as f64) as u64;
            if shape.spaces_itself() {
                end -= end % SECOND; // the level is the number of events in a whole second, and does not give their times
            }
            let due = due_times(&shape, Spacing::Uniform, 0, 1, None).partition_point(|&due| due < end) as f64;
            let events = integral(&*shape, end);
            prop_assert!(events - DOUBT <= due && due <= events + DOUBT + 1.0, "{name}: {due} of {events} until {end}");
        }
    }

    #[test]
    fn the_integral_up_to_where_it_reaches_a_count_is_that_count(given in given(), share in 0.0..1.0_f64) {
        for (name, shape) in shapes(given).into_iter().filter(|(_, shape)| !shape.spaces_itself()) {
            let count = share * shape.total().unwrap_or(100.0);
            if let Some(at) = shape.reach(count).filter(|&at| at < FAR) {
                let events = integral(&*shape, at);
                prop_assert!((events - count).abs() <= DOUBT, "{name}: {events} instead of {count} at {at}");
            } else {
                prop_assert!(shape.length().is_none() || shape.total() == Some(0.0), "{}: {} is never reached", name, count);
            }
        }
    }

    #[test]
    fn the_total_is_the_integral_over_the_length(given in given()) {
        for (name, shape) in shapes(given) {
            prop_assert_eq!(shape.total().is_none(), shape.length().is_none(), "{}", name);
            if let (Some(total), Some(end)) = (shape.total(), shape.length()) {
                let events = integral(&*shape, end);
                prop_assert!((total - events).abs() <= DOUBT, "{name}: {total} instead of {events}");
                prop_assert_eq!(shape.reach(total), None, "{}", name);
            }
        }
    }

    #[test]
    fn a_poisson_process_has_as_many_events_as_the_integral_but_for_chance(given in given(), seed: u64) {
        for (name, shape) in shapes(given).into_iter().filter(|(_, shape)| !shape.spaces_itself()) {
            let due = due_times(&shape, Spacing::Poisson { seed }, 0, 1, None).len() as f64;
            let mean = integral(&*shape, shape.length().unwrap_or(FAR));
            prop_assert!((due - mean).abs() <= 7.0 * mean.sqrt() + 10.0, "{name}: {due} instead of {mean}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_times(given in given(), seed: u64) {
        for (name, shape) in shapes(given) {
            for spacing in spacings(&*shape, seed) {
                prop_assert_eq!(due_times(&shape, spacing, 0, 1, None), due_times(&shape, spacing, 0, 1, None), "{}", name);
            }
        }
    }

    #[test]
    fn all_workers_together_have_the_whole_and_no_more_than_the_limit(given in given(), seed: u64, limit in prop::option::of(0..100_u64)) {
        for (name, shape) in shapes(given) {
            for spacing in spacings(&*shape, seed) {
                let mut whole = due_times(&shape, spacing, 0, 1, None);
                whole.truncate(limit.map_or(usize::MAX, |limit| limit as usize));
                for of in 1..=8 {
                    let parts: Vec<_> = (0..of).map(|index| due_times(&shape, spacing, index, of, limit)).collect();
                    let (least, most) = (parts.iter().map(Vec::len).min(), parts.iter().map(Vec::len).max());
                    prop_assert!(most <= least.map(|least| least + 1), "{name} {spacing:?} of {of}: {least:?} to {most:?}");
                    let mut all = parts.concat();
                    all.sort_unstable();
                    prop_assert_eq!(&all, &whole, "{} {:?} of {}", name, spacing, of);
                }
            }
        }
    }
}
