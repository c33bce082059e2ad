//! Steps that are done several times, one after the other.

use crate::DefinitionError;
use crate::condition::Condition;
use crate::definition;
use crate::filling::Filling;
use crate::scope::Scope;
use crate::session::StepId;
use crate::time::Think;

/// The end of some steps of a flow that are done several times.
#[derive(Debug)]
pub(crate) struct Repetition {
    /// Its number in the flow.
    pub(crate) number: u32,
    /// The first of the steps.
    pub(crate) first: StepId,
    /// How often the steps are done at most.
    most: u32,
    /// `None`: they are done `most` times.
    again: Option<Again>,
    /// Before they are done again; `None`: that of the step.
    pub(crate) pause: Option<Think>,
}

/// When the steps are done again.
#[derive(Debug)]
struct Again {
    condition: Condition,
    /// What the condition is for that.
    is: bool,
    /// As it is written.
    text: String,
}

/// The steps of a repetition: its first and its last one, as indexes in the flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) first: usize,
    pub(crate) last: usize,
}

impl Extent {
    fn has(self, step: usize) -> bool {
        (self.first..=self.last).contains(&step)
    }
}

impl Repetition {
    /// `start`: the first step of the flow. `scope`: of what follows the step.
    pub(crate) fn new(
        repeat: definition::Repeat,
        (number, extent): (u32, Extent),
        start: usize,
        scope: Scope<'_>,
        field: &str,
    ) -> Result<Self, DefinitionError> {
        let definition::Repeat { most, while_, until, pause, .. } = repeat;
        let condition = |text: Option<String>, is: bool, name: &str| {
            let wrong = |reason| DefinitionError::new(format!("{field}.repeat.{name}"), reason);
            let again = |text: String| {
                let condition = Condition::new(&text, scope).map_err(wrong)?;
                Ok::<_, DefinitionError>(Again { condition, is, text: format!("{name} {text}") })
            };
            text.map(again).transpose()
        };
        if most == 0 {
            return Err(DefinitionError::new(format!("{field}.repeat.most"), "it must be at least 1"));
        }
        let again = match condition(while_, true, "while")? {
            Some(again) => Some(again),
            None => condition(until, false, "until")?,
        };
        let pause = pause.map(|pause| Think::new(Some(pause), &format!("{field}.repeat.pause"))).transpose()?;
        Ok(Self { number, first: StepId((start + extent.first) as u32), most, again, pause })
    }

    /// The feeders whose cells it uses.
    pub(crate) fn feeders(&self) -> impl Iterator<Item = u32> {
        self.again.iter().flat_map(|again| again.condition.feeders())
    }

    /// Whether a verdict depends on it.
    pub(crate) fn is_judged(&self) -> bool {
        self.again.is_some()
    }

    /// Whether the steps are done again after they have been done so often.
    pub(crate) fn goes_on(&self, done: u32, filling: &mut Filling<'_>) -> bool {
        done < self.most && self.is_wanted(filling)
    }

    /// Why the steps should be done again, but are not.
    pub(crate) fn over_limit(&self, done: u32, filling: &mut Filling<'_>) -> Option<String> {
        let again = self.again.as_ref().filter(|_| done >= self.most)?;
        self.is_wanted(filling).then(|| format!("at_most = {} is reached before the end: {}", self.most, again.text))
    }

    fn is_wanted(&self, filling: &mut Filling<'_>) -> bool {
        self.again.as_ref().is_none_or(|again| again.condition.holds(filling) == again.is)
    }
}

/// The repetitions of a flow, in the order of their last steps. Checks them, and the conditions of steps.
pub(crate) fn extents(steps: &[definition::Step], field: &str) -> Result<Vec<Extent>, DefinitionError> {
    let mut extents: Vec<Extent> = Vec::new();
    for (last, step) in steps.iter().enumerate() {
        let wrong =
            |name: &str, reason: &str| Err(DefinitionError::new(format!("{field}.steps[{last}].{name}"), reason));
        if last == 0 && step.if_.is_some() {
            return wrong("if", "the first step of a flow is always sent; an iteration has at least one request");
        }
        let Some(repeat) = &step.repeat else { continue };
        let first = repeat.from.unwrap_or(last);
        if first > last {
            return wrong("repeat.from", "it comes later; a repetition begins with this step or an earlier one");
        }
        if steps[first..=last].iter().any(|step| step.websocket.is_some()) {
            return wrong("repeat", "steps of a WebSocket cannot be repeated");
        }
        if first < last && step.if_.is_some() {
            return wrong("if", "it contradicts repeat.from: the last step of a repetition is always sent");
        }
        if extents.iter().any(|other| other.first < first && first <= other.last) {
            return wrong("repeat.from", "it is within another repetition, which this one has to contain or to follow");
        }
        extents.push(Extent { first, last });
    }
    Ok(extents)
}

/// The smallest repetition that has this step.
pub(crate) fn innermost(extents: &[Extent], step: usize) -> Option<(u32, Extent)> {
    let with_step = extents.iter().zip(0..).filter(|(extent, _)| extent.has(step));
    with_step.min_by_key(|(extent, _)| extent.last - extent.first).map(|(extent, number)| (number, *extent))
}

/// What steps of repetitions extract that has a default: the number of each variable, and its value before the first
/// time. `numbers`: of a variable by its name.
pub(crate) fn beginnings(
    steps: &[definition::Step],
    extents: &[Extent],
    number: impl Fn(&str) -> u32,
) -> Vec<(u32, String)> {
    let repeated = steps.iter().enumerate().filter(|(index, _)| extents.iter().any(|extent| extent.has(*index)));
    let mut values: Vec<(u32, String)> = Vec::new();
    for extract in repeated.flat_map(|(_, step)| &step.extract) {
        let number = number(&extract.into);
        if let Some(text) = extract.default.as_ref().filter(|_| values.iter().all(|(known, _)| *known != number)) {
            values.push((number, text.clone()));
        }
    }
    values
}

/// The names of variables that a step of a repetition may use before a step has extracted them.
pub(crate) fn repeated(steps: &[definition::Step], extents: &[Extent], step: usize) -> Vec<String> {
    let around = extents.iter().filter(|extent| extent.has(step));
    let extracts = around.flat_map(|extent| &steps[extent.first..=extent.last]).flat_map(|step| &step.extract);
    extracts.filter(|extract| extract.default.is_some()).map(|extract| extract.into.clone()).collect()
}
