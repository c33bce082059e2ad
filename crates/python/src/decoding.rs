//! `Decoding` for Python: decodes a body while it arrives.

use std::sync::{Mutex, PoisonError};

use plimsoll_http as http;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::refused;

#[pyclass(module = "plimsoll._engine")]
pub(crate) struct Decoding {
    /// Never contended. A Python object must be shareable between threads, and decoders are not.
    inner: Mutex<http::Decoding>,
}

impl Decoding {
    pub(crate) fn new(coding: &[u8], limit: u64) -> Self {
        Self { inner: Mutex::new(http::Decoding::new(coding, limit)) }
    }

    fn inner(&mut self) -> &mut http::Decoding {
        self.inner.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Decoding {
    fn push(&mut self, bytes: &[u8]) {
        self.inner().push(bytes);
    }

    fn end(&mut self) {
        self.inner().end();
    }

    fn pull<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        Ok(self.inner().pull().map_err(refused)?.map(|piece| PyBytes::new(py, &piece)))
    }
}
