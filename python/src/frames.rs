//! Results as streams of Arrow's record batches.
//!
//! DECIMAL of more than 38 digits, as SUM() of BIGINT has, becomes Decimal128(38, s) if all values fit, for Polars and DuckDB
//! cannot read Decimal256; whoever can asks for it.

use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::types::Decimal256Type;
use arrow_array::{
    Array, ArrayRef, Decimal128Array, RecordBatch, RecordBatchOptions, RecordBatchReader,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use mayfly::{Column, Error, codes};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::capsules;
use crate::database::lock;
use crate::errors::{self, Class};
use crate::rows::Rows;
use crate::session::Session;
use crate::watched::release;

/// The digits of a Decimal128.
const DIGITS: u8 = 38;

/// The exception that has ended a stream: an error of C has room for its text alone.
type Failure = Arc<Mutex<Option<PyErr>>>;

/// The rows that are left of a result, which one reader takes.
#[pyclass(frozen, module = "mayfly")]
pub(crate) struct Stream {
    batches: Mutex<Option<Batches>>,
    failure: Failure,
}

/// The record batches of a result, whose functions other libraries call; `None` once they are released.
struct Released(Option<Batches>);

/// The record batches of a result.
struct Batches {
    rows: Rows,
    session: Arc<Session>,
    /// The schema as the engine has it, and as it is given.
    schema: SchemaRef,
    given: SchemaRef,
    failure: Failure,
}

impl Stream {
    /// The rows of a result of these columns; `is_wide` leaves Decimal256 as it is.
    pub(crate) fn new(
        columns: impl Iterator<Item = Column>,
        rows: Rows,
        session: Arc<Session>,
        is_wide: bool,
    ) -> Self {
        let fields: Vec<Field> = columns.map(|column| column.field()).collect();
        let narrow = |field: &Field| match field.data_type() {
            DataType::Decimal256(_, scale) if !is_wide => {
                let narrow = DataType::Decimal128(DIGITS, *scale);
                field.clone().with_data_type(narrow)
            }
            _ => field.clone(),
        };
        let given = Schema::new(fields.iter().map(narrow).collect::<Vec<_>>());
        let failure = Failure::default();
        Self {
            batches: Mutex::new(Some(Batches {
                rows,
                session,
                schema: Arc::new(Schema::new(fields)),
                given: Arc::new(given),
                failure: Arc::clone(&failure),
            })),
            failure,
        }
    }

    /// What a function of the module `_frames` makes of a stream.
    ///
    /// # Errors
    /// The exception of the stream, where the library that reads it knows only its text.
    pub(crate) fn read_by<'py>(
        self,
        py: Python<'py>,
        function: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let failure = Arc::clone(&self.failure);
        let read = py.import("mayfly._frames")?.getattr(function)?;
        read.call1((self,))
            .map_err(|error| lock(&failure).take().unwrap_or(error))
    }
}

#[pymethods]
impl Stream {
    /// The rows in a capsule of Arrow's.
    #[pyo3(name = "__arrow_c_stream__", signature = (requested_schema = None))]
    pub(crate) fn capsule<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        match lock(&self.batches).take() {
            Some(batches) => capsules::of_reader(py, Released(Some(batches))),
            None => {
                let why = "the rows of the result were taken already";
                Err(errors::of_package(py, Class::Programming, why))
            }
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        release(lock(&self.batches).take());
    }
}

impl Batches {
    /// The next record batch; `None` after the last, and when Python has ended.
    fn read(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let next = capsules::called_from_c(|py| {
            let next = self.rows.batch(py, &self.session);
            let next = next.map(|next| next.map(|(batch, given)| batch.from(given)));
            next.map_err(|error| self.failed(py, error))
        });
        let Some(batch) = next.transpose()?.flatten() else {
            return Ok(None);
        };
        self.rows.pass();
        // Without Python's lock, unless the caller holds it.
        let made = batch.record_batch().and_then(|made| self.narrowed(made));
        made.map(Some).map_err(|error| {
            let failed =
                capsules::called_from_c(|py| self.failed(py, errors::of_engine(py, &error)));
            failed.unwrap_or_else(|| ArrowError::ExternalError(error.to_string().into()))
        })
    }

    /// Keeps an exception, and gives its text.
    fn failed(&self, py: Python<'_>, error: PyErr) -> ArrowError {
        let text = error.value(py).to_string();
        *lock(&self.failure) = Some(error);
        ArrowError::ExternalError(text.into())
    }

    /// A record batch in the schema that is given.
    fn narrowed(&self, made: RecordBatch) -> mayfly::Result<RecordBatch> {
        if self.given == self.schema {
            return Ok(made);
        }
        let columns = made.columns().iter().zip(self.given.fields());
        let columns = columns.map(
            |(array, field)| match (array.data_type(), field.data_type()) {
                (DataType::Decimal256(..), DataType::Decimal128(digits, scale)) => {
                    narrow(array, field.name(), *digits, *scale)
                }
                _ => Ok(Arc::clone(array)),
            },
        );
        let columns = columns.collect::<mayfly::Result<_>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(made.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(&self.given), columns, &options)
            .map_err(Error::internal)
    }
}

/// A column of Decimal256 as one of Decimal128.
fn narrow(array: &ArrayRef, name: &str, digits: u8, scale: i8) -> mayfly::Result<ArrayRef> {
    let greatest = 10_i128.pow(digits.into());
    let numbers = array.as_primitive::<Decimal256Type>().iter();
    let numbers = numbers.map(|number| match number.map(|it| it.to_i128()) {
        None => Ok(None),
        Some(Some(number)) if number.abs() < greatest => Ok(Some(number)),
        Some(_) => {
            let what = format!(
                "column '{name}' has a number of more than {digits} digits: read it with decimal256=True, or as CAST(… AS CHAR)"
            );
            Err(codes::ER_UNKNOWN_ERROR.with(&[&what]))
        }
    });
    let numbers: Decimal128Array = numbers.collect::<mayfly::Result<_>>()?;
    let typed = numbers.with_precision_and_scale(digits, scale);
    Ok(Arc::new(typed.map_err(Error::internal)?))
}

impl Iterator for Released {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.as_mut()?.read().transpose()
    }
}

impl RecordBatchReader for Released {
    fn schema(&self) -> SchemaRef {
        let known = self.0.as_ref().map(|batches| Arc::clone(&batches.given));
        known.unwrap_or_else(|| Arc::new(Schema::empty()))
    }
}

impl Drop for Released {
    fn drop(&mut self) {
        // The session and the exception are objects of Python's.
        capsules::called_from_c(|_| drop(self.0.take()));
    }
}

impl Drop for Batches {
    fn drop(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        rows.end(&self.session);
    }
}
