//! STRCMP(a, b): -1, 0 or 1 by the collation. FIND_IN_SET(text, list) and FIELD(x, y, …): the position of an equal
//! text or value, from 1.

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_buffer::BooleanBuffer;
use mayfly_types::{PhysicalType, Result, SqlType};

use crate::choice::is_null;
use crate::comparison::{compare_texts, text_equals};
use crate::scalar::Row;
use crate::scalar::facts::{Fact, ParameterType, Parameters};
use crate::scalar::operators::numeric;
use crate::{Binding, Call, Signature, derive, input, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["strcmp"], 2..=2, strcmp_signature, strcmp).with(&[Fact::StopsAtNull]),
    Row::new(&["find_in_set"], 2..=2, find_in_set_signature, find_in_set)
        .with(&[Fact::StopsAtNull]),
    Row::new(&["field"], 2..=usize::MAX, field_signature, field)
        .parameters(Parameters::OfOthers(ParameterType::Text))
        .lazy(not_found),
];

fn strcmp_signature(binding: &Binding<'_>) -> Result<Signature> {
    binding.compared_texts(derive::int_of_width(2))
}

fn strcmp(call: &Call<'_>) -> Result<ArrayRef> {
    let (left, right, collation) = (call.texts(0)?, call.texts(1)?, call.collation(0));
    output::ints(call.rows, |row| {
        let pair = left.get(row).zip(right.get(row));
        Ok(pair.map(|(a, b)| compare_texts(a, b, collation) as i64))
    })
}

fn find_in_set_signature(binding: &Binding<'_>) -> Result<Signature> {
    binding.compared_texts(derive::int_of_width(11))
}

/// FIND_IN_SET(text, list): the list has strings separated by commas.
fn find_in_set(call: &Call<'_>) -> Result<ArrayRef> {
    let (texts, lists, collation) = (call.texts(0)?, call.texts(1)?, call.collation(0));
    output::ints(call.rows, |row| {
        let (Some(text), Some(list)) = (texts.get(row), lists.get(row)) else {
            return Ok(None);
        };
        if list.is_empty() || text.contains(&b',') {
            return Ok(Some(0));
        }
        let found = list
            .split(|byte| *byte == b',')
            .position(|member| text_equals(member, text, collation));
        Ok(Some(found.map_or(0, |index| index as i64 + 1)))
    })
}

fn field_signature(binding: &Binding<'_>) -> Result<Signature> {
    let mut types = binding.arguments.iter().map(|argument| argument.ty);
    // Compared as strings when there is no number among them, as integers when all are, as doubles otherwise.
    let types = if !types.clone().any(SqlType::is_numeric) {
        binding.searched_texts()?
    } else if types.all(numeric::is_integer) {
        binding.each(|argument| numeric::integer_argument(argument.ty))
    } else {
        vec![SqlType::double(); binding.arguments.len()]
    };
    Ok(Signature::new(types, derive::int_of_width(11), false))
}

fn field(call: &Call<'_>) -> Result<ArrayRef> {
    let ty = call.ty(0);
    match ty.physical() {
        PhysicalType::Bytes => {
            let texts = call.all(0, input::texts)?;
            let equals = |a, b| text_equals(a, b, ty.collation);
            output::ints(call.rows, |row| {
                Ok(Some(position(texts.iter().map(|it| it.get(row)), equals)))
            })
        }
        PhysicalType::Float64 => {
            let values = call.all(0, input::floats)?;
            output::ints(call.rows, |row| {
                Ok(Some(position(
                    values.iter().map(|it| it.get(row)),
                    |a, b| a == b,
                )))
            })
        }
        _ => {
            let values = call.all(0, input::any_ints)?;
            output::ints(call.rows, |row| {
                Ok(Some(position(
                    values.iter().map(|it| it.get(row)),
                    |a, b| a == b,
                )))
            })
        }
    }
}

/// The rows whose first value equals none of the values so far.
fn not_found(call: &Call<'_>) -> Result<BooleanBuffer> {
    let (found, wanted) = (field(call)?, &call.arguments[0]);
    let found = found.as_primitive::<Int64Type>();
    Ok(BooleanBuffer::collect_bool(call.rows, |row| {
        found.value(row) == 0 && !is_null(wanted, row)
    }))
}

/// The position, from 1, of the first value among the others; 0 if it is absent.
fn position<T: Copy>(
    mut values: impl Iterator<Item = Option<T>>,
    equals: impl Fn(T, T) -> bool,
) -> i64 {
    let Some(Some(wanted)) = values.next() else {
        return 0;
    };
    values
        .position(|value| value.is_some_and(|value| equals(value, wanted)))
        .map_or(0, |index| index as i64 + 1)
}
