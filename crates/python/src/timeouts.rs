//! `Timeouts`: the time limits of a request.

use pyo3::prelude::*;

#[pyclass(frozen, eq, module = "plimsoll._engine")]
#[derive(PartialEq, Eq)]
pub(crate) struct Timeouts {
    /// ns, 0 = none, like the next two.
    pub(crate) total: u64,
    pub(crate) connect: u64,
    pub(crate) idle: u64,
}

/// Seconds as ns.
fn nanos(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

#[pymethods]
impl Timeouts {
    #[new]
    #[pyo3(signature = (total = 0.0, connect = 0.0, idle = 0.0))]
    fn new(total: f64, connect: f64, idle: f64) -> Self {
        Self { total: nanos(total), connect: nanos(connect), idle: nanos(idle) }
    }
}
