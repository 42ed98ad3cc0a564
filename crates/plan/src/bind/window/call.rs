//! Window function calls: arguments and result types.

use mayfly_functions::aggregate::{self, Kind};
use mayfly_syntax::ast::{Expr, Function, FunctionArguments, NullTreatment, Value as AstValue};
use mayfly_types::common_type::Alternatives;
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType, TypeKind, Value};

use crate::bind::binder::Binder;
use crate::bind::expression::plain;
use crate::bind::structured::check_window;
use crate::bind::types::{cast_exactly, choice_type, client_type};
use crate::catalog::ParameterPlace;
use crate::not_supported::not_supported;
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::physical::ClientType;
use crate::window::WindowFunction;

/// A bound function with its arguments and the type of its value.
pub(super) struct BoundFunction {
    pub(super) function: WindowFunction,
    pub(super) arguments: Vec<Expression>,
    pub(super) result: SqlType,
    pub(super) nullable: bool,
    /// Client type where no rows are kept.
    pub(super) client_type: ClientType,
}

impl BoundFunction {
    fn number(function: WindowFunction) -> Self {
        Self {
            function,
            arguments: Vec::new(),
            result: SqlType {
                length: 21,
                ..SqlType::bigint_unsigned()
            },
            nullable: false,
            client_type: ClientType::Plain,
        }
    }

    fn share(function: WindowFunction) -> Self {
        Self {
            result: SqlType::double(),
            ..Self::number(function)
        }
    }
}

impl Binder<'_> {
    /// Binds a window function; `name` is in lower case.
    pub(super) fn bind_window_function(
        &mut self,
        name: &str,
        call: &Function,
    ) -> Result<BoundFunction> {
        if matches!(call.null_treatment, Some(NullTreatment::IgnoreNulls)) {
            return Err(not_supported("IGNORE NULLS"));
        }
        let FunctionArguments::List(list) = &call.args else {
            return Err(not_supported(name));
        };
        if let Some(function) = aggregate::by_name(name)
            && name != "first_value"
        {
            if function.kind() == Kind::GroupConcat {
                return Err(not_supported("group_concat as window function"));
            }
            if list.distinct {
                return Err(not_supported("<window function>(DISTINCT ..)"));
            }
            let mut call = self.bind_aggregate_parts(name, function, list)?;
            let own = call.signature.result.clone();
            if matches!(function.kind(), Kind::Min | Kind::Max) {
                let result = match call.arguments.first() {
                    Some(argument) => {
                        let scope = self.innermost();
                        scope.kept_argument(argument, call.signature.result)
                    }
                    None => call.signature.result,
                };
                call.signature.result = kept_extreme(result);
            }
            return Ok(BoundFunction {
                client_type: self.own_client_type(&call.arguments, &own, &call.signature.result),
                result: call.signature.result.clone(),
                nullable: call.signature.nullable,
                function: WindowFunction::Aggregate(Box::new(call)),
                arguments: Vec::new(),
            });
        }
        let written = list
            .args
            .iter()
            .map(plain)
            .collect::<Result<Vec<&Expr>>>()?;
        match (name, written.as_slice()) {
            ("row_number", []) => Ok(BoundFunction::number(WindowFunction::RowNumber)),
            ("rank", []) => Ok(BoundFunction::number(WindowFunction::Rank)),
            ("dense_rank", []) => Ok(BoundFunction::number(WindowFunction::DenseRank)),
            ("percent_rank", []) => Ok(BoundFunction::share(WindowFunction::PercentRank)),
            ("cume_dist", []) => Ok(BoundFunction::share(WindowFunction::CumeDist)),
            ("ntile", [buckets]) => {
                let buckets = self.bind_count(name, buckets, 1)?;
                Ok(BoundFunction::number(WindowFunction::Ntile(buckets)))
            }
            ("first_value", [value]) => self.bind_choice(WindowFunction::FirstValue, &[value]),
            ("last_value", [value]) => self.bind_choice(WindowFunction::LastValue, &[value]),
            ("nth_value", [value, row]) => {
                let row = self.bind_count(name, row, 1)?;
                self.bind_choice(WindowFunction::NthValue(row), &[value])
            }
            ("lag" | "lead", [value, rest @ ..]) if rest.len() <= 2 => {
                let distance = match rest.first() {
                    Some(distance) => self.bind_count(name, distance, 0)?,
                    None => 1,
                };
                let function = match name {
                    "lag" => WindowFunction::Lag(distance),
                    _ => WindowFunction::Lead(distance),
                };
                let mut choices = vec![*value];
                choices.extend(rest.get(1));
                self.bind_choice(function, &choices)
            }
            _ => Err(codes::ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT.with(&[&name])),
        }
    }

    /// Binds an integer that is known before the statement runs; error 1210 for any other value or one that is too
    /// small.
    fn bind_count(&mut self, function: &str, written: &Expr, smallest: u64) -> Result<u64> {
        if let Expr::Identifier(name) = written
            && mayfly_syntax::encodings::variable(written).is_none()
            && function != "nth_value"
        {
            return Err(codes::ER_SP_UNDECLARED_VAR.with(&[&name.value]));
        }
        let wrong = || codes::ER_WRONG_ARGUMENTS.with(&[&function]);
        let number = match self.bind_whole_number(written)? {
            WholeNumber::Known(number) => number,
            // The statement is planned again when it is executed.
            WholeNumber::Later => i128::from(smallest),
            WholeNumber::Other => return Err(wrong()),
        };
        match u64::try_from(number) {
            // The maximum offset is that of a signed integer.
            Ok(count) if count >= smallest && i64::try_from(count).is_ok() => Ok(count),
            _ => Err(wrong()),
        }
    }

    /// Binds an integer, or a `?` for one.
    pub(super) fn bind_whole_number(&mut self, written: &Expr) -> Result<WholeNumber> {
        let is_placeholder = matches!(written, Expr::Value(AstValue::Placeholder(_)));
        let bound = self.bind_expression(written)?;
        let value = match &bound.kind {
            ExpressionKind::Literal(value) => value.clone(),
            ExpressionKind::Parameter(index) if is_placeholder => {
                let ty = SqlType::bigint_unsigned();
                self.catalog
                    .parameter_meets(*index, &ty, ParameterPlace::Count);
                match self.catalog.parameter_value(*index) {
                    None => return Ok(WholeNumber::Later),
                    Some(value @ (Value::Int(_) | Value::UInt(_) | Value::Null)) => value,
                    Some(_) => return Err(codes::ER_WRONG_ARGUMENTS.with(&[&"EXECUTE"])),
                }
            }
            _ => return Ok(WholeNumber::Other),
        };
        Ok(match value {
            Value::Int(number) if bound.ty.is_integer() || is_placeholder => {
                WholeNumber::Known(i128::from(number))
            }
            Value::UInt(number) => WholeNumber::Known(i128::from(number)),
            _ => WholeNumber::Other,
        })
    }

    /// Client type of a value that is kept in another type than its own, where no rows are kept.
    fn own_client_type(&self, values: &[Expression], own: &SqlType, kept: &SqlType) -> ClientType {
        let scope = self.innermost();
        let of_column = |id| scope.client_type(id);
        let is_computed = |value| client_type(value, &of_column) == ClientType::Computed;
        let is_reported =
            own.is_integer() || matches!(own.kind, TypeKind::Char | TypeKind::Enum | TypeKind::Set);
        let texts = values.iter().map(|value| &value.ty);
        let longest = texts.filter(|ty| ty.is_blob()).max_by_key(|ty| ty.length);
        if own.is_integer() && values.iter().any(is_computed) {
            ClientType::Computed
        } else if own.kind == TypeKind::VarChar
            && values.iter().all(|value| value.ty.kind == TypeKind::Char)
        {
            ClientType::Choice(TypeKind::Char)
        } else if own.is_blob() && values.len() > 1 {
            longest.map_or(ClientType::Plain, |ty| ClientType::Choice(ty.kind))
        } else if is_reported && own.kind != kept.kind {
            ClientType::Choice(own.kind)
        } else {
            ClientType::Plain
        }
    }

    /// Binds a function that returns one of its arguments' values.
    fn bind_choice(
        &mut self,
        function: WindowFunction,
        written: &[&Expr],
    ) -> Result<BoundFunction> {
        let mut choices = written
            .iter()
            .map(|choice| self.bind_stored(choice))
            .collect::<Result<Vec<_>>>()?;
        check_window(function.name(), &choices)?;
        self.type_parameters_of_choice(&mut choices);
        let is_bits = |choice: &Expression| choice.ty.kind == TypeKind::Bit;
        let result = match choices.as_slice() {
            [only] => only.ty.clone(),
            // A window keeps a choice of BITs in a column, which is a BIT too.
            choices if choices.iter().all(is_bits) => {
                let lengths = choices.iter().map(|choice| choice.ty.length);
                SqlType::bit(lengths.max().unwrap_or(0))
            }
            choices => {
                let choices: Vec<&Expression> = choices.iter().collect();
                let of_column = |id| self.innermost().client_type(id);
                choice_type(
                    &choices,
                    &of_column,
                    Alternatives::Function,
                    function.name(),
                )?
            }
        };
        let own = result;
        let result = match choices.as_slice() {
            [only] => self.innermost().kept_argument(only, own.clone()),
            _ => own.clone(),
        };
        let result = kept_type(result);
        let client_type = self.own_client_type(&choices, &own, &result);
        let nullable = choices.len() < 2 || choices.iter().any(|choice| choice.nullable);
        if result.kind != TypeKind::Null {
            for choice in &mut choices {
                choice.change(|choice| cast_exactly(choice, &result));
            }
        }
        Ok(BoundFunction {
            function,
            arguments: choices,
            client_type,
            result,
            nullable,
        })
    }
}

/// An integer argument.
pub(super) enum WholeNumber {
    Known(i128),
    /// Not known before the statement is executed.
    Later,
    /// Any other expression.
    Other,
}

/// Type of a kept MIN or MAX, which may be an unsigned DECIMAL; a literal remains a BIGINT.
fn kept_extreme(ty: SqlType) -> SqlType {
    match ty.kind {
        TypeKind::Decimal | TypeKind::BigInt => ty,
        _ => kept_type(ty),
    }
}

/// Type of a value that a window function keeps: MySQL keeps integers as INT or BIGINT and strings in the form in which
/// they are compared.
fn kept_type(ty: SqlType) -> SqlType {
    /// Display length (digits and sign) from which a number may not fit INT.
    const INT_LENGTH: u32 = 10;
    let int = |ty: &SqlType, unsigned: bool| SqlType {
        length: ty.length,
        unsigned,
        ..SqlType::integer(TypeKind::Int)
    };
    match ty.kind {
        TypeKind::Bit => ty,
        TypeKind::Year => int(&ty, true),
        _ if ty.is_integer() && ty.length < INT_LENGTH => int(&ty, ty.unsigned),
        _ if ty.is_integer() => SqlType {
            unsigned: ty.unsigned,
            ..SqlType::bigint()
        },
        TypeKind::Char | TypeKind::Enum | TypeKind::Set => {
            SqlType::varchar(ty.length, ty.collation)
        }
        TypeKind::Decimal => SqlType {
            unsigned: false,
            ..ty
        },
        _ => ty,
    }
}
