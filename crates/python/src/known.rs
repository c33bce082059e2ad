//! Endpoints of common calls, found by the name as an object: most names are constants of a script. Found by its text,
//! an endpoint costs a tuple, the hash of it, and a look into a dict of Python.

use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

/// An endpoint takes the place of another one with the same hash.
const PLACES: usize = 64;

/// Those of one recorder.
pub(crate) struct KnownEndpoints([Option<Known>; PLACES]);

struct Known {
    /// Method and name. It keeps both alive, so no other object gets their addresses.
    endpoint: Py<PyTuple>,
    addresses: (usize, usize),
    /// That of the recorder.
    number: u32,
}

impl Default for KnownEndpoints {
    fn default() -> Self {
        Self([const { None }; PLACES])
    }
}

impl KnownEndpoints {
    /// (method, name), if these objects are known.
    pub(crate) fn get<'py>(&self, method: &Bound<'py, PyAny>, name: &Bound<'py, PyAny>) -> Option<Bound<'py, PyTuple>> {
        let addresses = (address(method), address(name));
        let known = self.0[place(addresses)].as_ref().filter(|known| known.addresses == addresses)?;
        Some(known.endpoint.bind(name.py()).clone())
    }

    /// The number of an endpoint, if this object is known.
    pub(crate) fn number(&self, endpoint: &Bound<'_, PyTuple>) -> Option<u32> {
        let known = self.0[place(addresses(endpoint)?)].as_ref().filter(|known| known.endpoint.is(endpoint))?;
        Some(known.number)
    }

    /// Keeps an endpoint if its parts are plain texts: other objects may change, or run code when they are freed.
    pub(crate) fn keep(&mut self, endpoint: &Bound<'_, PyTuple>, number: u32) {
        if endpoint.iter().all(|part| part.is_exact_instance_of::<PyString>())
            && let Some(addresses) = addresses(endpoint)
        {
            self.0[place(addresses)] = Some(Known { endpoint: endpoint.clone().unbind(), addresses, number });
        }
    }
}

fn address(object: &Bound<'_, PyAny>) -> usize {
    object.as_ptr().addr()
}

fn addresses(endpoint: &Bound<'_, PyTuple>) -> Option<(usize, usize)> {
    let (method, name) = (endpoint.get_borrowed_item(0).ok()?, endpoint.get_borrowed_item(1).ok()?);
    Some((address(&method), address(&name)))
}

/// Objects are aligned to 16 bytes.
fn place((method, name): (usize, usize)) -> usize {
    ((method >> 4).wrapping_mul(31) ^ (name >> 4) ^ (name >> 10)) % PLACES
}
