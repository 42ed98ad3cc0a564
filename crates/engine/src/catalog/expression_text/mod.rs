//! Printer of expressions and queries in definitions, in the form of SHOW CREATE: lower-case functions, backticks,
//! parentheses around every operation.

mod special;
mod windows;

use itertools::Itertools;
use mayfly_plan::with_stack;
use mayfly_syntax::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArguments, Ident, JoinConstraint,
    JoinOperator, ObjectName, OrderByExpr, OrderBySort, Query, Select, SelectItem, SetExpr,
    SetOperator, SetQuantifier, TableAlias, TableFactor, TableName, TableWithJoins, UnaryOperator,
    Value,
};
use mayfly_syntax::chain::chain;
use mayfly_syntax::encodings::{introducer, item_name};
use mayfly_syntax::printer::{quoted_identifier, quoted_string};

use crate::names::word_if;

/// The text of an expression of a table's definition.
pub(crate) fn text(expr: &Expr) -> String {
    Printer::Table.expr(expr)
}

/// The text of a view's query, without the name of one database.
pub(crate) fn query_text(query: &Query, hidden_database: Option<&str>) -> String {
    let printer = Printer::View {
        hidden_database,
        in_expression: false,
    };
    printer.query(query)
}

/// The text of a value in an INSERT.
pub(crate) fn value_text(expr: &Expr) -> String {
    let printer = Printer::View {
        hidden_database: None,
        in_expression: false,
    };
    printer.expr(expr)
}

fn operator(op: &BinaryOperator) -> String {
    let text = op.to_string();
    match op {
        BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Xor => text.to_lowercase(),
        _ => text,
    }
}

/// Context of the printed text.
#[derive(Clone, Copy)]
enum Printer<'p> {
    /// A table's definition: columns have no qualifiers, and strings have their character set.
    Table,
    /// A view's query.
    View {
        hidden_database: Option<&'p str>,
        /// Whether it is a subquery in an expression, whose columns have no names but those that are written.
        in_expression: bool,
    },
}

impl<'p> Printer<'p> {
    fn expr(self, expr: &Expr) -> String {
        with_stack(|| self.print(expr))
    }

    fn list(self, exprs: &[Expr]) -> String {
        exprs.iter().map(|expr| self.expr(expr)).join(",")
    }

    fn print(self, expr: &Expr) -> String {
        if let Some((set, Expr::Value(Value::SingleQuotedString(text)))) = introducer(expr) {
            return format!("_{}{}", set.to_lowercase(), quoted_string(text));
        }
        match expr {
            Expr::Nested(inner) => self.expr(inner),
            Expr::Identifier(ident) if ident.value.starts_with('@') => ident.value.clone(),
            Expr::Identifier(ident) => quoted_identifier(&ident.value),
            Expr::CompoundIdentifier(parts) => {
                let shown = match (self, parts.as_slice()) {
                    (Self::Table, [.., _]) => &parts[parts.len() - 1..],
                    (
                        Self::View {
                            hidden_database, ..
                        },
                        [database, _, _],
                    ) if hidden_database == Some(database.value.as_str()) => &parts[1..],
                    (_, parts) => parts,
                };
                names(shown, ".")
            }
            Expr::Value(value) => self.value(value),
            Expr::BinaryOp {
                op: op @ (BinaryOperator::And | BinaryOperator::Or),
                ..
            } if matches!(self, Self::View { .. }) => {
                let mut operands = Vec::new();
                self.operands(expr, op, &mut operands);
                format!("({})", operands.join(&format!(" {} ", operator(op))))
            }
            Expr::BinaryOp {
                left,
                op: BinaryOperator::Arrow,
                right,
            } => format!("json_extract({},{})", self.expr(left), self.expr(right)),
            Expr::BinaryOp {
                left,
                op: BinaryOperator::LongArrow,
                right,
            } => {
                let (left, right) = (self.expr(left), self.expr(right));
                format!("json_unquote(json_extract({left},{right}))")
            }
            Expr::BinaryOp { left, op, right } => {
                let (mut first, mut steps) = chain(expr);
                if steps.is_empty() {
                    (first, steps) = (&**left, vec![(op, &**right)]);
                }
                let mut text = "(".repeat(steps.len()) + &self.expr(first);
                for (op, operand) in steps {
                    text += &format!(" {} {})", operator(op), self.expr(operand));
                }
                text
            }
            Expr::UnaryOp {
                op: UnaryOperator::Minus,
                expr,
            } => match (self, &**expr) {
                (Self::View { .. }, Expr::Value(_)) => format!("-{}", self.expr(expr)),
                _ => format!("-({})", self.expr(expr)),
            },
            Expr::UnaryOp {
                op: UnaryOperator::Not,
                expr,
            } => match (self, &**expr) {
                (Self::View { .. }, Expr::IsNull(inner)) => {
                    self.expr(&Expr::IsNotNull(inner.clone()))
                }
                (Self::View { .. }, Expr::IsNotNull(inner)) => {
                    self.expr(&Expr::IsNull(inner.clone()))
                }
                (_, other) => format!("(not({}))", self.expr(other)),
            },
            Expr::UnaryOp { op, expr } => format!("{op}{}", self.expr(expr)),
            Expr::IsNull(inner) => format!("({} is null)", self.expr(inner)),
            Expr::IsNotNull(inner) => format!("({} is not null)", self.expr(inner)),
            Expr::Between {
                expr,
                negated,
                low,
                high,
            } => {
                let (low, high) = (self.expr(low), self.expr(high));
                let not = not(*negated);
                format!("({} {not}between {low} and {high})", self.expr(expr))
            }
            Expr::InList {
                expr,
                list,
                negated,
            } => {
                let (expr, not) = (self.expr(expr), not(*negated));
                format!("({expr} {not}in ({}))", self.list(list))
            }
            Expr::InSubquery {
                expr,
                subquery,
                negated,
            } => {
                let (expr, query) = (self.expr(expr), self.subquery(subquery));
                if *negated {
                    format!("({expr} not in ({query}))")
                } else {
                    format!("{expr} in ({query})")
                }
            }
            Expr::Exists { subquery, negated } => {
                let query = self.subquery(subquery);
                if *negated {
                    format!("(not exists({query}))")
                } else {
                    format!("exists({query})")
                }
            }
            Expr::Subquery(query) => format!("({})", self.subquery(query)),
            Expr::Like {
                negated,
                expr,
                pattern,
                escape_char,
            } => {
                let mut pattern = self.expr(pattern);
                if let Some(escape) = escape_char {
                    pattern += &format!(" escape {}", self.expr(escape));
                }
                format!("({} {}like {pattern})", self.expr(expr), not(*negated))
            }
            Expr::Case {
                operand,
                conditions,
                else_result,
            } => {
                let mut text = "(case".to_owned();
                if let Some(operand) = operand {
                    text += &format!(" {}", self.expr(operand));
                }
                for when in conditions {
                    let (condition, result) = (&when.condition, &when.result);
                    text += &format!(" when {} then {}", self.expr(condition), self.expr(result));
                }
                if let Some(result) = else_result {
                    text += &format!(" else {}", self.expr(result));
                }
                text + " end)"
            }
            Expr::Function(function) => self.function(function),
            other => self.special(other).unwrap_or_else(|| other.to_string()),
        }
    }

    /// The operands of a chain of one operator, `a and b and c`.
    fn operands(self, expr: &Expr, op: &BinaryOperator, operands: &mut Vec<String>) {
        let mut inner = expr;
        while let Expr::Nested(nested) = inner {
            inner = nested;
        }
        match inner {
            Expr::BinaryOp {
                left,
                op: own,
                right,
            } if own == op => {
                self.operands(left, op, operands);
                self.operands(right, op, operands);
            }
            other => operands.push(self.expr(other)),
        }
    }

    fn value(self, value: &Value) -> String {
        match value {
            Value::SingleQuotedString(text) => match self {
                Self::Table => format!("_utf8mb4{}", quoted_string(text)),
                Self::View { .. } => quoted_string(text),
            },
            Value::Boolean(true) => "true".to_owned(),
            Value::Boolean(false) => "false".to_owned(),
            other => other.to_string(),
        }
    }

    fn function(self, function: &Function) -> String {
        let mut text = self.call(function);
        if let Some(over) = &function.over {
            text += &self.over(over);
        }
        text
    }

    /// A call without its window.
    fn call(self, function: &Function) -> String {
        let mut name = function.name.to_string();
        if name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            name = name.to_lowercase();
        }
        let FunctionArguments::List(list) = &function.args else {
            return format!("{name}()");
        };
        if let Some(text) = self.special_call(&name, function) {
            return text;
        }
        let mut arguments = list.args.iter().map(|argument| match argument {
            FunctionArg::Expr(expr) => self.expr(expr),
            FunctionArg::Wildcard if name == "count" => "0".to_owned(),
            FunctionArg::Wildcard => "*".to_owned(),
        });
        let distinct = word_if(list.distinct, "distinct ");
        format!("{name}({distinct}{})", arguments.join(","))
    }

    /// A subquery in an expression.
    fn subquery(self, query: &Query) -> String {
        self.within_expression(true).query(query)
    }

    fn within_expression(mut self, is_so: bool) -> Self {
        if let Self::View { in_expression, .. } = &mut self {
            *in_expression = is_so;
        }
        self
    }

    fn query(self, query: &Query) -> String {
        with_stack(|| {
            let mut text = String::new();
            if let Some(with) = &query.with {
                let mut tables = with.cte_tables.iter().map(|cte| {
                    let how = match cte.materialized {
                        None => "",
                        Some(true) => "materialized ",
                        Some(false) => "not materialized ",
                    };
                    format!(
                        "{} as {how}({})",
                        table_alias(&cte.alias),
                        self.within_expression(false).query(&cte.query)
                    )
                });
                let recursive = word_if(with.recursive, "recursive ");
                text += &format!("with {recursive}{} ", tables.join(","));
            }
            text += &self.body(&query.body);
            if !query.order_by.is_empty() {
                let keys = query
                    .order_by
                    .iter()
                    .map(|key| self.order_key(key))
                    .join(",");
                text += &format!(" order by {keys}");
            }
            if let Some(clause) = &query.limit_clause {
                let offset = clause.offset.as_ref().map(|offset| self.expr(offset) + ",");
                let offset = offset.unwrap_or_default();
                text += &format!(" limit {offset}{}", self.expr(&clause.limit));
            }
            text
        })
    }

    fn order_key(self, key: &OrderByExpr) -> String {
        let descends = key.sort == Some(OrderBySort::Desc);
        self.expr(&key.expr) + word_if(descends, " desc")
    }

    fn body(self, body: &SetExpr) -> String {
        match body {
            SetExpr::Select(select) => self.select(select),
            SetExpr::Query(query) => format!("({})", self.query(query)),
            SetExpr::SetOperation {
                left,
                op,
                set_quantifier,
                right,
            } => {
                let op = match op {
                    SetOperator::Union => "union",
                    SetOperator::Intersect => "intersect",
                    _ => "except",
                };
                let all = word_if(*set_quantifier == SetQuantifier::All, " all");
                format!("{} {op}{all} {}", self.body(left), self.body(right))
            }
            SetExpr::Values(rows) => {
                let rows = rows.iter().map(|row| format!("row({})", self.list(row)));
                format!("values {}", rows.format(","))
            }
            SetExpr::Table(name) => format!("TABLE {name}"),
        }
    }

    fn select(self, select: &Select) -> String {
        let mut text = "select ".to_owned();
        text += word_if(select.distinct, "distinct ");
        let is_named = |item: &SelectItem| match item {
            SelectItem::ExprWithAlias { implicit, .. } => !implicit,
            _ => false,
        };
        let in_expression = matches!(
            self,
            Self::View {
                in_expression: true,
                ..
            }
        );
        let mut items = select.projection.iter().map(|item| match item {
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }
                if in_expression && !is_named(item) =>
            {
                self.expr(expr)
            }
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => {
                let name = quoted_identifier(item_name(item).unwrap_or_default());
                format!("{} AS {name}", self.expr(expr))
            }
            other => other.to_string(),
        });
        text += &items.join(",");
        let from = select.from.iter().map(|item| self.joined(item));
        if let Some(from) = from.reduce(|before, item| format!("({before} join {item})")) {
            text += &format!(" from {from}");
        }
        if let Some(condition) = &select.selection {
            text += &format!(" where {}", self.expr(condition));
        }
        if !select.group_by.keys.is_empty() {
            text += &format!(" group by {}", self.list(&select.group_by.keys));
            text += word_if(select.group_by.with_rollup, " with rollup");
        }
        if let Some(condition) = &select.having {
            text += &format!(" having {}", self.expr(condition));
        }
        if !select.named_window.is_empty() {
            text += &format!(" window {}", self.named_windows(&select.named_window));
        }
        text
    }

    fn joined(self, item: &TableWithJoins) -> String {
        let mut text = self.factor(&item.relation);
        for join in &item.joins {
            let (word, constraint) = match &join.join_operator {
                JoinOperator::Left(constraint) => ("left join", constraint),
                JoinOperator::Right(constraint) => ("right join", constraint),
                JoinOperator::StraightJoin(constraint) => ("straight_join", constraint),
                JoinOperator::Inner(constraint) => ("join", constraint),
            };
            let right = self.factor(&join.relation);
            text = match constraint {
                JoinConstraint::On(condition) => {
                    format!("({text} {word} {right} on({}))", self.expr(condition))
                }
                JoinConstraint::Using(columns) => {
                    format!("({text} {word} {right} using ({}))", names(columns, ","))
                }
                JoinConstraint::Natural => format!("({text} natural {word} {right})"),
                JoinConstraint::None => format!("({text} {word} {right})"),
            };
        }
        text
    }

    fn factor(self, factor: &TableFactor) -> String {
        match factor {
            TableFactor::Table { name, alias, .. } => {
                let mut text = self.table(name);
                if let Some(alias) = alias {
                    text += &format!(" {}", quoted_identifier(&alias.name.value));
                }
                text
            }
            TableFactor::Derived {
                lateral,
                subquery,
                alias,
            } => {
                let lateral = word_if(*lateral, "lateral ");
                let query = self.within_expression(false).query(subquery);
                let mut text = format!("{lateral}({query})");
                if let Some(alias) = alias {
                    text += &format!(" {}", table_alias(alias));
                }
                text
            }
            TableFactor::NestedJoin { table_with_joins } => self.joined(table_with_joins),
            TableFactor::Function { call, alias } => {
                let mut text = call.to_string();
                if let Some(alias) = alias {
                    text += &format!(" {}", table_alias(alias));
                }
                text
            }
            // A view over JSON_TABLE is refused when its names are bound.
            TableFactor::JsonTable { .. } => "JSON_TABLE(...)".to_owned(),
        }
    }

    fn table(self, name: &ObjectName) -> String {
        let Some(mut table) = TableName::from_object_name(name) else {
            return name.to_string();
        };
        if let Self::View {
            hidden_database, ..
        } = self
            && table.database.as_deref() == hidden_database
        {
            table.database = None;
        }
        table.to_string()
    }
}

fn not(negated: bool) -> &'static str {
    word_if(negated, "not ")
}

/// Quoted names with a separator.
fn names<'n>(names: impl IntoIterator<Item = &'n Ident>, separator: &str) -> String {
    let names = names.into_iter();
    names
        .map(|name| quoted_identifier(&name.value))
        .join(separator)
}

/// The alias of a derived table, with its column names if they are written.
fn table_alias(alias: &TableAlias) -> String {
    let name = quoted_identifier(&alias.name.value);
    if alias.columns.is_empty() {
        return name;
    }
    format!("{name} ({})", names(&alias.columns, ","))
}
