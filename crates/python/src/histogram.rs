//! `Histogram`: `record::Durations` for Python.

use std::num::NonZeroU64;

use plimsoll_record::{DecodeError, Durations, Summand};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// From so many parts on, a sum lets other threads of Python run meanwhile.
const MANY: usize = 64;

#[pyclass(module = "plimsoll._engine")]
pub(crate) struct Histogram {
    values: Values,
}

enum Values {
    Counted(Durations),
    /// As they were read. Most of what a report reads is only added up, or packed again: both need no list of it.
    Plain {
        /// Bytes that `Durations::plain_count` accepts.
        data: Py<PyBytes>,
        count: u64,
    },
}

impl From<Durations> for Histogram {
    fn from(durations: Durations) -> Self {
        Self { values: Values::Counted(durations) }
    }
}

impl Histogram {
    pub(crate) fn read<R>(&self, py: Python<'_>, ask: impl FnOnce(&Durations) -> R) -> R {
        match &self.values {
            Values::Counted(durations) => ask(durations),
            Values::Plain { data, .. } => ask(&read_again(data.as_bytes(py))),
        }
    }

    /// The values, for a change: from now on they are counted.
    fn changing(&mut self, py: Python<'_>) -> &mut Durations {
        if let Values::Plain { data, .. } = &self.values {
            self.values = Values::Counted(read_again(data.as_bytes(py)));
        }
        match &mut self.values {
            Values::Counted(durations) => durations,
            Values::Plain { .. } => unreachable!("it has just been read"),
        }
    }

    fn values_of(&self, py: Python<'_>, quantiles: &[f64]) -> Vec<u64> {
        match &self.values {
            Values::Counted(durations) => durations.values_at(quantiles),
            Values::Plain { data, count } => Durations::plain_values_at(data.as_bytes(py), *count, quantiles),
        }
    }
}

fn summands<'a>(py: Python<'a>, parts: &'a [PyRef<'_, Histogram>]) -> Vec<Summand<'a>> {
    let summand = |each: &'a PyRef<'_, Histogram>| match &each.values {
        Values::Counted(durations) => Summand::Counted(durations),
        Values::Plain { data, .. } => Summand::Plain(data.as_bytes(py)),
    };
    parts.iter().map(summand).collect()
}

fn read_again(plain: &[u8]) -> Durations {
    Durations::decode(plain).expect("it was checked when it came")
}

/// Writes a row of a table that is stored by column, 8 bytes for each cell.
fn set_row(table: &mut [u8], rows: usize, row: usize, values: &[u64]) {
    for (column, value) in values.iter().enumerate() {
        let at = 8 * (column * rows + row);
        table[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }
}

#[pymethods]
impl Histogram {
    #[new]
    fn new() -> Self {
        Durations::default().into()
    }

    #[staticmethod]
    fn decode(data: Bound<'_, PyBytes>) -> PyResult<Self> {
        let wrong = |error: DecodeError| PyValueError::new_err(error.to_string());
        let plain = match Durations::inflated(data.as_bytes()).map_err(wrong)? {
            Some(plain) => PyBytes::new(data.py(), &plain),
            None => data,
        };
        match Durations::plain_count(plain.as_bytes()) {
            Some(count) => Ok(Self { values: Values::Plain { data: plain.unbind(), count } }),
            // More follows, or the error says what is wrong.
            None => Ok(Durations::decode(plain.as_bytes()).map_err(wrong)?.into()),
        }
    }

    fn packed(&self, py: Python<'_>) -> Self {
        let (data, count) = match &self.values {
            Values::Plain { data, count } => (data.clone_ref(py), *count),
            Values::Counted(durations) => (PyBytes::new(py, &durations.encode(false)).unbind(), durations.count()),
        };
        Self { values: Values::Plain { data, count } }
    }

    #[pyo3(signature = (compressed = true))]
    fn encode<'py>(&self, py: Python<'py>, compressed: bool) -> Bound<'py, PyBytes> {
        match &self.values {
            Values::Plain { data, .. } if !compressed => data.bind(py).clone(),
            _ => PyBytes::new(py, &self.read(py, |durations| durations.encode(compressed))),
        }
    }

    #[pyo3(signature = (micros, count = 1))]
    fn record(&mut self, py: Python<'_>, micros: u64, count: u64) {
        self.changing(py).record(micros, count);
    }

    fn add(&mut self, py: Python<'_>, other: &Self) {
        let own = self.changing(py);
        other.read(py, |durations| own.add(durations));
    }

    #[staticmethod]
    #[allow(clippy::needless_pass_by_value)] // PyO3 makes the list for this call
    fn sum(py: Python<'_>, parts: Vec<PyRef<'_, Self>>) -> Self {
        let parts = summands(py, &parts);
        if parts.len() < MANY {
            return Durations::sum(&parts).into();
        }
        py.detach(|| Durations::sum(&parts)).into()
    }

    #[staticmethod]
    #[allow(clippy::needless_pass_by_value)] // PyO3 makes the lists for this call
    fn packed_sums(py: Python<'_>, parts: Vec<PyRef<'_, Self>>, sizes: Vec<usize>) -> PyResult<Vec<Self>> {
        if sizes.iter().sum::<usize>() != parts.len() {
            return Err(PyValueError::new_err(format!("the sizes are not those of {} histograms", parts.len())));
        }
        let all = summands(py, &parts);
        let mut rest = &all[..];
        let mut groups = Vec::with_capacity(sizes.len());
        for &size in &sizes {
            let (first, others) = rest.split_at(size);
            groups.push(first);
            rest = others;
        }
        let sum = |group: &&[Summand<'_>]| (group.len() != 1).then(|| Durations::encoded_sum(group));
        let sums: Vec<_> = py.detach(|| groups.iter().map(sum).collect());
        let mut end = 0;
        let packed = sizes.into_iter().zip(sums).map(|(size, sum)| {
            end += size;
            match sum {
                Some((data, count)) => Self { values: Values::Plain { data: PyBytes::new(py, &data).unbind(), count } },
                None => parts[end - 1].packed(py),
            }
        });
        Ok(packed.collect())
    }

    fn copy(&self, py: Python<'_>) -> Self {
        self.read(py, Durations::clone).into()
    }

    fn corrected(&self, py: Python<'_>, interval: u64) -> PyResult<Self> {
        match NonZeroU64::new(interval) {
            Some(interval) => Ok(self.read(py, |durations| durations.corrected(interval)).into()),
            None => Err(PyValueError::new_err("interval must be above 0 µs; it is 0")),
        }
    }

    fn value_at(&self, py: Python<'_>, quantile: f64) -> u64 {
        self.read(py, |durations| durations.value_at(quantile))
    }

    #[allow(clippy::needless_pass_by_value)] // PyO3 makes the list for this call
    fn values_at(&self, py: Python<'_>, quantiles: Vec<f64>) -> Vec<u64> {
        self.values_of(py, &quantiles)
    }

    #[staticmethod]
    #[allow(clippy::needless_pass_by_value)] // PyO3 makes the lists for this call
    fn table<'py>(py: Python<'py>, parts: Vec<PyRef<'py, Self>>, quantiles: Vec<f64>) -> PyResult<Bound<'py, PyBytes>> {
        PyBytes::new_with(py, 8 * parts.len() * quantiles.len(), |table| {
            for (row, each) in parts.iter().enumerate() {
                set_row(table, parts.len(), row, &each.values_of(py, &quantiles));
            }
            Ok(())
        })
    }

    #[allow(clippy::needless_pass_by_value)] // PyO3 makes the list for this call
    fn counts_above(&self, py: Python<'_>, micros: Vec<u64>) -> Vec<u64> {
        self.read(py, |durations| durations.counts_above(&micros))
    }

    fn buckets(&self, py: Python<'_>) -> Vec<(u64, u64)> {
        self.read(py, |durations| durations.buckets().collect())
    }

    #[getter]
    fn count(&self) -> u64 {
        match &self.values {
            Values::Counted(durations) => durations.count(),
            Values::Plain { count, .. } => *count,
        }
    }

    #[getter]
    fn min(&self, py: Python<'_>) -> u64 {
        self.read(py, Durations::min)
    }

    #[getter]
    fn max(&self, py: Python<'_>) -> u64 {
        self.read(py, Durations::max)
    }

    #[getter]
    fn mean(&self, py: Python<'_>) -> f64 {
        self.read(py, Durations::mean)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        self.read(py, |durations| {
            format!("<Histogram of {} values, {}…{} µs>", durations.count(), durations.min(), durations.max())
        })
    }
}
