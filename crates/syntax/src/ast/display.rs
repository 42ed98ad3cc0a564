//! Text of names, operators, literals and expressions, as messages show them. The engine prints the texts of SHOW
//! CREATE and of views, since it knows MySQL's form of them.

use std::fmt::{self, Display, Formatter, Write as _};

use super::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArguments, Ident, JoinConstraint,
    JoinOperator, ObjectName, OrderByExpr, OrderBySort, Query, Select, SelectItem, SetExpr,
    SetOperator, SetQuantifier, TableAlias, TableFactor, TableFunctionArgument, TableFunctionCall,
    TableWithJoins, TemporalLiteral, TrimWhereField, UnaryOperator, Value, WindowType,
};

impl Display for Ident {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.quote_style {
            Some(quote) => {
                f.write_char(quote)?;
                for character in self.value.chars() {
                    if character == quote {
                        f.write_char(quote)?;
                    }
                    f.write_char(character)?;
                }
                f.write_char(quote)
            }
            None => f.write_str(&self.value),
        }
    }
}

impl Display for ObjectName {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        list(f, ".", &self.0)
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let quoted = |text: &str| text.replace('\'', "''");
        match self {
            Value::Null => f.write_str("NULL"),
            Value::Boolean(value) => write!(f, "{value}"),
            Value::Number(text) | Value::Placeholder(text) => f.write_str(text),
            Value::SingleQuotedString(text) => write!(f, "'{}'", quoted(text)),
            Value::NationalStringLiteral(text) => write!(f, "N'{}'", quoted(text)),
            Value::HexStringLiteral(digits) => write!(f, "X'{digits}'"),
            Value::BitStringLiteral(digits) => write!(f, "B'{digits}'"),
        }
    }
}

impl Display for UnaryOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            UnaryOperator::Plus => "+",
            UnaryOperator::Minus => "-",
            UnaryOperator::Not => "NOT",
            UnaryOperator::BitwiseNot => "~",
        })
    }
}

impl Display for BinaryOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BinaryOperator::Plus => "+",
            BinaryOperator::Minus => "-",
            BinaryOperator::Multiply => "*",
            BinaryOperator::Divide => "/",
            BinaryOperator::IntegerDivide => "DIV",
            BinaryOperator::Modulo => "%",
            BinaryOperator::StringConcat => "||",
            BinaryOperator::Eq => "=",
            BinaryOperator::NotEq => "<>",
            BinaryOperator::Lt => "<",
            BinaryOperator::LtEq => "<=",
            BinaryOperator::Gt => ">",
            BinaryOperator::GtEq => ">=",
            BinaryOperator::Spaceship => "<=>",
            BinaryOperator::And => "AND",
            BinaryOperator::Or => "OR",
            BinaryOperator::Xor => "XOR",
            BinaryOperator::BitwiseOr => "|",
            BinaryOperator::BitwiseAnd => "&",
            BinaryOperator::BitwiseXor => "^",
            BinaryOperator::ShiftLeft => "<<",
            BinaryOperator::ShiftRight => ">>",
            BinaryOperator::Arrow => "->",
            BinaryOperator::LongArrow => "->>",
            BinaryOperator::Assignment => ":=",
        })
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let not = |negated: &bool| if *negated { "NOT " } else { "" };
        match self {
            Expr::Value(value) => write!(f, "{value}"),
            Expr::Identifier(name) => write!(f, "{name}"),
            Expr::CompoundIdentifier(parts) => list(f, ".", parts),
            Expr::Nested(expr) => write!(f, "({expr})"),
            Expr::Tuple(parts) => {
                f.write_str("(")?;
                list(f, ", ", parts)?;
                f.write_str(")")
            }
            Expr::UnaryOp {
                op: op @ UnaryOperator::Not,
                expr,
            } => write!(f, "{op} {expr}"),
            Expr::UnaryOp { op, expr } => write!(f, "{op}{expr}"),
            Expr::BinaryOp { left, op, right } => write!(f, "{left} {op} {right}"),
            Expr::IsNull(expr) => write!(f, "{expr} IS NULL"),
            Expr::IsNotNull(expr) => write!(f, "{expr} IS NOT NULL"),
            Expr::IsTrue(expr) => write!(f, "{expr} IS TRUE"),
            Expr::IsNotTrue(expr) => write!(f, "{expr} IS NOT TRUE"),
            Expr::IsFalse(expr) => write!(f, "{expr} IS FALSE"),
            Expr::IsNotFalse(expr) => write!(f, "{expr} IS NOT FALSE"),
            Expr::IsUnknown(expr) => write!(f, "{expr} IS UNKNOWN"),
            Expr::IsNotUnknown(expr) => write!(f, "{expr} IS NOT UNKNOWN"),
            Expr::InList {
                expr,
                list: values,
                negated,
            } => {
                write!(f, "{expr} {}IN (", not(negated))?;
                list(f, ", ", values)?;
                f.write_str(")")
            }
            Expr::InSubquery {
                expr,
                subquery,
                negated,
            } => write!(f, "{expr} {}IN ({subquery})", not(negated)),
            Expr::Between {
                expr,
                negated,
                low,
                high,
            } => write!(f, "{expr} {}BETWEEN {low} AND {high}", not(negated)),
            Expr::Like {
                negated,
                expr,
                pattern,
                escape_char,
            } => {
                write!(f, "{expr} {}LIKE {pattern}", not(negated))?;
                match escape_char {
                    Some(escape) => write!(f, " ESCAPE {escape}"),
                    None => Ok(()),
                }
            }
            Expr::RLike {
                negated,
                expr,
                pattern,
            } => write!(f, "{expr} {}REGEXP {pattern}", not(negated)),
            Expr::MemberOf { value, array } => write!(f, "{value} MEMBER OF({array})"),
            Expr::AnyOp {
                left,
                compare_op,
                right,
            } => write!(f, "{left} {compare_op} ANY{right}"),
            Expr::AllOp {
                left,
                compare_op,
                right,
            } => write!(f, "{left} {compare_op} ALL{right}"),
            Expr::Exists { subquery, negated } => {
                write!(f, "{}EXISTS ({subquery})", not(negated))
            }
            Expr::Subquery(query) => write!(f, "({query})"),
            Expr::Case {
                operand,
                conditions,
                else_result,
            } => {
                f.write_str("CASE")?;
                if let Some(operand) = operand {
                    write!(f, " {operand}")?;
                }
                for when in conditions {
                    write!(f, " WHEN {} THEN {}", when.condition, when.result)?;
                }
                if let Some(result) = else_result {
                    write!(f, " ELSE {result}")?;
                }
                f.write_str(" END")
            }
            Expr::Cast { expr, data_type } => write!(f, "CAST({expr} AS {data_type})"),
            Expr::Convert { expr, charset } => write!(f, "CONVERT({expr} USING {charset})"),
            Expr::Collate { expr, collation } => write!(f, "{expr} COLLATE {collation}"),
            Expr::Interval(interval) => write!(f, "INTERVAL {} {}", interval.value, interval.unit),
            Expr::Extract { field, expr } => write!(f, "EXTRACT({field} FROM {expr})"),
            Expr::Trim {
                trim_where,
                trim_what,
                expr,
            } => {
                f.write_str("TRIM(")?;
                f.write_str(match trim_where {
                    Some(TrimWhereField::Both) => "BOTH ",
                    Some(TrimWhereField::Leading) => "LEADING ",
                    Some(TrimWhereField::Trailing) => "TRAILING ",
                    None => "",
                })?;
                if let Some(what) = trim_what {
                    write!(f, "{what} ")?;
                }
                if trim_where.is_some() || trim_what.is_some() {
                    f.write_str("FROM ")?;
                }
                write!(f, "{expr})")
            }
            Expr::TypedString(literal) => {
                let text = Value::SingleQuotedString(literal.value.clone());
                match literal.kind {
                    _ if !literal.is_escape => write!(f, "{} {text}", literal.kind.name()),
                    TemporalLiteral::Date => write!(f, "{{d {text}}}"),
                    TemporalLiteral::Time => write!(f, "{{t {text}}}"),
                    TemporalLiteral::Timestamp => write!(f, "{{ts {text}}}"),
                }
            }
            Expr::Prefixed { prefix, value } => write!(f, "{prefix} {value}"),
            Expr::Function(call) => write!(f, "{call}"),
        }
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        if let FunctionArguments::List(arguments) = &self.args {
            f.write_str(if arguments.distinct {
                "(DISTINCT "
            } else {
                "("
            })?;
            list(f, ", ", &arguments.args)?;
            order(f, &arguments.order_by)?;
            if let Some(separator) = &arguments.separator {
                write!(f, " SEPARATOR {separator}")?;
            }
            if let Some((offset, count)) = arguments.limit {
                write!(f, " LIMIT {offset},{count}")?;
            }
            f.write_str(")")?;
        }
        match &self.over {
            Some(WindowType::NamedWindow(name)) => write!(f, " OVER {name}"),
            Some(WindowType::WindowSpec(_)) => f.write_str(" OVER (...)"),
            None => Ok(()),
        }
    }
}

impl Display for FunctionArg {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            FunctionArg::Expr(expr) => write!(f, "{expr}"),
            FunctionArg::Wildcard => f.write_str("*"),
        }
    }
}

impl Display for OrderByExpr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.expr)?;
        match self.sort {
            Some(OrderBySort::Asc) => f.write_str(" ASC"),
            Some(OrderBySort::Desc) => f.write_str(" DESC"),
            None => Ok(()),
        }
    }
}

impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(with) = &self.with {
            f.write_str(if with.recursive {
                "WITH RECURSIVE "
            } else {
                "WITH "
            })?;
            for (number, table) in with.cte_tables.iter().enumerate() {
                f.write_str(if number > 0 { ", " } else { "" })?;
                let how = match table.materialized {
                    None => "",
                    Some(true) => "MATERIALIZED ",
                    Some(false) => "NOT MATERIALIZED ",
                };
                write!(f, "{} AS {how}({})", table.alias, table.query)?;
            }
            f.write_str(" ")?;
        }
        write!(f, "{}", self.body)?;
        order(f, &self.order_by)?;
        if let Some(limit) = &self.limit_clause {
            write!(f, " LIMIT {}", limit.limit)?;
            if let Some(offset) = &limit.offset {
                write!(f, " OFFSET {offset}")?;
            }
        }
        Ok(())
    }
}

impl Display for SetExpr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            SetExpr::Select(select) => write!(f, "{select}"),
            SetExpr::Query(query) => write!(f, "({query})"),
            SetExpr::SetOperation {
                op,
                set_quantifier,
                left,
                right,
            } => {
                let op = match op {
                    SetOperator::Union => "UNION",
                    SetOperator::Except => "EXCEPT",
                    SetOperator::Intersect => "INTERSECT",
                };
                let quantifier = match set_quantifier {
                    SetQuantifier::All => " ALL",
                    SetQuantifier::Distinct => " DISTINCT",
                    SetQuantifier::None => "",
                };
                write!(f, "{left} {op}{quantifier} {right}")
            }
            SetExpr::Values(rows) => {
                f.write_str("VALUES ")?;
                for (number, row) in rows.iter().enumerate() {
                    f.write_str(if number > 0 { ", ROW(" } else { "ROW(" })?;
                    list(f, ", ", row)?;
                    f.write_str(")")?;
                }
                Ok(())
            }
            SetExpr::Table(name) => write!(f, "TABLE {name}"),
        }
    }
}

impl Display for Select {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(if self.distinct {
            "SELECT DISTINCT "
        } else {
            "SELECT "
        })?;
        list(f, ", ", &self.projection)?;
        if !self.from.is_empty() {
            f.write_str(" FROM ")?;
            list(f, ", ", &self.from)?;
        }
        if let Some(condition) = &self.selection {
            write!(f, " WHERE {condition}")?;
        }
        if !self.group_by.keys.is_empty() {
            f.write_str(" GROUP BY ")?;
            list(f, ", ", &self.group_by.keys)?;
            f.write_str(if self.group_by.with_rollup {
                " WITH ROLLUP"
            } else {
                ""
            })?;
        }
        if let Some(condition) = &self.having {
            write!(f, " HAVING {condition}")?;
        }
        Ok(())
    }
}

impl Display for SelectItem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            SelectItem::UnnamedExpr(expr) => write!(f, "{expr}"),
            SelectItem::ExprWithAlias { expr, alias, .. } => write!(f, "{expr} AS {alias}"),
            SelectItem::QualifiedWildcard(name) => write!(f, "{name}.*"),
            SelectItem::Wildcard => f.write_str("*"),
        }
    }
}

impl Display for TableWithJoins {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.relation)?;
        for join in &self.joins {
            let constraint = join.join_operator.constraint();
            let natural = matches!(constraint, JoinConstraint::Natural);
            f.write_str(if natural { " NATURAL" } else { "" })?;
            let operator = match join.join_operator {
                JoinOperator::Inner(_) => "JOIN",
                JoinOperator::Left(_) => "LEFT JOIN",
                JoinOperator::Right(_) => "RIGHT JOIN",
                JoinOperator::StraightJoin(_) => "STRAIGHT_JOIN",
            };
            write!(f, " {operator} {}", join.relation)?;
            match constraint {
                JoinConstraint::On(condition) => write!(f, " ON {condition}")?,
                JoinConstraint::Using(columns) => {
                    f.write_str(" USING (")?;
                    list(f, ", ", columns)?;
                    f.write_str(")")?;
                }
                JoinConstraint::Natural | JoinConstraint::None => {}
            }
        }
        Ok(())
    }
}

impl Display for TableFactor {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let alias = match self {
            TableFactor::Table { name, alias, .. } => {
                write!(f, "{name}")?;
                alias
            }
            TableFactor::Derived {
                lateral,
                subquery,
                alias,
            } => {
                f.write_str(if *lateral { "LATERAL " } else { "" })?;
                write!(f, "({subquery})")?;
                alias
            }
            TableFactor::JsonTable {
                json_expr,
                json_path,
                alias,
                ..
            } => {
                let path = Value::SingleQuotedString(json_path.clone());
                write!(f, "JSON_TABLE({json_expr}, {path} COLUMNS (...))")?;
                alias
            }
            TableFactor::Function { call, alias } => {
                write!(f, "{call}")?;
                alias
            }
            TableFactor::NestedJoin { table_with_joins } => {
                return write!(f, "({table_with_joins})");
            }
        };
        match alias {
            Some(alias) => write!(f, " AS {alias}"),
            None => Ok(()),
        }
    }
}

impl Display for TableFunctionCall {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Some(name) = &self.name else {
            return list(f, ", ", &self.arguments);
        };
        write!(f, "{name}(")?;
        list(f, ", ", &self.arguments)?;
        f.write_str(")")
    }
}

impl Display for TableFunctionArgument {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{name} => {}", self.value),
            None => write!(f, "{}", self.value),
        }
    }
}

impl Display for TableAlias {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        if self.columns.is_empty() {
            return Ok(());
        }
        f.write_str(" (")?;
        list(f, ", ", &self.columns)?;
        f.write_str(")")
    }
}

/// Writes parts with a separator between them.
fn list<T: Display>(f: &mut Formatter<'_>, separator: &str, parts: &[T]) -> fmt::Result {
    for (number, part) in parts.iter().enumerate() {
        if number > 0 {
            f.write_str(separator)?;
        }
        write!(f, "{part}")?;
    }
    Ok(())
}

/// Writes ` ORDER BY keys`, if there are any.
fn order(f: &mut Formatter<'_>, keys: &[OrderByExpr]) -> fmt::Result {
    if keys.is_empty() {
        return Ok(());
    }
    f.write_str(" ORDER BY ")?;
    list(f, ", ", keys)
}
