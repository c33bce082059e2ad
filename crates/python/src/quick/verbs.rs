//! The verbs of `QuickCalls` as methods that take keyword arguments without a dict (`METH_FASTCALL | METH_KEYWORDS`, in
//! the stable ABI since 3.10). `PyO3` has that only for functions without `**kwargs`.

use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

use pyo3::ffi;
use pyo3::panic::PanicException;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::QuickCalls;
use super::arguments::{Arguments, Verb};

/// What the interpreter calls.
type Method = ffi::PyCFunctionFastWithKeywords;

/// Each verb, and what the interpreter reads its name and its signature from.
const VERBS: [(Verb, Method, &CStr, &CStr); 5] = [
    (Verb::Get, method::<0>, c"get", c"get($self, url, **kwargs)\n--\n\n"),
    (Verb::Post, method::<1>, c"post", c"post($self, url, data=None, json=None, **kwargs)\n--\n\n"),
    (Verb::Put, method::<2>, c"put", c"put($self, url, data=None, **kwargs)\n--\n\n"),
    (Verb::Patch, method::<3>, c"patch", c"patch($self, url, data=None, **kwargs)\n--\n\n"),
    (Verb::Delete, method::<4>, c"delete", c"delete($self, url, **kwargs)\n--\n\n"),
];

/// Puts the methods on the class.
#[allow(unsafe_code)]
pub(crate) fn add(py: Python<'_>) -> PyResult<()> {
    let class = py.get_type::<QuickCalls>();
    for (verb, function, name, signature) in VERBS {
        // Lives as long as the process: CPython keeps a pointer to it, and does not change it.
        let definition = Box::leak(Box::new(ffi::PyMethodDef {
            ml_name: name.as_ptr(),
            ml_meth: ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: function },
            ml_flags: ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
            ml_doc: signature.as_ptr(),
        }));
        // SAFETY: the class is a type, the definition is complete, and its flags say how its function is called.
        let method =
            unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyDescr_NewMethod(class.as_type_ptr(), definition)) }?;
        class.setattr(verb.method(), method)?;
    }
    Ok(())
}

/// The method of one verb.
///
/// # Safety
/// To be called by the interpreter, through a descriptor of `QuickCalls` with the flags above.
#[allow(unsafe_code)]
unsafe extern "C" fn method<const VERB: usize>(
    session: *mut ffi::PyObject,
    values: *const *mut ffi::PyObject,
    positional: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the same.
    unsafe { invoke(VERBS[VERB].0, session, values, positional, names) }
}

/// # Safety
/// As for `method`.
#[allow(unsafe_code)]
unsafe fn invoke(
    verb: Verb,
    session: *mut ffi::PyObject,
    values: *const *mut ffi::PyObject,
    positional: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    Python::attach(|py| {
        let call = || {
            // SAFETY: the descriptor has checked that `session` is a `QuickCalls`. `names` is a tuple or null. There
            // are as many values as `positional` says, then one for each name. The caller owns them all until this
            // function returns; while other greenlets run, its stack is put away, and nothing here reads them.
            let (session, names, value) = unsafe {
                let session = Borrowed::from_ptr(py, session).cast_unchecked::<QuickCalls>();
                let names = Borrowed::from_ptr_or_opt(py, names).map(|names| names.cast_unchecked::<PyTuple>());
                (session, names, |index| Borrowed::from_ptr(py, *values.add(index)))
            };
            super::call(
                &session,
                verb,
                &Arguments::sort(verb, &session, positional.cast_unsigned(), names, values.addr(), value)?,
            )
        };
        // A panic must not unwind into C.
        let result = catch_unwind(AssertUnwindSafe(call))
            .unwrap_or_else(|_| Err(PanicException::new_err("a bug in plimsoll: the call panicked")));
        match result {
            Ok(response) => response.into_ptr(),
            Err(error) => {
                error.restore(py);
                null_mut()
            }
        }
    })
}
