//! `Recorder`: `record::Recorder` for Python.

use std::collections::HashMap;

use plimsoll_engine::now;
use plimsoll_record::log::columns::columns;
use plimsoll_record::{self as record, EndpointId, Exchange, Outcome};
use plimsoll_scenario::Objectives;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::errors::refused;
use crate::histogram::Histogram;
use crate::known::KnownEndpoints;
use crate::reply::Reply;

#[pyclass(module = "plimsoll._engine")]
pub(crate) struct Recorder {
    pub(crate) inner: record::Recorder,
    /// Those of the chat completions of Python users.
    pub(crate) objectives: Option<Objectives>,
    pub(crate) known: KnownEndpoints,
}

#[pyclass(frozen, module = "plimsoll._engine")]
pub(crate) struct SocketRows {
    pub(crate) inner: record::SocketRows,
}

/// Workers send histograms as plain V2. The coordinator compresses them, to save CPU time of the generator.
fn encoded<'py>(py: Python<'py>, durations: &record::Durations) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &durations.encode(false))
}

fn outcome(name: &str) -> PyResult<Outcome> {
    Outcome::from_name(name).ok_or_else(|| refused(format!("{name:?} is no outcome")))
}

impl Recorder {
    pub(crate) fn check(&self, endpoint: u32) -> PyResult<EndpointId> {
        let id = EndpointId(endpoint);
        self.inner.name(id).map(|_| id).ok_or_else(|| refused(format!("{endpoint} is no endpoint of this recorder")))
    }

    /// Records an exchange that user code counts as a success, whatever its reply.
    pub(crate) fn success(&mut self, endpoint: u32, reply: &Reply) -> PyResult<()> {
        self.ended(endpoint, reply, Outcome::Success)
    }

    fn ended(&mut self, endpoint: u32, reply: &Reply, outcome: Outcome) -> PyResult<()> {
        let endpoint = self.check(endpoint)?;
        let exchange = reply.exchange();
        self.inner.exchange(endpoint, exchange, outcome, reply.size());
        if let Some(parts) = reply.timing() {
            self.inner.parts(endpoint, parts, self.inner.counted_at(exchange));
        }
        if let Some(errno) = reply.errno() {
            self.inner.errno(errno, exchange.arrival);
        }
        Ok(())
    }

    fn check_all(&self, endpoint: Option<u32>) -> PyResult<Option<EndpointId>> {
        endpoint.map(|one| self.check(one)).transpose()
    }

    fn failure_tuple(&self, filed: record::Filed) -> FailureTuple {
        let (endpoint, outcome, message, failure) = filed;
        let (method, name) = self.names(endpoint);
        let record::Message { group, example, is_varied } = message;
        let record::Failure { count, first, last } = failure;
        (method.into(), name.into(), outcome.name(), group, example, is_varied, count, first, last)
    }

    fn names(&self, endpoint: EndpointId) -> (&str, &str) {
        self.inner.name(endpoint).expect("recorded under it")
    }

    /// A row in the format of `plimsoll.record.CellTuple`.
    fn cell<'py>(
        &self,
        py: Python<'py>,
        part: &(u32, EndpointId, Outcome, record::Cell),
    ) -> PyResult<Bound<'py, PyTuple>> {
        let (second, endpoint, outcome, cell) = part;
        let (method, name) = self.names(*endpoint);
        let key = [
            second.into_pyobject(py)?.into_any(),
            method.into_pyobject(py)?.into_any(),
            name.into_pyobject(py)?.into_any(),
            outcome.name().into_pyobject(py)?.into_any(),
        ];
        let on_time = cell.on_time.as_ref().map_or_else(|| PyBytes::new(py, b""), |times| encoded(py, times));
        row(py, &key, cell.numbers(), &[encoded(py, &cell.response), encoded(py, &cell.service), on_time])
    }
}

/// Rows of a log by column: their number, and bytes by name, as `record::log::columns` has them.
#[pyfunction]
pub(crate) fn exchange_columns<'py>(
    py: Python<'py>,
    packed: &[u8],
    zero: u64,
) -> PyResult<(usize, HashMap<&'static str, Bound<'py, PyBytes>>)> {
    let unpacked = py.detach(|| columns(packed, zero)).ok_or_else(|| refused("no rows of a log of exchanges"))?;
    let columns = unpacked.columns.iter().map(|(name, values)| (*name, PyBytes::new(py, values)));
    Ok((unpacked.rows, columns.collect()))
}

/// A tuple: `first`, numbers, encoded histograms.
fn row<'py>(
    py: Python<'py>,
    first: &[Bound<'py, PyAny>],
    numbers: impl Iterator<Item = u64>,
    histograms: &[Bound<'py, PyBytes>],
) -> PyResult<Bound<'py, PyTuple>> {
    let mut items = Vec::with_capacity(20);
    items.extend_from_slice(first);
    for number in numbers {
        items.push(number.into_pyobject(py)?.into_any());
    }
    items.extend(histograms.iter().map(|each| each.clone().into_any()));
    PyTuple::new(py, items)
}

/// The same fields as `plimsoll.record.FailureTuple`.
type FailureTuple = (String, String, &'static str, String, String, bool, u64, u64, u64);
/// The same fields as `plimsoll.record.PartTuple`.
type PartTuple<'py> = (String, String, String, u64, Bound<'py, PyBytes>);
/// The same fields as `plimsoll.record.TracedTuple`.
type TracedTuple = (String, String, &'static str, u64, u64, u64, u64);
/// The same fields as `plimsoll.record.TotalTuple`.
type TotalTuple = (u64, u64, u64, u64, u64, u64, u64, u64, u64, u64);
type Taken<'py> = (Vec<Bound<'py, PyTuple>>, Vec<Bound<'py, PyTuple>>, Vec<FailureTuple>);

#[pymethods]
impl Recorder {
    #[new]
    fn new(epoch: u64) -> Self {
        Self { inner: record::Recorder::new(epoch), objectives: None, known: KnownEndpoints::default() }
    }

    fn restart(&mut self, epoch: u64) {
        self.inner.restart(epoch);
    }

    fn endpoint(&mut self, method: &str, name: &str) -> u32 {
        self.inner.endpoint(method, name).0
    }

    fn limit_names(&mut self, most: usize) {
        self.inner.limit_names(most);
    }

    #[pyo3(signature = (*, first_token = None, time_per_token = None, time = None))]
    fn set_objectives(
        &mut self,
        first_token: Option<f64>,
        time_per_token: Option<f64>,
        time: Option<f64>,
    ) -> PyResult<()> {
        self.objectives = Some(Objectives::new(first_token, time_per_token, time, "slo").map_err(refused)?);
        Ok(())
    }

    fn find(&self, method: &str, name: &str) -> Option<u32> {
        self.inner.find(method, name).map(|id| id.0)
    }

    #[getter]
    fn others(&self) -> Option<u32> {
        self.inner.others().map(|id| id.0)
    }

    #[pyo3(signature = (endpoint, reply, outcome = None, message = None))]
    fn exchange(&mut self, endpoint: u32, reply: &Reply, outcome: Option<&str>, message: Option<&str>) -> PyResult<()> {
        if outcome.is_none() && reply.is_damaged() {
            return Err(refused("the content coding of the body cannot be undone; say what that means"));
        }
        let outcome = outcome.map(self::outcome).transpose()?;
        if outcome == Some(Outcome::Success) {
            return self.success(endpoint, reply);
        }
        let (own, text) = reply.verdict();
        let ended = outcome.unwrap_or(own);
        self.ended(endpoint, reply, ended)?;
        if ended.is_failure() {
            let text = message.map(str::to_owned).or(text).unwrap_or_else(|| ended.name().to_owned());
            let at = self.inner.counted_at(reply.exchange());
            self.inner.failure(EndpointId(endpoint), ended, &text, at);
        }
        Ok(())
    }

    #[pyo3(signature = (endpoint, response_ms, size, outcome = "success", message = None))]
    fn custom(
        &mut self,
        endpoint: u32,
        response_ms: Option<f64>,
        size: u64,
        outcome: &str,
        message: Option<&str>,
    ) -> PyResult<()> {
        let endpoint = self.check(endpoint)?;
        let ended = self::outcome(outcome)?;
        if response_ms.is_some_and(|ms| !ms.is_finite() || ms < 0.0) {
            return Err(refused("response_ms must be finite and not negative"));
        }
        let at = now();
        self.inner.custom(endpoint, at, response_ms.map(|ms| (ms * 1e6) as u64), size, ended);
        if ended.is_failure() {
            self.inner.failure(endpoint, ended, message.unwrap_or(outcome), at);
        }
        Ok(())
    }

    fn unanswered(&mut self, endpoint: u32, due: u64, sent: u64) -> PyResult<()> {
        let endpoint = self.check(endpoint)?;
        self.inner.unanswered(endpoint, due, sent, now());
        Ok(())
    }

    fn dropped(&mut self, endpoint: u32, due: u64) -> PyResult<()> {
        let endpoint = self.check(endpoint)?;
        self.inner.dropped(endpoint, due);
        Ok(())
    }

    fn offered(&mut self, due: u64) {
        self.inner.offered(due);
    }

    fn socket_rows(&mut self, endpoint: u32) -> PyResult<Option<SocketRows>> {
        let endpoint = self.check(endpoint)?;
        Ok(self.inner.socket_rows(endpoint).map(|inner| SocketRows { inner }))
    }

    fn message_row(&mut self, endpoint: u32) -> PyResult<Option<u32>> {
        let endpoint = self.check(endpoint)?;
        Ok(self.inner.message_row(endpoint).map(|id| id.0))
    }

    fn message_out(&mut self, row: u32, sent: u64, size: u64) -> PyResult<()> {
        let row = self.check(row)?;
        self.inner.message_out(row, sent, size);
        Ok(())
    }

    fn socket_closed(
        &mut self,
        rows: &SocketRows,
        sent: u64,
        arrival: u64,
        outcome: &str,
        message: &str,
    ) -> PyResult<()> {
        let (ended, arrival) = (self::outcome(outcome)?, arrival.max(sent));
        let exchange = Exchange { due: sent, sent, arrival, read: arrival, ..Exchange::default() };
        self.inner.socket_closed(rows.inner, &exchange, ended, message);
        Ok(())
    }

    fn warm_until(&mut self, stamp: u64) {
        self.inner.warm_until(stamp);
    }

    fn log(&mut self, on: bool) {
        self.inner.log(on);
    }

    fn take_log<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.inner.take_log(|packed| PyBytes::new(py, packed))
    }

    fn endpoints(&self) -> Vec<(&str, &str)> {
        self.inner.endpoints().collect()
    }

    #[pyo3(signature = (before = None))]
    fn take<'py>(&mut self, py: Python<'py>, before: Option<u32>) -> PyResult<Taken<'py>> {
        let taken = self.inner.take(before);
        let cells = taken.cells.iter().map(|part| self.cell(py, part)).collect::<PyResult<_>>()?;
        let health = taken.health.iter().map(|(second, health)| {
            let second = second.into_pyobject(py)?.into_any();
            row(py, &[second], health.counters(), &[encoded(py, &health.lag), encoded(py, &health.delay)])
        });
        let health = health.collect::<PyResult<_>>()?;
        let failures = taken.failures.into_iter().map(|filed| self.failure_tuple(filed));
        Ok((cells, health, failures.collect()))
    }

    fn take_parts<'py>(&mut self, py: Python<'py>) -> Vec<PartTuple<'py>> {
        let taken = self.inner.take_parts();
        let parts = taken.into_iter().map(|(endpoint, part, record::Part { sum, durations })| {
            let (method, name) = self.names(endpoint);
            (method.into(), name.into(), part.into(), sum, encoded(py, &durations))
        });
        parts.collect()
    }

    fn sample_traces(&mut self, share: Option<f64>) {
        self.inner.sample_traces(share.map(record::Sampling::of));
    }

    fn take_traced(&mut self) -> (Vec<TracedTuple>, u64) {
        let (taken, left_out) = self.inner.take_traced();
        let traced = taken.into_iter().map(|traced| {
            let record::Traced { endpoint, outcome, trace, arrival, times } = traced;
            let (method, name) = self.names(endpoint);
            (method.into(), name.into(), outcome.name(), trace, arrival, times.response, times.service)
        });
        (traced.collect(), left_out)
    }

    #[getter]
    fn epoch(&self) -> u64 {
        self.inner.epoch()
    }

    #[getter]
    fn since(&self) -> u64 {
        self.inner.since()
    }

    #[pyo3(signature = (endpoint = None))]
    fn total(&self, endpoint: Option<u32>) -> PyResult<TotalTuple> {
        let sums = self.inner.total(self.check_all(endpoint)?);
        let record::Sums { requests, failures, timed, bytes_body, .. } = sums;
        let (sum, min, max) = (sums.response_sum, sums.response_min, sums.response_max);
        Ok((requests, failures, timed, bytes_body, sum, min, max, sums.first, sums.last, sums.untimed))
    }

    #[pyo3(signature = (endpoint = None))]
    fn latency(&self, endpoint: Option<u32>) -> PyResult<Histogram> {
        Ok(Histogram::from(self.inner.latency(self.check_all(endpoint)?)))
    }

    #[pyo3(signature = (endpoint = None))]
    fn recent(&self, endpoint: Option<u32>) -> PyResult<Vec<(u32, u64, u64)>> {
        Ok(self.inner.recent(self.check_all(endpoint)?))
    }

    #[pyo3(signature = (endpoint, since))]
    fn recent_latency(&self, endpoint: Option<u32>, since: u32) -> PyResult<Histogram> {
        Ok(Histogram::from(self.inner.recent_latency(self.check_all(endpoint)?, since)))
    }

    fn failures(&self) -> Vec<FailureTuple> {
        self.inner.filed().into_iter().map(|filed| self.failure_tuple(filed)).collect()
    }

    fn reset_totals(&mut self) {
        self.inner.reset_totals(now());
    }

    #[pyo3(signature = (endpoint = None))]
    fn reset_total(&mut self, endpoint: Option<u32>) -> PyResult<()> {
        let endpoint = self.check_all(endpoint)?;
        self.inner.reset_total(endpoint);
        Ok(())
    }

    #[pyo3(signature = (endpoint, total, response, second = None))]
    fn absorb(
        &mut self,
        py: Python<'_>,
        endpoint: u32,
        total: TotalTuple,
        response: &Histogram,
        second: Option<u32>,
    ) -> PyResult<()> {
        let endpoint = self.check(endpoint)?;
        let (requests, failures, timed, bytes_body, response_sum, response_min, response_max, first, last, untimed) =
            total;
        let sums = record::Sums {
            requests,
            failures,
            timed,
            bytes_body,
            response_sum,
            response_min,
            response_max,
            first,
            last,
            untimed,
        };
        response.read(py, |durations| self.inner.absorb(endpoint, &sums, durations, second));
        Ok(())
    }

    fn absorb_failure(
        &mut self,
        endpoint: u32,
        outcome: &str,
        message: (String, String, bool),
        seen: (u64, u64, u64),
    ) -> PyResult<()> {
        let endpoint = self.check(endpoint)?;
        let (count, first, last) = seen;
        let failure = record::Failure { count, first, last };
        let (group, example, is_varied) = message;
        let message = record::Message { group, example, is_varied };
        self.inner.absorb_failure(endpoint, self::outcome(outcome)?, &message, failure);
        Ok(())
    }
}
