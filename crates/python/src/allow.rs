//! `AllowedHosts` for Python: the hosts that connections may be made to.

use plimsoll_engine::{self as engine, AllowList};
use pyo3::prelude::*;

use crate::errors::refused;
use crate::origin::Origin;

#[pyclass(frozen, module = "plimsoll._engine")]
pub(crate) struct AllowedHosts {
    pub(crate) inner: engine::AllowedHosts,
}

#[pymethods]
impl AllowedHosts {
    #[new]
    fn new(lists: Vec<(Vec<String>, String)>) -> PyResult<Self> {
        let lists = lists
            .into_iter()
            .map(|(patterns, place)| AllowList::new(patterns.iter().map(String::as_str), &place).map_err(refused));
        Ok(Self { inner: engine::AllowedHosts::new(lists.collect::<PyResult<_>>()?) })
    }

    fn refusal(&self, py: Python<'_>, origin: &Origin) -> Option<String> {
        py.detach(|| self.inner.refusal(&origin.inner))
    }
}
