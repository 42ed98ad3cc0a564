//! The common type of several values: COALESCE, IF, GREATEST and their kind (the manual, "Flow Control Functions").

use arrow_array::{Array, ArrayRef};
use arrow_select::interleave::interleave;
use mayfly_types::common_type::{Alternatives, aggregate_types, of_texts};
use mayfly_types::{CollationId, Error, Result, SqlType, TypeKind};

pub(crate) use mayfly_types::common_type::as_value;

use crate::{Argument, Binding, Call, Coercibility, Column, derive, output};

/// The type that holds the values of all arguments, and its coercibility.
pub(crate) fn choice_type(binding: &Binding<'_>) -> Result<(SqlType, Coercibility)> {
    let choices = binding.arguments.iter();
    let typed: Vec<Argument<'_>> = choices
        .filter(|choice| choice.ty.kind != TypeKind::Null)
        .copied()
        .collect();
    if typed.is_empty() {
        return Ok((SqlType::null(), Coercibility::Ignorable));
    }
    let types = typed.iter().map(|choice| choice.ty);
    let mut ty = match texts_of_bytes(&typed, binding)? {
        Some(collation) => {
            let types: Vec<_> = types.map(|ty| of_texts(ty, collation)).collect();
            aggregate_types(&types, Alternatives::Function)
        }
        None => aggregate_types(types, Alternatives::Function),
    };
    let is_text =
        ty.is_string() || matches!(ty.kind, TypeKind::Enum | TypeKind::Set | TypeKind::Json);
    if !is_text {
        return Ok((ty, Coercibility::Numeric));
    }
    let (collation, coercibility) =
        derive::aggregate_collation(&typed, binding.session, binding.name)?;
    if !ty.is_string() {
        return Ok((ty, coercibility));
    }
    // A BIT among the choices makes the result binary, whatever its strings are.
    if ty.collation != CollationId::BINARY {
        ty = match ty.kind {
            TypeKind::VarChar => derive::string_type(u64::from(ty.length), collation),
            _ => derive::with_collation(&ty, collation),
        };
    }
    Ok((ty, coercibility))
}

/// The collation of the texts among the choices, where it takes precedence over binary ones: for binary literals
/// beside columns.
fn texts_of_bytes(typed: &[Argument<'_>], binding: &Binding<'_>) -> Result<Option<CollationId>> {
    let has_bits = typed.iter().any(|choice| choice.ty.kind == TypeKind::Bit);
    if has_bits || !typed.iter().any(|choice| choice.ty.is_binary_string()) {
        return Ok(None);
    }
    let (collation, _) = derive::aggregate_collation(typed, binding.session, binding.name)?;
    if collation == CollationId::BINARY {
        return Ok(None);
    }
    Ok(Some(collation))
}

/// Selects for each row the value of one of the arguments from `first` on, which have one type, or NULL.
pub(crate) fn pick(
    call: &Call<'_>,
    first: usize,
    mut choose: impl FnMut(usize) -> Option<usize>,
) -> Result<ArrayRef> {
    let (columns, ty) = (&call.arguments[first..], call.ty(first));
    let null = output::nulls(ty, 1);
    let arrays: Vec<ArrayRef> = columns
        .iter()
        .map(|column| match column {
            Column::Array(array) => array.clone(),
            Column::Constant(value) => output::repeat(value, ty, 1),
        })
        .collect();
    let mut sources: Vec<&dyn Array> = arrays.iter().map(|array| array.as_ref()).collect();
    sources.push(null.as_ref());
    let positions: Vec<(usize, usize)> = (0..call.rows)
        .map(|row| match choose(row) {
            Some(index) if matches!(columns.get(index), Some(Column::Array(_))) => (index, row),
            Some(index) if index < columns.len() => (index, 0),
            _ => (columns.len(), 0),
        })
        .collect();
    interleave(&sources, &positions).map_err(Error::internal)
}

/// Whether a row of a column is NULL.
pub(crate) fn is_null(column: &Column, row: usize) -> bool {
    match column {
        Column::Array(array) => array.is_null(row),
        Column::Constant(value) => value.is_null(),
    }
}
