//! Operators: logic, comparisons, BETWEEN, IN, arithmetic.

use std::sync::Arc;

use mayfly_functions::scalar::Fact;
use mayfly_functions::{Coercibility, Signature};
use mayfly_syntax::ast::{BinaryOperator, Expr};
use mayfly_syntax::chain::chain;
use mayfly_types::convert::text::format_value;
use mayfly_types::error::codes;
use mayfly_types::temporal::parse_time;
use mayfly_types::{Result, SqlType, TypeKind, Value};

use super::{comparison_of, comparison_text, one_column};
use crate::bind::binder::Binder;
use crate::bind::collation::{
    aggregate_collations, claimed, coercibility, has_collation, unclaimed,
};
use crate::bind::comparison::{documents_as_scalars, is_moment, unify_for_comparison};
use crate::bind::literal::{is_hexadecimal, null};
use crate::bind::types::{cast, compare, is_date, not, with_collation};
use crate::catalog::Catalog;
use crate::date_text::check_date_text;
use crate::not_supported::not_supported;
use crate::predicates::{and, or};
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::{expression_is_volatile, has_subquery, is_constant};
use crate::tree::physical::DateOperand;

/// Maximum height of the tree of an operator chain; half of it for a chain inside another.
const CHAIN_HEIGHT: usize = 128;

impl Binder<'_> {
    pub(super) fn bind_binary(
        &mut self,
        whole: &Expr,
        left: &Expr,
        op: &BinaryOperator,
        right: &Expr,
    ) -> Result<Expression> {
        if matches!(op, BinaryOperator::And | BinaryOperator::Or) {
            return self.bind_junction(whole, op);
        }
        if let Some(comparison) = comparison_of(op) {
            return self.bind_comparison(left, comparison, right);
        }
        let name = match op {
            BinaryOperator::Arrow => "json_extract",
            BinaryOperator::LongArrow => {
                let extracted = self.call_with("json_extract", &[left, right])?;
                return self.call_bound("json_unquote", vec![extracted]);
            }
            BinaryOperator::Assignment => return self.bind_assignment(left, right),
            _ => {
                self.open_chains += 1;
                let bound = self.bind_chain(whole);
                self.open_chains -= 1;
                return bound;
            }
        };
        self.call_with(name, &[left, right])
    }

    /// Binds operators of one precedence, from left to right. Intermediate results of a long chain become values of
    /// their own (LET).
    fn bind_chain(&mut self, whole: &Expr) -> Result<Expression> {
        let (first, steps) = chain(whole);
        if steps.is_empty() {
            return Err(not_supported(&whole.to_string()));
        }
        let mut steps = steps.into_iter().peekable();
        let before_date = match (first, steps.peek()) {
            (Expr::Interval(interval), Some((BinaryOperator::Plus, date))) => {
                Some((interval, *date))
            }
            _ => None,
        };
        let mut value = match before_date {
            Some((interval, date)) => {
                steps.next();
                self.bind_date_arithmetic(date, interval, false)?
            }
            None => self.bind_expression(first)?,
        };
        let height = CHAIN_HEIGHT >> self.open_chains.clamp(1, 4).saturating_sub(1);
        let mut values = Vec::new();
        for (number, (op, operand)) in steps.enumerate() {
            if number > 0 && number.is_multiple_of(height) {
                let local = self.new_column();
                let kind = ExpressionKind::Local(local);
                let read = Expression::new(kind, value.ty.clone(), value.nullable);
                values.push((local, std::mem::replace(&mut value, read)));
            }
            value = self.bind_step(value, op, operand)?;
        }
        if values.is_empty() {
            return Ok(value);
        }
        Ok(with_values(values, value))
    }

    /// Binds an operator with its right operand.
    fn bind_step(
        &mut self,
        left: Expression,
        op: &BinaryOperator,
        right: &Expr,
    ) -> Result<Expression> {
        let name = match op {
            BinaryOperator::Plus | BinaryOperator::Minus => {
                let negative = *op == BinaryOperator::Minus;
                if let Expr::Interval(interval) = right {
                    return self.add_interval(left, interval, negative);
                }
                if negative { "-" } else { "+" }
            }
            BinaryOperator::Multiply => "*",
            BinaryOperator::Divide => "/",
            BinaryOperator::Modulo => "%",
            BinaryOperator::IntegerDivide => "div",
            BinaryOperator::BitwiseAnd => "&",
            BinaryOperator::BitwiseOr => "|",
            BinaryOperator::BitwiseXor => "^",
            BinaryOperator::ShiftLeft => "<<",
            BinaryOperator::ShiftRight => ">>",
            BinaryOperator::StringConcat => "concat",
            BinaryOperator::Xor => {
                let left = self.as_condition(left);
                let right = self.bind_predicate(right)?;
                return self.call_bound("xor", vec![left, right]);
            }
            other => return Err(not_supported(&other.to_string())),
        };
        let right = self.bind_expression(right)?;
        self.call_bound(name, vec![left, right])
    }

    /// Binds AND and OR: a chain is walked along its left side, so that its length needs no stack.
    fn bind_junction(&mut self, whole: &Expr, op: &BinaryOperator) -> Result<Expression> {
        let mut operands = Vec::with_capacity(2);
        let mut rest = whole;
        loop {
            match rest {
                Expr::BinaryOp {
                    left,
                    op: inner,
                    right,
                } if inner == op => {
                    operands.push(&**right);
                    rest = left;
                }
                _ => {
                    operands.push(rest);
                    break;
                }
            }
        }
        let bound = operands
            .into_iter()
            .rev()
            .map(|operand| self.bind_predicate(operand))
            .collect::<Result<Vec<_>>>()?;
        Ok(if *op == BinaryOperator::And {
            and(bound)
        } else {
            or(bound)
        })
    }

    fn bind_comparison(
        &mut self,
        left: &Expr,
        comparison: Comparison,
        right: &Expr,
    ) -> Result<Expression> {
        let (left, right) = (bare(left), bare(right));
        match (row_of(left), row_of(right)) {
            (None, None) => {
                let (a, b) = (left, right);
                let left = match a {
                    Expr::Subquery(query) => {
                        let mut row = self.bind_row_of_subquery(query)?;
                        match (row.len(), row.pop(), b) {
                            (1, Some(value), _) => value,
                            (_, Some(last), Expr::Subquery(other)) => {
                                row.push(last);
                                return self.compare_row_with(row, comparison, other);
                            }
                            (width, ..) => return Err(codes::ER_OPERAND_COLUMNS.with(&[&width])),
                        }
                    }
                    _ => self.bind_expression(a)?,
                };
                let right = self.bind_expression(b)?;
                self.check_temporal_texts(&left, &right)?;
                self.warn_of_constant(temporal_column(a, &left), &right);
                self.warn_of_constant(temporal_column(b, &right), &left);
                let column = dated_column(a, &left).or_else(|| dated_column(b, &right));
                let compared = self.compare_bound(left, comparison, right)?;
                Ok(match column {
                    Some((kind, name)) => with_column_name(compared, kind, name),
                    None => compared,
                })
            }
            (Some(left), Some(right)) => self.compare_rows(left, comparison, right),
            (Some(row), None) => match right {
                Expr::Subquery(query) => self.bind_row_subquery(row, comparison, query),
                _ => Err(codes::ER_OPERAND_COLUMNS.with(&[&row.len()])),
            },
            (None, Some(row)) => match left {
                Expr::Subquery(query) => self.bind_row_subquery(row, comparison.mirrored(), query),
                _ => Err(one_column()),
            },
        }
    }

    /// Error 1525 for a date that is compared with a text that is not a date: at once for a literal, when the plan runs
    /// for the value of a `?` and for immutable expressions.
    pub(super) fn check_temporal_texts(&mut self, a: &Expression, b: &Expression) -> Result<()> {
        self.check_temporal_text(a, b)?;
        self.check_temporal_text(b, a)
    }

    fn check_temporal_text(&mut self, temporal: &Expression, other: &Expression) -> Result<()> {
        if self.catalog.describes() {
            return Ok(());
        }
        if !is_date(&temporal.ty) || !other.ty.is_string() {
            return Ok(());
        }
        let column = unclaimed(other.clone()).as_column();
        let of_scope = |id| self.scopes.iter().rev().find_map(|it| it.constant(id));
        let known = column.and_then(of_scope).cloned();
        let other = known.as_ref().unwrap_or(other);
        if is_hexadecimal(other) {
            return Ok(());
        }
        match &other.kind {
            ExpressionKind::Literal(text) => {
                let kind = temporal.ty.kind;
                let warn = |warning| self.catalog.warn(warning);
                check_date_text(kind, text, self.options.session.sql_mode, warn)
            }
            // MySQL reads no dates in character sets of two and more bytes, and reports no error.
            _ if other.ty.collation.charset().min_length() > 1 => Ok(()),
            _ if is_constant(other) && !has_subquery(other) => {
                self.date_operands.push(DateOperand {
                    text: other.clone(),
                    kind: temporal.ty.kind,
                });
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Warning 1292 for a number compared with a date column that is not a date, and for a constant compared with a
    /// time column that is not a time.
    fn warn_of_constant(&self, column: Option<(&str, &str)>, constant: &Expression) {
        let Some(((kind, column), value)) = column.zip(constant.as_literal()) else {
            return;
        };
        let is_moment = match value {
            Value::Null => true,
            Value::Bytes(text) if kind == "time" => {
                let time = parse_time(text, false);
                text.trim_ascii().is_empty() || time.is_ok_and(|time| !time.truncated)
            }
            number if constant.ty.is_numeric() => {
                is_moment(number, kind == "time", self.options.session.sql_mode)
            }
            _ => true,
        };
        if !is_moment && !self.catalog.describes() {
            let value = format_value(value, &constant.ty).unwrap_or_default();
            let value = String::from_utf8_lossy(&value);
            let warning = codes::ER_WRONG_COLUMN_TEMPORAL_VALUE;
            self.catalog
                .warn(warning.with(&[&kind, &value, &column, &1]));
        }
    }

    /// A comparison of two bound values.
    pub(crate) fn compare_bound(
        &mut self,
        left: Expression,
        comparison: Comparison,
        right: Expression,
    ) -> Result<Expression> {
        self.compare_for(left, comparison, right, comparison_text(comparison))
    }

    /// A comparison of two bound values that error messages call `operation`.
    pub(super) fn compare_for(
        &mut self,
        left: Expression,
        comparison: Comparison,
        right: Expression,
        operation: &str,
    ) -> Result<Expression> {
        let (left, right) = unify_for_comparison(self.catalog, left, right, operation)?;
        Ok(compare(comparison, left, right))
    }

    fn compare_rows(
        &mut self,
        left: &[Expr],
        comparison: Comparison,
        right: &[Expr],
    ) -> Result<Expression> {
        if left.len() != right.len() {
            return Err(codes::ER_OPERAND_COLUMNS.with(&[&left.len()]));
        }
        match comparison {
            Comparison::Equal | Comparison::NullSafeEqual => {
                let pairs = left.iter().zip(right);
                let equal = pairs
                    .map(|(a, b)| self.bind_comparison(a, comparison, b))
                    .collect::<Result<Vec<_>>>()?;
                Ok(and(equal))
            }
            Comparison::NotEqual => Ok(not(self.compare_rows(left, Comparison::Equal, right)?)),
            _ => {
                // (a, b) < (c, d) is a < c OR (a = c AND b < d).
                let strict = match comparison {
                    Comparison::LessOrEqual => Comparison::Less,
                    Comparison::GreaterOrEqual => Comparison::Greater,
                    other => other,
                };
                let (Some((a, left_rest)), Some((b, right_rest))) =
                    (left.split_first(), right.split_first())
                else {
                    return Err(one_column());
                };
                if left_rest.is_empty() {
                    return self.bind_comparison(a, comparison, b);
                }
                let before = self.bind_comparison(a, strict, b)?;
                let equal = self.bind_comparison(a, Comparison::Equal, b)?;
                let after = self.compare_rows(left_rest, comparison, right_rest)?;
                Ok(or(vec![before, and(vec![equal, after])]))
            }
        }
    }

    /// Binds IN of row values: whether a row equals one of the list.
    fn is_row(&mut self, left: &[Expr], right: &[Expr]) -> Result<Expression> {
        if left.len() != right.len() {
            return Err(codes::ER_OPERAND_COLUMNS.with(&[&left.len()]));
        }
        let equal = left
            .iter()
            .zip(right)
            .map(|(left, right)| {
                let (left, right) = (bare(left), bare(right));
                if let (Some(left), Some(right)) = (row_of(left), row_of(right)) {
                    return self.is_row(left, right);
                }
                if row_of(left).is_some() || row_of(right).is_some() {
                    return self.bind_comparison(left, Comparison::Equal, right);
                }
                let left = self.bind_expression(left)?;
                let right = self.bind_expression(right)?;
                self.compare_bound(left, Comparison::Equal, right)
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(and(equal))
    }

    pub(super) fn bind_between(
        &mut self,
        expr: &Expr,
        negated: bool,
        low: &Expr,
        high: &Expr,
    ) -> Result<Expression> {
        let operands = [expr, low, high].map(|operand| self.bind_expression(operand));
        let [operand, low, high] = operands;
        let mut operands = [operand?, low?, high?];
        documents_as_scalars(&mut operands);
        share_collation(&mut operands, "between")?;
        as_numbers(&mut operands);
        as_dates(self.catalog, &mut operands)?;
        let [operand, low, high] = operands;
        self.with_value(operand, |binder, operand| {
            let catalog = binder.catalog;
            let unify = |value, bound| unify_for_comparison(catalog, value, bound, "between");
            let (low_operand, low) = unify(operand.clone(), low)?;
            let (high_operand, high) = unify(operand, high)?;
            Ok(if negated {
                or(vec![
                    compare(Comparison::Less, low_operand, low),
                    compare(Comparison::Greater, high_operand, high),
                ])
            } else {
                and(vec![
                    compare(Comparison::GreaterOrEqual, low_operand, low),
                    compare(Comparison::LessOrEqual, high_operand, high),
                ])
            })
        })
    }

    /// Builds an expression that may read a value more than once; a volatile value is computed once.
    pub(super) fn with_value(
        &mut self,
        value: Expression,
        make: impl FnOnce(&mut Self, Expression) -> Result<Expression>,
    ) -> Result<Expression> {
        if expression_is_volatile(&value) {
            self.with_local(value, make)
        } else {
            make(self, value)
        }
    }

    /// Builds an expression that reads a value more than once; the value is computed once.
    pub(super) fn with_local(
        &mut self,
        value: Expression,
        make: impl FnOnce(&mut Self, Expression) -> Result<Expression>,
    ) -> Result<Expression> {
        let local = self.new_column();
        let kind = ExpressionKind::Local(local);
        let read = Expression::new(kind, value.ty.clone(), value.nullable);
        let claim = coercibility(&value);
        let has_claim = has_collation(&value.ty) && claim != Coercibility::Implicit;
        self.has_claims |= has_claim;
        let body = make(self, claimed(read, has_claim.then_some(claim)))?;
        Ok(with_values(vec![(local, value)], body))
    }

    pub(super) fn bind_in_list(
        &mut self,
        expr: &Expr,
        list: &[Expr],
        negated: bool,
    ) -> Result<Expression> {
        let expr = bare(expr);
        let found = match row_of(expr) {
            Some(row) => {
                let choices = list
                    .iter()
                    .map(|item| match row_of(bare(item)) {
                        Some(other) if list.len() == 1 => {
                            self.compare_rows(row, Comparison::Equal, other)
                        }
                        Some(other) => self.is_row(row, other),
                        None => Err(codes::ER_OPERAND_COLUMNS.with(&[&row.len()])),
                    })
                    .collect::<Result<Vec<_>>>()?;
                or(choices)
            }
            None => {
                let mut operands = vec![self.bind_expression(expr)?];
                for item in list {
                    if row_of(bare(item)).is_some() {
                        return Err(one_column());
                    }
                    operands.push(self.bind_expression(item)?);
                }
                share_collation(&mut operands, " IN ")?;
                let list = operands.split_off(1);
                let operand = operands.remove(0);
                // A list of one value is a comparison; in longer ones a text that is not a date only equals no date.
                if let [only] = list.as_slice() {
                    self.check_temporal_texts(&operand, only)?;
                }
                self.with_value(operand, |binder, operand| {
                    in_list_of_values(binder.catalog, operand, list)
                })?
            }
        };
        Ok(if negated { not(found) } else { found })
    }

    /// Calls a function with unbound arguments.
    pub(super) fn call_with(&mut self, name: &str, arguments: &[&Expr]) -> Result<Expression> {
        let arguments = arguments
            .iter()
            .map(|argument| self.bind_expression(argument))
            .collect::<Result<Vec<_>>>()?;
        self.call_bound(name, arguments)
    }
}

/// LET: an expression over values that are computed once.
fn with_values(values: Vec<(usize, Expression)>, body: Expression) -> Expression {
    let (ty, nullable) = (body.ty.clone(), body.nullable);
    let body = Box::new(body);
    Expression::new(ExpressionKind::Let { values, body }, ty, nullable)
}

/// Binds IN: constants with a common comparison type make one lookup; others are compared singly.
fn in_list_of_values(
    catalog: &dyn Catalog,
    operand: Expression,
    list: Vec<Expression>,
) -> Result<Expression> {
    let mut lookups: Vec<(Expression, Vec<Value>)> = Vec::new();
    let mut others = Vec::new();
    let mut nullable = operand.nullable;
    for item in list {
        nullable |= item.nullable;
        if item.ty.kind == mayfly_types::TypeKind::Null
            && let Some((_, values)) = lookups.last_mut()
        {
            values.push(Value::Null);
            continue;
        }
        let (left, right) = unify_for_comparison(catalog, operand.clone(), item, " IN ")?;
        match right.kind {
            ExpressionKind::Literal(value) => {
                match lookups
                    .iter_mut()
                    .find(|(known, _)| same_lookup(known, &left))
                {
                    Some((_, values)) => values.push(value),
                    None => lookups.push((left, vec![value])),
                }
            }
            _ => others.push(compare(Comparison::Equal, left, right)),
        }
    }
    let mut choices = Vec::with_capacity(lookups.len() + others.len());
    for (left, mut values) in lookups {
        if values.len() == 1
            && let Some(value) = values.pop()
        {
            let ty = left.ty.clone();
            choices.push(compare(
                Comparison::Equal,
                left,
                Expression::literal(value, ty),
            ));
            continue;
        }
        let nullable = left.nullable || values.iter().any(Value::is_null);
        let kind = ExpressionKind::InList {
            operand: Box::new(left),
            list: Arc::from(values),
            negated: false,
        };
        choices.push(Expression::predicate(kind, nullable));
    }
    choices.extend(others);
    let mut found = or(choices);
    found.nullable = nullable;
    Ok(found)
}

/// Gives strings that are compared with each other one collation.
fn share_collation(operands: &mut [Expression], operation: &str) -> Result<()> {
    let text = |operand: &&Expression| operand.ty.kind != TypeKind::Null;
    let texts: Vec<&Expression> = operands.iter().filter(text).collect();
    // Documents are compared as documents.
    let collated = |ty: &SqlType| has_collation(ty) && ty.kind != TypeKind::Json;
    if texts.len() < 3 || !texts.iter().all(|operand| collated(&operand.ty)) {
        return Ok(());
    }
    let collation = aggregate_collations(&texts, operation, true)?;
    for operand in operands {
        if operand.ty.kind != TypeKind::Null {
            operand.change(|value| with_collation(value, collation));
        }
    }
    Ok(())
}

fn is_text(operand: &Expression) -> bool {
    has_collation(&operand.ty) && operand.ty.kind != TypeKind::Json
}

/// Converts a text between a number and a text to a number, as which it is compared with both.
fn as_numbers(operands: &mut [Expression; 3]) {
    let [operand, low, high] = &*operands;
    let mixed = |text: &Expression, number: &Expression| is_text(text) && number.ty.is_numeric();
    if !is_text(operand) || !(mixed(low, high) || mixed(high, low)) {
        return;
    }
    let bounds = operands.iter_mut().skip(1);
    for bound in bounds.filter(|bound| is_text(bound)) {
        bound.change(|text| cast(text, &SqlType::double()));
    }
}

/// Converts a text between a date and a text to a date, as which it is compared with both.
fn as_dates(catalog: &dyn Catalog, operands: &mut [Expression; 3]) -> Result<()> {
    let [operand, low, high] = operands;
    if !is_text(operand) {
        return Ok(());
    }
    let (text, date) = match (is_date(&low.ty), is_date(&high.ty)) {
        (true, false) => (high, low),
        (false, true) => (low, high),
        _ => return Ok(()),
    };
    if is_text(text) {
        let bound = std::mem::replace(text, null());
        (*text, _) = unify_for_comparison(catalog, bound, date.clone(), "between")?;
    }
    Ok(())
}

fn same_lookup(a: &Expression, b: &Expression) -> bool {
    a.ty.kind == b.ty.kind
        && a.ty.physical() == b.ty.physical()
        && a.ty.collation == b.ty.collation
        && matches!(a.kind, ExpressionKind::Cast(..)) == matches!(b.kind, ExpressionKind::Cast(..))
}

/// The expression without enclosing parentheses.
pub(crate) fn bare(expr: &Expr) -> &Expr {
    let mut expr = expr;
    while let Expr::Nested(inner) = expr {
        expr = inner;
    }
    expr
}

/// Kind and name of a column with a date part, for a warning about a constant that it is compared with.
fn dated_column<'e>(written: &'e Expr, bound: &Expression) -> Option<(&'static str, &'e str)> {
    temporal_column(written, bound).filter(|(kind, _)| *kind != "time")
}

/// Kind and name of a column of a date or time type, for warnings.
fn temporal_column<'e>(written: &'e Expr, bound: &Expression) -> Option<(&'static str, &'e str)> {
    let kind = match bound.ty.kind {
        TypeKind::Date => "date",
        TypeKind::DateTime | TypeKind::Timestamp => "datetime",
        TypeKind::Time => "time",
        _ => return None,
    };
    let name = match written {
        Expr::Identifier(name) => name,
        Expr::CompoundIdentifier(names) => names.last()?,
        _ => return None,
    };
    matches!(bound.kind, ExpressionKind::Column(_)).then_some((kind, name.value.as_str()))
}

/// A comparison whose constant is converted with a warning that names the column beside it.
fn with_column_name(mut compared: Expression, kind: &str, name: &str) -> Expression {
    let ExpressionKind::Compare { left, right, .. } = &mut compared.kind else {
        return compared;
    };
    for side in [left, right] {
        if let ExpressionKind::Call {
            function,
            arguments,
            signature,
        } = &mut side.kind
            && function.has(Fact::ComparedConstant)
            && let [constant] = arguments.as_slice()
            && matches!(
                constant.kind,
                ExpressionKind::Literal(_) | ExpressionKind::Parameter(_)
            )
        {
            let ty = SqlType::varchar(64, constant.ty.collation);
            let word = |text: &str| {
                Expression::literal(Value::Bytes(text.as_bytes().to_vec()), ty.clone())
            };
            arguments.extend([word(kind), word(name)]);
            let types = arguments.iter().map(|argument| argument.ty.clone());
            let named = Signature::new(
                types.collect(),
                signature.result.clone(),
                signature.nullable,
            );
            *signature = Arc::new(named);
        }
    }
    compared
}

/// Elements of a row value.
pub(crate) fn row_of(expr: &Expr) -> Option<&[Expr]> {
    match expr {
        Expr::Tuple(items) if items.len() > 1 => Some(items),
        _ => None,
    }
}
