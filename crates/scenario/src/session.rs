//! The state of one user.

use crate::bodies::{Held, no_room};
use crate::cookies::{Jar, directory_of};

/// Identifies a step of a scenario: its index in [`Scenario::steps`](crate::Scenario::steps).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepId(pub(crate) u32);

impl StepId {
    /// From 0, below the length of [`Scenario::steps`](crate::Scenario::steps).
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One user's state: 32 bytes, and no heap memory until there is something to store.
#[derive(Debug)]
pub struct Session {
    user: u64,
    iteration: u64,
    step: StepId,
    memory: Option<Box<Memory>>,
}

/// Reused between iterations for its buffers.
#[derive(Debug, Default)]
struct Memory {
    /// By feeder: the row of this iteration, if the flow uses that feeder.
    rows: Box<[u32]>,
    /// Values extracted in this iteration, by the number of the variable in the flow.
    values: Vec<Value>,
    /// By the number of a repetition in the flow: how often its steps were done.
    repetitions: Vec<u32>,
    jar: Jar,
    /// Of the latest request whose directory has variables.
    directory: String,
}

#[derive(Debug, Default)]
struct Value {
    text: String,
    is_set: bool,
    /// The memory of a long one.
    held: Held,
}

impl Value {
    /// There is no value. The buffer of a short one stays.
    fn clear(&mut self) {
        self.is_set = false;
        self.text.clear();
        if !self.held.is_empty() {
            *self = Value::default();
        }
    }
}

impl Session {
    pub(crate) fn new(user: u64) -> Self {
        Self { user, iteration: 0, step: StepId(0), memory: None }
    }

    /// The current step: to be sent next, or in flight.
    #[inline]
    pub fn step(&self) -> StepId {
        self.step
    }

    /// Number of the user, from 0, unique over all workers.
    pub fn user(&self) -> u64 {
        self.user
    }

    /// Number of its iteration, from 0, unique over all workers.
    pub fn iteration(&self) -> u64 {
        self.iteration
    }

    /// Goes to the first step of a flow. Clears extracted values.
    #[inline]
    pub(crate) fn begin(&mut self, iteration: u64, step: StepId) {
        self.iteration = iteration;
        self.step = step;
        if let Some(memory) = &mut self.memory {
            memory.values.iter_mut().for_each(Value::clear);
            memory.repetitions.clear();
        }
    }

    #[inline]
    pub(crate) fn go_to(&mut self, step: StepId) {
        self.step = step;
    }

    /// How often the steps of a repetition were done, since it began.
    pub(crate) fn done(&self, repetition: u32) -> u32 {
        let done = |memory: &Memory| memory.repetitions.get(repetition as usize).copied();
        self.memory.as_deref().and_then(done).unwrap_or_default()
    }

    pub(crate) fn set_done(&mut self, repetition: u32, times: u32) {
        let repetitions = &mut self.memory.get_or_insert_default().repetitions;
        if repetitions.len() <= repetition as usize {
            repetitions.resize(repetition as usize + 1, 0);
        }
        repetitions[repetition as usize] = times;
    }

    /// The row of a feeder that the flow uses.
    pub(crate) fn row(&self, feeder: u32) -> u32 {
        self.memory.as_ref().expect("the flow uses the feeder, so the iteration has a row").rows[feeder as usize]
    }

    /// `feeders`: number of feeders in the scenario.
    pub(crate) fn set_row(&mut self, feeder: u32, row: u32, feeders: usize) {
        let memory = self.memory.get_or_insert_default();
        if memory.rows.is_empty() {
            memory.rows = vec![0; feeders].into();
        }
        memory.rows[feeder as usize] = row;
    }

    /// The value of variable `number` in this iteration.
    pub(crate) fn value(&self, number: u32) -> Option<&str> {
        let value = self.memory.as_ref()?.values.get(number as usize)?;
        value.is_set.then_some(value.text.as_str())
    }

    /// `variables`: number of variables of the flow, more than `number`. `None`: removes the value. The error says that
    /// there is no memory for it; then there is no value.
    pub(crate) fn set_value(&mut self, number: u32, variables: usize, text: Option<&str>) -> Result<(), String> {
        let values = &mut self.memory.get_or_insert_default().values;
        if values.len() < variables {
            values.resize_with(variables, Value::default);
        }
        let value = &mut values[number as usize];
        value.clear();
        let Some(text) = text else { return Ok(()) };
        if !value.held.follow(text.len()) {
            return Err(no_room());
        }
        value.text.push_str(text);
        value.is_set = true;
        Ok(())
    }

    /// Its cookies, if there are any.
    #[inline]
    pub(crate) fn jar(&self) -> Option<&Jar> {
        self.memory.as_ref().map(|memory| &memory.jar).filter(|jar| !jar.is_empty())
    }

    /// Its cookies, and the directory of its request.
    pub(crate) fn jar_mut(&mut self) -> (&mut Jar, &str) {
        let memory = self.memory.get_or_insert_default();
        (&mut memory.jar, &memory.directory)
    }

    /// Keeps the directory of a request target, for cookies without a path.
    pub(crate) fn set_directory(&mut self, target: &str) {
        let directory = &mut self.memory.get_or_insert_default().directory;
        directory.clear();
        directory.push_str(directory_of(target));
    }
}

#[cfg(test)]
impl Session {
    /// Begins an iteration at the first step of the scenario.
    pub(crate) fn begin_test(&mut self, iteration: u64) {
        self.begin(iteration, StepId(0));
    }

    /// Whether it uses heap memory.
    pub(crate) fn has_memory(&self) -> bool {
        self.memory.is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Session, StepId};
    use crate::cookies::Site;

    #[test]
    fn a_session_is_small_and_has_nothing_on_the_heap_before_it_remembers_something() {
        assert!(size_of::<Session>() <= 32);
        let mut session = Session::new(1);
        session.begin(0, StepId(0));
        session.go_to(StepId(1));
        assert!(session.memory.is_none() && session.jar().is_none() && session.value(0).is_none());
    }

    #[test]
    fn values_are_kept_until_the_next_iteration_and_their_buffers_longer() {
        let mut session = Session::new(1);
        session.set_value(1, 3, Some("abc")).unwrap();
        assert_eq!([0, 1, 2, 9].map(|number| session.value(number)), [None, Some("abc"), None, None]);
        let buffer = session.value(1).unwrap().as_ptr();
        session.begin(1, StepId(0));
        assert_eq!(session.value(1), None);
        session.set_value(1, 3, Some("de")).unwrap();
        assert_eq!((session.value(1), session.value(1).unwrap().as_ptr()), (Some("de"), buffer));
        session.set_value(1, 3, None).unwrap();
        assert_eq!(session.value(1), None);
    }

    #[test]
    fn rows_and_cookies_outlive_nothing_else() {
        let mut session = Session::new(1);
        session.set_row(1, 7, 2);
        session.set_row(0, 5, 2);
        assert_eq!((session.row(0), session.row(1)), (5, 7));
        assert!(session.jar().is_none());
        let site = Site { host: 0, name: "h".into(), is_address: false, is_secure: false };
        session.jar_mut().0.set(&Arc::new(site), "/", b"a=b", || 0);
        session.begin(1, StepId(0));
        assert!(session.jar().is_some());
    }
}
