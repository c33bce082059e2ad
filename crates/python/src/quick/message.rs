//! The message of a common call: what it sends, and the endpoint that counts it.

use plimsoll_engine::Wire;
use plimsoll_http as http;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};

use super::QuickCalls;
use super::arguments::{Arguments, Verb, given};
use super::headers::{Lines, complete};
use super::settings::{QuickSettings, Style};
use crate::json;

const JSON: &str = "application/json";

pub(super) struct Message<'py> {
    pub(super) wire: Wire,
    /// Method and name.
    pub(super) endpoint: Bound<'py, PyTuple>,
    /// The call or its session gave the name.
    pub(super) is_named: bool,
}

/// The body of a message.
enum Body<'py> {
    None,
    Empty,
    Bytes(Bound<'py, PyBytes>),
    Json(String),
}

impl Body<'_> {
    fn bytes(&self) -> Option<&[u8]> {
        match self {
            Body::None => None,
            Body::Empty => Some(b""),
            Body::Bytes(bytes) => Some(bytes.as_bytes()),
            Body::Json(text) => Some(text.as_bytes()),
        }
    }
}

impl QuickSettings {
    /// The message of a call; None if `request` has to compose it. Not inlined: the stack of a waiting user is
    /// copied.
    #[inline(never)]
    pub(super) fn compose<'py>(
        &self,
        session: &Bound<'py, QuickCalls>,
        verb: Verb,
        arguments: &Arguments<'_, 'py>,
    ) -> PyResult<Option<Message<'py>>> {
        let py = session.py();
        let Some(given_name) = name_of(session, arguments)? else { return Ok(None) };
        let Some(target) = self.target(&arguments.url)? else { return Ok(None) };
        let Some(body) = self.body(verb, arguments)? else { return Ok(None) };
        let Some(wire) = self.wire(py, verb, &target.text, given(arguments.headers.as_ref()), &body) else {
            return Ok(None);
        };
        let is_named = !given_name.is_none();
        let name = match self.style {
            _ if is_named => given_name,
            Style::Requests => target.name,
            Style::Fast => arguments.url.to_owned(),
        };
        let endpoint = self.endpoint(verb.name(py), &name)?;
        Ok(Some(Message { wire, endpoint, is_named }))
    }

    /// None: `request` has to encode it.
    fn body<'py>(&self, verb: Verb, arguments: &Arguments<'_, 'py>) -> PyResult<Option<Body<'py>>> {
        let body = match (given(arguments.data.as_ref()), given(arguments.json.as_ref())) {
            (Some(_), _) if self.style == Style::Fast => return Ok(None),
            (Some(data), json) if json.is_none() || data.is_truthy()? => match data.cast_exact::<PyBytes>() {
                Ok(bytes) if !bytes.as_bytes().is_empty() => Body::Bytes(bytes.clone()),
                _ => return Ok(None),
            },
            (_, Some(value)) => match self.json(value)? {
                Some(text) => Body::Json(text),
                None => return Ok(None),
            },
            _ if has_body(verb, self.style) => Body::Empty,
            _ => Body::None,
        };
        let is_left = self.only_without_body && !matches!(body, Body::None);
        Ok((!is_left).then_some(body))
    }

    /// None: requests raises an error of its own.
    fn json(&self, value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        // requests uses another function, which no script replaces.
        if (self.style == Style::Requests || json::dumps_is_original(value.py())?)
            && let Some(text) = json::text(value)
        {
            return Ok(Some(text));
        }
        match self.dump.bind(value.py()).call1((value,)) {
            Ok(text) => Ok(Some(text.extract()?)),
            Err(error) if self.style == Style::Requests && error.is_instance_of::<PyValueError>(value.py()) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// None: `request` has to encode it.
    fn wire(
        &self,
        py: Python<'_>,
        verb: Verb,
        target: &str,
        headers: Option<&Bound<'_, PyAny>>,
        body: &Body<'_>,
    ) -> Option<Wire> {
        let authority = self.origin.get().inner.authority();
        let bare = self.bare.as_ref().filter(|_| headers.is_none() && matches!(body, Body::None));
        let is_completed = self.style == Style::Fast && bare.is_none();
        if is_completed && !self.composes {
            return None;
        }
        let lines = match (headers, &self.extra) {
            (Some(_), Some(_)) => return None,
            (Some(own), None) => Lines::of(own)?,
            (None, Some(extra)) => Lines::of_session(extra.bind(py)),
            (None, None) => Lines::default(),
        };
        let (has_body, has_json) = (!matches!(body, Body::None), matches!(body, Body::Json(_)));
        let kind = [verb as u8, self.style as u8, is_completed.into(), has_body.into(), has_json.into()];
        let shared = bare.unwrap_or(&self.headers).get();
        let bytes = body.bytes().unwrap_or_default();
        if let Some(wire) = shared.forms.fill(kind, authority, &lines.names(), lines.values(self.style), target, bytes)
        {
            return Some(wire);
        }
        let mut extra = lines.bytes(self.style)?;
        if is_completed && !complete(&mut extra, has_json, authority) {
            return None;
        }
        let request = http::Request {
            method: verb.text(),
            target,
            authority,
            headers: &shared.inner,
            extra: &extra,
            body_length: body.bytes().map(|body| body.len() as u64),
            content_type: (has_json && self.style == Style::Requests).then_some(JSON),
        };
        let wire = Wire::encode(&request, bytes).ok()?;
        shared.forms.keep(kind, lines.names(), &request);
        Some(wire)
    }
}

/// The name that the call or its session gives; Python's None: neither does. Rust's None: it is no text.
fn name_of<'py>(
    session: &Bound<'py, QuickCalls>,
    arguments: &Arguments<'_, 'py>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = session.py();
    if let Some(name) = given(arguments.name.as_ref()) {
        if !name.is_exact_instance_of::<PyString>() {
            return Ok(None);
        }
        if name.is_truthy()? {
            return Ok(Some(name.clone()));
        }
    }
    let own = session.borrow().request_name.as_ref().map(|name| name.bind(py).clone());
    match own {
        Some(own) if own.is_truthy()? => Ok(Some(own)),
        _ => Ok(Some(py.None().into_bound(py))),
    }
}

/// Whether a message without a body says that it has none.
fn has_body(verb: Verb, style: Style) -> bool {
    match style {
        Style::Requests => verb != Verb::Get,
        Style::Fast => !matches!(verb, Verb::Get | Verb::Delete),
    }
}
