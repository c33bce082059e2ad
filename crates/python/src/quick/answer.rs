//! `Answer`: the part of a response that each request needs. All else is made in Python when it is asked for.

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};

use super::settings::QuickSettings;
use crate::json;
use crate::reply::Reply;

type Object = Option<Py<PyAny>>;

#[pyclass(subclass, module = "plimsoll._engine")]
#[derive(Default)]
pub(crate) struct Answer {
    /// None if the request was not sent.
    #[pyo3(get, set)]
    reply: Option<Py<Reply>>,
    #[pyo3(get, set)]
    session: Object,
    /// Method and name of the exchange in reports.
    #[pyo3(get, set)]
    endpoint: Object,
    #[pyo3(get, set)]
    error: Object,
    #[pyo3(get, set)]
    meta: Object,
    #[pyo3(get, set, name = "_manual_result")]
    decision: Object,
    /// It may be used in a with-block, which decides about success.
    #[pyo3(get, set, name = "_catch_response")]
    catches: bool,
    #[pyo3(get, set, name = "_entered")]
    entered: bool,
    /// A status that was assigned.
    status: Object,
    /// An encoding that was assigned, or None.
    encoding: Object,
    route: Object,
    body: Object,
    /// Of a common call: route and body are not made yet.
    quick: Option<(Py<QuickSettings>, Py<PyAny>)>,
}

impl Answer {
    /// The response to a common call. Not inlined: while a user waits, its stack is copied.
    #[inline(never)]
    pub(super) fn quick<'py>(
        settings: &Bound<'py, QuickSettings>,
        session: &Bound<'py, PyAny>,
        url: &Bound<'py, PyAny>,
        reply: &Bound<'py, Reply>,
        endpoint: &Bound<'py, PyTuple>,
        catches: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let response = settings.get().response.bind(session.py()).call0()?;
        let mut answer = response.cast::<Answer>()?.borrow_mut();
        answer.reply = Some(reply.clone().unbind());
        answer.session = Some(session.clone().unbind());
        answer.endpoint = Some(endpoint.clone().into_any().unbind());
        answer.quick = Some((settings.clone().unbind(), url.clone().unbind()));
        answer.catches = catches;
        drop(answer);
        Ok(response)
    }

    /// Records the success of a common call; false: there is more to do than that.
    fn record_success(&self, py: Python<'_>) -> PyResult<bool> {
        let (Some((settings, _)), Some(reply), Some(endpoint)) = (&self.quick, &self.reply, &self.endpoint) else {
            return Ok(false);
        };
        let is_decided =
            self.decision.is_some() || self.error.is_some() || self.meta.is_some() || self.status.is_some();
        let reply = reply.borrow(py);
        if is_decided || !reply.is_ordinary() {
            return Ok(false);
        }
        settings.get().record(endpoint.bind(py).cast()?, &reply)
    }
}

#[pymethods]
impl Answer {
    #[new]
    #[pyo3(signature = (reply = None, route = None, body = None, session = None, endpoint = None))]
    fn new(reply: Option<Py<Reply>>, route: Object, body: Object, session: Object, endpoint: Object) -> Self {
        Self { reply, session, endpoint, route, body, ..Self::default() }
    }

    /// Nothing is left to do; that of requests would make what is made later.
    #[pyo3(signature = (*_args))]
    fn __init__(_slf: &Bound<'_, Self>, _args: &Bound<'_, PyTuple>) {}

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        for each in [&self.session, &self.error, &self.meta, &self.decision, &self.status, &self.route, &self.body] {
            visit.call(each)?;
        }
        self.quick.as_ref().map_or(Ok(()), |(settings, _)| visit.call(settings))
    }

    fn __clear__(&mut self) {
        *self = Self::default();
    }

    #[getter]
    fn status_code(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match (&self.status, &self.reply) {
            (Some(status), _) => Ok(status.clone_ref(py)),
            (None, reply) => {
                let status = reply.as_ref().map_or(0, |reply| reply.borrow(py).status());
                Ok(status.into_pyobject(py)?.into_any().unbind())
            }
        }
    }

    #[setter]
    fn set_status_code(&mut self, status: Py<PyAny>) {
        self.status = Some(status);
    }

    #[getter]
    fn own_encoding(&self, py: Python<'_>) -> Py<PyAny> {
        self.encoding.as_ref().map_or_else(|| py.Ellipsis(), |encoding| encoding.clone_ref(py))
    }

    #[setter]
    fn set_own_encoding(&mut self, encoding: Py<PyAny>) {
        self.encoding = Some(encoding);
    }

    #[getter]
    fn _route(slf: &Bound<'_, Self>) -> PyResult<Object> {
        let py = slf.py();
        let answer = slf.borrow();
        if answer.route.is_some() {
            return Ok(answer.route.as_ref().map(|route| route.clone_ref(py)));
        }
        let Some((settings, url)) = &answer.quick else { return Ok(None) };
        let (routes, url) = (settings.get().routes.clone_ref(py), url.clone_ref(py));
        drop(answer);
        let route = routes.bind(py).get_item(url)?.unbind();
        slf.borrow_mut().route = Some(route.clone_ref(py));
        Ok(Some(route))
    }

    #[getter]
    fn _body(&self, py: Python<'_>) -> Object {
        let (Some((settings, _)), Some(reply)) = (&self.quick, &self.reply) else {
            return self.body.as_ref().map(|body| body.clone_ref(py));
        };
        match reply.borrow(py).request_body() {
            b"" => None,
            body if settings.get().shows_text() => {
                Some(PyString::new(py, &String::from_utf8_lossy(body)).into_any().unbind())
            }
            body => Some(PyBytes::new(py, body).into_any().unbind()),
        }
    }

    #[pyo3(signature = (**kwargs), text_signature = "($self, **kwargs)")]
    fn json<'py>(slf: &Bound<'py, Self>, kwargs: Option<&Bound<'py, PyDict>>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if kwargs.is_none() {
            let answer = slf.borrow();
            if let Some(reply) = &answer.reply
                && answer.encoding.is_none()
                && answer.status.is_none()
                && json::loads_is_original(py)?
                && let Some(value) = reply.borrow(py).json_value(py)
            {
                return Ok(value);
            }
        }
        slf.call_method(intern!(py, "_json"), (), kwargs)
    }

    fn __enter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let mut answer = slf.borrow_mut();
        if !answer.catches {
            drop(answer);
            return slf.call_method0(intern!(slf.py(), "_enter"));
        }
        answer.entered = true;
        Ok(slf.clone().into_any())
    }

    fn __exit__<'py>(
        slf: &Bound<'py, Self>,
        kind: &Bound<'py, PyAny>,
        error: &Bound<'py, PyAny>,
        traceback: &Bound<'py, PyAny>,
    ) -> PyResult<bool> {
        if error.is_none() && slf.borrow().record_success(slf.py())? {
            return Ok(true);
        }
        slf.call_method1(intern!(slf.py(), "_exit"), (kind, error, traceback))?.is_truthy()
    }
}
