//! How MySQL constructs that have no node of their own are written in the tree, and the accessors by which the binder reads
//! them without knowing how.
//!
//! Encoded, with an accessor here:
//!
//! | MySQL | tree | read with |
//! |---|---|---|
//! | `@a`, `` @`a b` `` | `Identifier` `@a`, unquoted (a column's identifier never starts so) | [`variable`] |
//! | `@@x`, `@@global.x` | `Identifier` `@@x`, `@@global.x`, unquoted | [`variable`] |
//! | `DEFAULT` as a value | `Function` `#default` without arguments | [`is_default`] |
//! | an unaliased select item that is no column | `ExprWithAlias` whose alias is the column's name (source text; a string's value) | [`item_name`] |
//! | `_latin1'x'` | `Prefixed`, prefix `_latin1` | [`introducer`] |
//! | `x'4D'`, `0x4D` | `Value::HexStringLiteral` of the hexadecimal digits | [`bytes_literal`] |
//! | `b'01'`, `0b01` | `Value::BitStringLiteral` of the binary digits | [`bytes_literal`] |
//! | `TIMESTAMPADD(unit, ..)`, `TIMESTAMPDIFF(unit, ..)` | a call whose first argument is the unit as a string | – |
//! | `GET_FORMAT(DATE, ..)` | a call whose first argument is the type as a string | – |
//! | `MATCH (a, b) AGAINST (x mode)` | `#match`(`Tuple` of columns, x, mode as a string, perhaps empty) | [`MATCH_FUNCTION`] |
//! | `JSON_VALUE(d, p RETURNING t NULL ON EMPTY DEFAULT x ON ERROR)` | further arguments: a cast of NULL to t; `#NULL_ON_EMPTY`(NULL), `#DEFAULT_ON_ERROR`(x), ... | – |
//! | `WEIGHT_STRING(x AS CHAR(3))`, `… AS BINARY(3)` | a call whose second argument is the length; one whose argument is a cast | – |
//!
//! Written in another form of the same meaning, so that the binder meets only one:
//!
//! | MySQL | tree |
//! |---|---|
//! | `SUBSTRING(s FROM a FOR b)`, `MID`, `SUBSTR` | a call with two or three arguments, named as written |
//! | `POSITION(a IN b)` | `LOCATE(a, b)` |
//! | `a SOUNDS LIKE b` | `SOUNDEX(a) = SOUNDEX(b)` |
//! | `INTERVAL 1 DAY + d` | `d + INTERVAL 1 DAY` |
//! | `DATE_ADD(d, INTERVAL ..)` and related functions | a call whose second argument is an `Interval` |
//! | `INTERVAL(n, a, b)` | a call of `INTERVAL` |
//! | `CONVERT(x, type)`, `BINARY x` | `Cast` |
//! | `CONVERT(x USING c)`, `CHAR(.. USING c)` | `Convert` |
//! | `!a` | `NOT a` |
//! | `MOD`, `<<`, `>>`, `^`, `DIV`, `:=`, `->`, `->>` | `Modulo`, `ShiftLeft`, `ShiftRight`, `BitwiseXor`, `IntegerDivide`, `Assignment`, `Arrow`, `LongArrow` |
//! | `||` | `Or`, or `StringConcat` under `PIPES_AS_CONCAT` |
//! | `ROW(a, b)` | `Tuple` |
//! | `VALUES(c)`, `DEFAULT(c)` | a call with a column as its argument |
//! | `NOW()`, `CURRENT_TIMESTAMP` | a call named as written; without parentheses its arguments are `FunctionArguments::None` |
//! | `'a' 'b'` | one string |
//! | `LIMIT m, n` | `LIMIT n OFFSET m` |
//! | `JOIN`, `INNER JOIN`, `CROSS JOIN` | `JoinOperator::Inner`; outer joins are `Left` and `Right`; NATURAL is a constraint |
//! | `(a, b)` among joined tables | `NestedJoin` of an inner join without constraint |
//! | `GROUP BY ROLLUP(a, b)` | `GROUP BY a, b WITH ROLLUP` |
//! | `FROM DUAL` | no `FROM` |
//! | `FOR UPDATE OF a, b` | one lock clause for each table |
//! | `SELECT ... INTO` | [`crate::ast::Statement::SelectInto`]; query blocks never hold `INTO` |
//! | `SELECT ALL` | no `distinct` |
//! | parentheses around a query that add nothing | gone |
//!
//! Functions named by a word that is a keyword only directly before a parenthesis (`COUNT (x)`,
//! with a blank) arrive as calls of a stored function of that name would, as in MySQL.

use crate::ast::{Expr, Function, FunctionArguments, Ident, SelectItem, Value, VariableScope};
use crate::keywords::Kw;

/// The function name that stands for the value `DEFAULT`.
pub(crate) const DEFAULT_FUNCTION: &str = "#default";

/// The function name that stands for `MATCH ... AGAINST`.
pub(crate) const MATCH_FUNCTION: &str = "#match";

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
    let name = value.strip_prefix('@')?;
    let Some(system) = name.strip_prefix('@') else {
        return Some(Variable::User(name));
    };
    let scoped = system.split_once('.').and_then(|(word, name)| {
        let scope = VariableScope::of(Kw::lookup(word.as_bytes()))?;
        Some((Some(scope), name))
    });
    let (scope, name) = scoped.unwrap_or((None, system));
    Some(Variable::System { scope, name })
}

/// Whether an expression is the value `DEFAULT` of an assignment or an inserted row.
pub fn is_default(expr: &Expr) -> bool {
    matches!(expr, Expr::Function(Function { name, args: FunctionArguments::None, .. })
        if matches!(name.0.as_slice(), [ident] if ident.value == DEFAULT_FUNCTION))
}

/// The name of a select item's column; `None` for `*`.
pub fn item_name(item: &SelectItem) -> Option<&str> {
    match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(&alias.value),
        SelectItem::UnnamedExpr(Expr::Identifier(column)) => Some(&column.value),
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts)) => {
            parts.last().map(|column| column.value.as_str())
        }
        _ => None,
    }
}

/// The character set that an introducer gives a literal, and the literal.
pub fn introducer(expr: &Expr) -> Option<(&str, &Expr)> {
    match expr {
        Expr::Prefixed { prefix, value } => prefix
            .value
            .strip_prefix('_')
            .map(|charset| (charset, value.as_ref())),
        _ => None,
    }
}

/// The bytes of a hexadecimal or binary literal; `None` for any other value.
pub fn bytes_literal(value: &Value) -> Option<Vec<u8>> {
    let (digits, radix, per_byte) = match value {
        Value::HexStringLiteral(digits) => (digits, 16, 2),
        Value::BitStringLiteral(digits) => (digits, 2, 8),
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

/// A column by its name and qualifiers.
pub(crate) fn column(mut parts: Vec<Ident>) -> Expr {
    match parts.pop() {
        Some(name) if parts.is_empty() => Expr::Identifier(name),
        last => {
            parts.extend(last);
            Expr::CompoundIdentifier(parts)
        }
    }
}
