//! The column lists of INSERT and LOAD DATA.

use mayfly_syntax::ast::Ident;
use mayfly_types::Result;
use mayfly_types::error::codes;

use crate::catalog::definition::TableDefinition;
use crate::error::refuse;

/// The positions of the listed columns; all visible ones without a list.
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
        let position = named_column(definition, name)?;
        if positions.contains(&position) {
            return Err(codes::ER_FIELD_SPECIFIED_TWICE.with(&[&last_part(name)]));
        }
        positions.push(position);
    }
    Ok(positions)
}

/// The position of a column by its name: 1054 when it does not exist.
pub(super) fn named_column(definition: &TableDefinition, name: &[Ident]) -> Result<usize> {
    let qualifiers = &name[..name.len().saturating_sub(1)];
    let of_table = [definition.database.as_str(), definition.name.as_str()];
    let is_own = qualifiers
        .iter()
        .rev()
        .zip(of_table.iter().rev())
        .all(|(written, own)| written.value == *own);
    let position = definition.column_position(last_part(name));
    position.filter(|_| is_own).ok_or_else(|| {
        let parts: Vec<&str> = name.iter().map(|part| part.value.as_str()).collect();
        codes::ER_BAD_FIELD_ERROR.with(&[&parts.join("."), &"field list"])
    })
}

/// The last part of a column's name.
pub(super) fn last_part(name: &[Ident]) -> &str {
    name.last().map_or("", |part| part.value.as_str())
}

/// 3105: a generated column takes no value.
pub(super) fn refuse_generated(definition: &TableDefinition, position: usize) -> Result<()> {
    let column = &definition.columns[position];
    refuse(column.generated.is_some(), || {
        let error = codes::ER_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN;
        error.with(&[&column.name, &definition.name])
    })
}
