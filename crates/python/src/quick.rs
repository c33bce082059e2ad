//! `QuickCalls`: the verbs of a session. A common call takes no frame of Python, from the user's code to the recorded
//! reply.
//!
//! `verbs`: the methods, `arguments`: what they are called with; `settings`: what the calls of a session have in common; `message`: what a call sends, `headers` and `forms`: its head;
//! `exchange`: sends it, waits and records, `known`: endpoints; `answer`: what each response has. What a call cannot do here, it leaves to
//! `request` of the session before anything is sent: that does the same, and all else.

mod answer;
mod arguments;
mod exchange;
mod forms;
mod headers;
mod known;
mod message;
mod settings;
pub(crate) mod verbs;

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

pub(crate) use self::answer::Answer;
use self::arguments::{Arguments, given};
pub(crate) use self::forms::Forms;
pub(crate) use self::known::KnownEndpoints;
use self::message::Verb;
pub(crate) use self::settings::QuickSettings;

#[pyclass(subclass, generic, module = "plimsoll._engine")]
pub(crate) struct QuickCalls {
    /// None: `request` has to make all calls.
    settings: Option<Py<QuickSettings>>,
}

type Any<'py> = Bound<'py, PyAny>;

#[pymethods]
impl QuickCalls {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self { settings: None }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.settings.as_ref().map_or(Ok(()), |settings| visit.call(settings))
    }

    fn __clear__(&mut self) {
        self.settings = None;
    }

    fn _forget_settings(&mut self) {
        self.settings = None;
    }
}

fn call<'py>(session: &Bound<'py, QuickCalls>, verb: Verb, arguments: Arguments<'_, 'py>) -> PyResult<Any<'py>> {
    if arguments.rest.is_none()
        && let Some(settings) = settings_of(session)?
        && let Some(response) = send(session.as_any(), &settings, verb, &arguments)?
    {
        return Ok(response);
    }
    let url = arguments.url;
    let kwargs = arguments.all(verb, session.py())?;
    session.call_method(intern!(session.py(), "request"), (verb.name(session.py()), url), Some(&kwargs))
}

/// The settings of a session; None if `request` has to make its calls.
fn settings_of<'py>(session: &Bound<'py, QuickCalls>) -> PyResult<Option<Bound<'py, QuickSettings>>> {
    let py = session.py();
    let known = session.borrow().settings.as_ref().map(|settings| settings.clone_ref(py));
    let settings = match known {
        Some(settings) => settings,
        None => match session.call_method0(intern!(py, "_quick_settings"))?.extract::<Option<Py<QuickSettings>>>()? {
            Some(made) => {
                session.borrow_mut().settings = Some(made.clone_ref(py));
                made
            }
            None => return Ok(None),
        },
    };
    let is_ours = session.get_type().getattr(intern!(py, "request"))?.is(&settings.get().request);
    Ok(is_ours.then(|| settings.into_bound(py)))
}

/// The response to a call; None if `request` has to send it.
fn send<'py>(
    session: &Any<'py>,
    shared: &Bound<'py, QuickSettings>,
    verb: Verb,
    arguments: &Arguments<'_, 'py>,
) -> PyResult<Option<Any<'py>>> {
    let py = session.py();
    let settings = shared.get();
    let Some(message) = settings.compose(session, verb, arguments)? else { return Ok(None) };
    let catches = given(&arguments.catch_response).map_or(Ok(false), PyAnyMethods::is_truthy)?;
    let is_named = message.is_named;
    let (reply, endpoint) = settings.exchange(session, message)?;
    let response = Answer::quick(shared, session, &arguments.url, &reply, &endpoint, catches)?;
    let is_good = settings.is_good(session, &reply.borrow())?;
    let is_complete = match catches {
        _ if !is_good => false,
        true => settings.sole_recording(py)?.is_some(),
        false => settings.record(&endpoint, &reply.borrow())?,
    };
    if is_complete {
        return Ok(Some(response));
    }
    let headers = given(&arguments.headers);
    let has_json = given(&arguments.json).is_some();
    session.call_method1(intern!(py, "_finish"), (response, is_named, catches, headers, has_json)).map(Some)
}
