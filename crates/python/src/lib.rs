//! The module `plimsoll._engine`: a thin layer over the engine crates. It converts values and errors; it has no logic
//! but the hot path of Python users (`quick`).

mod allow;
mod decoding;
mod engine;
mod errors;
mod events;
mod forms;
mod greenlets;
mod grpc;
mod histogram;
mod json;
mod json_texts;
mod json_value;
mod known;
mod native;
mod origin;
mod path;
mod quick;
mod recorder;
mod reply;
mod scenario;
mod schedule;
mod timeouts;
mod toml;
mod words;

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
    #[pymodule_export]
    use crate::decoding::Decoding;
    #[pymodule_export]
    use crate::engine::{Client, Engine, Stream, WebSocket};
    #[pymodule_export]
    use crate::events::EventReader;
    #[pymodule_export]
    use crate::grpc::{
        GrpcMethod, GrpcReader, GrpcSchema, grpc_body, grpc_codes, grpc_headers, grpc_read, grpc_timeout,
    };
    #[pymodule_export]
    use crate::histogram::Histogram;
    #[pymodule_export]
    use crate::json::text;
    #[pymodule_export]
    use crate::native::NativeUsers;
    #[pymodule_export]
    use crate::origin::{Headers, Origin};
    #[pymodule_export]
    use crate::path::is_plain_path;
    #[pymodule_export]
    use crate::quick::{Answer, QuickCalls, QuickSettings};
    #[pymodule_export]
    use crate::recorder::{Recorder, SocketRows, exchange_columns};
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

    /// Of the package, whose metadata are slower to read.
    #[pymodule_export]
    #[allow(non_upper_case_globals)] // the name that Python has for it
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::quick::verbs::add(module.py())?;
        crate::json::remember(module.py())
    }

    /// `CLOCK_MONOTONIC`, ns.
    #[pyfunction]
    fn now() -> u64 {
        plimsoll_engine::now()
    }

    /// Sets the limit for all bodies in memory, in bytes.
    #[pyfunction]
    fn limit_bodies(bytes: u64) {
        plimsoll_engine::limit_bodies(bytes);
    }

    /// Bytes of all bodies in memory.
    #[pyfunction]
    fn held_bodies() -> u64 {
        plimsoll_engine::held_bodies()
    }

    /// (method, name) of the endpoint that counts names over the recorder's limit.
    #[pyfunction]
    fn others() -> (&'static str, &'static str) {
        plimsoll_record::OTHERS
    }

    /// The methods of rows that streams add to those of their requests.
    #[pyfunction]
    fn stream_rows() -> [&'static str; plimsoll_record::STREAM_ROWS.len()] {
        plimsoll_record::STREAM_ROWS
    }

    /// The parent's id in the header `traceparent` of a request, of the second half of its trace.
    #[pyfunction]
    fn trace_parent(trace: u64) -> u64 {
        plimsoll_engine::parent_of(trace)
    }

    /// Whether a trace is in a sample of this share, by its second half.
    #[pyfunction]
    fn is_trace_sampled(trace: u64, share: f64) -> bool {
        plimsoll_record::Sampling::of(share).takes(trace)
    }

    /// The headers of a request that opens a WebSocket, with a new key.
    #[pyfunction]
    fn websocket_headers(protocols: Vec<String>, compression: bool) -> Vec<(&'static str, String)> {
        let offer = plimsoll_websocket::Offer { protocols, deflate: compression };
        offer.headers(&plimsoll_websocket::Key::random())
    }

    /// (name, whether it is a failure, whether its response time counts in the percentiles) of every outcome.
    #[pyfunction]
    fn outcomes() -> Vec<(&'static str, bool, bool)> {
        Outcome::ALL.into_iter().map(|o| (o.name(), o.is_failure(), o.is_timed())).collect()
    }
}
