//! `EventReader` for Python: finds the events of a stream and records them.

use plimsoll_engine::{self as engine, EventRows, Held, no_room};
use plimsoll_http as http;
use plimsoll_record::{self as record, Exchange};
use plimsoll_scenario::{Objectives, Stream};
use pyo3::prelude::*;

use crate::errors::refused;
use crate::recorder::Recorder;
use crate::reply::Reply;

/// Name, data, id and reconnection time.
type Found = (String, String, String, Option<u64>);

#[pyclass(module = "plimsoll._engine")]
pub(crate) struct EventReader {
    inner: engine::EventReader,
    /// The stamps of the request, with the arrival of the last bytes.
    exchange: Exchange,
    recorder: Option<Py<Recorder>>,
    /// The memory of the event whose end has not arrived.
    held: Held,
}

/// The stream that users call so. `objectives`: what a good request is.
fn stream(format: &str, objectives: Option<Objectives>) -> PyResult<Stream> {
    Ok(match format {
        "sse" => Stream::Events(http::EventFormat::Sse),
        "lines" => Stream::Events(http::EventFormat::Lines),
        "llm" => Stream::Text(objectives),
        _ => return Err(refused(format!("{format:?} is no format of events; there are sse, lines and llm"))),
    })
}

/// Where the events of a stream of this endpoint are recorded.
fn rows(format: &str, recorder: &mut Recorder, endpoint: u32) -> PyResult<EventRows> {
    let endpoint = recorder.check(endpoint)?;
    Ok(EventRows::new(stream(format, recorder.objectives)?, endpoint, &mut recorder.inner))
}

/// The same without a place where it is recorded.
fn no_rows(format: &str) -> PyResult<EventRows> {
    Ok(match stream(format, None)? {
        Stream::Events(format) => EventRows::Events(format, None),
        Stream::Text(objectives) => EventRows::Text(None, objectives),
    })
}

fn found(event: &http::Event<'_>) -> Found {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (text(event.name), text(event.data), text(event.id), event.retry)
}

impl EventReader {
    /// Calls `work` with the stamps of bytes that arrived at `arrival`.
    fn at<T>(
        &mut self,
        py: Python<'_>,
        arrival: u64,
        work: impl FnOnce(&mut engine::EventReader, &mut record::Recorder, &Exchange) -> T,
    ) -> T {
        let Self { inner, exchange, recorder, .. } = self;
        (exchange.arrival, exchange.read) = (arrival, arrival);
        match recorder {
            Some(recorder) => work(inner, &mut recorder.borrow_mut(py).inner, exchange),
            // Without rows, nothing is recorded in it.
            None => work(inner, &mut record::Recorder::new(0), exchange),
        }
    }
}

#[pymethods]
impl EventReader {
    #[new]
    #[pyo3(signature = (reply, format, recorder = None, endpoint = 0))]
    fn new(
        py: Python<'_>,
        reply: &Reply,
        format: &str,
        recorder: Option<Py<Recorder>>,
        endpoint: u32,
    ) -> PyResult<Self> {
        let rows = match &recorder {
            Some(recorder) => rows(format, &mut recorder.borrow_mut(py), endpoint)?,
            None => no_rows(format)?,
        };
        // Other streams are read as what the user's code calls them.
        let wrong_type = matches!(rows, EventRows::Text(..)).then(|| rows.wrong_type(reply.head())).flatten();
        let inner = engine::EventReader::new(rows, reply.status(), wrong_type, reply.max_decoded);
        Ok(Self { inner, exchange: *reply.exchange(), recorder, held: Held::default() })
    }

    fn feed(&mut self, py: Python<'_>, bytes: &[u8], arrival: u64) -> PyResult<Vec<Found>> {
        let mut events = Vec::new();
        self.at(py, arrival, |reader, recorder, exchange| {
            reader.feed(recorder, exchange, bytes, &mut |event| events.push(found(event)))
        })
        .map_err(refused)?;
        if self.held.follow(self.inner.unfinished()) { Ok(events) } else { Err(refused(no_room())) }
    }

    fn end(&mut self, py: Python<'_>, arrival: u64) -> (Vec<Found>, Option<String>) {
        let mut events = Vec::new();
        let wrong = self.at(py, arrival, |reader, recorder, exchange| {
            reader.end(recorder, exchange, &mut |event| events.push(found(event)));
            let wrong = reader.wrong();
            if wrong.is_none() {
                reader.succeed(recorder, exchange);
            }
            wrong
        });
        (events, wrong)
    }
}
