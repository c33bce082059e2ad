//! Forms of the heads of common calls, kept with the header lines of their sessions: calls with the same names fill one
//! in. Nearly all calls of a script do: its names are constants.

use std::sync::{Mutex, PoisonError};

use plimsoll_engine::Wire;
use plimsoll_http as http;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::headers::Lines;
use super::message::Verb;
use super::settings::Style;

/// The most forms of the same lines: a script that makes up names must not fill the memory.
const MOST: usize = 16;
/// The most lines of a call with a form.
const MOST_LINES: usize = 16;

/// What, besides lines and names, decides about a head.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(super) verb: Verb,
    pub(super) style: Style,
    /// Lines of Locust's session and geventhttpclient are added.
    pub(super) is_completed: bool,
    pub(super) has_body: bool,
    pub(super) has_json: bool,
}

/// Shared by all sessions with the same lines. The lock is never held while Python code runs.
#[derive(Default)]
pub(crate) struct Forms(Mutex<Vec<Kept>>);

struct Kept {
    kind: Kind,
    authority: Box<str>,
    names: Box<[Py<PyString>]>,
    form: http::Form,
}

impl Kept {
    fn is_of(&self, kind: Kind, authority: &str, lines: &Lines<'_>) -> bool {
        self.kind == kind
            && self.names.len() == lines.len()
            && self.names.iter().zip(lines.names()).all(|(known, name)| is_same(known, name))
            && *self.authority == *authority
    }
}

impl Forms {
    /// The message; None: it has to be composed.
    pub(super) fn fill(
        &self,
        kind: Kind,
        authority: &str,
        lines: &Lines<'_>,
        target: &str,
        body: &[u8],
    ) -> Option<Wire> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = all.iter().find(|kept| kept.is_of(kind, authority, lines))?;
        let mut values = [&b""[..]; MOST_LINES];
        let values = &mut values[..lines.len()];
        for (place, value) in values.iter_mut().zip(lines.values(kind.style)) {
            *place = value?;
        }
        Wire::fill(&kept.form, target, values, body)
    }

    /// Keeps the form of a request whose first lines are these, if there is one.
    pub(super) fn keep(&self, kind: Kind, lines: &Lines<'_>, request: &http::Request<'_>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_refused = all.len() == MOST || lines.len() > MOST_LINES;
        if is_refused || all.iter().any(|kept| kept.is_of(kind, request.authority, lines)) {
            return;
        }
        let names = lines.names().map(|name| Some(name.cast_exact::<PyString>().ok()?.clone().unbind()));
        if let Some(names) = names.collect()
            && let Some(form) = http::Form::new(request, lines.len())
        {
            all.push(Kept { kind, authority: request.authority.into(), names, form });
        }
    }
}

/// Whether two names have the same spelling. Constants of scripts are the same object in each call.
fn is_same(known: &Py<PyString>, name: &Bound<'_, PyAny>) -> bool {
    let text = |name: &Bound<'_, PyAny>| {
        let known = known.bind(name.py()).to_str().ok()?;
        Some(known == name.cast_exact::<PyString>().ok()?.to_str().ok()?)
    };
    known.is(name) || text(name) == Some(true)
}
