//! INTERVAL(n, a, b, …): the number of ascending bounds that are at most n.

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_buffer::BooleanBuffer;
use mayfly_types::common_type::wider_decimal;
use mayfly_types::decimal::decimal_of_numeric;
use mayfly_types::{PhysicalType, Result, SqlType, TypeKind};

use crate::scalar::Row;
use crate::scalar::facts::{ParameterType, Parameters};
use crate::scalar::operators::numeric;
use crate::{Binding, Call, Signature, derive, input, output};

pub(crate) const FUNCTIONS: &[Row] =
    &[Row::new(&["interval"], 2..=usize::MAX, signature, evaluate)
        .parameters(Parameters::OfOthers(ParameterType::Text))
        .lazy(reached_all)];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let mut types = binding.arguments.iter().map(|argument| argument.ty);
    let types = if types.clone().all(numeric::is_integer) {
        types.map(numeric::integer_argument).collect()
    } else if types.all(is_exact) {
        let types = binding.each(|argument| decimal_of_numeric(argument.ty));
        let all = types.into_iter().reduce(|a, b| wider_decimal(&a, &b));
        vec![all.unwrap_or_else(SqlType::double); binding.arguments.len()]
    } else {
        vec![SqlType::double(); binding.arguments.len()]
    };
    Ok(Signature::new(types, derive::int_of_width(2), false))
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    match call.ty(0) {
        ty if ty.physical() == PhysicalType::Float64 => {
            let values = call.all(0, input::floats)?;
            output::ints(call.rows, |row| {
                Ok(Some(reached(values.iter().map(|value| value.get(row)))))
            })
        }
        ty if ty.kind == TypeKind::Decimal => {
            let values = call.all(0, |column| input::decimals(column, ty.decimals))?;
            output::ints(call.rows, |row| {
                Ok(Some(reached(values.iter().map(|value| value.get(row)))))
            })
        }
        _ => {
            let values = call.all(0, input::any_ints)?;
            output::ints(call.rows, |row| {
                Ok(Some(reached(values.iter().map(|value| value.get(row)))))
            })
        }
    }
}

/// The rows in which no bound so far is larger.
fn reached_all(call: &Call<'_>) -> Result<BooleanBuffer> {
    let bounds = call.arguments.len() as i64 - 1;
    let reached = evaluate(call)?;
    let reached = reached.as_primitive::<Int64Type>();
    Ok(BooleanBuffer::collect_bool(call.rows, |row| {
        reached.value(row) == bounds
    }))
}

/// Whether a DECIMAL holds all values of a type.
fn is_exact(ty: &SqlType) -> bool {
    numeric::is_integer(ty) || ty.kind == TypeKind::Decimal
}

/// The number of bounds before the first larger one; a NULL bound counts.
fn reached<T: PartialOrd>(mut values: impl Iterator<Item = Option<T>>) -> i64 {
    let Some(Some(wanted)) = values.next() else {
        return -1;
    };
    values
        .take_while(|bound| bound.as_ref().is_none_or(|bound| *bound <= wanted))
        .count() as i64
}
