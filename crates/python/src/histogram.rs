//! `Histogram`: `record::Durations` for Python.

use std::num::NonZeroU64;

use plimsoll_record::Durations;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

#[pyclass(module = "plimsoll._engine")]
#[derive(Default)]
pub(crate) struct Histogram {
    durations: Durations,
}

impl From<Durations> for Histogram {
    fn from(durations: Durations) -> Self {
        Self { durations }
    }
}

impl Histogram {
    pub(crate) fn durations(&self) -> &Durations {
        &self.durations
    }
}

#[pymethods]
impl Histogram {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    #[staticmethod]
    fn decode(data: &[u8]) -> PyResult<Self> {
        match Durations::decode(data) {
            Ok(durations) => Ok(Self { durations }),
            Err(error) => Err(PyValueError::new_err(error.to_string())),
        }
    }

    #[pyo3(signature = (compressed = true))]
    fn encode<'py>(&self, py: Python<'py>, compressed: bool) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.durations.encode(compressed))
    }

    #[pyo3(signature = (micros, count = 1))]
    fn record(&mut self, micros: u64, count: u64) {
        self.durations.record(micros, count);
    }

    fn add(&mut self, other: &Self) {
        self.durations.add(&other.durations);
    }

    #[staticmethod]
    #[allow(clippy::needless_pass_by_value)] // PyO3 makes the list for this call
    fn sum(parts: Vec<PyRef<'_, Self>>) -> Self {
        Self { durations: Durations::sum(&parts.iter().map(|each| &each.durations).collect::<Vec<_>>()) }
    }

    fn copy(&self) -> Self {
        Self { durations: self.durations.clone() }
    }

    fn corrected(&self, interval: u64) -> PyResult<Self> {
        match NonZeroU64::new(interval) {
            Some(interval) => Ok(Self { durations: self.durations.corrected(interval) }),
            None => Err(PyValueError::new_err("interval must be above 0 µs; it is 0")),
        }
    }

    fn value_at(&self, quantile: f64) -> u64 {
        self.durations.value_at(quantile)
    }

    #[allow(clippy::needless_pass_by_value)] // PyO3 makes the list for this call
    fn values_at(&self, quantiles: Vec<f64>) -> Vec<u64> {
        self.durations.values_at(&quantiles)
    }

    fn count_above(&self, micros: u64) -> u64 {
        self.durations.count_above(micros)
    }

    fn buckets(&self) -> Vec<(u64, u64)> {
        self.durations.buckets().collect()
    }

    #[getter]
    fn count(&self) -> u64 {
        self.durations.count()
    }

    #[getter]
    fn min(&self) -> u64 {
        self.durations.min()
    }

    #[getter]
    fn max(&self) -> u64 {
        self.durations.max()
    }

    #[getter]
    fn mean(&self) -> f64 {
        self.durations.mean()
    }

    fn __repr__(&self) -> String {
        format!(
            "<Histogram of {} values, {}…{} µs>",
            self.durations.count(),
            self.durations.min(),
            self.durations.max()
        )
    }
}
