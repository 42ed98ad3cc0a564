//! The hint SET_VAR: `SELECT /*+ SET_VAR(name = value) */ …` gives variables another value for one
//! statement (the manual, "Variable-Setting Hint Syntax").

use mayfly_syntax::ast::{Query, SetExpr, Statement};
use mayfly_types::Result;
use mayfly_types::error::codes;

use super::set;
use crate::error::parse_own;
use crate::session::StatementContext;
use crate::variables;

/// The hints of a query's first SELECT.
fn hints_of(query: &Query) -> &[String] {
    let mut body = &*query.body;
    while let SetExpr::SetOperation { left, .. } = body {
        body = left;
    }
    match body {
        SetExpr::Select(select) => &select.optimizer_hints,
        _ => &[],
    }
}

/// Applies the hints of a query's first SELECT to the running statement. An invalid hint is a warning.
pub(super) fn apply(context: &mut StatementContext<'_>, query: &Query) {
    for hint in hints_of(query) {
        for (name, value) in set_vars(hint) {
            if let Err(error) = set_variable(context, name, value) {
                context.warn(error);
            }
        }
    }
    let mut hints = hints_of(query).iter();
    let limit = hints.find_map(|hint| time_limit(hint));
    context.time_limit = limit.unwrap_or(context.options().max_execution_time);
}

/// The hint MAX_EXECUTION_TIME: the query's time limit in milliseconds.
fn time_limit(hint: &str) -> Option<u64> {
    let at = find_word(hint, "MAX_EXECUTION_TIME")?;
    let rest = hint[at + "MAX_EXECUTION_TIME".len()..].trim_start();
    let inside = rest.strip_prefix('(')?;
    inside[..closing(inside)?].trim().parse().ok()
}

fn set_variable(context: &mut StatementContext<'_>, name: &str, value: &str) -> Result<()> {
    let hintable = |position: &usize| variables::all()[*position].hintable;
    if variables::position(name).filter(hintable).is_none() {
        return Err(codes::ER_NOT_HINT_UPDATABLE_VARIABLE.with(&[&name]));
    }
    let text = format!("SET SESSION {name} = {value}");
    if let Statement::Set(items) = parse_own(&text)? {
        for (position, setting) in set::session_settings(context, &items)? {
            context.set_own(position, setting);
        }
    }
    Ok(())
}

/// The names and values of the SET_VARs of a hint's text.
fn set_vars(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let at = find_word(rest, "SET_VAR")?;
            rest = rest[at + "SET_VAR".len()..].trim_start();
            let Some(inside) = rest.strip_prefix('(') else {
                continue;
            };
            let end = closing(inside)?;
            rest = &inside[end..];
            if let Some((name, value)) = inside[..end].split_once('=') {
                return Some((name.trim(), value.trim()));
            }
        }
    })
}

fn find_word(text: &str, word: &str) -> Option<usize> {
    text.as_bytes()
        .windows(word.len())
        .position(|w| w.eq_ignore_ascii_case(word.as_bytes()))
}

/// The position of the matching closing parenthesis, outside of quotes.
fn closing(text: &str) -> Option<usize> {
    let mut quote = None;
    for (position, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), byte) if open == byte => quote = None,
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b')') => return Some(position),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::set_vars;

    #[test]
    fn set_vars_are_found_between_other_hints() {
        let text =
            " NO_BNL() set_var(sql_mode = 'a)b') SET_VAR ( max_heap_table_size=1K ) SET_VAR(x";
        let found: Vec<_> = set_vars(text).collect();
        assert_eq!(
            found,
            [("sql_mode", "'a)b'"), ("max_heap_table_size", "1K")]
        );
    }
}
