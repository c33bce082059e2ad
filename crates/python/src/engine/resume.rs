//! Resumes who waits: greenlets, without a look at what each of them could have as its own `switch`.

use std::ptr::null_mut;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use pyo3::{ffi, intern};

/// The `switch` of greenlets.
static SWITCH: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// The class that was resumed last, and whether its `switch` is that of greenlets.
#[derive(Default)]
pub(super) struct Resume(Option<(Py<PyType>, bool)>);

impl Resume {
    /// Calls `waiter.switch(reply)`.
    #[allow(unsafe_code)]
    pub(super) fn switch<'py>(
        &mut self,
        waiter: &Bound<'py, PyAny>,
        reply: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = waiter.py();
        let switch = SWITCH.get_or_try_init(py, || Ok::<_, PyErr>(greenlet_switch(py)?.unbind()))?;
        if !self.is_greenlet(waiter, switch) {
            return waiter.call_method1(intern!(py, "switch"), (reply,));
        }
        // SAFETY: all three are objects that live longer than the call, and a null ends the arguments.
        unsafe {
            let end = null_mut::<ffi::PyObject>();
            let result = ffi::PyObject_CallFunctionObjArgs(switch.as_ptr(), waiter.as_ptr(), reply.as_ptr(), end);
            Bound::from_owned_ptr_or_err(py, result)
        }
    }

    fn is_greenlet(&mut self, waiter: &Bound<'_, PyAny>, switch: &Py<PyAny>) -> bool {
        match &self.0 {
            Some((class, is_greenlet)) if class.as_ptr() == waiter.get_type_ptr().cast() => *is_greenlet,
            _ => {
                let class = waiter.get_type();
                let is_greenlet = class.getattr(intern!(waiter.py(), "switch")).is_ok_and(|own| own.is(switch));
                self.0 = Some((class.unbind(), is_greenlet));
                is_greenlet
            }
        }
    }
}

fn greenlet_switch(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    py.import("greenlet")?.getattr("greenlet")?.getattr(intern!(py, "switch"))
}
