//! Forms of the heads of common calls, kept with the header lines of their sessions: calls with the same names fill one
//! in. Nearly all calls of a script do: its names are constants.

use std::sync::{Mutex, PoisonError};

use plimsoll_engine::Wire;
use plimsoll_http as http;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// The most forms of the same lines: a script that makes up names must not fill the memory.
const MOST: usize = 16;
/// The most lines of a call with a form.
const MOST_LINES: usize = 16;

/// What, besides lines and names, decides about a head, in numbers of the caller's.
pub(crate) type Kind = [u8; 5];

/// Names of lines, as a script gives them.
pub(crate) trait Names<'n, 'py: 'n>: ExactSizeIterator<Item = &'n Bound<'py, PyAny>> + Clone {}

impl<'n, 'py: 'n, T: ExactSizeIterator<Item = &'n Bound<'py, PyAny>> + Clone> Names<'n, 'py> for T {}

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
    fn is_of<'n, 'py: 'n>(&self, kind: Kind, authority: &str, names: &impl Names<'n, 'py>) -> bool {
        self.kind == kind
            && self.names.len() == names.len()
            && self.names.iter().zip(names.clone()).all(|(known, name)| is_same(known, name))
            && *self.authority == *authority
    }
}

impl Forms {
    /// The message; None: it has to be composed. names, values: of the lines of the call; no value: it is none that can
    /// be filled in.
    pub(crate) fn fill<'n, 'py: 'n>(
        &self,
        kind: Kind,
        authority: &str,
        names: &impl Names<'n, 'py>,
        values: impl Iterator<Item = Option<&'n [u8]>>,
        target: &str,
        body: &[u8],
    ) -> Option<Wire> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = all.iter().find(|kept| kept.is_of(kind, authority, names))?;
        let mut places = [&b""[..]; MOST_LINES];
        let places = &mut places[..names.len()];
        for (place, value) in places.iter_mut().zip(values) {
            *place = value?;
        }
        Wire::fill(&kept.form, target, places, body)
    }

    /// Keeps the form of a request whose first lines have these names, if there is one.
    pub(crate) fn keep<'n, 'py: 'n>(&self, kind: Kind, names: impl Names<'n, 'py>, request: &http::Request<'_>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = names.len();
        let is_refused = all.len() == MOST || count > MOST_LINES;
        if is_refused || all.iter().any(|kept| kept.is_of(kind, request.authority, &names)) {
            return;
        }
        let names = names.map(|name| Some(name.cast_exact::<PyString>().ok()?.clone().unbind()));
        if let Some(names) = names.collect()
            && let Some(form) = http::Form::new(request, count)
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
