//! Calls functions the way the planner and the executor do, for tables of expected values.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BinaryViewArray, Float64Array};
use arrow_select::concat::concat;
use mayfly_types::decimal::{Decimal, parse_decimal};
use mayfly_types::{CollationId, Diagnostics, PhysicalType, SqlMode, SqlType, TypeKind, Value};

use crate::{Argument, Coercibility, Column, EvaluationContext, SignatureContext, input, output};

/// A literal: its value and type.
pub(crate) type Literal = (Value, SqlType);

/// NULL
pub(crate) const NULL: fn() -> Literal = || (Value::Null, SqlType::null());
