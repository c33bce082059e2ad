//! The names in JSON objects, as texts that are made once: replies of a service have the same ones.

use std::sync::{Mutex, MutexGuard};

use pyo3::prelude::*;
use pyo3::types::PyString;

/// A name takes the place of another one with the same hash.
const PLACES: usize = 512;
/// Longer names are made each time.
const LONGEST: usize = 32;

/// The interpreter runs one thread at a time. But while a text is read, it may collect garbage, and so call code that
/// reads another one.
static NAMES: Mutex<Names> = Mutex::new(Names([const { None }; PLACES]));

/// A name, and the same as a Python text.
type Known = (Box<[u8]>, Py<PyString>);

/// Known names, each in the place of its hash.
pub(crate) struct Names([Option<Known>; PLACES]);

/// The known names, for as long as a text is read; None while another one is.
pub(crate) fn names() -> Option<MutexGuard<'static, Names>> {
    NAMES.try_lock().ok()
}

impl Names {
    /// A name as a Python text.
    pub(crate) fn get<'py>(&mut self, py: Python<'py>, name: &str) -> Bound<'py, PyString> {
        if name.len() > LONGEST {
            return PyString::new(py, name);
        }
        let place = &mut self.0[place_of(name.as_bytes())];
        match place {
            Some((known, text)) if **known == *name.as_bytes() => text.bind(py).clone(),
            _ => {
                let text = PyString::new(py, name);
                *place = Some((name.as_bytes().into(), text.clone().unbind()));
                text
            }
        }
    }
}

fn place_of(name: &[u8]) -> usize {
    name.iter().fold(name.len(), |hash, &byte| hash.wrapping_mul(31).wrapping_add(usize::from(byte))) % PLACES
}
