//! `@name` and `@name := value`. The planner binds the first with the variable's type when the statement begins; a
//! value of another type assigned since is converted.

use arrow_array::ArrayRef;
use mayfly_types::convert::{array_value, cast_value};
use mayfly_types::{Result, SqlType, TypeKind, Value};

use crate::scalar::Row;
use crate::scalar::facts::{Fact, Printed};
use crate::{Binding, Call, Coercibility, Signature, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["get_user_variable"], 1..=1, get_signature, get)
        .printed(Printed::Variable)
        .with(&[Fact::ReadsVariable])
        .volatile(),
    Row::new(&["set_user_variable"], 2..=2, set_signature, set)
        .printed(Printed::Assignment)
        .with(&[Fact::GivesArgument, Fact::SetsVariable])
        .volatile(),
];

fn get_signature(binding: &Binding<'_>) -> Result<Signature> {
    let types = vec![binding.arguments[0].ty.clone()];
    let result = SqlType::text(TypeKind::LongText, binding.session.collation_connection);
    Ok(Signature::new(types, result, true).with_coercibility(Coercibility::Implicit))
}

/// `@name`
fn get(call: &Call<'_>) -> Result<ArrayRef> {
    let ty = &call.signature.result;
    let name = name_of(call)?;
    let Some((own, value)) = call.context.user_variables.get(&name) else {
        return Ok(output::nulls(ty, call.rows));
    };
    let is_text = own.is_string() && ty.is_string() && own.collation == ty.collation;
    let is_same = own.kind == ty.kind && own.physical() == ty.physical();
    if is_same || is_text {
        return Ok(call.constant(&value));
    }
    let value = match value {
        // A variable's fraction is truncated where a column's is rounded.
        Value::Float(number) if ty.is_integer() => Value::Float(number.trunc()),
        value => value,
    };
    let value = cast_value(&value, &own, ty, &call.context.cast(""))?;
    Ok(call.constant(&value))
}

fn set_signature(binding: &Binding<'_>) -> Result<Signature> {
    let ty = stored_type(binding);
    let coercibility = if ty.is_string() {
        Coercibility::Implicit
    } else {
        Coercibility::Numeric
    };
    let types = vec![binding.arguments[0].ty.clone(), ty.clone()];
    let nullable = binding.arguments[1].nullable;
    Ok(Signature::new(types, ty, nullable).with_coercibility(coercibility))
}

/// `@name := value`
fn set(call: &Call<'_>) -> Result<ArrayRef> {
    let (name, values) = (name_of(call)?, call.unchanged(1));
    // Rows are assigned in order, and nothing reads between them.
    if let Some(last) = call.rows.checked_sub(1) {
        let (ty, value) = (call.signature.result.clone(), array_value(&values, last));
        call.context.user_variables.set(&name, ty, value)?;
    }
    Ok(values)
}

/// The stored type: variables hold integers, decimals, doubles and strings; everything else becomes text.
fn stored_type(binding: &Binding<'_>) -> SqlType {
    let ty = binding.arguments[1].ty;
    match ty.kind {
        TypeKind::Decimal | TypeKind::Double => ty.clone(),
        TypeKind::Float => SqlType::double(),
        TypeKind::Null => ty.clone(),
        TypeKind::Bit => SqlType::bigint_unsigned(),
        _ if ty.is_integer() => SqlType {
            length: ty.length,
            unsigned: ty.unsigned || ty.kind == TypeKind::Year,
            ..SqlType::bigint()
        },
        _ => SqlType {
            temporal_text: false,
            ..binding.text(1)
        },
    }
}

fn name_of(call: &Call<'_>) -> Result<String> {
    let names = call.texts(0)?;
    let name = names.get(0).unwrap_or_default();
    Ok(String::from_utf8_lossy(name).into_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::Int64Array;
    use mayfly_types::{SqlType, Value};

    use crate::scalar::by_name;
    use crate::testing::{check, context, i, show, t};
    use crate::{Column, Signature};

    #[test]
    fn values() {
        check(&[
            ("get_user_variable", &[t("nobody")], "NULL"),
            ("set_user_variable", &[t("a"), i(5)], "5"),
            ("set_user_variable", &[t("a"), t("x")], "x"),
        ]);
    }

    #[test]
    fn the_last_row_stays_and_takes_the_type_that_is_asked_for() {
        let context = context();
        let name = Column::Constant(Value::from("Total"));
        let words = SqlType::varchar(5, context.session.collation_connection);
        let signature = |ty: SqlType| Signature::new(vec![words.clone(), ty.clone()], ty, true);
        let values = Column::Array(Arc::new(Int64Array::from(vec![1, 2, 3])));
        let arguments = [name, values];
        let set = by_name("set_user_variable").unwrap();
        set.evaluate(&arguments, 3, &signature(SqlType::bigint()), &context)
            .unwrap();
        let get = by_name("get_user_variable").unwrap();
        let read = |ty: SqlType| {
            let signature = signature(ty.clone());
            let array = get.evaluate(&arguments[..1], 2, &signature, &context);
            show(&array.unwrap(), &ty, 1)
        };
        assert_eq!(read(SqlType::bigint()), "3");
        assert_eq!(read(words.clone()), "3");
        assert_eq!(read(SqlType::double()), "3");
    }
}
