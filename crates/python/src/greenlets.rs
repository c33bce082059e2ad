//! Greenlets, by the functions that `greenlet` has for C. A call of the method `switch` would leave a tuple and two frames
//! more on the stack, which is put away for each user that waits.

use std::ptr::null_mut;

use pyo3::exceptions::PyImportError;
use pyo3::ffi::{PyCapsule_Import, PyObject};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};

/// Places in the table of `greenlet._C_API`, which `greenlet.h` numbers.
const GET_CURRENT: usize = 4;
const SWITCH: usize = 6;

/// Place of the pointer to its state in a greenlet, in words.
const STATE: usize = 4;

type Current = unsafe extern "C" fn() -> *mut PyObject;
/// Of a greenlet, its arguments or null, and null.
type Switch = unsafe extern "C" fn(*mut PyObject, *mut PyObject, *mut PyObject) -> *mut PyObject;

struct Functions {
    current: Current,
    switch: Switch,
}

static FUNCTIONS: PyOnceLock<Functions> = PyOnceLock::new();

#[allow(unsafe_code)]
fn functions(py: Python<'_>) -> PyResult<&Functions> {
    FUNCTIONS.get_or_try_init(py, || {
        check_layout(&py.import("greenlet")?)?;
        // SAFETY: greenlet has put a table of functions there, with these signatures at these places; it is never freed.
        unsafe {
            let table = PyCapsule_Import(c"greenlet._C_API".as_ptr(), 0).cast::<*const ()>();
            if table.is_null() {
                return Err(PyErr::fetch(py));
            }
            Ok(Functions {
                current: std::mem::transmute::<*const (), Current>(*table.add(GET_CURRENT)),
                switch: std::mem::transmute::<*const (), Switch>(*table.add(SWITCH)),
            })
        }
    })
}

/// Fails for a version whose greenlets are too small for what `current` reads.
fn check_layout(greenlet: &Bound<'_, PyModule>) -> PyResult<()> {
    let size: usize = greenlet.getattr("greenlet")?.getattr("__basicsize__")?.extract()?;
    if size >= (STATE + 1) * size_of::<usize>() {
        return Ok(());
    }
    let version: String = greenlet.getattr("__version__")?.extract()?;
    Err(PyImportError::new_err(format!("greenlet {version} has another layout: pip install 'greenlet<4'")))
}

/// A greenlet that runs.
pub(crate) struct Running<'py> {
    pub(crate) greenlet: Bound<'py, PyAny>,
    /// The address of its state, which is not in the object itself.
    pub(crate) state: usize,
}

/// The running greenlet.
#[allow(unsafe_code)]
pub(crate) fn current(py: Python<'_>) -> PyResult<Running<'_>> {
    let functions = functions(py)?;
    // SAFETY: the function takes nothing, and returns a new reference or null with an exception. The fields of a greenlet
    // are in `greenlet.h`: the head of an object, a list of weak references, a dict, and the pointer to its state.
    unsafe {
        let greenlet = Bound::from_owned_ptr_or_err(py, (functions.current)())?;
        let state = *greenlet.as_ptr().cast::<usize>().add(STATE);
        Ok(Running { greenlet, state })
    }
}

/// Lets a greenlet run, and returns what this one is resumed with. arguments: what the other one gets; None: nothing.
#[allow(unsafe_code)]
pub(crate) fn switch<'py>(
    greenlet: &Bound<'py, PyAny>,
    arguments: Option<&Bound<'py, PyTuple>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = greenlet.py();
    let functions = functions(py)?;
    let arguments = arguments.map_or(null_mut(), Bound::as_ptr);
    // SAFETY: it checks that this is a greenlet, keeps its own references to the arguments, and returns a new reference or
    // null with an exception.
    unsafe { Bound::from_owned_ptr_or_err(py, (functions.switch)(greenlet.as_ptr(), arguments, null_mut())) }
}

/// The class that was looked at last, and whether its `switch` is greenlet's own.
#[derive(Default)]
pub(crate) struct LastClass(Option<(Py<PyType>, bool)>);

impl LastClass {
    /// Whether the waiter's class has greenlet's `switch`. None: another class was looked at last.
    pub(crate) fn has_greenlets_switch(&self, waiter: &Py<PyAny>) -> Option<bool> {
        let (class, has) = self.0.as_ref()?;
        (class.as_ptr() == class_of(waiter)).then_some(*has)
    }

    pub(crate) fn of(waiter: &Bound<'_, PyAny>) -> Self {
        let class = waiter.get_type();
        let has = is_greenlets_switch(&class).unwrap_or(false);
        Self(Some((class.unbind(), has)))
    }
}

fn is_greenlets_switch(class: &Bound<'_, PyType>) -> PyResult<bool> {
    let py = class.py();
    let switch = intern!(py, "switch");
    let greenlets = py.import("greenlet")?.getattr("greenlet")?.getattr(switch)?;
    Ok(class.getattr(switch)?.is(&greenlets))
}

#[allow(unsafe_code)]
fn class_of(object: &Py<PyAny>) -> *mut PyObject {
    // SAFETY: every object has a class.
    unsafe { pyo3::ffi::Py_TYPE(object.as_ptr()).cast() }
}
