//! Operators and calls with special syntax: casts, intervals, TRIM, GROUP_CONCAT and their kind. Each is in
//! parentheses where an operator around it could bind tighter.

use itertools::Itertools;
use mayfly_syntax::ast::{
    CastType, CastTypeKind, Expr, Function, FunctionArg, FunctionArguments, Interval, OrderByExpr,
    OrderBySort, TrimWhereField, Value,
};
use mayfly_syntax::encodings::introducer;
use mayfly_syntax::printer::quoted_string;

use super::Printer;
use crate::names::word_if;

/// Largest precision of a FLOAT; beyond it the type is DOUBLE.
const FLOAT_DIGITS_MAX: u64 = 24;

impl Printer<'_> {
    /// An operator's text, unless it is one that [`Printer::print`] knows.
    pub(super) fn special(self, expr: &Expr) -> Option<String> {
        let suffixed = |inner: &Expr, words: &str| format!("({} {words})", self.expr(inner));
        Some(match expr {
            Expr::Cast { expr, data_type } => {
                format!("cast({} as {})", self.expr(expr), cast_text(data_type))
            }
            Expr::Convert { expr, charset } => {
                format!("convert({} using {charset})", self.expr(expr))
            }
            Expr::Collate { expr, collation } => suffixed(expr, &format!("collate {collation}")),
            Expr::Interval(interval) => self.interval(interval),
            Expr::Extract { field, expr } => {
                let unit = field.name().to_lowercase();
                format!("extract({unit} from {})", self.expr(expr))
            }
            Expr::Trim {
                trim_where,
                trim_what,
                expr,
            } => {
                let side = match trim_where {
                    Some(TrimWhereField::Leading) => "leading ",
                    Some(TrimWhereField::Trailing) => "trailing ",
                    Some(TrimWhereField::Both) => "both ",
                    None => "",
                };
                let what = trim_what.as_ref().map(|what| self.expr(what));
                let text = self.expr(expr);
                match (what, trim_where) {
                    (Some(what), _) => format!("trim({side}{what} from {text})"),
                    (None, None) => format!("trim({text})"),
                    (None, Some(_)) => format!("trim({side}_utf8mb4' ' from {text})"),
                }
            }
            Expr::IsTrue(inner) => suffixed(inner, "is true"),
            Expr::IsNotTrue(inner) => suffixed(inner, "is not true"),
            Expr::IsFalse(inner) => suffixed(inner, "is false"),
            Expr::IsNotFalse(inner) => suffixed(inner, "is not false"),
            Expr::IsUnknown(inner) => suffixed(inner, "is null"),
            Expr::IsNotUnknown(inner) => suffixed(inner, "is not null"),
            Expr::RLike {
                negated,
                expr,
                pattern,
            } => {
                let matches = format!("regexp_like({},{})", self.expr(expr), self.expr(pattern));
                if *negated {
                    format!("(not({matches}))")
                } else {
                    matches
                }
            }
            Expr::Tuple(parts) => format!("({})", self.list(parts)),
            Expr::AnyOp {
                left,
                compare_op,
                right,
            } => {
                let (left, right) = (self.expr(left), self.expr(right));
                format!("({left} {compare_op} any {right})")
            }
            Expr::AllOp {
                left,
                compare_op,
                right,
            } => {
                let (left, right) = (self.expr(left), self.expr(right));
                format!("({left} {compare_op} all {right})")
            }
            Expr::MemberOf { value, array } => {
                let (value, array) = (self.expr(value), self.expr(array));
                format!("({value} member of ({array}))")
            }
            // Whether it is a date or a string depends on the session.
            Expr::TypedString(typed) if typed.is_escape => expr.to_string(),
            Expr::TypedString(typed) => {
                format!("{}{}", typed.kind.name(), quoted_string(&typed.value))
            }
            other => {
                let (set, inner) = introducer(other)?;
                let literal = match inner {
                    Expr::Value(value) => value.to_string(),
                    inner => self.expr(inner),
                };
                format!("_{} {literal}", set.to_lowercase())
            }
        })
    }

    fn interval(self, interval: &Interval) -> String {
        let unit = interval.unit.name().to_lowercase();
        let value = self.expr(&interval.value);
        format!("interval {value} {unit}")
    }

    /// The text of a call whose arguments are not a plain list.
    pub(super) fn special_call(self, name: &str, function: &Function) -> Option<String> {
        let FunctionArguments::List(list) = &function.args else {
            return None;
        };
        let mut arguments = list.args.iter().map(|argument| match argument {
            FunctionArg::Expr(expr) => Some(expr),
            _ => None,
        });
        let arguments: Vec<&Expr> = arguments.by_ref().collect::<Option<_>>()?;
        let text = |expr: &Expr| self.expr(expr);
        Some(match (name, arguments.as_slice()) {
            ("date_add" | "adddate", [date, Expr::Interval(interval)]) => {
                format!("({} + {})", text(date), self.interval(interval))
            }
            ("date_sub" | "subdate", [date, Expr::Interval(interval)]) => {
                format!("({} - {})", text(date), self.interval(interval))
            }
            ("adddate", [date, days]) => {
                format!("({} + interval {} day)", text(date), text(days))
            }
            ("subdate", [date, days]) => {
                format!("({} - interval {} day)", text(date), text(days))
            }
            ("timestampadd", [unit, count, date]) => {
                let unit = word(unit)?.to_lowercase();
                format!("({} + interval {} {unit})", text(date), text(count))
            }
            ("timestampdiff", [unit, from, to]) => {
                let unit = word(unit)?;
                format!("timestampdiff({unit},{},{})", text(from), text(to))
            }
            ("get_format", [kind, format]) => {
                format!("get_format({}, {})", word(kind)?, text(format))
            }
            (
                "weight_string",
                [
                    Expr::Cast {
                        expr,
                        data_type: cast,
                    },
                ],
            ) => {
                let length = cast.length.filter(|_| cast.kind == CastTypeKind::Binary)?;
                format!("weight_string({} as binary({length}))", text(expr))
            }
            ("weight_string", [string, length]) => {
                format!("weight_string({} as char({}))", text(string), text(length))
            }
            ("json_value", [document, path, options @ ..]) => {
                let mut call = format!("json_value({}, {}", text(document), text(path));
                for option in options {
                    call += &self.json_value_option(option)?;
                }
                call + ")"
            }
            ("group_concat", arguments) => {
                let distinct = word_if(list.distinct, "distinct ");
                let arguments = arguments.iter().map(|part| text(part)).join(",");
                let mut call = format!("group_concat({distinct}{arguments}");
                if !list.order_by.is_empty() {
                    let keys = list.order_by.iter().map(|key| self.sort_key(key)).join(",");
                    call += &format!(" order by {keys}");
                }
                let separator = list.separator.as_ref().map(literal);
                let separator = separator.unwrap_or_else(|| "','".to_owned());
                let limit = list
                    .limit
                    .map(|(offset, count)| format!(" limit {offset},{count}"));
                format!("{call} separator {separator}{})", limit.unwrap_or_default())
            }
            _ => return None,
        })
    }

    fn sort_key(self, key: &OrderByExpr) -> String {
        let direction = match key.sort {
            Some(OrderBySort::Desc) => "DESC",
            _ => "ASC",
        };
        format!("{} {direction}", self.expr(&key.expr))
    }

    /// RETURNING, ON EMPTY and ON ERROR.
    fn json_value_option(self, option: &Expr) -> Option<String> {
        let call = match option {
            Expr::Cast { data_type, .. } => {
                return Some(format!(" returning {}", cast_text(data_type)));
            }
            Expr::Function(call) => call,
            _ => return None,
        };
        let words = call.name.to_string().replace('`', "");
        let words = words.strip_prefix('#')?.to_lowercase().replace('_', " ");
        let FunctionArguments::List(list) = &call.args else {
            return None;
        };
        let [FunctionArg::Expr(value)] = list.args.as_slice() else {
            return None;
        };
        Some(match words.strip_prefix("default ") {
            Some(event) => format!(" default {} {event}", self.expr(value)),
            None => format!(" {words}"),
        })
    }
}

/// A literal, in the quotes of SHOW CREATE.
fn literal(value: &Value) -> String {
    match value {
        Value::SingleQuotedString(text) => quoted_string(text),
        other => other.to_string(),
    }
}

/// A keyword that the tree has as a string.
fn word(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Value(Value::SingleQuotedString(text)) => Some(text),
        _ => None,
    }
}

/// The type of a cast, with defaults written out.
fn cast_text(ty: &CastType) -> String {
    let sized = |name: &str| match ty.length {
        Some(length) => format!("{name}({length})"),
        None => name.to_owned(),
    };
    if ty.is_array {
        return match ty.kind {
            CastTypeKind::Decimal => {
                let (length, scale) = (ty.length.unwrap_or(10), ty.scale.unwrap_or(0));
                format!("decimal({length}, {scale}) array")
            }
            kind => format!("{} array", sized(&kind.name().to_lowercase())),
        };
    }
    match ty.kind {
        CastTypeKind::Signed => "signed".to_owned(),
        CastTypeKind::Unsigned => "unsigned".to_owned(),
        CastTypeKind::Char => {
            let charset = ty.charset.as_deref().unwrap_or("utf8mb4");
            format!("{} charset {}", sized("char"), charset.to_lowercase())
        }
        CastTypeKind::Binary => format!("{} charset binary", sized("char")),
        CastTypeKind::Decimal => {
            let (length, scale) = (ty.length.unwrap_or(10), ty.scale.unwrap_or(0));
            format!("decimal({length},{scale})")
        }
        CastTypeKind::Float if ty.length.is_none_or(|digits| digits <= FLOAT_DIGITS_MAX) => {
            "float".to_owned()
        }
        CastTypeKind::Float | CastTypeKind::Double => "double".to_owned(),
        CastTypeKind::Date => "date".to_owned(),
        CastTypeKind::Time => sized("time"),
        CastTypeKind::DateTime => sized("datetime"),
        CastTypeKind::Year => "year".to_owned(),
        CastTypeKind::Json => "json".to_owned(),
        CastTypeKind::Geometry(_) => ty.to_string().to_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use mayfly_syntax::ast::{Expr, SelectItem, SetExpr, Statement};

    use super::super::text;

    fn parsed(expression: &str) -> Expr {
        let select = format!("SELECT {expression}");
        let options = mayfly_syntax::ParseOptions::MYSQL_DEFAULT;
        let parsed = mayfly_syntax::parse_one(&select, &options).unwrap();
        let Statement::Query(query) = parsed.statement else {
            panic!("{select} is no query");
        };
        let SetExpr::Select(select) = *query.body else {
            panic!("{expression} is no SELECT");
        };
        match select.projection.into_iter().next() {
            Some(SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) => expr,
            other => panic!("{other:?}"),
        }
    }

    /// A definition is stored as its text: parsing it must give the same meaning.
    #[test]
    fn what_is_printed_reads_back() {
        for expression in [
            "CAST(a AS CHAR(3) CHARACTER SET latin1)",
            "CAST(a AS BINARY(3))",
            "CAST(a AS NCHAR)",
            "CAST(a AS DECIMAL(5))",
            "CAST(a AS FLOAT(40))",
            "CAST(a AS TIME(2))",
            "CONVERT(a USING latin1)",
            "1 = (a IS TRUE)",
            "(a IS NOT FALSE) IS UNKNOWN",
            "0 = (a REGEXP 'x')",
            "0 = (a NOT RLIKE 'x')",
            "0 = (a = ANY (SELECT 1))",
            "0 = (a > ALL (SELECT 1))",
            "(a, 1) = (2, b)",
            "CONCAT(a) COLLATE utf8mb4_bin = 'x'",
            "d + INTERVAL a + 1 DAY_MICROSECOND",
            "INTERVAL 1 QUARTER + d",
            "ADDDATE(d, 1)",
            "SUBDATE(d, INTERVAL '1:1' HOUR_MINUTE)",
            "TIMESTAMPADD(WEEK, 1, d)",
            "TIMESTAMPDIFF(MICROSECOND, d, d)",
            "GET_FORMAT(DATETIME, 'EUR')",
            "EXTRACT(DAY_HOUR FROM d)",
            "TRIM(BOTH FROM a)",
            "TRIM(TRAILING 'x' FROM a)",
            "TRIM('x' FROM a)",
            "GROUP_CONCAT(DISTINCT a, b ORDER BY a DESC, b SEPARATOR '')",
            "WEIGHT_STRING(a AS BINARY(2))",
            "WEIGHT_STRING(a AS CHAR(2))",
            "JSON_VALUE(a, '$.b' RETURNING DECIMAL(5,1) DEFAULT 1 ON EMPTY ERROR ON ERROR)",
            "0 = (1 MEMBER OF (a))",
            "TIMESTAMP'2020-01-01 00:00:00'",
            "_binary x'4d'",
        ] {
            let printed = text(&parsed(expression));
            let again = text(&parsed(&printed));
            assert_eq!(printed, again, "{expression}");
        }
    }
}
