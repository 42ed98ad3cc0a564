//! Functional key parts (the manual, "Functional Key Parts"): as in MySQL each is a hidden generated column, after
//! all others, that the key is over. Rows are then checked, found and ordered as by any other key.
//!
//! `CAST(… AS … ARRAY)` makes a multi-valued key (the manual, "Multi-Valued Indexes"): its hidden column holds arrays,
//! and the index has an entry for each element.

use mayfly_plan::{array_cast, array_element_type};
use mayfly_syntax::ast::Expr;
use mayfly_types::error::codes;
use mayfly_types::{Error, Result, SqlMode, SqlType, TypeKind};

use crate::binding::expressions;
use crate::catalog::definition::{ColumnDefinition, GeneratedColumn, KeyTarget, TableDefinition};
use crate::catalog::expression_text;
use crate::ddl::create::Builder;
use crate::error::refuse;

/// Maximum characters of a string key part: MySQL makes a longer one a TEXT, which cannot be a key part.
const CHARACTERS_MAX: u32 = 512;

impl Builder<'_> {
    /// The target of a functional key part, for which ASC or DESC was written if `is_ordered`. All columns of the table
    /// are known.
    pub(crate) fn key_expression(
        &mut self,
        expression: &Expr,
        is_ordered: bool,
    ) -> Result<KeyTarget> {
        let elements = array_cast(expression).map(|(_, written)| array_element_type(written));
        let elements = elements.transpose()?;
        refuse(is_ordered && elements.is_some(), || {
            codes::ER_WRONG_USAGE.with(&[&"multi-valued index", &"explicit index order"])
        })?;
        let ty = self.key_expression_type(expression, elements.is_some())?;
        let expression = self.fixed(expression);
        self.table.columns.push(ColumnDefinition {
            invisible: true,
            generated: Some(GeneratedColumn {
                text: expression_text::text(&expression),
                expression: Box::new(expression),
                stored: false,
                elements,
            }),
            // No identifier is empty.
            ..ColumnDefinition::new("", ty)
        });
        Ok(KeyTarget::Expression(self.table.columns.len() - 1))
    }

    /// Sets the nullability of the hidden columns, once it is known for all others.
    pub(crate) fn key_expressions_may_be_null(&mut self) -> Result<()> {
        for position in 0..self.table.columns.len() {
            let column = &self.table.columns[position];
            if let (true, Some(generated)) = (column.is_hidden(), &column.generated)
                && generated.elements.is_none()
            {
                let (expression, mode) = (&generated.expression, SqlMode::default());
                let table = &self.table;
                let nullable = expressions::may_be_null(self.context, expression, table, mode);
                self.table.columns[position].nullable = nullable?;
            }
        }
        Ok(())
    }

    fn key_expression_type(&self, expression: &Expr, is_array: bool) -> Result<SqlType> {
        // The meaning of a stored definition does not depend on its reader.
        let mode = SqlMode::default();
        let ty = expressions::key_part_type(self.context, expression, &self.table, mode)
            .map_err(|error: Error| expressions::in_clause(error, "functional index"))?;
        match ty.kind {
            _ if is_array => Ok(ty),
            TypeKind::Json => Err(codes::ER_FUNCTIONAL_INDEX_ON_JSON_OR_GEOMETRY_FUNCTION.error()),
            TypeKind::Geometry(_) => Err(codes::ER_SPATIAL_FUNCTIONAL_INDEX.error()),
            TypeKind::TinyText | TypeKind::Text | TypeKind::MediumText | TypeKind::LongText => {
                Err(codes::ER_FUNCTIONAL_INDEX_ON_LOB.error())
            }
            _ if ty.is_string() && ty.length > CHARACTERS_MAX => {
                Err(codes::ER_FUNCTIONAL_INDEX_ON_LOB.error())
            }
            _ => Ok(ty),
        }
    }
}

/// Orders the hidden columns like the keys. Rows are stored by column positions, and the stored statement, which has
/// the keys in order, must give the same ones.
pub(crate) fn put_in_order(table: &mut TableDefinition) {
    let visible = table.named_columns().count();
    let mut hidden: Vec<_> = table.columns.drain(visible..).map(Some).collect();
    for part in table.keys.iter_mut().flat_map(|key| &mut key.parts) {
        if let KeyTarget::Expression(position) = &mut part.target
            && let Some(column) = hidden.get_mut(*position - visible).and_then(Option::take)
        {
            *position = table.columns.len();
            table.columns.push(column);
        }
    }
}
