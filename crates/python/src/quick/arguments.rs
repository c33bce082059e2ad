//! The arguments of a call, as the interpreter has them: neither a tuple nor a dict is made for a common call.

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use super::QuickCalls;

/// A method with a shortcut.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl Verb {
    pub(super) fn text(self) -> &'static str {
        match self {
            Verb::Get => "GET",
            Verb::Post => "POST",
            Verb::Put => "PUT",
            Verb::Patch => "PATCH",
            Verb::Delete => "DELETE",
        }
    }

    pub(super) fn name(self, py: Python<'_>) -> &Bound<'_, PyString> {
        match self {
            Verb::Get => intern!(py, "GET"),
            Verb::Post => intern!(py, "POST"),
            Verb::Put => intern!(py, "PUT"),
            Verb::Patch => intern!(py, "PATCH"),
            Verb::Delete => intern!(py, "DELETE"),
        }
    }

    /// The name of its method.
    pub(super) fn method(self) -> &'static str {
        match self {
            Verb::Get => "get",
            Verb::Post => "post",
            Verb::Put => "put",
            Verb::Patch => "patch",
            Verb::Delete => "delete",
        }
    }

    /// How many arguments may be positional.
    pub(super) fn positional(self) -> usize {
        match self {
            Verb::Get | Verb::Delete => 1,
            Verb::Put | Verb::Patch => 2,
            Verb::Post => 3,
        }
    }

    /// Whether `data` is an argument of its own.
    pub(super) fn takes_data(self) -> bool {
        self.positional() > 1
    }
}

type Value<'a, 'py> = Borrowed<'a, 'py, PyAny>;

/// Those of common calls. The first ones are also positional, in this order.
const NAMES: [&str; 6] = ["url", "data", "json", "name", "headers", "catch_response"];
const DATA: usize = 1;

/// The same as objects: those that compiled code gives, since names of arguments are interned.
fn interned(py: Python<'_>) -> [&Bound<'_, PyString>; NAMES.len()] {
    [
        intern!(py, "url"),
        intern!(py, "data"),
        intern!(py, "json"),
        intern!(py, "name"),
        intern!(py, "headers"),
        intern!(py, "catch_response"),
    ]
}

/// The arguments of a call. None: it was not given.
pub(super) struct Arguments<'a, 'py> {
    pub(super) url: Value<'a, 'py>,
    pub(super) data: Option<Value<'a, 'py>>,
    pub(super) json: Option<Value<'a, 'py>>,
    pub(super) name: Option<Value<'a, 'py>>,
    pub(super) headers: Option<Value<'a, 'py>>,
    pub(super) catch_response: Option<Value<'a, 'py>>,
    /// All others.
    pub(super) rest: Option<Bound<'py, PyDict>>,
    /// Their address, as a number.
    pub(super) at: usize,
}

/// A value, unless the argument is missing or None.
pub(super) fn given<'b, 'py>(argument: Option<&'b Value<'_, 'py>>) -> Option<&'b Bound<'py, PyAny>> {
    argument.map(|value| &**value).filter(|value| !value.is_none())
}

impl<'a, 'py> Arguments<'a, 'py> {
    /// Sorts values, of which the first are positional, and the others have `names`. Raises the `TypeError` of a
    /// function with these parameters.
    #[inline(never)]
    pub(super) fn sort(
        verb: Verb,
        session: &Bound<'py, QuickCalls>,
        positional: usize,
        names: Option<Borrowed<'a, 'py, PyTuple>>,
        at: usize,
        value: impl Fn(usize) -> Value<'a, 'py>,
    ) -> PyResult<Self> {
        let (py, most) = (session.py(), verb.positional());
        if positional > most {
            let range = if most == 1 { "1".into() } else { format!("from 1 to {most}") };
            return Err(error(
                session,
                verb,
                &format!("takes {range} positional arguments but {positional} were given"),
            ));
        }
        let mut known = [None; NAMES.len()];
        for (index, place) in known.iter_mut().take(positional).enumerate() {
            *place = Some(value(index));
        }
        let (interned, mut rest) = (interned(py), None);
        for (index, name) in names.iter().flat_map(|names| names.iter_borrowed()).enumerate() {
            let value = value(positional + index);
            match place(&interned, &name).filter(|&place| place != DATA || verb.takes_data()) {
                Some(place) if known[place].is_some() => {
                    return Err(error(session, verb, &format!("got multiple values for argument '{}'", NAMES[place])));
                }
                Some(place) => known[place] = Some(value),
                None => rest.get_or_insert_with(|| PyDict::new(py)).set_item(name, value)?,
            }
        }
        let [Some(url), data, json, name, headers, catch_response] = known else {
            return Err(error(session, verb, "missing 1 required positional argument: 'url'"));
        };
        Ok(Self { url, data, json, name, headers, catch_response, rest, at })
    }

    /// Those that were given, and those that the verb has as positional ones; not the URL.
    pub(super) fn all(&self, verb: Verb, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (name, argument, is_always) in [
            ("data", &self.data, verb.takes_data()),
            ("json", &self.json, verb == Verb::Post),
            ("name", &self.name, false),
            ("headers", &self.headers, false),
            ("catch_response", &self.catch_response, false),
        ] {
            if is_always || argument.is_some() {
                all.set_item(name, argument.as_deref())?;
            }
        }
        if let Some(rest) = &self.rest {
            all.update(rest.as_mapping())?;
        }
        Ok(all)
    }
}

/// The class is that of the session: `HttpSession.post() …`.
#[cold]
fn error(session: &Bound<'_, QuickCalls>, verb: Verb, text: &str) -> PyErr {
    let class = session.get_type().name().map_or_else(|_| "client".into(), |name| name.to_string());
    PyTypeError::new_err(format!("{class}.{}() {text}", verb.method()))
}

/// The index in `NAMES`.
fn place(interned: &[&Bound<'_, PyString>], name: &Bound<'_, PyAny>) -> Option<usize> {
    let place = interned.iter().position(|each| each.is(name));
    place.or_else(|| {
        let text = name.cast::<PyString>().ok()?.to_str().ok()?;
        NAMES.iter().position(|&each| each == text)
    })
}
