//! MySQL's values: types, values, batches of values, character sets and collations, exact numbers,
//! temporal values, conversions, and the table of errors.
//!
//! This crate knows no query. Operators pass each other [`Batch`]es of Arrow arrays in one of the
//! few [`PhysicalType`]s; the [`SqlType`] beside each says how to read it.

pub mod batch;
pub mod charset;
pub mod coded;
pub mod collation;
pub mod common_type;
pub mod convert;
pub mod decimal;
mod declared_bytes;
pub mod diagnostics;
pub mod error;
pub mod geometry;
mod index_method;
pub mod interrupt;
pub mod json;
mod printable;
mod purpose;
pub mod pushdown;
pub mod selection;
mod session_parameters;
pub mod sql_mode;
pub mod sql_type;
pub mod stage;
pub mod temporal;
pub mod typed_array;
pub mod value;
pub mod vector;

pub use batch::Batch;
pub use charset::Charset;
pub use collation::{Collation, CollationId};
pub use decimal::Decimal;
pub use diagnostics::{Condition, Diagnostics, Level, Refusal};
pub use error::{Error, ErrorCode, Result};
pub use geometry::GeometryKind;
pub use index_method::IndexMethod;
pub use interrupt::{Checkpoint, Interrupt};
pub use printable::{printable, printable_lines};
pub use purpose::Purpose;
pub use pushdown::{OrderColumn, TermOperator, TermShape, TermSupport};
pub use selection::Selection;
pub use session_parameters::SessionParameters;
pub use sql_mode::SqlMode;
pub use sql_type::{PhysicalType, SqlType, TypeKind};
pub use stage::{Stage, Stages};
pub use value::Value;
