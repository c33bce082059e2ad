//! `json_text`: plain Python values as JSON, byte for byte as `json.dumps` writes it.

use std::fmt::Write;
use std::ptr::null_mut;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use pyo3::{ffi, intern};

use crate::words::is_plain_ascii;

/// The names in the module `json`, and its `loads` and `dumps` as they were when this module was imported.
static ORIGINALS: PyOnceLock<(Py<PyDict>, Py<PyAny>, Py<PyAny>)> = PyOnceLock::new();

fn originals(py: Python<'_>) -> PyResult<&(Py<PyDict>, Py<PyAny>, Py<PyAny>)> {
    ORIGINALS.get_or_try_init(py, || {
        let module = py.import("json")?;
        let (loads, dumps) = (module.getattr("loads")?.unbind(), module.getattr("dumps")?.unbind());
        Ok((module.dict().unbind(), loads, dumps))
    })
}

/// Notes the functions of `json`. Scripts, which may replace them, are loaded later.
pub(crate) fn remember(py: Python<'_>) -> PyResult<()> {
    originals(py).map(|_| ())
}

/// Whether `json.loads` is the original.
pub(crate) fn loads_is_original(py: Python<'_>) -> PyResult<bool> {
    let (names, loads, _) = originals(py)?;
    Ok(names.bind(py).get_item(intern!(py, "loads"))?.is_some_and(|known| known.is(loads)))
}

/// Whether `json.dumps` is the original.
pub(crate) fn dumps_is_original(py: Python<'_>) -> PyResult<bool> {
    let (names, _, dumps) = originals(py)?;
    Ok(names.bind(py).get_item(intern!(py, "dumps"))?.is_some_and(|known| known.is(dumps)))
}

/// Deeper values are left to `json`, which also finds circles.
const MAX_DEPTH: usize = 32;

/// The JSON of a value made of plain dicts, lists, tuples, texts, numbers, bools and None; None for any other, for keys
/// that are no texts, for large ints, and for numbers and texts that are not valid in JSON.
#[pyfunction(name = "json_text")]
pub(crate) fn text(value: &Bound<'_, PyAny>) -> Option<String> {
    let mut out = String::with_capacity(256);
    push(&mut out, value, 0).then_some(out)
}

/// Appends a value; false: it cannot be written here.
fn push(out: &mut String, value: &Bound<'_, PyAny>, depth: usize) -> bool {
    if let Ok(text) = value.cast_exact::<PyString>() {
        return push_text(out, text);
    }
    if let Ok(number) = value.cast_exact::<PyInt>() {
        let Ok(number) = number.extract::<i64>() else { return false };
        out.push_str(itoa::Buffer::new().format(number));
        return true;
    }
    if depth == MAX_DEPTH {
        return false;
    }
    if let Ok(dict) = value.cast_exact::<PyDict>() {
        return push_dict(out, dict, depth);
    }
    if let Ok(list) = value.cast_exact::<PyList>() {
        return push_items(out, list.iter(), depth);
    }
    if let Ok(tuple) = value.cast_exact::<PyTuple>() {
        return push_items(out, tuple.iter(), depth);
    }
    if let Ok(switch) = value.cast_exact::<PyBool>() {
        out.push_str(if switch.is_true() { "true" } else { "false" });
        return true;
    }
    if let Ok(float) = value.cast_exact::<PyFloat>() {
        return float.value().is_finite() && float.repr().is_ok_and(|text| push_plain(out, &text));
    }
    if value.is_none() {
        out.push_str("null");
        return true;
    }
    false
}

#[allow(unsafe_code)]
fn push_dict(out: &mut String, dict: &Bound<'_, PyDict>, depth: usize) -> bool {
    let mut separator = "{";
    let push_item = |name: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>| {
        out.push_str(separator);
        separator = ", ";
        let Ok(name) = name.cast_exact::<PyString>() else { return false };
        if !push_text(out, name) {
            return false;
        }
        out.push_str(": ");
        push(out, value, depth + 1)
    };
    // SAFETY: to write values of these types runs no code of Python.
    let is_written = unsafe { all_items(dict, push_item) };
    out.push_str(if dict.is_empty() { "{}" } else { "}" });
    is_written
}

/// Whether `act` is true for all items, of which it gets one after the other.
///
/// # Safety
/// `act` must not run code of Python, which could take items out of the dict.
#[allow(unsafe_code)]
unsafe fn all_items(
    dict: &Bound<'_, PyDict>,
    mut act: impl FnMut(&Bound<'_, PyAny>, &Bound<'_, PyAny>) -> bool,
) -> bool {
    let (py, mut at, mut name, mut value) = (dict.py(), 0, null_mut(), null_mut());
    // SAFETY: `dict` is one, `at` begins at 0, and the other two are written when the result is true. The dict keeps
    // both objects alive: nothing changes it meanwhile.
    while unsafe { ffi::PyDict_Next(dict.as_ptr(), &raw mut at, &raw mut name, &raw mut value) } != 0 {
        let (name, value) = unsafe { (Borrowed::from_ptr(py, name), Borrowed::from_ptr(py, value)) };
        if !act(&name, &value) {
            return false;
        }
    }
    true
}

fn push_items<'py>(out: &mut String, items: impl Iterator<Item = Bound<'py, PyAny>>, depth: usize) -> bool {
    out.push('[');
    for (index, value) in items.enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        if !push(out, &value, depth + 1) {
            return false;
        }
    }
    out.push(']');
    true
}

fn push_plain(out: &mut String, text: &Bound<'_, PyString>) -> bool {
    text.to_str().is_ok_and(|text| {
        out.push_str(text);
        true
    })
}

/// Appends a quoted text in ASCII.
fn push_text(out: &mut String, text: &Bound<'_, PyString>) -> bool {
    // A text with half of a surrogate pair has no UTF-8.
    let Ok(text) = text.to_str() else { return false };
    out.push('"');
    if is_plain_ascii(text.as_bytes()) {
        out.push_str(text);
    } else {
        text.chars().for_each(|each| push_escaped(out, each));
    }
    out.push('"');
    true
}

fn push_escaped(out: &mut String, each: char) {
    match each {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        ' '..='~' => out.push(each),
        _ => {
            for unit in each.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}").expect("a String takes everything");
            }
        }
    }
}
