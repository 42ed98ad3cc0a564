//! Collation of an operation on several strings (the manual, "Collation Coercibility in Expressions").

use mayfly_functions::scalar::Fact;
use mayfly_functions::{Coercibility, Signature};
use mayfly_types::collation::CollationMix;
use mayfly_types::{CollationId, Result, SqlType, TypeKind, Value};

use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{Relation, Shared, SharedRelation, visit_expressions_mut};

/// Coercibility of an expression's collation.
pub(crate) fn coercibility(expression: &Expression) -> Coercibility {
    match &expression.kind {
        ExpressionKind::Literal(Value::Null) => Coercibility::Ignorable,
        // Bits used as text are bytes.
        _ if expression.ty.kind == TypeKind::Bit => Coercibility::Implicit,
        _ if !has_collation(&expression.ty) => Coercibility::Numeric,
        ExpressionKind::Literal(_) => Coercibility::Coercible,
        ExpressionKind::Parameter(_) => Coercibility::Coercible,
        ExpressionKind::Call { signature, .. } => signature.coercibility,
        ExpressionKind::Let { body, .. } => coercibility(body),
        ExpressionKind::LogicalSubquery(subquery) => {
            subquery.claim.unwrap_or(Coercibility::Implicit)
        }
        ExpressionKind::Case {
            branches,
            otherwise,
        } => branches
            .iter()
            .map(|(_, result)| result)
            .chain(otherwise.as_deref())
            .map(coercibility)
            .min()
            .unwrap_or(Coercibility::Coercible),
        // An explicit conversion.
        ExpressionKind::Cast(_, Some(_)) => Coercibility::Implicit,
        _ if expression.ty.kind == TypeKind::Json && is_cast(expression) => Coercibility::Implicit,
        // An explicit conversion to bytes: they are compared as bytes also with a column.
        ExpressionKind::Cast(operand, _)
            if expression.ty.is_binary_string()
                && operand.ty.is_string()
                && !operand.ty.is_binary_string() =>
        {
            Coercibility::Implicit
        }
        // A converted number has the coercibility of a literal; a converted string keeps its own.
        ExpressionKind::Cast(operand, _) => match coercibility(operand) {
            Coercibility::Numeric => Coercibility::Coercible,
            other => other,
        },
        _ => Coercibility::Implicit,
    }
}

fn is_cast(expression: &Expression) -> bool {
    matches!(expression.kind, ExpressionKind::Cast(..))
}

/// Whether values of a type are compared by a collation.
pub(crate) fn has_collation(ty: &SqlType) -> bool {
    ty.is_string() || matches!(ty.kind, TypeKind::Enum | TypeKind::Set | TypeKind::Json)
}

/// Common collation of strings of these coercibilities, or error 1267 or 3854.
pub(crate) fn aggregate_collations(
    expressions: &[&Expression],
    operation: &str,
    is_comparison: bool,
) -> Result<CollationId> {
    let operands: Vec<CollationMix<'_>> = expressions
        .iter()
        .map(|expression| operand(expression))
        .collect();
    Ok(
        mayfly_types::collation::aggregate_collations(&operands, operation, is_comparison)?
            .collation,
    )
}

/// A string as an operand of the choice of a collation.
pub(super) fn operand(expression: &Expression) -> CollationMix<'_> {
    use mayfly_types::collation::Coercibility as Claim;
    let claim = match coercibility(expression) {
        Coercibility::Explicit => Claim::Explicit,
        Coercibility::None => Claim::None,
        Coercibility::Implicit => Claim::Implicit,
        Coercibility::SystemConstant => Claim::SystemConstant,
        Coercibility::Coercible => Claim::Coercible,
        Coercibility::Numeric => Claim::Numeric,
        Coercibility::Ignorable => Claim::Ignorable,
    };
    let mix = CollationMix::new(expression.ty.collation, claim);
    match &expression.kind {
        ExpressionKind::Literal(Value::Bytes(text)) => mix.with_constant(text),
        _ => mix,
    }
}

/// Coercibility of a value that becomes a column, if not that of table columns.
pub(crate) fn claim(expression: &Expression) -> Option<Coercibility> {
    if !has_collation(&expression.ty) {
        return None;
    }
    Some(coercibility(expression)).filter(|claim| *claim != Coercibility::Implicit)
}

/// Function that gives a value another coercibility.
const CLAIMED: &str = "name_const";

/// A column, or a value with a column number, whose coercibility differs from that of table columns.
pub(crate) fn claimed(column: Expression, claim: Option<Coercibility>) -> Expression {
    match claim {
        Some(claim) => named("", column, claim),
        None => column,
    }
}

/// The value as an expression that differs from that of any other name.
pub(crate) fn apart(name: &str, value: Expression) -> Expression {
    let claim = coercibility(&value);
    named(name, value, claim)
}

fn named(name: &str, value: Expression, claim: Coercibility) -> Expression {
    let Some(function) = mayfly_functions::scalar::by_name(CLAIMED) else {
        return value;
    };
    let name = super::literal::word(name);
    let types = vec![name.ty.clone(), value.ty.clone()];
    let signature =
        Signature::new(types, value.ty.clone(), value.nullable).with_coercibility(claim);
    Expression::call(function, vec![name, value], signature)
}

/// The column without the call that [`claimed`] added.
pub(crate) fn unclaimed(mut expression: Expression) -> Expression {
    dissolve(&mut expression);
    expression
}

/// The column or local value in a call that [`claimed`] added.
pub(crate) fn named_value(expression: &Expression) -> Option<&Expression> {
    match &expression.kind {
        ExpressionKind::Call {
            function,
            arguments,
            ..
        } if function.has(Fact::NamedConstant) => match arguments.as_slice() {
            [name, value] => {
                let is_claim =
                    matches!(name.as_literal(), Some(Value::Bytes(name)) if name.is_empty());
                let is_read = matches!(
                    value.kind,
                    ExpressionKind::Column(_) | ExpressionKind::Local(_)
                );
                Some(value).filter(|_| is_claim && is_read)
            }
            _ => None,
        },
        _ => None,
    }
}

fn dissolve(expression: &mut Expression) {
    if named_value(expression).is_some()
        && let ExpressionKind::Call { arguments, .. } = &mut expression.kind
        && let Some(value) = arguments.pop()
    {
        *expression = value;
    }
}

/// Removes the calls that [`claimed`] added from a bound statement.
pub(crate) fn dissolve_claims(relation: &mut Relation, shared: &mut [Shared]) {
    let mut dissolve_all = |expression: &mut Expression| {
        dissolve(expression);
        true
    };
    visit_expressions_mut(relation, &mut dissolve_all);
    for definition in shared {
        match &mut definition.source {
            Some(SharedRelation::Plain(relation)) => {
                visit_expressions_mut(relation, &mut dissolve_all);
            }
            Some(SharedRelation::Recursive { seed, step, .. }) => {
                visit_expressions_mut(seed, &mut dissolve_all);
                visit_expressions_mut(step, &mut dissolve_all);
            }
            None => {}
        }
    }
}
