//! Whose collation wins when strings meet (the manual, "Collation Coercibility in Expressions").

use mayfly_functions::Coercibility;
use mayfly_types::{CollationId, SqlType, TypeKind, Value};

use crate::expression::{Expression, ExpressionKind};

/// The claim of an expression's collation.
pub(crate) fn coercibility(expression: &Expression) -> Coercibility {
    match &expression.kind {
        ExpressionKind::Literal(Value::Null) => Coercibility::Ignorable,
        _ if !has_collation(&expression.ty) => Coercibility::Numeric,
        ExpressionKind::Literal(_) => Coercibility::Coercible,
        ExpressionKind::Parameter(_) => Coercibility::Coercible,
        ExpressionKind::Call { signature, .. } => signature.coercibility,
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
        // A converted number is as weak as a literal; a converted string keeps its claim.
        ExpressionKind::Cast(operand) => match coercibility(operand) {
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

/// A collation with its claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) collation: CollationId,
    pub(crate) coercibility: Coercibility,
}

impl Claim {
    pub(crate) fn of(expression: &Expression) -> Self {
        Self {
            collation: expression.ty.collation,
            coercibility: coercibility(expression),
        }
    }
}

/// The collation of a name.
pub(crate) fn collation_by_name(name: &str) -> Option<CollationId> {
    NAMES
        .iter()
        .find(|(_, known)| known.eq_ignore_ascii_case(name))
        .map(|(id, _)| *id)
}

/// The name of a collation.
pub(crate) fn collation_name(id: CollationId) -> &'static str {
    NAMES
        .iter()
        .find(|(known, _)| *known == id)
        .map_or("unknown", |(_, name)| name)
}

/// The default collation of a character set.
pub(crate) fn default_collation(charset: &str) -> Option<CollationId> {
    Some(match charset.to_ascii_lowercase().as_str() {
        "utf8mb4" => CollationId::UTF8MB4_0900_AI_CI,
        "utf8mb3" | "utf8" => CollationId::UTF8MB3_GENERAL_CI,
        "latin1" => CollationId::LATIN1_SWEDISH_CI,
        "ascii" => CollationId::ASCII_GENERAL_CI,
        "binary" => CollationId::BINARY,
        _ => return None,
    })
}

const NAMES: &[(CollationId, &str)] = &[
    (CollationId::LATIN1_SWEDISH_CI, "latin1_swedish_ci"),
    (CollationId::ASCII_GENERAL_CI, "ascii_general_ci"),
    (CollationId::UTF8MB3_GENERAL_CI, "utf8mb3_general_ci"),
    (CollationId::UTF8MB4_GENERAL_CI, "utf8mb4_general_ci"),
    (CollationId::UTF8MB4_BIN, "utf8mb4_bin"),
    (CollationId::LATIN1_BIN, "latin1_bin"),
    (CollationId::BINARY, "binary"),
    (CollationId::ASCII_BIN, "ascii_bin"),
    (CollationId::UTF8MB3_BIN, "utf8mb3_bin"),
    (CollationId::UTF8MB4_0900_AI_CI, "utf8mb4_0900_ai_ci"),
    (CollationId::UTF8MB4_0900_BIN, "utf8mb4_0900_bin"),
];
