//! `CAST(document AS type ARRAY)`, the expression of a multi-valued key part, which stands nowhere else (the manual,
//! "Multi-Valued Indexes").

use mayfly_syntax::ast::{CastType, CastTypeKind, Expr};
use mayfly_types::{CollationId, Result, SqlType, TypeKind, Value};

use super::cast::check_cast;
use crate::bind::binder::Binder;
use crate::bind::literal::word;
use crate::bind::types::as_value;
use crate::not_supported::not_supported;
use crate::tree::expression::Expression;

/// Maximum number of characters of an element: MySQL makes a longer one a TEXT.
const CHARACTERS_MAX: u64 = 512;

/// The document and the type of an array, if an expression as a whole is a cast to one.
pub fn array_cast(expr: &Expr) -> Option<(&Expr, &CastType)> {
    match expr {
        Expr::Nested(inner) => array_cast(inner),
        Expr::Cast {
            expr, data_type, ..
        } if data_type.is_array => Some((expr, data_type)),
        _ => None,
    }
}

/// Type of the elements of an array.
pub fn array_element_type(written: &CastType) -> Result<SqlType> {
    let fraction = written.length.unwrap_or(0).min(6) as u8;
    let byte = |digits: u64| u8::try_from(digits).unwrap_or(u8::MAX);
    let text = |collation| match written.length {
        Some(length) if length <= CHARACTERS_MAX => Ok(SqlType::varchar(length as u32, collation)),
        _ => Err(not_supported("CAST-ing data to array of char/binary BLOBs")),
    };
    let unsupported = |name: &str| Err(not_supported(&format!("CAST-ing data to array of {name}")));
    if written.charset.is_some() {
        return Err(not_supported("specifying charset for multi-valued index"));
    }
    match written.kind {
        CastTypeKind::Signed => Ok(SqlType::bigint()),
        CastTypeKind::Unsigned => Ok(SqlType::bigint_unsigned()),
        CastTypeKind::Char => text(CollationId::UTF8MB4_0900_AS_CS),
        CastTypeKind::Binary => text(CollationId::BINARY),
        CastTypeKind::Decimal => Ok(SqlType::decimal(
            byte(written.length.unwrap_or(10)),
            byte(written.scale.unwrap_or(0)),
        )),
        CastTypeKind::Date => Ok(SqlType::temporal(TypeKind::Date, 0)),
        CastTypeKind::Time => Ok(SqlType::temporal(TypeKind::Time, fraction)),
        CastTypeKind::DateTime => Ok(SqlType::temporal(TypeKind::DateTime, fraction)),
        CastTypeKind::Float
        | CastTypeKind::Double
        | CastTypeKind::Year
        | CastTypeKind::Json
        | CastTypeKind::Geometry(_) => unsupported(written.kind.name()),
    }
}

impl Binder<'_> {
    /// Binds an expression that may be the key part of an index.
    pub(in crate::bind) fn bind_key_part(
        &mut self,
        expr: &Expr,
        index: &str,
    ) -> Result<Expression> {
        let Some((document, written)) = array_cast(expr) else {
            return self.bind_expression(expr);
        };
        check_cast(written, document)?;
        let element = Expression::literal(Value::Null, array_element_type(written)?);
        let document = as_value(self.bind_expression(document)?);
        self.call_bound("cast as array", vec![document, element, word(index)])
    }
}
