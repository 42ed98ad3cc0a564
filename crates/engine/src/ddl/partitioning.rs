//! Partition values in a definition.

use mayfly_syntax::ast::{Expr, PartitionValues, Partitioning, Value as Literal};
use mayfly_types::Value;

use crate::binding::expressions;
use crate::session::StatementContext;

/// The clause with its partition values computed, where they are integers.
pub(crate) fn computed(
    context: &StatementContext<'_>,
    partitioning: &Partitioning,
) -> Partitioning {
    let mut partitioning = partitioning.clone();
    let compute = |value: &mut Expr| {
        let number = match expressions::evaluate_in_definition(context, value) {
            Ok((Value::Int(number), _)) => number.to_string(),
            Ok((Value::UInt(number), _)) => number.to_string(),
            _ => return,
        };
        *value = Expr::Value(Literal::Number(number));
    };
    for definition in &mut partitioning.definitions {
        match &mut definition.values {
            Some(PartitionValues::LessThan(bounds)) => {
                bounds.iter_mut().flatten().for_each(compute)
            }
            Some(PartitionValues::In(values)) => values.iter_mut().flatten().for_each(compute),
            None => {}
        }
    }
    partitioning
}
