//! Aggregate calls created by rules.

use mayfly_functions::aggregate;
use mayfly_types::{SqlType, Value};

use crate::bind::argument;
use crate::options::PlanOptions;
use crate::tree::expression::Expression;
use crate::tree::physical::AggregateCall;

/// ANY_VALUE() of a value.
pub(super) fn any_value(value: &Expression, options: &PlanOptions) -> Option<AggregateCall> {
    call("any_value", value.clone(), options)
}

/// COUNT(*)
pub(super) fn row_count(options: &PlanOptions) -> Option<AggregateCall> {
    let row = Expression::literal(Value::Int(0), SqlType::bigint());
    call("count", row, options)
}

pub(super) fn call(name: &str, value: Expression, options: &PlanOptions) -> Option<AggregateCall> {
    let function = aggregate::by_name(name)?;
    let signature = function
        .signature(&[argument(&value)], &options.session)
        .ok()?;
    Some(AggregateCall {
        function,
        signature,
        arguments: vec![value],
        options: Vec::new(),
        distinct: false,
        order_by: Vec::new(),
        merges: false,
        text: format!("{name}()"),
    })
}
