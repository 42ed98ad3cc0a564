//! Function calls: ordinary ones, and those whose arguments are not plain expressions.

use std::sync::Arc;

use mayfly_functions::aggregate::Kind;
use mayfly_functions::scalar::Fact;
use mayfly_functions::{Argument, FunctionRef, ScalarFunction, Signature, aggregate, scalar};
use mayfly_syntax::ast::{self, Expr, Function, FunctionArg, FunctionArguments, IntervalUnit};
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType, TypeKind, Value};

use super::aggregate::has_aggregates;
use super::plain;
use crate::access::constant::known_value;
use crate::bind::binder::Binder;
use crate::bind::block::same_name;
use crate::bind::literal::{null, string, word};
use crate::bind::numbers;
use crate::bind::scope::{Clause, Name, Scope};
use crate::bind::structured::{check_call, literal_text, wrong_element};
use crate::bind::types::{argument, cast, cast_exactly, decimal_of_both_signs};
use crate::bind::variables::check_user_variable;
use crate::catalog::{ColumnSource, DefaultSource};
use crate::not_supported::not_supported;
use crate::text::{bounded_call_text, bounded_text};
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{is_constant, visit_expression_mut};
use crate::tree::physical::ColumnOrigin;

/// Message of error 1105 for any other path.
const ONLY_CONSTANT_PATHS: &str = "Only constant XPATH queries are supported";

/// Maximum length of an expression's text in error 1690: a chain of a thousand operators would be printed a thousand
/// times.
const OVERFLOW_TEXT_MAX: usize = 400;

/// Functions that are no rows of a table: their arguments are not plain expressions.
const OTHER_FUNCTIONS: [&str; 5] = ["chr", "default", "grouping", "value", "values"];

/// Whether a name is that of a function that is not stored. Clauses that the parser encodes as calls have a `#`.
pub fn is_built_in(name: &str) -> bool {
    scalar::by_name(name).is_some()
        || aggregate::by_name(name).is_some()
        || name.contains('#')
        || OTHER_FUNCTIONS
            .iter()
            .any(|known| name.eq_ignore_ascii_case(known))
}

impl Binder<'_> {
    pub(super) fn bind_function(&mut self, call: &Function) -> Result<Expression> {
        let empty: &[FunctionArg] = &[];
        let arguments = match &call.args {
            FunctionArguments::List(list) => list.args.as_slice(),
            FunctionArguments::None => empty,
        };
        let name = match call.name.0.as_slice() {
            [name] if !call.only_stored => name.value.as_str(),
            [name] => return self.bind_stored_function(None, &name.value, arguments, true),
            [database, name] if call.over.is_none() => {
                let (database, name) = (Some(database.value.as_str()), &name.value);
                return self.bind_stored_function(database, name, arguments, call.only_stored);
            }
            _ => return Err(self.unknown_function(&call.name.to_string(), true, false)),
        };
        if let Some(over) = &call.over {
            return self.bind_window_call(name, call, over);
        }
        if let Some(function) = aggregate::by_name(name) {
            // ANY_VALUE() is an aggregate only where aggregates are allowed, and its argument has none.
            let aggregates = self.scopes.last().is_some_and(|scope| {
                scope.clause.allows_aggregates() && scope.inside_aggregate == 0
            }) && !has_aggregates(&call.args);
            if aggregates || function.kind() != Kind::AnyValue {
                return self.bind_aggregate(name, function, call);
            }
        }
        if let Some(bound) = self.bind_special(name, arguments)? {
            return Ok(bound);
        }
        let Some(function) = scalar::by_name(name) else {
            return self.bind_stored_function(None, name, arguments, false);
        };
        let mut bound = arguments
            .iter()
            .map(|argument| self.bind_expression(plain(argument)?))
            .collect::<Result<Vec<_>>>()?;
        let mut has_path = true;
        if function.has(Fact::ConstantPath)
            && let Some(path) = bound.get_mut(1)
        {
            self.read_constants(path);
            has_path = is_constant(path);
        }
        // Collations that cannot be combined come before it.
        let call = self.call_function(name, function, bound)?;
        match has_path {
            true => Ok(call),
            false => Err(codes::ER_UNKNOWN_ERROR.with(&[&ONLY_CONSTANT_PATHS])),
        }
    }

    /// Replaces columns of merged derived tables that have one value in all rows by the value.
    fn read_constants(&self, expression: &mut Expression) {
        visit_expression_mut(expression, &mut |part| {
            let of_scope = |id| self.scopes.iter().rev().find_map(|it| it.constant(id));
            if let Some(value) = part.as_column().and_then(of_scope) {
                *part = value.clone();
            }
            true
        });
    }

    /// Binds a call of a stored function, which may have a name of the grammar's (`is_native`). Its arguments are
    /// converted when it is called.
    fn bind_stored_function(
        &mut self,
        database: Option<&str>,
        name: &str,
        arguments: &[FunctionArg],
        is_native: bool,
    ) -> Result<Expression> {
        let Some(function) = self.catalog.function(database, name)? else {
            return Err(match database {
                Some(database) => {
                    self.unknown_function(&format!("{database}.{name}"), true, is_native)
                }
                None => self.unknown_function(name, false, is_native),
            });
        };
        let (expected, given) = (function.parameters.len(), arguments.len());
        if expected != given {
            let name = function.full_name();
            let wrong = codes::ER_SP_WRONG_NO_OF_ARGS;
            return Err(wrong.with(&[&"FUNCTION", &name, &expected, &given]));
        }
        let mut bound = Vec::with_capacity(given);
        for (argument, (_, ty)) in arguments.iter().zip(&function.parameters) {
            let mut argument = self.bind_stored(plain(argument)?)?;
            self.infer_parameter(&mut argument, ty);
            bound.push(argument);
        }
        let types = bound.iter().map(|argument| argument.ty.clone()).collect();
        let signature = function.signature(types);
        Ok(Expression::call(
            FunctionRef::Stored(function),
            bound,
            signature,
        ))
    }

    /// Binds functions that are evaluated lazily or read their arguments in their own way.
    fn bind_special(
        &mut self,
        name: &str,
        arguments: &[FunctionArg],
    ) -> Result<Option<Expression>> {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        let bound = match arguments {
            [condition, yes, no] if is("if") => {
                self.bind_if(plain(condition)?, plain(yes)?, plain(no)?)?
            }
            [first, second] if is("ifnull") => {
                self.bind_coalesce(name, &[plain(first)?, plain(second)?])?
            }
            [_, ..] if is("coalesce") => {
                let choices = arguments.iter().map(plain).collect::<Result<Vec<_>>>()?;
                self.bind_coalesce(name, &choices)?
            }
            // CHR(), as in MariaDB: a character of a text.
            [code] if is("chr") => {
                let code = self.bind_expression(plain(code)?)?;
                self.with_value(code, Self::character)?
            }
            // MariaDB pads with spaces by default.
            [text, length] if is("lpad") || is("rpad") => {
                let text = self.bind_expression(plain(text)?)?;
                let length = self.bind_expression(plain(length)?)?;
                let space = string(" ", self.options.session.collation_connection);
                self.call_bound(name, vec![text, length, space])?
            }
            [first, second] if is("nullif") => self.bind_nullif(plain(first)?, plain(second)?)?,
            [date, amount]
                if is("date_add") || is("date_sub") || is("adddate") || is("subdate") =>
            {
                let negative = is("date_sub") || is("subdate");
                match plain(amount)? {
                    Expr::Interval(interval) => {
                        self.bind_date_arithmetic(plain(date)?, interval, negative)?
                    }
                    days => {
                        let date = self.bind_expression(plain(date)?)?;
                        let days = self.bind_expression(days)?;
                        self.date_arithmetic(date, days, "DAY", negative)?
                    }
                }
            }
            [_, ..] if is("grouping") => {
                let keys = arguments.iter().map(plain).collect::<Result<Vec<_>>>()?;
                self.bind_grouping(&keys)?
            }
            [_, _, _, ..] if is("json_value") => self.bind_json_value(arguments)?,
            [_, ..] if is("#match") => return Err(not_supported("MATCH ... AGAINST")),
            // VALUE() is MariaDB's other name.
            [column] if is("values") || is("value") => self.bind_inserted_value(plain(column)?)?,
            [column] if is("default") => self.bind_default_of(plain(column)?)?,
            _ => return Ok(None),
        };
        Ok(Some(bound))
    }

    /// JSON_VALUE with clauses: the function takes them as a NULL of the type, and for an empty result and for an error
    /// a keyword with a default.
    fn bind_json_value(&mut self, arguments: &[FunctionArg]) -> Result<Expression> {
        let mut bound = vec![
            self.bind_expression(plain(&arguments[0])?)?,
            self.bind_expression(plain(&arguments[1])?)?,
            null(),
            word("null"),
            null(),
            word("null"),
            null(),
        ];
        for clause in &arguments[2..] {
            let Expr::Function(call) = plain(clause)? else {
                bound[2] = self.bind_expression(plain(clause)?)?;
                continue;
            };
            let name = call.name.to_string();
            let index = if name.contains("_ON_EMPTY") { 3 } else { 5 };
            let response = ["error", "default"].into_iter().find(|response| {
                name.to_ascii_lowercase()
                    .contains(&format!("#{response}_on"))
            });
            bound[index] = word(response.unwrap_or("null"));
            if let FunctionArguments::List(list) = &call.args
                && let Some(default) = list.args.first()
            {
                bound[index + 1] = self.bind_expression(plain(default)?)?;
            }
        }
        self.call_bound("json_value", bound)
    }

    /// VALUES(column): only INSERT … ON DUPLICATE KEY UPDATE gives it a value.
    fn bind_inserted_value(&mut self, column: &Expr) -> Result<Expression> {
        if let Some(inserted) = self.inserted
            && self.scopes.len() == 1
        {
            return self.column_of_inserted(column, inserted);
        }
        let ty = self.bind_expression(column)?.ty;
        Ok(Expression::literal(Value::Null, ty))
    }

    fn column_of_inserted(&mut self, column: &Expr, inserted: usize) -> Result<Expression> {
        let written = match column {
            Expr::CompoundIdentifier(parts) => parts.last(),
            Expr::Identifier(ident) => Some(ident),
            _ => None,
        };
        let written = written.map_or("", |ident| ident.value.as_str());
        let scope = self.scope();
        let unknown = || Clause::FieldList.unknown(&column);
        let slot = scope
            .slots(0..1.min(scope.tables.len()))
            .find(|slot| same_name(scope.tables[slot.table].name(slot.column), written))
            .ok_or_else(unknown)?;
        // MySQL checks the right, though the value is the statement's own.
        self.check_read(0, slot)?;
        let mut value = self.scope().column(slot);
        if let ExpressionKind::Column(id) = &mut value.kind {
            *id += inserted;
        }
        value.nullable = true;
        Ok(value)
    }

    fn bind_default_of(&mut self, column: &Expr) -> Result<Expression> {
        let name = match column {
            Expr::CompoundIdentifier(parts) => super::compound_name(parts)?,
            Expr::Identifier(ident) => Name::unqualified(&ident.value),
            other => return Err(not_supported(&other.to_string())),
        };
        let visible = self.scopes.iter().enumerate().rev();
        for (depth, scope) in visible.filter(|(_, scope)| !scope.hidden) {
            let Some(slot) = scope.find_column(name)? else {
                continue;
            };
            self.check_read(depth, slot)?;
            let Expression { ty, kind, .. } = scope.column(slot);
            let default = match (scope.default_of(slot), scope.origin(slot), kind) {
                (Some(default), ..) => default.clone(),
                (None, Some(origin), _) if origin.is_of_table() => {
                    self.default_of_origin(&origin)?
                }
                (None, _, ExpressionKind::Column(id)) => {
                    self.scalar_defaults.get(id).cloned().unwrap_or_default()
                }
                _ => DefaultSource::None,
            };
            return match default {
                DefaultSource::Value(value) => Ok(Expression {
                    nullable: true,
                    ..Expression::literal(value, ty)
                }),
                DefaultSource::None => Err(codes::ER_NO_DEFAULT_FOR_FIELD.with(&[&name.column])),
                DefaultSource::Expression => Err(codes::ER_DEFAULT_AS_VAL_GENERATED.error()),
            };
        }
        let clause = self.scope().clause;
        Err(clause.unknown(&name))
    }

    /// Default of the table column that a column of a derived table shows unchanged.
    fn default_of_origin(&self, origin: &ColumnOrigin) -> Result<DefaultSource> {
        let table = self.catalog.table(Some(&origin.database), &origin.table)?;
        let same = |column: &&ColumnSource| same_name(&column.name, &origin.column);
        let column = table.columns.iter().find(same);
        Ok(column
            .map(|column| column.default.clone())
            .unwrap_or_default())
    }

    /// Error 1305, with the database that a stored function would be in; 1630 for the name of a built-in function that
    /// the grammar knows by its parenthesis.
    fn unknown_function(
        &self,
        name: &str,
        qualified: bool,
        is_native: bool,
    ) -> mayfly_types::Error {
        let unknown = |name: &str| match is_native {
            true => codes::ER_FUNC_INEXISTENT_NAME_COLLISION.with(&[&name]),
            false => codes::ER_SP_DOES_NOT_EXIST.with(&[&"FUNCTION", &name]),
        };
        match self.catalog.current_database() {
            _ if qualified => unknown(name),
            Some(database) => unknown(&format!("{database}.{name}")),
            None => codes::ER_NO_DB_ERROR.error(),
        }
    }

    /// Calls a function by the name that this planner uses.
    pub(crate) fn call_bound(&self, name: &str, arguments: Vec<Expression>) -> Result<Expression> {
        match scalar::by_name(name) {
            Some(function) => self.call_function(name, function, arguments),
            None => Err(not_supported(name)),
        }
    }

    /// Types a call and converts its arguments.
    pub(crate) fn call_function(
        &self,
        name: &str,
        function: &'static ScalarFunction,
        arguments: Vec<Expression>,
    ) -> Result<Expression> {
        if !function.arity().contains(&arguments.len()) {
            return Err(codes::ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT.with(&[&name]));
        }
        check_call(function, &arguments)?;
        if let Some(element) = wrong_element(function, &arguments) {
            let shown = || self.shown(element).map(|text| text.to_string());
            let text = literal_text(element).or_else(shown).unwrap_or_default();
            return Err(codes::ER_ILLEGAL_VALUE_FOR_TYPE.with(&[&"non geometric", &text]));
        }
        let mut arguments = arguments;
        self.type_parameters(function, &mut arguments);
        for argument in arguments.iter_mut().take(function.integers_read()) {
            argument.change(numbers::as_number);
        }
        if function.has(Fact::ReadsDouble)
            && let Some(argument) = arguments.first_mut()
        {
            argument.change(numbers::as_double);
        }
        if function.has(Fact::Choice) {
            let of_column = |id| self.innermost().client_type(id);
            if let Some(ty) = decimal_of_both_signs(arguments.iter(), &of_column) {
                let typed = arguments
                    .iter_mut()
                    .filter(|it| it.ty.kind != TypeKind::Null);
                typed.for_each(|argument| argument.change(|argument| cast(argument, &ty)));
            }
        }
        let mut signature = self.signature(function, &arguments)?;
        if self.type_parameters_as(&mut arguments, &signature.arguments) {
            signature = self.signature(function, &arguments)?;
        }
        if let Some(value) = signature.known {
            return Ok(Expression::literal(value, signature.result));
        }
        if function.has(Fact::Overflows) {
            signature.text = self.overflow_text(function, &arguments);
        }
        signature.nullable |=
            self.gives_null_when_too_long(&signature.result) && !function.has(Fact::GivesArgument);
        let arguments = arguments.into_iter().zip(&signature.arguments);
        let convert = if function.has(Fact::NamesCharset) {
            cast
        } else {
            cast_exactly
        };
        let arguments = arguments
            .map(
                |(value, wanted)| match wanted.is_numeric() && value.ty.is_string() {
                    true => (numbers::choice_as_number(value), wanted),
                    false => (value, wanted),
                },
            )
            .map(|(value, wanted)| convert(numbers::integer_of_choice(value, wanted), wanted))
            .collect();
        Ok(Expression::call(function, arguments, signature))
    }

    /// The signature of a call, given the values of constant arguments on which its types depend.
    fn signature(
        &self,
        function: &'static ScalarFunction,
        arguments: &[Expression],
    ) -> Result<Signature> {
        let mut known: Vec<Argument<'_>> = arguments.iter().map(argument).collect();
        let constants = function.typed_by().iter().filter_map(|position| {
            let given = arguments.get(*position)?;
            let is_known = given.as_literal().is_some();
            let value = known_value(given, &[], self.options.session.sql_mode);
            value.filter(|_| !is_known).map(|value| (*position, value))
        });
        let constants: Vec<(usize, Value)> = constants.collect();
        for (position, value) in &constants {
            if let Some(known) = known.get_mut(*position) {
                known.constant = Some(value);
            }
        }
        function.signature(&known, &self.options.session)
    }

    /// In strict mode MySQL treats a computed string as nullable: it may exceed `max_allowed_packet`, or be invalid in
    /// its character set.
    pub(super) fn gives_null_when_too_long(&self, ty: &SqlType) -> bool {
        ty.is_string() && self.options.session.sql_mode.is_strict()
    }

    /// Text of a call as error 1690 shows it: with the full names of columns.
    fn overflow_text(
        &self,
        function: &'static ScalarFunction,
        arguments: &[Expression],
    ) -> Option<Arc<str>> {
        let names = |id: usize| self.shown_column(id);
        bounded_call_text(&function.into(), arguments, &names, OVERFLOW_TEXT_MAX).map(Arc::from)
    }

    /// Text of an expression as error 1690 shows it.
    pub(super) fn shown(&self, expression: &Expression) -> Option<Arc<str>> {
        let names = |id: usize| self.shown_column(id);
        bounded_text(expression, &names, OVERFLOW_TEXT_MAX).map(Arc::from)
    }

    fn shown_column(&self, id: usize) -> String {
        let slot = |scope: &Scope| Some(scope.quoted_name(scope.slot_of(id)?));
        self.scopes.iter().rev().find_map(slot).unwrap_or_default()
    }

    /// `@name := value`
    pub(super) fn bind_assignment(&mut self, target: &Expr, value: &Expr) -> Result<Expression> {
        let Some(mayfly_syntax::encodings::Variable::User(name)) =
            mayfly_syntax::encodings::variable(target)
        else {
            return Err(not_supported(":="));
        };
        check_user_variable(name)?;
        let outer = std::mem::replace(&mut self.keeps_value, true);
        let value = self.bind_stored(value);
        self.keeps_value = outer;
        let value = value?;
        self.call_bound("set_user_variable", vec![word(name), value])
    }

    pub(super) fn bind_date_arithmetic(
        &mut self,
        date: &Expr,
        interval: &ast::Interval,
        negative: bool,
    ) -> Result<Expression> {
        let date = self.bind_expression(date)?;
        self.add_interval(date, interval, negative)
    }

    pub(in crate::bind) fn add_interval(
        &mut self,
        date: Expression,
        interval: &ast::Interval,
        negative: bool,
    ) -> Result<Expression> {
        let amount = self.bind_expression(&interval.value)?;
        self.date_arithmetic(date, amount, interval.unit.name(), negative)
    }

    pub(in crate::bind) fn date_arithmetic(
        &mut self,
        date: Expression,
        amount: Expression,
        unit: &str,
        negative: bool,
    ) -> Result<Expression> {
        let (mut date, mut amount) = (date, amount);
        self.type_interval(&mut date, &mut amount, unit);
        let name = if negative { "date_sub" } else { "date_add" };
        self.call_bound(name, vec![date, amount, word(unit)])
    }

    pub(super) fn bind_extract(&mut self, field: IntervalUnit, expr: &Expr) -> Result<Expression> {
        let operand = self.bind_expression(expr)?;
        self.call_bound("extract", vec![word(field.name()), operand])
    }

    pub(super) fn bind_trim(
        &mut self,
        side: Option<ast::TrimWhereField>,
        removed: Option<&Expr>,
        expr: &Expr,
    ) -> Result<Expression> {
        let operand = self.bind_expression(expr)?;
        let removed = removed.map(|removed| self.bind_expression(removed));
        let removed = removed.transpose()?;
        let name = match (side, &removed) {
            (Some(ast::TrimWhereField::Leading), None) => "ltrim",
            (Some(ast::TrimWhereField::Leading), Some(_)) => "trim leading",
            (Some(ast::TrimWhereField::Trailing), None) => "rtrim",
            (Some(ast::TrimWhereField::Trailing), Some(_)) => "trim trailing",
            _ => "trim",
        };
        let mut arguments = vec![operand];
        arguments.extend(removed);
        self.call_bound(name, arguments)
    }
}
