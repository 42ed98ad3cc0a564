//! The names of a view's columns. Names that the query does not give are made valid and unique.

use mayfly_syntax::ast::{Ident, Query, Select, SelectItem, SetExpr};
use mayfly_types::Result;
use mayfly_types::error::codes;

use crate::names::{check_name, same_name};

/// Errors 1166 and 1060: invalid and duplicate names.
pub(super) fn check(names: &[String]) -> Result<()> {
    for (index, name) in names.iter().enumerate() {
        check_name(name, &codes::ER_WRONG_COLUMN_NAME)?;
        if names[..index].iter().any(|other| same_name(other, name)) {
            return Err(codes::ER_DUP_FIELDNAME.with(&[name]));
        }
    }
    Ok(())
}

/// Makes the names of a query's columns unique, as MySQL does, and adds them as aliases to the first SELECT.
pub(super) fn make_unique(query: &mut Query, names: &mut [String]) -> Result<()> {
    let Some(select) = first_select(&mut query.body) else {
        return check(names);
    };
    let items = items_of_columns(select, names.len());
    let made = |column: usize| items.get(column).copied().flatten();
    let mut renamed = vec![false; names.len()];
    for (column, name) in names.iter_mut().enumerate() {
        if made(column).is_some() && check_name(name, &codes::ER_WRONG_COLUMN_NAME).is_err() {
            *name = format!("Name_exp_{}", column + 1);
            renamed[column] = true;
        }
    }
    let written: Vec<String> = names.to_vec();
    for column in 0..names.len() {
        for other in 0..column {
            if !same_name(&names[column], &names[other]) {
                continue;
            }
            let changes = match (made(column), made(other)) {
                (Some(_), _) => column,
                (None, Some(_)) => other,
                (None, None) => return Err(codes::ER_DUP_FIELDNAME.with(&[&names[column]])),
            };
            names[changes] = free_name(&written[changes], &names[..=column], changes);
            renamed[changes] = true;
        }
    }
    for (column, name) in names.iter().enumerate().filter(|(at, _)| renamed[*at]) {
        if let Some(item) = made(column)
            && let SelectItem::ExprWithAlias { alias, .. } = &mut select.projection[item]
        {
            *alias = Ident::with_quote('`', name.clone());
        }
    }
    check(names)
}

/// A name derived from another one that no other column has.
fn free_name(name: &str, names: &[String], own: usize) -> String {
    let is_taken = |wanted: &String| {
        let mut others = names.iter().enumerate().filter(|(at, _)| *at != own);
        others.any(|(_, other)| same_name(other, wanted))
    };
    let mut wanted = format!("Name_exp_{name}");
    let mut attempt = 0;
    while is_taken(&wanted) {
        attempt += 1;
        wanted = format!("Name_exp_{attempt}_{name}");
    }
    wanted
}

/// The SELECT that names the columns of a query.
fn first_select(body: &mut SetExpr) -> Option<&mut Select> {
    match body {
        SetExpr::Select(select) => Some(select),
        SetExpr::SetOperation { left, .. } => first_select(left),
        SetExpr::Query(query) => first_select(&mut query.body),
        SetExpr::Values(_) | SetExpr::Table(_) => None,
    }
}

/// For each column the select item, if it has no alias; nothing when columns cannot be matched to items.
fn items_of_columns(select: &Select, columns: usize) -> Vec<Option<usize>> {
    let is_wildcard = |item: &SelectItem| {
        matches!(
            item,
            SelectItem::Wildcard | SelectItem::QualifiedWildcard(_)
        )
    };
    let items = select.projection.len();
    let wildcards = select
        .projection
        .iter()
        .filter(|item| is_wildcard(item))
        .count();
    if wildcards > 1 || columns + wildcards < items {
        return Vec::new();
    }
    let mut found = Vec::with_capacity(columns);
    for (index, item) in select.projection.iter().enumerate() {
        match item {
            _ if is_wildcard(item) => {
                let width = columns + 1 - items;
                found.extend(std::iter::repeat_n(None, width));
            }
            SelectItem::ExprWithAlias { implicit: true, .. } => found.push(Some(index)),
            _ => found.push(None),
        }
    }
    found
}
