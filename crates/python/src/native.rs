//! `NativeUsers` for Python.

use plimsoll_engine::{self as engine, Rules};
use plimsoll_record as record;
use pyo3::prelude::*;

use crate::engine::{Engine, Group};
use crate::errors::refused;
use crate::recorder::Recorder;
use crate::scenario::Scenario;
use crate::schedule::Arrivals;

#[pyclass(module = "plimsoll._engine")]
pub(crate) struct NativeUsers {
    engine: Py<Engine>,
    group: usize,
}

impl NativeUsers {
    fn with<T>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut engine::NativeUsers, &mut engine::Engine, &mut record::Recorder) -> T,
    ) -> T {
        let mut owner = self.engine.borrow_mut(py);
        let Engine { inner, groups, .. } = &mut *owner;
        let Group { users, recorder } = groups.at(self.group);
        act(users, inner, &mut recorder.borrow_mut(py).inner)
    }

    fn ask<T>(&self, py: Python<'_>, question: impl FnOnce(&engine::NativeUsers) -> T) -> T {
        question(self.engine.borrow(py).groups.users(self.group))
    }
}

#[pymethods]
impl NativeUsers {
    #[new]
    #[pyo3(signature = (engine, recorder, scenario, *, max_users = 10_000, drop = false, iterations = None,
                        requests = None, users_per_connection = 1))]
    #[allow(clippy::too_many_arguments)] // Python passes them by keyword
    fn new(
        py: Python<'_>,
        engine: Py<Engine>,
        recorder: Py<Recorder>,
        scenario: &Scenario,
        max_users: usize,
        drop: bool,
        iterations: Option<u64>,
        requests: Option<u64>,
        users_per_connection: usize,
    ) -> PyResult<Self> {
        if max_users == 0 {
            return Err(refused("max_users must be at least 1"));
        }
        if users_per_connection == 0 {
            return Err(refused("users_per_connection must be at least 1"));
        }
        let mut owner = engine.borrow_mut(py);
        let max_decoded = owner.max_decoded;
        let rules = Rules { max_users, drop, iterations, requests, max_decoded, users_per_connection };
        let group = owner.groups.add(recorder, |recorder, mark| {
            engine::NativeUsers::new(&scenario.script, &mut recorder.borrow_mut(py).inner, rules, mark)
        });
        std::mem::drop(owner);
        Ok(Self { engine, group })
    }

    fn resize(&self, py: Python<'_>, users: usize) -> PyResult<()> {
        self.with(py, |natives, engine, recorder| natives.resize(engine, recorder, users)).map_err(refused)
    }

    fn arrive(&self, py: Python<'_>, arrivals: &Arrivals, start: u64) -> PyResult<()> {
        let arrivals = Box::new(arrivals.rest());
        self.with(py, |natives, engine, _| natives.arrive(engine, arrivals, start)).map_err(refused)
    }

    fn end_arrivals(&self, py: Python<'_>, stamp: u64) {
        self.with(py, |natives, engine, _| natives.end_arrivals(engine, stamp));
    }

    fn stop(&self, py: Python<'_>) {
        self.with(py, engine::NativeUsers::stop);
    }

    fn cut(&self, py: Python<'_>) {
        self.with(py, engine::NativeUsers::cut);
    }

    #[getter]
    fn active(&self, py: Python<'_>) -> usize {
        self.ask(py, engine::NativeUsers::active)
    }

    #[getter]
    fn users(&self, py: Python<'_>) -> usize {
        self.ask(py, engine::NativeUsers::users)
    }

    #[getter]
    fn waiting(&self, py: Python<'_>) -> usize {
        self.ask(py, engine::NativeUsers::waiting)
    }

    #[getter]
    fn done(&self, py: Python<'_>) -> bool {
        self.ask(py, engine::NativeUsers::done)
    }

    #[getter]
    fn authorizing(&self, py: Python<'_>) -> usize {
        self.ask(py, engine::NativeUsers::authorizing)
    }

    #[getter]
    fn ended_feeder(&self, py: Python<'_>) -> Option<String> {
        self.ask(py, |natives| natives.ended_feeder().map(str::to_owned))
    }

    #[getter]
    fn failure(&self, py: Python<'_>) -> Option<String> {
        self.ask(py, |natives| natives.failure().map(str::to_owned))
    }
}
