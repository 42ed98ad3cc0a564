//! Whose collation wins when strings meet (the manual, "Collation Coercibility in Expressions").

use mayfly_functions::Coercibility;
use mayfly_types::collation::CollationMix;
use mayfly_types::{CollationId, Result, SqlType, TypeKind, Value};

use crate::expression::{Expression, ExpressionKind};

/// The claim of an expression's collation.
pub(crate) fn coercibility(expression: &Expression) -> Coercibility {
    match &expression.kind {
        ExpressionKind::Literal(Value::Null) => Coercibility::Ignorable,
        _ if !has_collation(&expression.ty) => Coercibility::Numeric,
        ExpressionKind::Literal(_) => Coercibility::Coercible,
        ExpressionKind::Parameter(_) => Coercibility::Coercible,
        ExpressionKind::Call { signature, .. } => signature.coercibility,
        ExpressionKind::Let { body, .. } => coercibility(body),
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
        // Bytes that were asked for: they are compared as such also with a column.
        ExpressionKind::Cast(operand, _)
            if expression.ty.is_binary_string()
                && operand.ty.is_string()
                && !operand.ty.is_binary_string() =>
        {
            Coercibility::Implicit
        }
        // A converted number is as weak as a literal; a converted string keeps its claim.
        ExpressionKind::Cast(operand, _) => match coercibility(operand) {
            Coercibility::Numeric => Coercibility::Coercible,
            other => other,
        },
        _ => Coercibility::Implicit,
    }
}

/// Whether values of a type are compared by a collation.
pub(crate) fn has_collation(ty: &SqlType) -> bool {
    ty.is_string() || matches!(ty.kind, TypeKind::Enum | TypeKind::Set | TypeKind::Json)
}

/// The collation in which strings of these claims meet, or error 1267.
pub(crate) fn aggregate_collations(
    expressions: &[&Expression],
    operation: &str,
    is_comparison: bool,
) -> Result<CollationId> {
    let operands: Vec<CollationMix> = expressions
        .iter()
        .map(|expression| operand(expression))
        .collect();
    Ok(
        mayfly_types::collation::aggregate_collations(&operands, operation, is_comparison)?
            .collation,
    )
}

fn operand(expression: &Expression) -> CollationMix {
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
    let mut mix = CollationMix::new(expression.ty.collation, claim);
    if let ExpressionKind::Literal(Value::Bytes(text)) = &expression.kind {
        mix.is_ascii |= text.is_ascii();
    }
    mix
}
