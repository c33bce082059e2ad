//! `Decoding` for Python: decodes a body while it arrives.

use plimsoll_http::{self as http, Work};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::refused;

/// Bytes that one user decodes before others run.
pub(crate) const SHARE: u64 = 512 << 10;

#[pyclass(module = "plimsoll._engine")]
pub(crate) struct Decoding {
    inner: http::Decoding,
    /// What may be decoded before other users run.
    work: Work,
}

impl Decoding {
    pub(crate) fn new(coding: &[u8], limit: u64) -> Self {
        Self { inner: http::Decoding::new(coding, limit), work: Work::of(SHARE) }
    }
}

#[pymethods]
impl Decoding {
    fn push(&mut self, bytes: &[u8]) {
        self.inner.push(bytes);
    }

    fn end(&mut self) {
        self.inner.end();
    }

    fn pull<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let mut work = self.work;
        let pulled = self.inner.pull(&mut work).map_err(refused)?;
        self.work = if work.is_left() { work } else { Work::of(SHARE) };
        let nothing_yet = || (!work.is_left()).then(Vec::new);
        Ok(pulled.or_else(nothing_yet).map(|piece| PyBytes::new(py, &piece)))
    }
}
