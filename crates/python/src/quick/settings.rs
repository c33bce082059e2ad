//! What the calls of a session have in common until a setting of it changes.

use std::borrow::Cow;

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString, PyType};

use crate::engine::{Client, Near};
use crate::origin::{Headers, Origin};
use crate::path::is_plain;
use crate::recorder::Recorder;
use crate::reply::Reply;
use crate::timeouts::Timeouts;

/// The client whose messages are composed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// requests and urllib3.
    Requests,
    /// geventhttpclient, and Locust's session around it.
    Fast,
}

/// Where a call goes.
pub(super) struct Target<'a, 'py> {
    /// Path and query as they are sent.
    pub(super) text: Cow<'a, str>,
    /// The name of the exchange if the call gives none.
    pub(super) name: Bound<'py, PyAny>,
}

/// The listener that records, and its parts.
pub(crate) struct Recording {
    listener: Py<PyAny>,
    /// The number of each (method, name).
    pub(super) endpoints: Py<PyAny>,
    pub(super) recorder: Py<Recorder>,
}

#[pyclass(frozen, module = "plimsoll._engine")]
pub(crate) struct QuickSettings {
    pub(super) style: Style,
    pub(super) client: Py<Client>,
    /// The greenlet of gevent's loop.
    pub(super) hub: Py<PyAny>,
    /// Has the times of the user's last wait.
    pub(super) pacer: Py<PyAny>,
    /// Those of the request event.
    pub(super) listeners: Py<PyList>,
    /// The type of the listener that records.
    recorder: Py<PyType>,
    /// That listener.
    recording: PyOnceLock<Recording>,
    /// `request` of the class. If a script has put another one there, that gets all calls.
    pub(super) request: Py<PyAny>,
    pub(crate) response: Py<PyType>,
    /// Writes JSON that `json_text` leaves to it.
    pub(super) dump: Py<PyAny>,
    pub(crate) routes: Py<PyAny>,
    root: String,
    /// The path of the base URL; None if its paths need quoting, or if it is of another root.
    prefix: Option<String>,
    pub(super) origin: Py<Origin>,
    pub(super) headers: Py<Headers>,
    /// All lines of a call without headers and body; None: they are composed for each call.
    pub(super) bare: Option<Py<Headers>>,
    /// False: calls with headers or a body are left to `request`.
    pub(super) composes: bool,
    /// Calls with a body are left to `request`.
    pub(super) only_without_body: bool,
    /// Lines after those of the session.
    pub(super) extra: Option<Py<PyDict>>,
    pub(super) timeouts: Option<Py<Timeouts>>,
}

const _: () = assert!(size_of::<QuickSettings>() <= Near::SETTINGS);

#[pymethods]
impl QuickSettings {
    #[new]
    #[pyo3(signature = (*, fast, client, hub, pacer, listeners, recorder, request, response, dump, routes,
                        root, prefix, origin, headers, bare = None, composes = true, only_without_body = false,
                        extra = None, timeouts = None))]
    #[allow(clippy::too_many_arguments)] // named by the caller
    fn new(
        fast: bool,
        client: Py<Client>,
        hub: Py<PyAny>,
        pacer: Py<PyAny>,
        listeners: Py<PyList>,
        recorder: Py<PyType>,
        request: Py<PyAny>,
        response: Py<PyType>,
        dump: Py<PyAny>,
        routes: Py<PyAny>,
        root: String,
        prefix: Option<String>,
        origin: Py<Origin>,
        headers: Py<Headers>,
        bare: Option<Py<Headers>>,
        composes: bool,
        only_without_body: bool,
        extra: Option<Py<PyDict>>,
        timeouts: Option<Py<Timeouts>>,
    ) -> Self {
        let style = if fast { Style::Fast } else { Style::Requests };
        Self {
            style,
            client,
            hub,
            pacer,
            listeners,
            recorder,
            recording: PyOnceLock::new(),
            request,
            response,
            dump,
            routes,
            root,
            prefix,
            origin,
            headers,
            bare,
            composes,
            only_without_body,
            extra,
            timeouts,
        }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.pacer)?;
        visit.call(&self.hub)?;
        visit.call(&self.listeners)
    }
}

impl QuickSettings {
    /// The target of a URL; None: it is of another root, or has credentials.
    pub(super) fn target<'a, 'py>(&self, url: &'a Bound<'py, PyAny>) -> PyResult<Option<Target<'a, 'py>>> {
        let py = url.py();
        if let Some(prefix) = &self.prefix
            && let Ok(path) = url.cast_exact::<PyString>()
            && let Ok(text) = path.to_str()
            && is_plain(text.as_bytes())
        {
            if prefix.is_empty() {
                return Ok(Some(Target { text: text.into(), name: url.clone() }));
            }
            let text = format!("{prefix}{text}");
            let name = PyString::new(py, &text).into_any();
            return Ok(Some(Target { text: text.into(), name }));
        }
        let route = self.routes.bind(py).get_item(url)?;
        let root = route.getattr(intern!(py, "root"))?;
        let is_other = root.cast::<PyString>()?.to_str()? != self.root;
        if is_other || route.getattr(intern!(py, "has_credentials"))?.is_truthy()? {
            return Ok(None);
        }
        let text = Cow::Owned(route.getattr(intern!(py, "target"))?.extract()?);
        Ok(Some(Target { text, name: route.getattr(intern!(py, "name"))? }))
    }

    /// `response.request.body` shows a body of JSON as text.
    pub(crate) fn shows_text(&self) -> bool {
        self.style == Style::Fast
    }

    /// Whether the exchange is a success by its reply, and nothing else is to be done.
    pub(super) fn is_good(&self, session: &Bound<'_, PyAny>, reply: &Reply) -> PyResult<bool> {
        if !reply.is_ordinary() || self.style == Style::Requests {
            return Ok(reply.is_ordinary());
        }
        session.getattr(intern!(session.py(), "valid_response_codes"))?.contains(reply.status())
    }

    /// What has recorded calls so far.
    pub(super) fn recording(&self, py: Python<'_>) -> Option<&Recording> {
        self.recording.get(py)
    }

    /// What records, if nothing else listens to the request event.
    pub(crate) fn sole_recording(&self, py: Python<'_>) -> PyResult<Option<&Recording>> {
        let listeners = self.listeners.bind(py);
        if listeners.len() != 1 {
            return Ok(None);
        }
        let listener = listeners.get_item(0)?;
        if !listener.get_type().is(&self.recorder) {
            return Ok(None);
        }
        let recording = self.recording.get_or_try_init(py, || Recording::of(&listener))?;
        Ok(recording.listener.is(&listener).then_some(recording))
    }
}

impl Recording {
    fn of(listener: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = listener.py();
        Ok(Self {
            listener: listener.clone().unbind(),
            endpoints: listener.getattr(intern!(py, "endpoints"))?.unbind(),
            recorder: listener.getattr(intern!(py, "recorder"))?.extract()?,
        })
    }
}
