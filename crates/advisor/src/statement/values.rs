//! Widths of values: the types of expressions, found by the planner's own binder.
//!
//! An expression of a block is bound as the only item of a query over the block's FROM. Functional dependence is not
//! checked, since the server has accepted the statement.

use std::sync::Arc;

use mayfly_plan::PlanOptions;
use mayfly_plan::bind;
use mayfly_syntax::ast::{self, Expr, Query, SelectItem, SetExpr};
use mayfly_types::{SessionParameters, SqlMode, SqlType, TypeKind};

use super::Block;
use crate::schema::{Schema, SchemaCatalog};

/// A value as stored in a temporary table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value {
    /// BLOB, TEXT or JSON.
    Blob,
    /// A string.
    Text {
        /// Greatest number of characters.
        characters: u64,
        /// Bytes of the longest character of its character set.
        bytes_per_character: u64,
    },
    /// A value of fixed length in bytes.
    Fixed(u64),
    /// An unknown value.
    Unknown,
}

impl Value {
    /// The value of a type.
    pub(crate) fn of(ty: &SqlType) -> Self {
        if ty.is_blob() || ty.kind == TypeKind::Json {
            return Self::Blob;
        }
        if ty.is_string() {
            let bytes = if ty.is_binary_string() {
                1
            } else {
                ty.collation.charset().max_length()
            };
            return Self::Text {
                characters: u64::from(ty.length),
                bytes_per_character: u64::from(bytes.max(1)),
            };
        }
        Self::Fixed(ty.declared_bytes(None))
    }

    /// Bytes of the value in a row of fixed length.
    pub(crate) fn declared_bytes(self) -> Option<u64> {
        match self {
            Self::Text {
                characters,
                bytes_per_character,
            } => Some(characters * bytes_per_character + 2),
            Self::Fixed(bytes) => Some(bytes),
            Self::Blob | Self::Unknown => None,
        }
    }

    /// Greatest number of characters of a string.
    pub(crate) fn characters(self) -> Option<u64> {
        match self {
            Self::Text { characters, .. } => Some(characters),
            _ => None,
        }
    }
}

/// Finds the types of expressions in a schema.
#[derive(Debug)]
pub(crate) struct ValueTypes<'s> {
    schema: &'s Schema,
    database: Option<&'s str>,
    options: PlanOptions,
}

impl<'s> ValueTypes<'s> {
    /// The types in a schema with a default database. `group_concat_max_len` is the server's.
    pub(crate) fn new(
        schema: &'s Schema,
        database: Option<&'s str>,
        group_concat_max_len: u64,
    ) -> Self {
        Self {
            schema,
            database,
            options: PlanOptions {
                session: Arc::new(SessionParameters {
                    sql_mode: SqlMode(0),
                    group_concat_max_len,
                    ..SessionParameters::default()
                }),
                ..PlanOptions::default()
            },
        }
    }

    /// The value of an expression in a block.
    pub(crate) fn value(&self, block: &Block, expr: &Expr) -> Value {
        if let Some(column) = block.place(expr).and_then(|place| block.column(place)) {
            return Value::of(&column.ty);
        }
        let types = self.types(block, vec![SelectItem::UnnamedExpr(expr.clone())]);
        types
            .and_then(|types| types.first().map(Value::of))
            .unwrap_or(Value::Unknown)
    }

    /// The names and values of the columns of a block's select list; `None` where they are not known.
    pub(crate) fn columns(&self, block: &Block) -> Option<Vec<(String, Value)>> {
        let query = self.query(block, block.select.projection.clone());
        let catalog = SchemaCatalog::new(self.schema, self.database);
        let bound = bind::bind(&query, &catalog, &self.options).ok()?;
        Some(
            bound
                .output
                .iter()
                .map(|column| (column.name.clone(), Value::of(&column.ty)))
                .collect(),
        )
    }

    fn types(&self, block: &Block, items: Vec<SelectItem>) -> Option<Vec<SqlType>> {
        let query = self.query(block, items);
        let catalog = SchemaCatalog::new(self.schema, self.database);
        let bound = bind::bind(&query, &catalog, &self.options).ok()?;
        Some(bound.output.into_iter().map(|column| column.ty).collect())
    }

    fn query(&self, block: &Block, projection: Vec<SelectItem>) -> Query {
        let select = ast::Select {
            projection,
            distinct: false,
            select_modifiers: ast::SelectModifiers::default(),
            selection: None,
            group_by: ast::GroupBy::default(),
            having: None,
            named_window: Vec::new(),
            ..block.select.clone()
        };
        let with = (!block.with.is_empty()).then(|| ast::With {
            recursive: true,
            cte_tables: block.with.clone(),
        });
        Query {
            with,
            body: Box::new(SetExpr::Select(Box::new(select))),
            order_by: Vec::new(),
            limit_clause: None,
            locks: Vec::new(),
        }
    }
}
