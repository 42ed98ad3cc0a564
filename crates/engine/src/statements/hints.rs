//! The hint SET_VAR: `SELECT /*+ SET_VAR(name = value) */ …` gives variables another value for one
//! statement (the manual, "Variable-Setting Hint Syntax").

use mayfly_syntax::ast::{OptimizerHint, Query, SetExpr, Statement};
use mayfly_types::Result;
use mayfly_types::error::codes;

use super::set;
use crate::session::Session;
use crate::variables::{self, Setting};

/// What the variables were before the statement.
#[derive(Debug, Default)]
pub(super) struct Replaced(Vec<(usize, Setting)>);

impl Replaced {
    /// Gives the variables their values back.
    pub(super) fn restore(self, session: &mut Session) {
        // The last first: a variable may have been named twice.
        for (position, setting) in self.0.into_iter().rev() {
            session.set_setting(position, setting);
        }
    }
}

/// The hints of a query's first SELECT.
fn hints_of(query: &Query) -> &[OptimizerHint] {
    let mut body = &*query.body;
    while let SetExpr::SetOperation { left, .. } = body {
        body = left;
    }
    match body {
        SetExpr::Select(select) => &select.optimizer_hints,
        _ => &[],
    }
}

/// The hint MAX_EXECUTION_TIME: after how many milliseconds the query ends.
pub(super) fn time_limit(query: &Query) -> Option<u64> {
    hints_of(query).iter().find_map(|hint| {
        let at = find_word(&hint.text, "MAX_EXECUTION_TIME")?;
        let rest = hint.text[at + "MAX_EXECUTION_TIME".len()..].trim_start();
        let inside = rest.strip_prefix('(')?;
        inside[..closing(inside)?].trim().parse().ok()
    })
}

/// Applies the hints of a query's first SELECT. A hint that is no good is a warning.
pub(super) fn apply(session: &mut Session, query: &Query) -> Replaced {
    let mut replaced = Replaced::default();
    for hint in hints_of(query) {
        for (name, value) in set_vars(&hint.text) {
            if let Err(error) = set_variable(session, name, value, &mut replaced) {
                super::insert::warn(session, error);
            }
        }
    }
    replaced
}

fn set_variable(
    session: &mut Session,
    name: &str,
    value: &str,
    replaced: &mut Replaced,
) -> Result<()> {
    let hintable = |position: &usize| variables::all()[*position].hintable;
    let Some(position) = variables::position(name).filter(hintable) else {
        return Err(codes::ER_NOT_HINT_UPDATABLE_VARIABLE.with(&[&name]));
    };
    let text = format!("SET SESSION {name} = {value}");
    let parsed = mayfly_syntax::parse_one(&text, &mayfly_syntax::ParseOptions::MYSQL_DEFAULT);
    let parsed = parsed.map_err(|error| crate::error::from_syntax(&error))?;
    if let Statement::Set(items) = &parsed.statement {
        replaced
            .0
            .push((position, session.settings().at(position).clone()));
        set::run(session, items)?;
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

/// The place of the parenthesis that closes, outside of quotes.
fn closing(text: &str) -> Option<usize> {
    let mut quote = None;
    for (place, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), byte) if open == byte => quote = None,
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b')') => return Some(place),
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
