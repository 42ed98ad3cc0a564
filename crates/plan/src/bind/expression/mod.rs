//! Expressions: names, operators, and MySQL's other syntax.

mod aggregate;
mod array_cast;
mod call;
mod cast;
mod choice;
mod literal;
mod operator;
mod subquery;
mod variable;

pub use aggregate::{calls_aggregates, has_aggregates, has_window_functions};
pub(crate) use aggregate::{claim_of_aggregate, is_descending, position_of};
pub use array_cast::{array_cast, array_element_type};
pub use call::is_built_in;
pub(crate) use operator::bare;

use mayfly_syntax::ast::{self, BinaryOperator, Expr, UnaryOperator};
use mayfly_syntax::encodings::{self, Variable};
use mayfly_types::error::codes;
use mayfly_types::temporal::DateTime;
use mayfly_types::{Result, SqlType, TypeKind, Value};

use super::collation::{aggregate_collations, claimed};
use super::numbers::choice_as_number;
use super::parameters::parameter_type;
use super::scope::{Clause, ColumnSlot, Found, Name};
use super::types::{as_predicate, as_value, cast, compare, is_null, not};
use crate::access::constant::known_value;
use crate::bind::binder::Binder;
use crate::bind::structured;
use crate::catalog::VariableScope;
use crate::not_supported::not_supported;
use crate::predicates::{and, or};
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::with_stack;

/// Digits of the largest BIGINT UNSIGNED.
const BIGINT_DIGITS: u8 = 20;

impl Binder<'_> {
    /// Binds an expression that has one value (error 1241 for rows).
    pub(crate) fn bind_expression(&mut self, expr: &Expr) -> Result<Expression> {
        with_stack(|| self.bind_any(expr))
    }

    /// Binds an expression as a condition.
    pub(crate) fn bind_predicate(&mut self, expr: &Expr) -> Result<Expression> {
        let predicate = self.bind_expression(expr)?;
        Ok(self.as_condition(predicate))
    }

    /// A bound expression as a condition.
    pub(crate) fn as_condition(&mut self, mut predicate: Expression) -> Expression {
        self.infer_parameter(&mut predicate, &SqlType::bigint());
        as_predicate(choice_as_number(predicate))
    }

    /// Binds the condition of WHERE. Where it must be true, `column IS NULL` finds the zero date in a DATE or DATETIME
    /// column that is never NULL, because ODBC has no zero date.
    pub(crate) fn bind_condition(&mut self, expr: &Expr) -> Result<Expression> {
        let predicate = self.bind_predicate(expr)?;
        Ok(self.with_zero_dates(predicate))
    }

    fn with_zero_dates(&mut self, predicate: Expression) -> Expression {
        match predicate.kind {
            ExpressionKind::And(operands) => {
                let operands = operands.into_iter();
                and(operands.map(|one| self.with_zero_dates(one)).collect())
            }
            ExpressionKind::IsNull(operand) if self.scope().is_never_null_date(&operand) => {
                let zero = Expression {
                    kind: ExpressionKind::Literal(Value::Int(DateTime::default().pack())),
                    ..(*operand).clone()
                };
                let is_zero = compare(Comparison::Equal, (*operand).clone(), zero);
                if operand.nullable {
                    or(vec![is_null(*operand), is_zero])
                } else {
                    is_zero
                }
            }
            kind => Expression { kind, ..predicate },
        }
    }

    /// Binds an expression whose value is stored, grouped or sorted by.
    pub(crate) fn bind_stored(&mut self, expr: &Expr) -> Result<Expression> {
        Ok(as_value(self.bind_expression(expr)?))
    }

    fn bind_any(&mut self, expr: &Expr) -> Result<Expression> {
        match expr {
            Expr::Identifier(ident) => {
                if let Some(variable) = encodings::variable(expr) {
                    return self.bind_variable(variable);
                }
                self.bind_name(Name::unqualified(&ident.value))
            }
            Expr::CompoundIdentifier(parts) => self.bind_name(compound_name(parts)?),
            Expr::Value(value) => self.bind_value(value),
            Expr::Nested(inner) => self.bind_expression(inner),
            Expr::BinaryOp { left, op, right } => self.bind_binary(expr, left, op, right),
            Expr::UnaryOp { op, expr } => self.bind_unary(*op, expr),
            Expr::Function(function) => self.bind_function(function),
            Expr::IsNull(operand) => Ok(is_null(self.bind_operand(operand)?)),
            Expr::IsNotNull(operand) => Ok(not(is_null(self.bind_operand(operand)?))),
            Expr::IsTrue(operand) => self.bind_truth(operand, Some(true)),
            Expr::IsNotTrue(operand) => Ok(not(self.bind_truth(operand, Some(true))?)),
            Expr::IsFalse(operand) => self.bind_truth(operand, Some(false)),
            Expr::IsNotFalse(operand) => Ok(not(self.bind_truth(operand, Some(false))?)),
            Expr::IsUnknown(operand) => self.bind_truth(operand, None),
            Expr::IsNotUnknown(operand) => Ok(not(self.bind_truth(operand, None)?)),
            Expr::Between {
                expr,
                negated,
                low,
                high,
            } => self.bind_between(expr, *negated, low, high),
            Expr::InList {
                expr,
                list,
                negated,
            } => self.bind_in_list(expr, list, *negated),
            Expr::InSubquery {
                expr,
                subquery,
                negated,
            } => self.bind_in_subquery(expr, subquery, *negated),
            Expr::AnyOp {
                left,
                compare_op,
                right,
            } => self.bind_quantified(left, compare_op, right, false),
            Expr::AllOp {
                left,
                compare_op,
                right,
            } => self.bind_quantified(left, compare_op, right, true),
            Expr::Exists { subquery, negated } => self.bind_exists(subquery, *negated),
            Expr::Subquery(query) => self.bind_scalar_subquery(query),
            Expr::Like {
                negated,
                expr,
                pattern,
                escape_char,
            } => self.bind_like(expr, pattern, escape_char.as_deref(), *negated),
            Expr::RLike {
                negated,
                expr,
                pattern,
            } => {
                let found = self.call_with("regexp_like", &[expr, pattern])?;
                Ok(if *negated {
                    not(as_predicate(found))
                } else {
                    found
                })
            }
            Expr::Case {
                operand,
                conditions,
                else_result,
            } => self.bind_case(operand.as_deref(), conditions, else_result.as_deref()),
            Expr::Cast { expr, data_type } => self.bind_cast(expr, data_type),
            Expr::Convert { expr, charset } => self.bind_convert(expr, charset),
            Expr::Collate { expr, collation } => self.bind_collate(expr, collation),
            Expr::Prefixed { prefix, value } => self.bind_introducer(&prefix.value, value),
            Expr::TypedString(typed) => self.bind_typed_string(typed),
            Expr::Extract { field, expr } => self.bind_extract(*field, expr),
            Expr::Trim {
                trim_where,
                trim_what,
                expr,
            } => self.bind_trim(*trim_where, trim_what.as_deref(), expr),
            Expr::MemberOf { value, array } => self.call_with("member of", &[value, array]),
            Expr::Tuple(items) if items.len() == 1 => self.bind_expression(&items[0]),
            Expr::Tuple(_) => Err(one_column()),
            Expr::Interval(_) => Err(not_supported("INTERVAL here")),
        }
    }

    /// Binds an operand that is neither a row nor a predicate: `(a = b) IS NULL` tests a value.
    fn bind_operand(&mut self, expr: &Expr) -> Result<Expression> {
        self.bind_expression(expr)
    }

    fn bind_truth(&mut self, operand: &Expr, truth: Option<bool>) -> Result<Expression> {
        let operand = self.bind_predicate(operand)?;
        let kind = ExpressionKind::IsTruth(Box::new(operand), truth);
        Ok(Expression::predicate(kind, false))
    }

    fn bind_unary(&mut self, op: UnaryOperator, operand: &Expr) -> Result<Expression> {
        match op {
            UnaryOperator::Not => {
                let operand = self.bind_expression(operand)?;
                structured::check_negated(&operand.ty)?;
                Ok(not(self.as_condition(operand)))
            }
            UnaryOperator::Plus => self.bind_expression(operand),
            UnaryOperator::Minus => {
                let operand = self.bind_expression(operand)?;
                match crate::bind::literal::negated(&operand) {
                    Some(negative) => Ok(negative),
                    None => {
                        let operand = self.wide_enough_to_negate(operand);
                        self.call_bound("negate", vec![operand])
                    }
                }
            }
            UnaryOperator::BitwiseNot => {
                let operand = self.bind_expression(operand)?;
                self.call_bound("~", vec![operand])
            }
        }
    }

    /// A constant whose negative exceeds BIGINT, as a DECIMAL; any other expression unchanged.
    fn wide_enough_to_negate(&self, operand: Expression) -> Expression {
        let is_integer = operand.ty.is_integer() && operand.ty.kind != TypeKind::Boolean;
        let value = match is_integer {
            true => known_value(&operand, &[], self.options.session.sql_mode),
            false => None,
        };
        match value {
            Some(Value::UInt(number)) if i64::try_from(number).is_err() => {
                cast(operand, &SqlType::decimal(BIGINT_DIGITS, 0))
            }
            Some(Value::Int(i64::MIN)) => cast(operand, &SqlType::decimal(BIGINT_DIGITS, 0)),
            _ => operand,
        }
    }

    /// Resolves a name: in the current query block, then in the enclosing ones from the inside out.
    pub(crate) fn bind_name(&mut self, name: Name<'_>) -> Result<Expression> {
        for depth in (0..self.scopes.len()).rev() {
            let scope = &self.scopes[depth];
            if scope.hidden {
                continue;
            }
            let inner = depth + 1 < self.scopes.len();
            // The enclosing aggregate may be in a subquery.
            let in_aggregate = self.scopes[depth..]
                .iter()
                .any(|it| it.inside_aggregate > 0);
            let found = match scope.find(name, in_aggregate)? {
                // A subquery in the select list may name the items before it.
                None if inner && scope.clause == Clause::FieldList => {
                    scope.find_item(name)?.map(Found::Item)
                }
                found => found,
            };
            let Some(found) = found else {
                continue;
            };
            let expression = match found {
                Found::Column(slot) => {
                    self.check_read(depth, slot)?;
                    self.claimed_column(depth, slot)
                }
                Found::Key { index, hides_item } => {
                    if hides_item {
                        self.catalog.warn(scope.ambiguous(name));
                    }
                    scope.group_keys[index].clone()
                }
                Found::Item(item) => {
                    let item = &scope.items[item];
                    if scope.clause != Clause::OrderBy && scope.reads_window(&item.expression) {
                        return Err(
                            codes::ER_WINDOW_INVALID_WINDOW_FUNC_ALIAS_USE.with(&[&item.name])
                        );
                    }
                    let reads_aggregate = scope.reads_aggregate(&item.expression);
                    if in_aggregate && !inner && scope.clause == Clause::OrderBy && reads_aggregate
                    {
                        return Err(codes::ER_INVALID_GROUP_FUNC_USE.error());
                    }
                    if (inner || in_aggregate) && reads_aggregate {
                        return Err(codes::ER_ILLEGAL_REFERENCE
                            .with(&[&item.name, &"reference to group function"]));
                    }
                    item.expression.clone()
                }
            };
            self.deepest = self.deepest.max(Some(depth));
            return Ok(expression);
        }
        let clause = self
            .scopes
            .last()
            .map_or(Clause::FieldList, |scope| scope.clause);
        // Without tables in scope, the error is that of a missing table.
        let mut visible = self.scopes.iter().filter(|scope| !scope.hidden);
        let is_alone = visible.next().is_some_and(|scope| scope.tables.is_empty());
        match name.table {
            Some(table) if is_alone && visible.next().is_none() && clause != Clause::Having => {
                Err(codes::ER_UNKNOWN_TABLE.with(&[&table, &clause.text()]))
            }
            _ => Err(clause.unknown(&name)),
        }
    }

    /// Column at a slot of a query block, with its coercibility.
    pub(crate) fn claimed_column(&self, depth: usize, slot: ColumnSlot) -> Expression {
        let scope = &self.scopes[depth];
        let claim = scope.tables[slot.table].claim(slot.column);
        claimed(scope.column(slot), claim)
    }

    fn bind_variable(&mut self, variable: Variable<'_>) -> Result<Expression> {
        match variable {
            Variable::System { scope, name } => {
                let scope = scope.and_then(|scope| match scope {
                    ast::VariableScope::Global => Some(VariableScope::Global),
                    ast::VariableScope::Session => Some(VariableScope::Session),
                    _ => None,
                });
                let (value, ty) = self.catalog.system_variable(scope, name)?;
                super::variables::system_variable(name, Expression::literal(value, ty))
            }
            Variable::User(name) => self.user_variable(name),
        }
    }

    fn bind_placeholder(&mut self, text: &str) -> Result<Expression> {
        // `?` is followed by its number where the parser counts them.
        let number = text
            .get(1..)
            .and_then(|digits| digits.parse::<usize>().ok());
        let index = match number {
            Some(number) => number.saturating_sub(1),
            None => {
                self.placeholders_seen += 1;
                self.placeholders_seen - 1
            }
        };
        let ty = match self.options.parameters.get(index) {
            Some(ty) => ty.clone(),
            None => {
                self.parameter_count = self.parameter_count.max(index + 1);
                parameter_type(None, self.options.session.collation_connection)
            }
        };
        Ok(Expression::new(ExpressionKind::Parameter(index), ty, true))
    }

    fn bind_like(
        &mut self,
        expr: &Expr,
        pattern: &Expr,
        escape: Option<&Expr>,
        negated: bool,
    ) -> Result<Expression> {
        let mut arguments = vec![self.bind_expression(expr)?, self.bind_expression(pattern)?];
        let texts: Vec<&Expression> = arguments.iter().collect();
        if texts.iter().all(|text| text.ty.is_string()) {
            aggregate_collations(&texts, "like", true)?;
        }
        if let Some(escape) = escape {
            arguments.push(self.bind_expression(escape)?);
        }
        let found = self.call_bound("like", arguments)?;
        Ok(if negated {
            not(as_predicate(found))
        } else {
            found
        })
    }
}

/// Parts of `table.column` or `database.table.column`.
pub(crate) fn compound_name(parts: &[ast::Ident]) -> Result<Name<'_>> {
    match parts {
        [column] => Ok(Name::unqualified(&column.value)),
        [table, column] => Ok(Name {
            database: None,
            table: Some(&table.value),
            column: &column.value,
        }),
        [database, table, column] => Ok(Name {
            database: Some(&database.value),
            table: Some(&table.value),
            column: &column.value,
        }),
        _ => Err(not_supported("a name of more than three parts")),
    }
}

/// Expression of an ordinary argument.
pub(crate) fn plain(argument: &ast::FunctionArg) -> Result<&Expr> {
    match argument {
        ast::FunctionArg::Expr(expr) => Ok(expr),
        ast::FunctionArg::Wildcard => Err(not_supported("*")),
    }
}

/// Error 1241 for a row where one value is required.
pub(crate) fn one_column() -> mayfly_types::Error {
    codes::ER_OPERAND_COLUMNS.with(&[&1])
}

/// Comparison of an operator.
pub(crate) fn comparison_of(op: &BinaryOperator) -> Option<Comparison> {
    Some(match op {
        BinaryOperator::Eq => Comparison::Equal,
        BinaryOperator::NotEq => Comparison::NotEqual,
        BinaryOperator::Lt => Comparison::Less,
        BinaryOperator::LtEq => Comparison::LessOrEqual,
        BinaryOperator::Gt => Comparison::Greater,
        BinaryOperator::GtEq => Comparison::GreaterOrEqual,
        BinaryOperator::Spaceship => Comparison::NullSafeEqual,
        _ => return None,
    })
}

pub(crate) use crate::text::comparison_text;
