//! Names and types of columns, as far as facts about temporary tables need them.

use std::sync::Arc;

use mayfly_syntax::ast::{Expr, FunctionArg, FunctionArguments};
use mayfly_types::{SqlType, TypeKind};

use crate::catalog::{IndexSource, TableSource};

/// Width of a column in a temporary table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Width {
    /// Whether it is a BLOB, TEXT or JSON.
    pub(super) blob: bool,
    /// Whether it is a string of bytes.
    pub(super) binary: bool,
    /// Declared characters of a string; 8 for others.
    pub(super) characters: u32,
}

impl Width {
    /// More declared characters than CONVERT_IF_BIGGER_TO_BLOB.
    pub(super) const LIMIT: u32 = 512;

    pub(super) fn of(ty: &SqlType) -> Self {
        let blob = ty.is_blob() || ty.kind == TypeKind::Json;
        let is_text = ty.is_string() || blob;
        Self {
            blob,
            binary: is_text && ty.is_binary_string(),
            characters: if is_text { ty.length } else { 8 },
        }
    }

    pub(super) fn is_wide(self) -> bool {
        !self.blob && self.characters > Self::LIMIT
    }
}

/// A table in FROM.
#[derive(Debug, Clone)]
pub(super) enum Table {
    Base(Arc<TableSource>),
    /// A derived table that is not merged; whether it has at most one row.
    Rows {
        one_row: bool,
    },
}

impl Table {
    pub(super) fn base(&self) -> Option<&TableSource> {
        match self {
            Self::Base(table) => Some(table),
            Self::Rows { .. } => None,
        }
    }

    pub(super) fn indexes(&self) -> impl Iterator<Item = &IndexSource> {
        let indexes = self.base().map_or(&[][..], |table| &table.indexes);
        indexes
            .iter()
            .filter(|index| index.id.is_some() && index.visible)
    }

    /// Whether an index has all of some columns, with the primary key that leads from it to the row.
    pub(super) fn is_covered(&self, columns: &[usize]) -> bool {
        self.indexes().any(|index| self.covers(index, columns))
    }

    pub(super) fn covers(&self, index: &IndexSource, columns: &[usize]) -> bool {
        let primary = self.indexes().find(|index| index.name == "PRIMARY");
        let parts = |index: &IndexSource, column: usize| {
            let mut parts = index.parts.iter();
            parts.any(|part| part.column == column && part.prefix.is_none())
        };
        index.name != "PRIMARY"
            && columns.iter().all(|column| {
                parts(index, *column) || primary.is_some_and(|primary| parts(primary, *column))
            })
    }
}

/// Number of the table in FROM, and of its column.
pub(super) type Place = (usize, usize);

/// A column of FROM by its names.
#[derive(Debug, Clone)]
pub(super) struct Named {
    pub(super) table: String,
    pub(super) name: String,
    pub(super) value: Value,
    /// Whether the query block reads it.
    pub(super) is_used: bool,
}

impl Named {
    /// Column of a table that FROM names alone.
    pub(super) fn of_table(alias: &str, name: String, at: usize, width: Width) -> Self {
        Self {
            table: alias.to_owned(),
            name,
            value: Value {
                place: Some((0, at)),
                tables: vec![0],
                width,
                aggregate: false,
                is_wide: false,
            },
            is_used: false,
        }
    }
}

/// A value that a query block computes.
#[derive(Debug, Clone)]
pub(super) struct Value {
    /// The column that it is, if it is one.
    pub(super) place: Option<Place>,
    /// Tables that it reads.
    pub(super) tables: Vec<usize>,
    pub(super) width: Width,
    /// Whether it calls an aggregate.
    pub(super) aggregate: bool,
    /// Whether it is computed, and may have more than 512 characters.
    pub(super) is_wide: bool,
}

/// The visible columns of a query block.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    pub(super) tables: Vec<Table>,
    pub(super) columns: Vec<Named>,
}

/// Aggregates by name, apart from window functions.
pub(super) fn is_aggregate(name: &str) -> bool {
    mayfly_functions::aggregate::by_name(name).is_some()
}

/// The name of a call without OVER.
pub(super) fn call_of(expr: &Expr) -> Option<(&str, &FunctionArguments)> {
    match expr {
        Expr::Function(call) if call.over.is_none() => match call.name.0.as_slice() {
            [name] => Some((name.value.as_str(), &call.args)),
            _ => None,
        },
        _ => None,
    }
}

impl Names {
    pub(super) fn find(&self, table: Option<&str>, name: &str) -> Option<&Named> {
        self.columns.iter().find(|column| {
            column.name.eq_ignore_ascii_case(name)
                && table.is_none_or(|table| column.table.eq_ignore_ascii_case(table))
        })
    }

    /// The column that an expression names.
    pub(super) fn named(&self, expr: &Expr) -> Option<&Named> {
        match expr {
            Expr::Nested(inner) => self.named(inner),
            Expr::Identifier(name) => self.find(None, &name.value),
            Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [.., table, name] => self.find(Some(&table.value), &name.value),
                _ => None,
            },
            _ => None,
        }
    }

    /// Facts about an expression.
    pub(super) fn value(&self, expr: &Expr) -> Value {
        if let Some(column) = self.named(expr) {
            return column.value.clone();
        }
        let mut value = Value {
            place: None,
            tables: Vec::new(),
            width: Width {
                characters: 8,
                ..Width::default()
            },
            aggregate: false,
            is_wide: false,
        };
        let _ = mayfly_syntax::ast::visit_expressions(expr, |inner| {
            if let Some(column) = self.named(inner) {
                value.tables.extend(&column.value.tables);
                value.aggregate |= column.value.aggregate;
            }
            let is_call = call_of(inner).is_some_and(|(name, _)| is_aggregate(name));
            value.aggregate |= is_call;
            std::ops::ControlFlow::<()>::Continue(())
        });
        value.width = self.width(expr);
        value.is_wide = value.width.is_wide();
        value
    }

    fn width(&self, expr: &Expr) -> Width {
        let number = Width {
            characters: 8,
            ..Width::default()
        };
        if let Some(column) = self.named(expr) {
            return column.value.width;
        }
        match expr {
            Expr::Nested(inner) | Expr::Collate { expr: inner, .. } => self.width(inner),
            Expr::Value(mayfly_syntax::ast::Value::SingleQuotedString(text)) => Width {
                characters: u32::try_from(text.chars().count()).unwrap_or(u32::MAX),
                ..Width::default()
            },
            _ => {
                let Some((name, arguments)) = call_of(expr) else {
                    return number;
                };
                let arguments = match arguments {
                    FunctionArguments::List(list) => list.args.as_slice(),
                    FunctionArguments::None => &[],
                };
                let widths = arguments.iter().filter_map(|argument| match argument {
                    FunctionArg::Expr(expr) => Some(self.width(expr)),
                    FunctionArg::Wildcard => None,
                });
                match name.to_ascii_uppercase().as_str() {
                    "GROUP_CONCAT" | "JSON_ARRAYAGG" | "JSON_OBJECTAGG" => Width {
                        blob: true,
                        binary: false,
                        characters: 1024,
                    },
                    "MIN" | "MAX" | "ANY_VALUE" | "COALESCE" | "IFNULL" | "LOWER" | "UPPER"
                    | "TRIM" | "LEFT" | "RIGHT" | "SUBSTRING" | "SUBSTR" => {
                        widths.reduce(widest).unwrap_or(number)
                    }
                    "CONCAT" | "CONCAT_WS" => {
                        let sum = |a: Width, b: Width| Width {
                            characters: a.characters.saturating_add(b.characters),
                            ..widest(a, b)
                        };
                        widths.reduce(sum).unwrap_or(number)
                    }
                    _ => number,
                }
            }
        }
    }
}

fn widest(a: Width, b: Width) -> Width {
    Width {
        blob: a.blob || b.blob,
        binary: a.binary && b.binary,
        characters: a.characters.max(b.characters),
    }
}
