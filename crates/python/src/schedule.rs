//! `SpawnTimes`: `schedule::Batches` for Python.

use plimsoll_schedule::{Batches, Schedule};
use pyo3::prelude::*;

use crate::errors::refused;

#[pyclass(frozen, module = "plimsoll._engine")]
pub(crate) struct SpawnTimes {
    inner: Batches,
}

#[pymethods]
impl SpawnTimes {
    #[new]
    fn new(users: u64, rate: f64) -> PyResult<Self> {
        Ok(Self { inner: Batches::new(rate, Some(users)).map_err(refused)? })
    }

    fn due(&self, n: u64) -> Option<u64> {
        self.inner.due(n)
    }
}
