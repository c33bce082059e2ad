//! `Reply`: one finished exchange for Python. Everything but the stamps is computed on demand.

use std::borrow::Cow;
use std::sync::OnceLock;

use plimsoll_engine::{Finished, Held, Response};
use plimsoll_http as http;
use plimsoll_record::{Exchange, Outcome};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyBytes;

use crate::decoding::Decoding;
use crate::errors::refused;
use crate::json_value;
use crate::origin::latin;

#[pyclass(module = "plimsoll._engine")]
pub(crate) struct Reply {
    pub(crate) finished: Finished,
    pub(crate) max_decoded: u64,
    body: PyOnceLock<(Py<PyBytes>, Held)>,
    plain: OnceLock<Result<Plain, String>>,
}

/// A decoded body.
struct Plain {
    /// Bytes.
    length: u64,
    /// Keeps its memory reserved while it exists.
    _held: Held,
}

impl Reply {
    pub(crate) fn new(finished: Finished, max_decoded: u64) -> Self {
        Self { finished, max_decoded, body: PyOnceLock::new(), plain: OnceLock::new() }
    }

    /// The same with the length of its decoded body, or why it cannot be decoded.
    pub(crate) fn decoded_to(finished: Finished, max_decoded: u64, length: Result<u64, String>) -> Self {
        let reply = Self::new(finished, max_decoded);
        let plain = length.and_then(|length| Ok(Plain { length, _held: Held::new(length)? }));
        // It is new, so nobody has set it.
        let _ = reply.plain.set(plain);
        reply
    }

    pub(crate) fn exchange(&self) -> &Exchange {
        &self.finished.exchange
    }

    fn response(&self) -> Option<&Response> {
        self.finished.result.as_ref().ok()
    }

    pub(crate) fn head(&self) -> &[u8] {
        self.response().map_or(&[], Response::head)
    }

    /// The values of its Server-Timing headers.
    pub(crate) fn timing(&self) -> Option<&[u8]> {
        self.response()?.timing.as_deref()
    }

    fn coding(&self) -> Option<Cow<'_, [u8]>> {
        let response = self.response().filter(|response| response.notes.coding)?;
        http::list(response.head(), "content-encoding")
    }

    /// The outcome as the engine knows it, including a bad status, and the message for the failure.
    pub(crate) fn verdict(&self) -> (Outcome, Option<String>) {
        match &self.finished.result {
            Ok(response) if response.status < 400 => (Outcome::Success, None),
            Ok(response) => {
                let reason = latin(http::reason(response.head()));
                (Outcome::Http, Some(format!("{} {reason}", response.status).trim_end().to_owned()))
            }
            Err(failure) => (failure.outcome, Some(failure.message.clone())),
        }
    }

    /// The length of the body in the head; 0 if there is none.
    fn announced(&self) -> u64 {
        let length = http::header(self.head(), "content-length").and_then(|value| std::str::from_utf8(value).ok());
        length.and_then(|digits| digits.parse().ok()).unwrap_or_default()
    }

    /// The body is incomplete.
    pub(crate) fn open(&self) -> bool {
        self.response().is_some_and(|response| response.open)
    }

    /// Bytes of the decoded body. If it cannot be decoded, the received bytes. For a streamed body, which may be
    /// endless, the length in the head.
    pub(crate) fn size(&self) -> u64 {
        let Some(response) = self.response() else { return 0 };
        if response.streamed {
            return self.announced();
        }
        self.plain().and_then(|plain| plain.as_ref().ok()).map_or(response.body_length, |plain| plain.length)
    }

    /// The body is complete, and cannot be decoded.
    pub(crate) fn is_damaged(&self) -> bool {
        self.response().is_some_and(|response| !response.streamed) && matches!(self.plain(), Some(Err(_)))
    }

    /// The reply only needs to be recorded: a good status, no cookie, and a body that can be decoded.
    pub(crate) fn is_ordinary(&self) -> bool {
        let is_plain = |response: &Response| matches!(response.status, 200..=299) && !response.notes.cookie;
        self.response().is_some_and(is_plain) && !self.is_damaged()
    }

    /// The value of a common body of JSON; None: it is left to `json`.
    pub(crate) fn json_value<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let whole = self.response().filter(|response| !response.streamed && !response.notes.coding);
        let json = whole.filter(|response| is_json(response.head()));
        json.and_then(|response| json_value::value(py, response.body()))
    }

    /// The body of the request.
    pub(crate) fn request_body(&self) -> &[u8] {
        let wire = &self.finished.wire;
        &wire.bytes.as_slice()[wire.head..]
    }

    /// The decoded body; None if it is not encoded.
    fn plain(&self) -> Option<&Result<Plain, String>> {
        let response = self.response().filter(|response| response.body_length > 0)?;
        let coding = self.coding()?;
        Some(self.plain.get_or_init(|| {
            let length = http::decoded_length(&coding, response.body(), self.max_decoded);
            let length = length.map_err(|error| error.to_string())?;
            Ok(Plain { length, _held: Held::new(length)? })
        }))
    }
}

/// Whether the Content-Type is JSON in UTF-8, in a common spelling.
fn is_json(head: &[u8]) -> bool {
    let parts = http::header(head, "content-type").and_then(|value| value.strip_prefix(b"application/json"));
    matches!(parts, Some(b"" | b"; charset=utf-8" | b";charset=utf-8" | b"; charset=UTF-8" | b";charset=UTF-8"))
}

fn pairs(lines: Vec<(&[u8], &[u8])>) -> Vec<(String, String)> {
    lines.into_iter().map(|(name, value)| (latin(name), latin(value))).collect()
}

#[pymethods]
impl Reply {
    #[getter]
    fn outcome(&self) -> &'static str {
        self.finished.result.as_ref().map_or_else(|failure| failure.outcome, |_| Outcome::Success).name()
    }

    #[getter]
    fn error(&self) -> Option<&str> {
        self.finished.result.as_ref().err().map(|failure| failure.message.as_str())
    }

    #[getter]
    pub(crate) fn errno(&self) -> Option<i32> {
        self.finished.result.as_ref().err().and_then(|failure| failure.errno)
    }

    #[getter]
    pub(crate) fn status(&self) -> u16 {
        self.response().map_or(0, |response| response.status)
    }

    #[getter]
    fn reason(&self) -> String {
        latin(http::reason(self.head()))
    }

    #[getter]
    fn version(&self) -> u8 {
        self.response().map_or(0, |response| 10 + response.minor)
    }

    fn header(&self, name: &str) -> Option<String> {
        http::header(self.head(), name).map(latin)
    }

    #[getter]
    fn headers(&self) -> Vec<(String, String)> {
        pairs(http::headers(self.head()))
    }

    #[getter]
    fn trailers(&self) -> Vec<(String, String)> {
        pairs(self.response().map_or_else(Vec::new, |response| http::trailers(&response.trailers)))
    }

    #[getter]
    fn body(&self, py: Python<'_>) -> Py<PyBytes> {
        let make = || {
            let body = self.response().map_or(&[][..], Response::body);
            (PyBytes::new(py, body).unbind(), Held::copy(body.len() as u64))
        };
        self.body.get_or_init(py, make).0.clone_ref(py)
    }

    fn decoded(&self, py: Python<'_>) -> PyResult<Py<PyBytes>> {
        let (Some(coding), Some(plain)) = (self.coding(), self.plain()) else { return Ok(self.body(py)) };
        plain.as_ref().map_err(refused)?;
        let response = self.response().map_or(&[][..], Response::body);
        let plain = http::decode(&coding, response, self.max_decoded).map_err(refused)?;
        Ok(PyBytes::new(py, &plain).unbind())
    }

    #[getter]
    fn damaged(&self) -> bool {
        self.is_damaged()
    }

    fn decoding(&self) -> Option<Decoding> {
        self.coding().map(|coding| Decoding::new(&coding, self.max_decoded))
    }

    #[getter]
    fn body_size(&self) -> u64 {
        self.size()
    }

    #[getter]
    fn request_head<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let wire = &self.finished.wire;
        PyBytes::new(py, &wire.bytes.as_slice()[..wire.head])
    }

    #[getter]
    fn due(&self) -> u64 {
        self.exchange().due
    }

    #[getter]
    fn sent(&self) -> u64 {
        self.exchange().sent
    }

    #[getter]
    fn first_byte(&self) -> u64 {
        self.exchange().first_byte
    }

    #[getter]
    fn arrival(&self) -> u64 {
        self.exchange().arrival
    }

    #[getter]
    fn read(&self) -> u64 {
        self.exchange().read
    }

    #[getter(response)]
    fn response_time(&self) -> u64 {
        self.exchange().times().response
    }

    #[getter]
    fn service(&self) -> u64 {
        self.exchange().times().service
    }

    #[getter]
    fn lag(&self) -> u64 {
        self.exchange().times().lag
    }

    #[getter]
    fn delay(&self) -> u64 {
        self.exchange().times().delay
    }

    #[getter]
    fn dns(&self) -> u64 {
        self.exchange().dns
    }

    #[getter]
    fn connect(&self) -> u64 {
        self.exchange().connect
    }

    #[getter]
    fn tls(&self) -> u64 {
        self.exchange().tls
    }

    #[getter]
    fn bytes_out(&self) -> u64 {
        self.exchange().bytes_out
    }

    #[getter]
    fn bytes_in(&self) -> u64 {
        self.exchange().bytes_in
    }

    #[getter]
    fn hops(&self) -> u32 {
        self.exchange().hops
    }

    #[getter]
    fn retries(&self) -> u32 {
        self.exchange().retries
    }

    fn after(&mut self, previous: &Reply) {
        self.finished.exchange.follow(&previous.finished.exchange);
    }
}
