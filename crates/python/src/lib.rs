//! The module `plimsoll._engine`: a skin over the engine crates. It converts values and errors and decides nothing.

mod allow;
mod decoding;
mod engine;
mod errors;
mod histogram;
mod native;
mod origin;
mod recorder;
mod reply;
mod scenario;
mod schedule;
mod timeouts;
mod toml;

use pyo3::prelude::*;

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[pymodule]
mod _engine {
    use plimsoll_record::Outcome;
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::allow::AllowedHosts;
    #[pymodule_export]
    use crate::decoding::Decoding;
    #[pymodule_export]
    use crate::engine::{Client, Engine, Stream};
    #[pymodule_export]
    use crate::histogram::Histogram;
    #[pymodule_export]
    use crate::native::NativeUsers;
    #[pymodule_export]
    use crate::origin::{Headers, Origin};
    #[pymodule_export]
    use crate::recorder::Recorder;
    #[pymodule_export]
    use crate::reply::Reply;
    #[pymodule_export]
    use crate::scenario::Scenario;
    #[pymodule_export]
    use crate::schedule::{Arrivals, Shape, SpawnTimes};
    #[pymodule_export]
    use crate::timeouts::Timeouts;
    #[pymodule_export]
    use crate::toml::toml_lines;

    /// `CLOCK_MONOTONIC`, ns.
    #[pyfunction]
    fn now() -> u64 {
        plimsoll_engine::now()
    }

    /// From now on all bodies in the memory of this process may take so many bytes together.
    #[pyfunction]
    fn limit_bodies(bytes: u64) {
        plimsoll_engine::limit_bodies(bytes);
    }

    /// Bytes that they take.
    #[pyfunction]
    fn held_bodies() -> u64 {
        plimsoll_engine::held_bodies()
    }

    /// (method, name) of the endpoint that counts the names beyond the limit of a recorder.
    #[pyfunction]
    fn others() -> (&'static str, &'static str) {
        plimsoll_record::OTHERS
    }

    /// (name, is a failure, its response time belongs to the latency percentiles) of every outcome.
    #[pyfunction]
    fn outcomes() -> Vec<(&'static str, bool, bool)> {
        Outcome::ALL.into_iter().map(|o| (o.name(), o.is_failure(), o.is_timed())).collect()
    }
}
