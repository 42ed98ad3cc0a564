//! Checks of a definition: keys that are too long, and expressions of columns, defaults, CHECKs and keys that are
//! nondeterministic or need a value that is not computed yet.

use std::fmt::Display;
use std::ops::ControlFlow;

use mayfly_functions::scalar::{self, Fact};
use mayfly_plan::is_built_in;
use mayfly_syntax::ast::{self, Expr, Ident, KeyKind, visit_expressions};
use mayfly_types::error::codes;
use mayfly_types::{Error, ErrorCode, Result, SqlType, TypeKind};

use crate::binding::expressions;
use crate::catalog::definition::{
    ColumnDefault, ColumnDefinition, KeyDefinition, KeyPart, KeyTarget, TableDefinition,
};
use crate::engines::Engine;
use crate::error::refuse;
use crate::session::StatementContext;

/// Maximum number of key parts.
const KEY_PARTS_MAX: usize = 16;

/// Kind of expression, with its errors; each error names the expression's owner.
struct Use {
    /// Error of a disallowed function, which is named too unless the error is the one of subqueries.
    function: &'static ErrorCode,
    /// Error of a subquery.
    subquery: &'static ErrorCode,
    /// Error of a variable.
    variable: &'static ErrorCode,
    /// Whether nondeterministic functions are allowed.
    is_default: bool,
}

const GENERATED: Use = Use {
    function: &codes::ER_GENERATED_COLUMN_NAMED_FUNCTION_IS_NOT_ALLOWED,
    subquery: &codes::ER_GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED,
    variable: &codes::ER_DEFAULT_VAL_GENERATED_VARIABLES,
    is_default: false,
};
const DEFAULT: Use = Use {
    function: &codes::ER_DEFAULT_VAL_GENERATED_NAMED_FUNCTION_IS_NOT_ALLOWED,
    subquery: &codes::ER_DEFAULT_VAL_GENERATED_FUNCTION_IS_NOT_ALLOWED,
    variable: &codes::ER_DEFAULT_VAL_GENERATED_VARIABLES,
    is_default: true,
};
const CHECK: Use = Use {
    function: &codes::ER_CHECK_CONSTRAINT_NAMED_FUNCTION_IS_NOT_ALLOWED,
    subquery: &codes::ER_CHECK_CONSTRAINT_FUNCTION_IS_NOT_ALLOWED,
    variable: &codes::ER_CHECK_CONSTRAINT_VARIABLES,
    is_default: false,
};
const KEY: Use = Use {
    function: &codes::ER_FUNCTIONAL_INDEX_FUNCTION_IS_NOT_ALLOWED,
    subquery: &codes::ER_FUNCTIONAL_INDEX_FUNCTION_IS_NOT_ALLOWED,
    variable: &codes::ER_FUNCTIONAL_INDEX_FUNCTION_IS_NOT_ALLOWED,
    is_default: false,
};

impl Use {
    /// The error of a disallowed part of an expression.
    fn disallowed(&self, owner: &str, part: &Expr) -> Option<Error> {
        match part {
            Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } => {
                Some(self.subquery.with(&[&owner]))
            }
            Expr::Identifier(name) if name.value.starts_with('@') && name.quote_style.is_none() => {
                Some(self.variable.with(&[&owner]))
            }
            Expr::Function(function) => {
                let parts = function.name.0.as_slice();
                let name = match parts {
                    [name] if function.over.is_some() || is_built_in(&name.value) => {
                        name.value.to_lowercase()
                    }
                    _ => return Some(self.disallowed_function(owner, &quoted(parts))),
                };
                let has = |fact| scalar::by_name(&name).is_some_and(|known| known.has(fact));
                // VALUES() is a column of the row that an INSERT adds.
                let allowed = name != "values"
                    && !has(Fact::NotInDefinitions)
                    && (self.is_default || !has(Fact::OnlyInDefaults));
                (!allowed).then(|| self.disallowed_function(owner, &name))
            }
            _ => None,
        }
    }

    fn disallowed_function(&self, owner: &str, name: &str) -> Error {
        let arguments: &[&dyn Display] = if self.function == self.subquery {
            &[&owner]
        } else {
            &[&owner, &name]
        };
        self.function.with(arguments)
    }

    /// Checks the expression of a column, constraint or key named `owner`.
    fn check(&self, owner: &str, expression: &Expr) -> Result<()> {
        let flow = visit_expressions(expression, |part| match self.disallowed(owner, part) {
            Some(error) => ControlFlow::Break(error),
            None => ControlFlow::Continue(()),
        });
        match flow {
            ControlFlow::Break(error) => Err(error),
            ControlFlow::Continue(()) => Ok(()),
        }
    }
}

/// The name of a stored function as errors show it.
fn quoted(parts: &[Ident]) -> String {
    let parts = parts.iter().map(|part| format!("`{}`", part.value));
    parts.collect::<Vec<_>>().join(".")
}

/// Checks the expression of a part of a key.
pub(super) fn check_key_expression(key: &ast::KeyDefinition, expression: &Expr) -> Result<()> {
    if key.kind == KeyKind::Primary {
        return Err(codes::ER_FUNCTIONAL_INDEX_PRIMARY_KEY.error());
    }
    if let Expr::Identifier(_) = expression {
        return Err(codes::ER_FUNCTIONAL_INDEX_ON_FIELD.error());
    }
    let name = key.name.as_deref().unwrap_or("functional_index");
    KEY.check(name, expression)
}

/// Checks a whole definition.
pub(super) fn check(context: &StatementContext<'_>, table: &TableDefinition) -> Result<()> {
    for column in &table.columns {
        if let Some(generated) = &column.generated {
            GENERATED.check(&column.name, &generated.expression)?;
            refuse_vectors(table, &generated.expression, "GENERATED COLUMN")?;
        }
        if let ColumnDefault::Expression { expression, .. } = &column.default {
            DEFAULT.check(&column.name, expression)?;
        }
    }
    for check in &table.checks {
        CHECK.check(&check.name, &check.expression)?;
    }
    expressions::check_definition(context, table)?;
    for (position, column) in table.named_columns().enumerate() {
        check_references(table, position, column)?;
    }
    for check in &table.checks {
        refuse_vectors(table, &check.expression, "CHECK CONSTRAINT")?;
        if names(table, &check.expression).any(|named| table.columns[named].auto_increment) {
            let refers = codes::ER_CHECK_CONSTRAINT_REFERS_AUTO_INCREMENT_COLUMN;
            return Err(refers.with(&[&check.name]));
        }
    }
    check_visible(table)?;
    table.keys.iter().try_for_each(|key| check_key(table, key))
}

/// Checks the columns of a generated column or a default: AUTO_INCREMENT columns and later generated columns are
/// disallowed.
fn check_references(
    table: &TableDefinition,
    position: usize,
    column: &ColumnDefinition,
) -> Result<()> {
    let name = &column.name;
    if let Some(generated) = &column.generated {
        for named in names(table, &generated.expression) {
            let other = &table.columns[named];
            if other.auto_increment {
                return Err(codes::ER_GENERATED_COLUMN_REF_AUTO_INC.with(&[name]));
            }
            if other.generated.is_some() && named >= position {
                return Err(codes::ER_GENERATED_COLUMN_NON_PRIOR.error());
            }
        }
    }
    if let ColumnDefault::Expression { expression, .. } = &column.default {
        for named in names(table, expression) {
            let other = &table.columns[named];
            if other.auto_increment {
                return Err(codes::ER_DEFAULT_VAL_GENERATED_REF_AUTO_INC.with(&[name]));
            }
            let computed = other.generated.is_some()
                || matches!(other.default, ColumnDefault::Expression { .. });
            if computed && named >= position {
                return Err(codes::ER_DEFAULT_VAL_GENERATED_NON_PRIOR.with(&[name]));
            }
        }
    }
    Ok(())
}

/// 3064: an expression of a CHECK or generated column names a VECTOR column.
fn refuse_vectors(table: &TableDefinition, expression: &Expr, place: &str) -> Result<()> {
    let columns = names(table, expression).map(|named| &table.columns[named]);
    let mut vectors = columns.filter(|column| column.ty.kind == TypeKind::Vector);
    match vectors.next() {
        Some(column) => Err(codes::ER_INCORRECT_TYPE.with(&[&column.name, &place])),
        None => Ok(()),
    }
}

/// The positions of the columns in an expression.
fn names(table: &TableDefinition, expression: &Expr) -> impl Iterator<Item = usize> + use<> {
    let mut found = Vec::new();
    let _: ControlFlow<()> = visit_expressions(expression, |part| {
        let name = match part {
            Expr::Identifier(name) => Some(name),
            Expr::CompoundIdentifier(parts) => parts.last(),
            _ => None,
        };
        found.extend(name.and_then(|name| table.column_position(&name.value)));
        ControlFlow::Continue(())
    });
    found.into_iter()
}

/// 3522: the primary key, or the first unique NOT NULL key in its place, must be visible.
fn check_visible(table: &TableDefinition) -> Result<()> {
    let is_never_null = |part: &KeyPart| {
        let column = part.column().map(|position| &table.columns[position]);
        column.is_some_and(|column| !column.nullable) && part.prefix.is_none()
    };
    let primary = table.primary_key().or_else(|| {
        let mut keys = table.keys.iter();
        keys.find(|key| key.kind == KeyKind::Unique && key.parts.iter().all(is_never_null))
    });
    refuse(primary.is_some_and(|key| key.invisible), || {
        codes::ER_PK_INDEX_CANT_BE_INVISIBLE.error()
    })
}

/// 1070 and 1071: a key with too many parts or too long entries.
fn check_key(table: &TableDefinition, key: &KeyDefinition) -> Result<()> {
    if key.has_no_index() {
        return Ok(());
    }
    for part in &key.parts {
        if let KeyTarget::Expression(column) = part.target
            && let Some(generated) = &table.columns[column].generated
            && names(table, &generated.expression).any(|named| table.columns[named].auto_increment)
        {
            return Err(codes::ER_FUNCTIONAL_INDEX_REF_AUTO_INCREMENT.with(&[&key.name]));
        }
    }
    if key.parts.len() > KEY_PARTS_MAX {
        return Err(codes::ER_TOO_MANY_KEY_PARTS.with(&[&KEY_PARTS_MAX]));
    }
    let ty = |part: &KeyPart| table.columns[part.stored_column()].key_type();
    let lengths = key
        .parts
        .iter()
        .map(|part| part_length(ty(part), part.prefix));
    let length = lengths.fold(0, u64::saturating_add);
    let limit = match table.engine {
        Engine::MyIsam => 1000,
        _ => 3072,
    };
    refuse(length > limit, || codes::ER_TOO_LONG_KEY.with(&[&limit]))
}

/// Bytes of a key part as MySQL counts them.
fn part_length(ty: &SqlType, prefix: Option<u64>) -> u64 {
    match ty.kind {
        TypeKind::TinyInt | TypeKind::Year => 1,
        TypeKind::SmallInt | TypeKind::Enum => 2,
        TypeKind::MediumInt | TypeKind::Date | TypeKind::Time => 3,
        TypeKind::Int | TypeKind::Float | TypeKind::Timestamp => 4,
        TypeKind::DateTime => 5,
        TypeKind::BigInt | TypeKind::Double | TypeKind::Bit | TypeKind::Set => 8,
        _ if ty.is_string() => {
            let characters = prefix.unwrap_or(u64::from(ty.length));
            characters.saturating_mul(u64::from(ty.collation.charset().max_length()))
        }
        _ => 0,
    }
}
