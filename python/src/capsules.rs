//! Arrow's C data interface in capsules of Python.
//!
//! A capsule owns a struct of C with a function that frees it. Whoever takes the content leaves an empty struct behind, so that
//! the capsule frees nothing. Buffers are shared, not copied.
//!
//! <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>

#![expect(unsafe_code, reason = "structs of C in capsules")]

use std::ffi::CStr;

use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, Schema};
use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";

/// The stream of a reader, in a capsule.
pub(crate) fn of_reader(
    py: Python<'_>,
    reader: impl RecordBatchReader + Send + 'static,
) -> PyResult<Bound<'_, PyCapsule>> {
    let stream = FFI_ArrowArrayStream::new(Box::new(reader));
    PyCapsule::new_with_value(py, stream, STREAM)
}

/// The stream that an object gives (`__arrow_c_stream__`).
pub(crate) fn stream(object: &Bound<'_, PyAny>) -> PyResult<RecordBatchStreamReader> {
    let capsule = object.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast::<PyCapsule>()?;
    let content = capsule.pointer_checked(Some(STREAM))?.cast();
    // SAFETY: a capsule of this name holds such a struct, valid or empty, and lives until the end of this function. The
    // struct is moved out and an empty one left in its place; an empty one is an error.
    let reader = unsafe { RecordBatchStreamReader::from_raw(content.as_ptr()) };
    reader.map_err(|error| wrong(&error))
}

/// The schema that an object gives (`__arrow_c_schema__`).
pub(crate) fn schema(object: &Bound<'_, PyAny>) -> PyResult<Schema> {
    let capsule = object.call_method0("__arrow_c_schema__")?;
    let capsule = capsule.cast::<PyCapsule>()?;
    let content = capsule
        .pointer_checked(Some(SCHEMA))?
        .cast::<FFI_ArrowSchema>();
    // SAFETY: a capsule of this name holds such a struct, and lives until the end of this function; it is only read.
    let content = unsafe { content.as_ref() };
    Schema::try_from(content).map_err(|error| wrong(&error))
}

/// Runs work with Python's lock where another library calls a stream's functions: it may have released the lock of a thread
/// on whose stack pyo3 has taken it, which pyo3 cannot know. `None` when Python has ended.
pub(crate) fn called_from_c<T>(work: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    /// The lock, until this is dropped.
    struct Ensured(ffi::PyGILState_STATE);

    impl Drop for Ensured {
        fn drop(&mut self) {
            // SAFETY: the state is that of the call in this thread that this ends, and all later ones have ended.
            unsafe { ffi::PyGILState_Release(self.0) };
        }
    }

    // SAFETY: the call may be made at any time.
    if unsafe { ffi::Py_IsInitialized() } == 0 {
        return None;
    }
    // SAFETY: there is an interpreter; a thread may hold the lock or not.
    let _ensured = Ensured(unsafe { ffi::PyGILState_Ensure() });
    Some(Python::attach(work))
}

fn wrong(error: &ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
