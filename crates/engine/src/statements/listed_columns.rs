//! The columns that a statement names to give them values.

use mayfly_syntax::ast::Ident;
use mayfly_types::Result;
use mayfly_types::error::codes;

use crate::catalog::definition::TableDefinition;

/// The positions of the columns that the statement names; all visible ones when it names none.
pub(super) fn listed_columns(
    definition: &TableDefinition,
    list: Option<&[Vec<Ident>]>,
) -> Result<Vec<usize>> {
    let Some(list) = list else {
        let visible = |position: &usize| !definition.columns[*position].invisible;
        return Ok((0..definition.columns.len()).filter(visible).collect());
    };
    let mut positions = Vec::with_capacity(list.len());
    for name in list {
        let full = || {
            let parts: Vec<&str> = name.iter().map(|part| part.value.as_str()).collect();
            parts.join(".")
        };
        let last = name.last().map_or("", |part| part.value.as_str());
        let position = definition
            .column_position(last)
            .ok_or_else(|| codes::ER_BAD_FIELD_ERROR.with(&[&full(), &"field list"]))?;
        if positions.contains(&position) {
            return Err(codes::ER_FIELD_SPECIFIED_TWICE.with(&[&last]));
        }
        positions.push(position);
    }
    Ok(positions)
}

/// A generated column takes no value: 3105.
pub(super) fn refuse_generated(definition: &TableDefinition, position: usize) -> Result<()> {
    let column = &definition.columns[position];
    match &column.generated {
        Some(_) => {
            let error = codes::ER_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN;
            Err(error.with(&[&column.name, &definition.name]))
        }
        None => Ok(()),
    }
}
