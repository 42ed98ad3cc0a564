//! How MySQL constructs that `sqlparser`'s tree has no node for are written in that tree, and the
//! accessors by which the binder reads them without knowing how.
//!
//! | MySQL | tree | read with |
//! |---|---|---|
//! | `@a`, `` @`a b` `` | `Identifier` `@a`, unquoted (a column's identifier never starts so) | [`variable`] |
//! | `@@x`, `@@global.x` | `Identifier` `@@x`, `@@global.x`, unquoted | [`variable`] |
//! | `DEFAULT` as a value | `Function` `#default` without arguments | [`is_default`] |
//! | an unaliased select item that is no column | `ExprWithAlias` whose alias has the marker span; its value is the column's name | [`item_alias`] |
//! | `_latin1'x'` | `Prefixed`, prefix `_latin1` | the node |
//! | `b'01'`, `0b01` | `Value::SingleQuotedByteStringLiteral` of the binary digits | [`bytes_literal`] |
//! | `x'4D'`, `0x4D` | `Value::HexStringLiteral` of the hexadecimal digits | [`bytes_literal`] |

use sqlparser::ast::{Expr, Function, FunctionArguments, Ident, ObjectNamePart, SelectItem, Value};
use sqlparser::tokenizer::{Location, Span};

use crate::ast::VariableScope;

/// The span that marks an alias which the user did not write.
const IMPLICIT: Span = Span {
    start: Location {
        line: u64::MAX,
        column: u64::MAX,
    },
    end: Location {
        line: u64::MAX,
        column: u64::MAX,
    },
};

/// The function name that stands for the value `DEFAULT`.
pub const DEFAULT_FUNCTION: &str = "#default";

/// A variable in an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variable<'a> {
    /// `@name`, the name without its `@`.
    User(&'a str),
    /// `@@name`; the name may hold a dot.
    System {
        /// The scope, when written.
        scope: Option<VariableScope>,
        /// The variable.
        name: &'a str,
    },
}

/// The variable that an expression is, if it is one.
pub fn variable(expr: &Expr) -> Option<Variable<'_>> {
    let Expr::Identifier(Ident {
        value,
        quote_style: None,
        ..
    }) = expr
    else {
        return None;
    };
    if let Some(system) = value.strip_prefix("@@") {
        let scope = |word: &str| {
            [
                ("global", VariableScope::Global),
                ("session", VariableScope::Session),
            ]
            .into_iter()
            .chain([("local", VariableScope::Session)])
            .find(|(name, _)| word.eq_ignore_ascii_case(name))
            .map(|(_, scope)| scope)
        };
        return Some(
            match system
                .split_once('.')
                .map(|(word, name)| (scope(word), name))
            {
                Some((scope @ Some(_), name)) => Variable::System { scope, name },
                _ => Variable::System {
                    scope: None,
                    name: system,
                },
            },
        );
    }
    value.strip_prefix('@').map(Variable::User)
}

/// Whether an expression is the value `DEFAULT` of an assignment or an inserted row.
pub fn is_default(expr: &Expr) -> bool {
    matches!(expr, Expr::Function(Function { name, args: FunctionArguments::None, .. })
        if matches!(name.0.as_slice(), [ObjectNamePart::Identifier(ident)]
            if ident.value == DEFAULT_FUNCTION))
}

/// An alias that names a column by its source text, because the user wrote none.
pub fn implicit_alias(text: impl Into<String>) -> Ident {
    Ident {
        value: text.into(),
        quote_style: Some('`'),
        span: IMPLICIT,
    }
}

/// Whether an alias was made by [`implicit_alias`].
pub fn is_implicit_alias(alias: &Ident) -> bool {
    alias.span == IMPLICIT
}

/// The alias that the user wrote at a select item; `None` when there is none.
pub fn item_alias(item: &SelectItem) -> Option<&Ident> {
    match item {
        SelectItem::ExprWithAlias { alias, .. } if !is_implicit_alias(alias) => Some(alias),
        _ => None,
    }
}

/// The bytes of a hexadecimal or binary literal; `None` for any other value.
pub fn bytes_literal(value: &Value) -> Option<Vec<u8>> {
    let (digits, radix, per_byte) = match value {
        Value::HexStringLiteral(digits) => (digits, 16, 2),
        Value::SingleQuotedByteStringLiteral(digits) => (digits, 2, 8),
        _ => return None,
    };
    // A literal with an incomplete first byte is padded on its left with zeroes.
    let first = digits.len() % per_byte;
    let (head, tail) = digits.as_bytes().split_at_checked(first)?;
    std::iter::once(head)
        .filter(|head| !head.is_empty())
        .chain(tail.chunks(per_byte))
        .map(|chunk| u8::from_str_radix(std::str::from_utf8(chunk).ok()?, radix).ok())
        .collect()
}
