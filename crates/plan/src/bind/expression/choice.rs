//! CASE, IF, IFNULL, COALESCE, NULLIF: choices whose branches are evaluated only where they are
//! taken.

use mayfly_functions::scalar;
use mayfly_syntax::ast::{CaseWhen, Expr};
use mayfly_types::common_type::Alternatives;
use mayfly_types::{Result, SqlType, TypeKind};

use crate::bind::binder::Binder;
use crate::bind::comparison::{dates_as_texts, documents_as_scalars};
use crate::bind::numbers::{choice_as_number, may_be_hexadecimal};
use crate::bind::types::{as_predicate, as_value, cast, cast_exactly, choice_type, is_null, not};
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::{expression_is_volatile, has_subquery, is_immutable};

impl Binder<'_> {
    pub(super) fn bind_case(
        &mut self,
        operand: Option<&Expr>,
        conditions: &[CaseWhen],
        otherwise: Option<&Expr>,
    ) -> Result<Expression> {
        match operand {
            Some(operand) => {
                let operand = self.bind_expression(operand)?;
                self.with_value(operand, |binder, operand| {
                    binder.bind_branches(Some(&operand), conditions, otherwise)
                })
            }
            None => self.bind_branches(None, conditions, otherwise),
        }
    }

    fn bind_branches(
        &mut self,
        operand: Option<&Expression>,
        conditions: &[CaseWhen],
        otherwise: Option<&Expr>,
    ) -> Result<Expression> {
        let mut branches = Vec::with_capacity(conditions.len());
        for when in conditions {
            let condition = match operand {
                Some(operand) => {
                    let value = self.bind_expression(&when.condition)?;
                    let mut operands = [operand.clone(), value];
                    documents_as_scalars(&mut operands);
                    dates_as_texts(&mut operands);
                    let [operand, value] = operands;
                    self.compare_for(operand, Comparison::Equal, value, "case")?
                }
                None => self.bind_choice_condition(&when.condition)?,
            };
            branches.push((condition, self.bind_stored(&when.result)?));
        }
        let mut otherwise = otherwise
            .map(|otherwise| self.bind_stored(otherwise))
            .transpose()?;
        let results = branches.iter_mut().map(|(_, result)| result);
        self.type_parameters_of_choice(results.chain(&mut otherwise));
        self.choice(branches, otherwise, "case")
    }

    /// Binds the condition of IF and CASE. There a document is true if it converts to a nonzero number; elsewhere, as
    /// in `WHERE document`, unless it is the number 0.
    fn bind_choice_condition(&mut self, expr: &Expr) -> Result<Expression> {
        let mut condition = self.bind_expression(expr)?;
        self.infer_parameter(&mut condition, &SqlType::bigint());
        if condition.ty.kind == TypeKind::Json {
            condition = cast(condition, &SqlType::double());
        }
        Ok(as_predicate(choice_as_number(condition)))
    }

    pub(super) fn bind_if(
        &mut self,
        condition: &Expr,
        yes: &Expr,
        no: &Expr,
    ) -> Result<Expression> {
        let condition = self.bind_choice_condition(condition)?;
        let (mut yes, mut no) = (self.bind_stored(yes)?, self.bind_stored(no)?);
        self.type_parameters_of_choice([&mut yes, &mut no]);
        self.choice(vec![(condition, yes)], Some(no), "if")
    }

    /// COALESCE and IFNULL. Written as CASE, each choice is evaluated twice; an expensive one is left to the function,
    /// which evaluates every argument once.
    pub(super) fn bind_coalesce(&mut self, name: &str, choices: &[&Expr]) -> Result<Expression> {
        let mut bound = choices
            .iter()
            .map(|choice| self.bind_stored(choice))
            .collect::<Result<Vec<_>>>()?;
        self.type_parameters_of_choice(&mut bound);
        for choice in &mut bound {
            // Dates are plain texts here, unlike among the results of IF() and CASE.
            choice.ty.temporal_text = false;
            // x'41' is a plain string here.
            choice.ty.is_bytes_literal = false;
        }
        let Some(last) = bound.pop() else {
            return self.call_bound(name, bound);
        };
        if let Some(function) = scalar::by_name(name)
            && !bound.iter().all(is_cheap)
        {
            bound.push(last);
            return self.call_function(name, function, bound);
        }
        let mut branches = Vec::with_capacity(bound.len());
        for choice in bound {
            branches.push((not(is_null(choice.clone())), choice));
        }
        let nullable = last.nullable && branches.iter().all(|(_, result)| result.nullable);
        let mut expression = self.choice(branches, Some(last), name)?;
        expression.nullable = nullable;
        Ok(expression)
    }

    pub(super) fn bind_nullif(&mut self, first: &Expr, second: &Expr) -> Result<Expression> {
        let (mut first, mut second) = (self.bind_stored(first)?, self.bind_expression(second)?);
        self.type_parameters_of_choice([&mut first, &mut second]);
        self.check_temporal_texts(&first, &second)?;
        let choose = |binder: &mut Self, first: Expression| {
            let equal = binder.compare_for(first.clone(), Comparison::Equal, second, "nullif")?;
            let null = crate::bind::literal::null();
            let unsigned = first.ty.unsigned;
            let mut choice = binder.choice(vec![(equal, null)], Some(first), "nullif")?;
            // An unsigned DECIMAL stays unsigned, unlike in other choices.
            if choice.ty.kind == TypeKind::Decimal {
                choice.ty.unsigned = unsigned;
            }
            Ok(choice)
        };
        // Hexadecimal literals and constants are recognized by their form.
        let is_constant_of_form = is_immutable(&first) && first.ty.is_numeric()
            || may_be_hexadecimal(&first)
                && !expression_is_volatile(&first)
                && !has_subquery(&first);
        if is_cheap(&first) || is_constant_of_form {
            choose(self, first)
        } else {
            self.with_local(first, choose)
        }
    }

    /// A CASE whose results are converted to their common type.
    fn choice(
        &self,
        branches: Vec<(Expression, Expression)>,
        otherwise: Option<Expression>,
        operation: &str,
    ) -> Result<Expression> {
        let ty = {
            let results: Vec<&Expression> = branches
                .iter()
                .map(|(_, result)| result)
                .chain(otherwise.as_ref())
                .collect();
            let of_column = |id| self.innermost().client_type(id);
            choice_type(&results, &of_column, Alternatives::Function, operation)?
        };
        let nullable = otherwise
            .as_ref()
            .is_none_or(|otherwise| otherwise.nullable)
            || branches.iter().any(|(_, result)| result.nullable);
        let convert = |result: Expression| {
            if ty.kind == TypeKind::Null {
                result
            } else {
                cast_exactly(as_value(result), &ty)
            }
        };
        let branches: Vec<_> = branches
            .into_iter()
            .map(|(condition, result)| (condition, convert(result)))
            .collect();
        let otherwise = otherwise.map(|otherwise| Box::new(convert(otherwise)));
        let kind = ExpressionKind::Case {
            branches,
            otherwise,
        };
        Ok(Expression::new(kind, ty, nullable))
    }
}

/// Whether evaluating an expression twice is cheap, without side effects or warnings.
fn is_cheap(expression: &Expression) -> bool {
    let is_value = |operand: &Expression| {
        matches!(
            operand.kind,
            ExpressionKind::Literal(_) | ExpressionKind::Column(_) | ExpressionKind::Parameter(_)
        )
    };
    match &expression.kind {
        ExpressionKind::Cast(operand, _) => match &operand.kind {
            ExpressionKind::Compare { left, right, .. } => is_value(left) && is_value(right),
            _ => false,
        },
        _ => is_value(expression),
    }
}
