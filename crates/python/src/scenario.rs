//! `Scenario` for Python: what native users do.

use plimsoll_engine::Script;
use plimsoll_scenario as scenario;
use pyo3::prelude::*;

use crate::errors::refused;

#[pyclass(frozen, module = "plimsoll._engine")]
pub(crate) struct Scenario {
    pub(crate) script: Script,
}

#[pymethods]
impl Scenario {
    #[new]
    #[pyo3(signature = (definition, *, index = 0, of = 1, seed = 0))]
    fn new(definition: &str, index: u32, of: u32, seed: u64) -> PyResult<Self> {
        let compiled = scenario::Scenario::new(definition, index, of, seed).map_err(refused)?;
        Ok(Self { script: Script::new(compiled).map_err(refused)? })
    }
}
