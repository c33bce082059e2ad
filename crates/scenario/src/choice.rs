//! Which flow an iteration plays.

use std::collections::HashMap;

use crate::DefinitionError;
use crate::definition;
use crate::feeder::Feeder;
use crate::random::Random;

/// How flows are chosen. With a single flow there is no cost.
#[derive(Debug)]
pub(crate) enum Choice {
    /// There is only one flow.
    Only,
    /// The k-th iteration of all workers together plays flow k mod this number of flows.
    InTurn(u64),
    /// By weight: the cumulative sums of the weights. Never decreasing; the last one is above 0 and finite.
    Weighted(Box<[f64]>),
    /// The k-th iteration of all workers together uses row k mod the number of rows of this feeder, and plays the flow
    /// of this row.
    Rows { feeder: u32, flows: Box<[u32]>, ends: bool },
}

impl Choice {
    /// For at least one flow. Weights are checked even if the order does not use them.
    pub(crate) fn new(
        choice: definition::Choice,
        flows: &[definition::Flow],
        feeders: &[Feeder],
    ) -> Result<Self, DefinitionError> {
        let mut sum = 0.0;
        let mut sums = Vec::with_capacity(flows.len());
        for (index, flow) in flows.iter().enumerate() {
            let weight = flow.weight.unwrap_or(1.0);
            if !(0.0..=1e12).contains(&weight) {
                let reason = format!("{weight} is not a weight, from 0 to 1e12");
                return Err(DefinitionError::new(format!("flows[{index}].weight"), reason));
            }
            sum += weight;
            sums.push(sum);
        }
        if sum <= 0.0 {
            return Err(DefinitionError::new("flows", "every weight is 0; at least one flow must have more"));
        }
        Ok(match choice {
            definition::Choice::Column(feeder, column) => Self::of_rows(&feeder, &column, flows, feeders)
                .map_err(|reason| DefinitionError::new("choice", reason))?,
            _ if flows.len() == 1 => Choice::Only,
            definition::Choice::InTurn => Choice::InTurn(flows.len() as u64),
            definition::Choice::Weighted => Choice::Weighted(sums.into()),
        })
    }

    /// By a column of a feeder with the name of a flow in each row.
    fn of_rows(feeder: &str, column: &str, flows: &[definition::Flow], feeders: &[Feeder]) -> Result<Self, String> {
        let number = feeders.iter().position(|other| other.name == feeder);
        let number = number.ok_or_else(|| format!("there is no feeder {feeder:?}"))?;
        let table = &feeders[number];
        if table.kept_row(0).is_some() {
            return Err(format!(
                "users keep their rows of feeder {feeder:?}, for certificates; flows need another feeder"
            ));
        }
        let place = table.columns.iter().position(|other| other == column);
        let place = place.ok_or_else(|| format!("feeder {feeder:?} has no column {column:?}"))?;
        if !table.is_sequential() {
            return Err(format!("feeder {feeder:?} has its rows at random; flows come in the order of the rows"));
        }
        let names: HashMap<_, _> = flows.iter().zip(0..).map(|(flow, index)| (&*flow.name, index)).collect();
        let mut order = Vec::with_capacity(table.rows() as usize);
        for row in 0..table.rows() {
            let name = table.cell(row, place as u32);
            let flow = names.get(name);
            order.push(*flow.ok_or_else(|| format!("row {} of {feeder:?} names {name:?}, which is no flow", row + 1))?);
        }
        Ok(Choice::Rows { feeder: number as u32, flows: order.into(), ends: table.ends() })
    }

    /// The row of a feeder that belongs to an iteration, if the feeder decides which flow it plays.
    #[inline]
    pub(crate) fn row(&self, feeder: u32, iteration: u64) -> Option<u32> {
        match self {
            Choice::Rows { feeder: own, flows, .. } if *own == feeder => Some((iteration % flows.len() as u64) as u32),
            _ => None,
        }
    }

    /// The feeder whose rows are over before this iteration.
    #[inline]
    pub(crate) fn exhausted(&self, iteration: u64) -> Option<u32> {
        match self {
            Choice::Rows { feeder, flows, ends: true } if iteration >= flows.len() as u64 => Some(*feeder),
            _ => None,
        }
    }

    /// The flow of an iteration; `iteration` counts over all workers.
    #[inline]
    pub(crate) fn pick(&self, iteration: u64, random: &mut Random) -> usize {
        match self {
            Choice::Only => 0,
            Choice::InTurn(flows) => (iteration % flows) as usize,
            Choice::Weighted(sums) => {
                let point = random.unit() * sums.last().expect("at least one flow");
                flow_at(sums, point)
            }
            Choice::Rows { flows, .. } => flows[(iteration % flows.len() as u64) as usize] as usize,
        }
    }
}

/// The first flow whose sum is above `point`, so never one of weight 0.
fn flow_at(sums: &[f64], point: f64) -> usize {
    sums.partition_point(|&sum| sum <= point)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Choice, flow_at};
    use crate::DefinitionError;
    use crate::definition::{self, AtEnd, Choice as Given, Flow, Order, Share};
    use crate::feeder::Feeder;
    use crate::random::Random;

    fn choice(given: Given, weights: &[f64]) -> Result<Choice, DefinitionError> {
        let flows = weights.iter().map(|&weight| Flow { name: "f".into(), weight: Some(weight), steps: Vec::new() });
        Choice::new(given, &flows.collect::<Vec<_>>(), &[])
    }

    #[test]
    fn weights_that_are_none_are_refused() {
        for (weights, expected) in [
            (&[1.0, -1.0][..], "flows[1].weight: -1 is not a weight, from 0 to 1e12"),
            (&[f64::NAN], "flows[0].weight: NaN is not a weight, from 0 to 1e12"),
            (&[f64::INFINITY, 1.0], "flows[0].weight: inf is not a weight, from 0 to 1e12"),
            (&[0.0, 0.0], "flows: every weight is 0; at least one flow must have more"),
        ] {
            assert_eq!(choice(Given::Weighted, weights).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn a_point_belongs_to_the_flow_that_begins_there() {
        let sums = [0.0, 2.0, 2.0, 3.0];
        assert_eq!([0.0, 1.9, 2.0, 2.9].map(|point| flow_at(&sums, point)), [1, 1, 3, 3]);
    }

    #[test]
    fn a_choice_among_one_draws_no_number() {
        let (mut random, mut untouched) = (Random::new(1, 0), Random::new(1, 0));
        assert_eq!(choice(Given::Weighted, &[3.0]).unwrap().pick(5, &mut random), 0);
        assert_eq!(choice(Given::InTurn, &[1.0, 1.0]).unwrap().pick(5, &mut random), 1);
        assert_eq!(random.unit().to_bits(), untouched.unit().to_bits());
    }

    #[test]
    fn flows_in_turn_come_one_after_the_other_whatever_their_weights() {
        let choice = choice(Given::InTurn, &[1.0, 0.0, 9.0]).unwrap();
        let picked: Vec<_> = (0..7).map(|iteration| choice.pick(iteration, &mut Random::new(1, 0))).collect();
        assert_eq!(picked, [0, 1, 2, 0, 1, 2, 0]);
    }

    fn by_rows(at_end: AtEnd, names: &[&str], column: &str) -> Result<Choice, DefinitionError> {
        let rows = names.iter().map(|name| vec![(*name).to_string()]).collect();
        let (columns, share) = (vec!["flow".into()], Share::All);
        let feeder = definition::Feeder { name: "log".into(), columns, rows, order: Order::Sequential, share, at_end };
        let feeder = Feeder::new(feeder, "feeders[0]").unwrap();
        let flows = ["a", "b"].map(|name| Flow { name: name.into(), weight: None, steps: Vec::new() });
        Choice::new(Given::Column("log".into(), column.into()), &flows, &[feeder])
    }

    #[test]
    fn rows_say_which_flow_comes_and_belong_to_it() {
        let choice = by_rows(AtEnd::Recycle, &["b", "a", "b"], "flow").unwrap();
        let picked: Vec<_> = (0..4).map(|iteration| choice.pick(iteration, &mut Random::new(1, 0))).collect();
        assert_eq!(picked, [1, 0, 1, 1]);
        assert_eq!((choice.row(0, 5), choice.row(1, 5), choice.exhausted(9)), (Some(2), None, None));
        let ending = by_rows(AtEnd::Stop, &["b", "a"], "flow").unwrap();
        assert_eq!((ending.exhausted(1), ending.exhausted(2)), (None, Some(0)));
    }

    #[test]
    fn rows_that_name_no_flow_are_refused() {
        for (names, column, expected) in [
            (&["a", "c"][..], "flow", "choice: row 2 of \"log\" names \"c\", which is no flow"),
            (&["a"], "x", "choice: feeder \"log\" has no column \"x\""),
        ] {
            assert_eq!(by_rows(AtEnd::Stop, names, column).unwrap_err().to_string(), expected);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn flows_come_as_often_as_they_weigh(weights in prop::collection::vec(0_u32..5, 2..6), seed: u64) {
            let sum: u32 = weights.iter().sum();
            prop_assume!(sum > 0);
            let weights: Vec<f64> = weights.iter().copied().map(f64::from).collect();
            let (choice, mut random) = (choice(Given::Weighted, &weights).unwrap(), Random::new(seed, 0));
            let mut counts = vec![0; weights.len()];
            for iteration in 0..10_000 {
                counts[choice.pick(iteration, &mut random)] += 1;
            }
            for (weight, count) in weights.iter().zip(counts) {
                let expected = 10_000.0 * weight / f64::from(sum);
                // At most ten standard deviations.
                prop_assert!((f64::from(count) - expected).abs() <= 500.0 && (count == 0) == (*weight == 0.0));
            }
        }
    }
}
