//! `@name` and `@name := value`. The planner calls the first with the type that the variable has
//! when the statement begins; a value of another type that it is given meanwhile is converted.

use arrow_array::ArrayRef;
use mayfly_types::convert::{array_value, cast_value};
use mayfly_types::{Result, SqlType, TypeKind, Value};

use crate::scalar::ScalarKernel;
use crate::{
    Argument, Coercibility, Column, EvaluationContext, Signature, SignatureContext, derive, input,
    output,
};

/// `@name`
#[derive(Debug)]
pub(crate) struct GetUserVariable;

impl ScalarKernel for GetUserVariable {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let result = SqlType::text(TypeKind::LongText, context.collation_connection);
        Ok(Signature::new(vec![arguments[0].ty.clone()], result, true)
            .with_coercibility(Coercibility::Implicit))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let ty = &signature.result;
        let name = name_of(&arguments[0])?;
        let Some((own, value)) = context.user_variables.get(&name) else {
            return Ok(output::nulls(ty, row_count));
        };
        let is_text = own.is_string() && ty.is_string() && own.collation == ty.collation;
        let is_same = own.kind == ty.kind && own.physical() == ty.physical();
        let value = if is_same || is_text {
            value
        } else {
            cast_value(&value, &own, ty, &context.cast(""))?
        };
        Ok(output::repeat(&value, ty, row_count))
    }
}

/// `@name := value`
#[derive(Debug)]
pub(crate) struct SetUserVariable;

impl ScalarKernel for SetUserVariable {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let ty = kept_type(&arguments[1], context);
        let coercibility = if ty.is_string() {
            Coercibility::Implicit
        } else {
            Coercibility::Numeric
        };
        Ok(Signature::new(
            vec![arguments[0].ty.clone(), ty.clone()],
            ty,
            arguments[1].nullable,
        )
        .with_coercibility(coercibility))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let ty = &signature.result;
        let name = name_of(&arguments[0])?;
        let values = match &arguments[1] {
            Column::Array(array) => array.clone(),
            Column::Constant(value) => output::repeat(value, ty, row_count),
        };
        // Rows are assigned in order, and nobody looks between them.
        if let Some(last) = row_count.checked_sub(1) {
            let value: Value = array_value(&values, last);
            context.user_variables.set(&name, ty.clone(), value)?;
        }
        Ok(values)
    }
}

/// Variables keep integers, decimals, doubles and strings; everything else becomes text.
fn kept_type(value: &Argument<'_>, context: &SignatureContext) -> SqlType {
    let ty = value.ty;
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
        _ => derive::text_of(value, context),
    }
}

fn name_of(column: &Column) -> Result<String> {
    let names = input::texts(column)?;
    let name = names.get(0).unwrap_or_default();
    Ok(String::from_utf8_lossy(name).into_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::Int64Array;
    use mayfly_types::{SqlType, Value};

    use super::{GetUserVariable, SetUserVariable};
    use crate::scalar::ScalarKernel;
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
        let words = SqlType::varchar(5, context.collation_connection);
        let signature = |ty: SqlType| Signature::new(vec![words.clone(), ty.clone()], ty, true);
        let values = Column::Array(Arc::new(Int64Array::from(vec![1, 2, 3])));
        let arguments = [name.clone(), values];
        SetUserVariable
            .evaluate(&arguments, 3, &signature(SqlType::bigint()), &context)
            .unwrap();
        let read = |ty: SqlType| {
            let array = GetUserVariable.evaluate(
                std::slice::from_ref(&name),
                2,
                &signature(ty.clone()),
                &context,
            );
            show(&array.unwrap(), &ty, 1)
        };
        assert_eq!(read(SqlType::bigint()), "3");
        assert_eq!(read(words.clone()), "3");
        assert_eq!(read(SqlType::double()), "3");
    }
}
