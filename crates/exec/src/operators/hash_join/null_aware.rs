//! `NOT IN` of several columns, or with a further condition.

use std::sync::Arc;

use mayfly_plan::expression::SubqueryKind;
use mayfly_plan::logical::visit_expression_mut;
use mayfly_plan::physical::JoinKind;
use mayfly_plan::{Comparison, Expression, ExpressionKind};

use super::specification::Specification;
use crate::context::Node;
use crate::operators::nested_loop;

/// Plans `(a, b) NOT IN (SELECT c, d …)` as a nested loop: a row with a NULL in one column may still differ for sure in
/// another, which one hash lookup cannot show. A left row comes out when no right row's comparison is true or unknown.
pub(super) fn by_nested_loop(
    specification: &Specification<'_>,
    left: Arc<dyn Node>,
    right: Arc<dyn Node>,
) -> Arc<dyn Node> {
    let boolean = |kind| Expression::predicate(kind, true);
    let offset = specification.left.len();
    let equal = specification.keys.iter().map(|key| {
        boolean(ExpressionKind::Compare {
            comparison: if key.null_safe {
                Comparison::NullSafeEqual
            } else {
                Comparison::Equal
            },
            left: Box::new(key.left.clone()),
            right: Box::new(shifted(&key.right, offset)),
        })
    });
    let all_equal = boolean(ExpressionKind::And(equal.collect()));
    let is_false = boolean(ExpressionKind::IsTruth(Box::new(all_equal), Some(false)));
    let not_false = boolean(ExpressionKind::Not(Box::new(is_false)));
    let mut terms: Vec<_> = specification.residual.cloned().into_iter().collect();
    terms.push(not_false);
    nested_loop::build(
        JoinKind::Anti,
        left,
        right,
        specification.right,
        Some(&boolean(ExpressionKind::And(terms))),
        specification.temporary,
    )
}

/// The expression over rows that have `offset` more columns before its own.
fn shifted(expression: &Expression, offset: usize) -> Expression {
    let mut expression = expression.clone();
    shift(&mut expression, offset);
    expression
}

fn shift(expression: &mut Expression, offset: usize) {
    visit_expression_mut(expression, &mut |inner| {
        match &mut inner.kind {
            ExpressionKind::Column(column) => *column += offset,
            // The subquery is shared, and so not walked into.
            ExpressionKind::Subquery(subquery) => {
                let subquery = Arc::make_mut(subquery);
                for (_, expression) in &mut subquery.parameters {
                    shift(expression, offset);
                }
                if let SubqueryKind::Quantified { left, .. } | SubqueryKind::Row { left, .. } =
                    &mut subquery.kind
                {
                    left.iter_mut().for_each(|e| shift(e, offset));
                }
            }
            _ => {}
        }
        true
    });
}
