//! `QuickCalls`: the verbs of a session. A common call takes no frame of Python, from the user's code to the recorded
//! reply.
//!
//! `verbs`: the methods, `arguments`: what they are called with; `settings`: what the calls of a session share;
//! `message`: what a call sends, `headers` and the crate's `forms`: its head; `exchange`: sends it, waits and records,
//! the crate's `known`: its endpoint; `answer`: what each response has. What a call cannot do here, it leaves to
//! `request` of the session before anything is sent: that does the same, and all else.

mod answer;
mod arguments;
mod exchange;
mod headers;
mod message;
mod settings;
pub(crate) mod verbs;

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

pub(crate) use self::answer::Answer;
use self::arguments::{Arguments, Verb, given};
use self::exchange::Begun;
pub(crate) use self::settings::QuickSettings;
use crate::reply::Reply;

#[pyclass(subclass, generic, module = "plimsoll._engine")]
pub(crate) struct QuickCalls {
    /// None: `request` has to make all calls.
    settings: Option<Py<QuickSettings>>,
    /// The name of exchanges whose call gives none. Not None of Python.
    #[pyo3(get, set)]
    request_name: Option<Py<PyAny>>,
}

type Any<'py> = Bound<'py, PyAny>;

#[pymethods]
impl QuickCalls {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self { settings: None, request_name: None }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.settings)?;
        visit.call(&self.request_name)
    }

    fn __clear__(&mut self) {
        self.settings = None;
        self.request_name = None;
    }

    fn _forget_settings(&mut self) {
        self.settings = None;
    }
}

/// While a user waits in here, its stack is put away and copied back. So what this function and those that it calls on
/// the way to `wait` need is kept small: the parts before and after are functions that are not inlined.
fn call<'py>(session: &Bound<'py, QuickCalls>, verb: Verb, arguments: &Arguments<'_, 'py>) -> PyResult<Any<'py>> {
    if arguments.rest.is_none()
        && let Some(settings) = settings_of(session)?
        && let Some(begun) = settings.get().begin(session, verb, arguments)?
    {
        let reply = settings.get().wait(session, &begun)?;
        return end(session, &settings, arguments, &begun, &reply);
    }
    leave(session, verb, arguments)
}

/// Has `request` make the call.
#[inline(never)]
fn leave<'py>(session: &Bound<'py, QuickCalls>, verb: Verb, arguments: &Arguments<'_, 'py>) -> PyResult<Any<'py>> {
    let py = session.py();
    let kwargs = arguments.all(verb, py)?;
    session.call_method(intern!(py, "request"), (verb.name(py), arguments.url), Some(&kwargs))
}

/// The settings of a session; None if `request` has to make its calls.
#[inline(never)]
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

/// Makes and records the response to a call.
#[inline(never)]
fn end<'py>(
    session: &Bound<'py, QuickCalls>,
    shared: &Bound<'py, QuickSettings>,
    arguments: &Arguments<'_, 'py>,
    begun: &Begun<'py>,
    reply: &Bound<'py, Reply>,
) -> PyResult<Any<'py>> {
    let py = session.py();
    let settings = shared.get();
    let Begun { endpoint, is_named, catches, .. } = begun;
    let response = Answer::quick(shared, session, &arguments.url, reply, endpoint, *catches)?;
    let known = reply.borrow();
    let is_complete = match catches {
        _ if !settings.is_good(session, &known)? => false,
        true => settings.sole_recording(py)?.is_some(),
        false => settings.record(endpoint, &known)?,
    };
    drop(known);
    if is_complete {
        return Ok(response);
    }
    let headers = given(arguments.headers.as_ref());
    let has_json = given(arguments.json.as_ref()).is_some();
    session.call_method1(intern!(py, "_finish"), (response, is_named, catches, headers, has_json))
}
