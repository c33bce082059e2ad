//! Events of streams for Python: `EventSplitter` finds them, `StreamRows` is where they are recorded.

use plimsoll_http as http;
use plimsoll_record as record;
use pyo3::prelude::*;

use crate::errors::refused;

/// Name, data, id and reconnection time.
type Found = (String, String, String, Option<u64>);

#[pyclass(module = "plimsoll._engine")]
pub(crate) struct EventSplitter {
    inner: http::EventSplitter,
}

impl EventSplitter {
    pub(crate) fn new(format: &str, limit: u64) -> PyResult<Self> {
        let format = match format {
            "sse" => http::EventFormat::Sse,
            "lines" => http::EventFormat::Lines,
            _ => return Err(refused(format!("{format:?} is no format of events; there are sse and lines"))),
        };
        Ok(Self { inner: http::EventSplitter::new(format, limit) })
    }
}

fn found(event: &http::Event<'_>) -> Found {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (text(event.name), text(event.data), text(event.id), event.retry)
}

#[pymethods]
impl EventSplitter {
    fn feed(&mut self, bytes: &[u8]) -> PyResult<Vec<Found>> {
        let mut events = Vec::new();
        self.inner.feed(bytes, &mut |event| events.push(found(&event))).map_err(refused)?;
        Ok(events)
    }

    fn end(&mut self) -> Vec<Found> {
        let mut events = Vec::new();
        self.inner.end(&mut |event| events.push(found(&event)));
        events
    }
}

#[pyclass(frozen, module = "plimsoll._engine")]
pub(crate) struct StreamRows {
    pub(crate) inner: record::StreamRows,
}
