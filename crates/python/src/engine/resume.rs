//! Resumes who waits: greenlets, without a look at what each of them could have as its own `switch`.

use std::ptr::null_mut;

use pyo3::types::PyType;
use pyo3::{ffi, intern, prelude::*};

/// The class that was resumed last, if its `switch` is that of greenlet.
#[derive(Default)]
pub(super) struct Resume(Option<(Py<PyType>, Py<PyAny>)>);

impl Resume {
    /// Calls `waiter.switch(reply)`.
    #[allow(unsafe_code)]
    pub(super) fn switch<'py>(
        &mut self,
        waiter: &Bound<'py, PyAny>,
        reply: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(method) = self.method(waiter)? else {
            return waiter.call_method1(intern!(waiter.py(), "switch"), (reply,));
        };
        // SAFETY: all three are objects that live longer than the call, and a null ends the arguments.
        unsafe {
            let end = null_mut::<ffi::PyObject>();
            let result = ffi::PyObject_CallFunctionObjArgs(method.as_ptr(), waiter.as_ptr(), reply.as_ptr(), end);
            Bound::from_owned_ptr_or_err(waiter.py(), result)
        }
    }

    /// The `switch` of a greenlet, to be called with it; None: the waiter is another object.
    fn method(&mut self, waiter: &Bound<'_, PyAny>) -> PyResult<Option<&Py<PyAny>>> {
        if self.0.as_ref().is_none_or(|(known, _)| known.as_ptr() != waiter.get_type_ptr().cast()) {
            let (py, class) = (waiter.py(), waiter.get_type());
            let switch = py.import("greenlet")?.getattr("greenlet")?.getattr(intern!(py, "switch"))?;
            if !class.getattr(intern!(py, "switch"))?.is(&switch) {
                return Ok(None);
            }
            self.0 = Some((class.unbind(), switch.unbind()));
        }
        Ok(self.0.as_ref().map(|(_, switch)| switch))
    }
}
