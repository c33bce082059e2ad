//! `SpawnTimes`, `Shape` and `Arrivals` for Python: the crate `schedule`.

use std::sync::Arc;

use plimsoll_schedule::{self as schedule, Batches, ShapeError, Spacing};
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

#[pyclass(frozen, module = "plimsoll._engine")]
pub(crate) struct Shape {
    inner: Arc<dyn schedule::Shape>,
}

/// A shape, or the error that names the wrong argument.
fn shape(made: Result<Arc<dyn schedule::Shape>, ShapeError>) -> PyResult<Shape> {
    Ok(Shape { inner: made.map_err(refused)? })
}

/// Pairs. From JSON they are lists.
fn pairs(lists: Vec<[f64; 2]>) -> Vec<(f64, f64)> {
    lists.into_iter().map(<(f64, f64)>::from).collect()
}

#[pymethods]
impl Shape {
    #[staticmethod]
    #[pyo3(signature = (level, seconds = None))]
    fn constant(level: f64, seconds: Option<f64>) -> PyResult<Self> {
        shape(schedule::constant(level, seconds))
    }

    #[staticmethod]
    fn ramp(start: f64, end: f64, seconds: f64) -> PyResult<Self> {
        shape(schedule::ramp(start, end, seconds))
    }

    #[staticmethod]
    fn steps(steps: Vec<[f64; 2]>) -> PyResult<Self> {
        shape(schedule::steps(&pairs(steps)))
    }

    #[staticmethod]
    #[pyo3(signature = (start, step, each, count, rise = 0.0))]
    fn staircase(start: f64, step: f64, each: f64, count: i64, rise: f64) -> PyResult<Self> {
        shape(schedule::staircase(start, step, each, count, rise))
    }

    #[staticmethod]
    #[pyo3(signature = (base, peak, at, hold, seconds, rise = 0.0))]
    fn spike(base: f64, peak: f64, at: f64, hold: f64, seconds: f64, rise: f64) -> PyResult<Self> {
        shape(schedule::spike(base, peak, at, hold, seconds, rise))
    }

    #[staticmethod]
    #[pyo3(signature = (mean, amplitude, period, seconds = None))]
    fn sine(mean: f64, amplitude: f64, period: f64, seconds: Option<f64>) -> PyResult<Self> {
        shape(schedule::sine(mean, amplitude, period, seconds))
    }

    #[staticmethod]
    #[pyo3(signature = (stages, start = 0.0))]
    fn stages(stages: Vec<[f64; 2]>, start: f64) -> PyResult<Self> {
        shape(schedule::stages(&pairs(stages), start))
    }

    #[staticmethod]
    #[allow(clippy::needless_pass_by_value)] // PyO3 creates the list for this call
    fn replay(times: Vec<f64>) -> PyResult<Self> {
        shape(schedule::replay(&times))
    }

    /// 0 before the start and after the end.
    fn level(&self, at: f64) -> f64 {
        if at >= 0.0 { self.inner.level(schedule::nanos(at)) } else { 0.0 }
    }

    #[getter]
    fn seconds(&self) -> Option<f64> {
        self.inner.length().map(schedule::seconds)
    }

    #[getter]
    fn count(&self) -> Option<f64> {
        self.inner.total()
    }

    fn __repr__(&self) -> String {
        match self.seconds() {
            Some(seconds) => format!("<Shape of {seconds} s>"),
            None => "<Shape without end>".to_owned(),
        }
    }
}

#[pyclass(module = "plimsoll._engine")]
pub(crate) struct Arrivals {
    inner: schedule::Arrivals,
}

impl Arrivals {
    /// The remaining arrivals.
    pub(crate) fn rest(&self) -> schedule::Arrivals {
        self.inner.clone()
    }
}

#[pymethods]
impl Arrivals {
    #[new]
    #[pyo3(signature = (shape, *, poisson = false, seed = 0, index = 0, of = 1, limit = None))]
    fn new(shape: &Shape, poisson: bool, seed: u64, index: u32, of: u32, limit: Option<u64>) -> PyResult<Self> {
        let spacing = if poisson { Spacing::Poisson { seed } } else { Spacing::Uniform };
        let inner = schedule::Arrivals::new(shape.inner.clone(), spacing, index, of, limit).map_err(refused)?;
        Ok(Self { inner })
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&mut self) -> Option<u64> {
        self.inner.next()
    }
}
