//! Short texts in JSON replies, made once: replies of a service have the same names, and often the same values.

use std::sync::{Mutex, MutexGuard};

use pyo3::prelude::*;
use pyo3::types::PyString;

/// A text takes the place of another one with the same hash.
const PLACES: usize = 512;

/// The interpreter runs one thread at a time. But while a reply is read, it may collect garbage, and so call code that
/// reads another one.
static TEXTS: Mutex<Texts> = Mutex::new(Texts([const { Known { key: [0; 4], text: None } }; PLACES]));

/// The bytes of a text of at most 31 that has no control characters, and after them zeros.
pub(crate) type Key = [u64; 4];

struct Known {
    key: Key,
    text: Option<Py<PyString>>,
}

/// Known texts, each in the place of its hash.
pub(crate) struct Texts([Known; PLACES]);

/// The known texts, for as long as a reply is read; None while another one is.
pub(crate) fn texts() -> Option<MutexGuard<'static, Texts>> {
    TEXTS.try_lock().ok()
}

impl Texts {
    /// The text with this key. None: it is not UTF-8.
    #[inline]
    pub(crate) fn get<'py>(&mut self, py: Python<'py>, key: &Key, bytes: &[u8]) -> Option<Bound<'py, PyString>> {
        let known = &mut self.0[place_of(key)];
        match &known.text {
            Some(text) if known.key == *key => Some(text.bind(py).clone()),
            _ => known.replace(py, key, bytes),
        }
    }
}

impl Known {
    #[inline(never)]
    fn replace<'py>(&mut self, py: Python<'py>, key: &Key, bytes: &[u8]) -> Option<Bound<'py, PyString>> {
        let text = PyString::new(py, str::from_utf8(bytes).ok()?);
        *self = Known { key: *key, text: Some(text.clone().unbind()) };
        Some(text)
    }
}

#[inline]
fn place_of(key: &Key) -> usize {
    let hash = key.iter().fold(0_u64, |hash, part| (hash.rotate_left(5) ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    (hash >> 32) as usize % PLACES
}
