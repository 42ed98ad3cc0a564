//! The views of `sys` over performance_schema and information_schema.
//!
//! `system_views.sql` holds the query of each after a line with its name. After the name, `+` declares an unformatted
//! twin, named with the prefix `x$`. Differences between the two are written once:
//!
//! | written | in the view | in its twin |
//! |---|---|---|
//! | `time[x]` | picoseconds for people | `x` |
//! | `bytes[x]` | bytes for people | `x` |
//! | `statement[x]` | the two ends of a long text | `x` |
//! | `each[x]` | `x` for each time that the statement ran | the same |
//! | `twin[x]` | nothing | `x` |

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use mayfly_syntax::ast::{Query, SelectItem, SetExpr, Statement};
use mayfly_types::{Error, Result};

use super::view::ViewDefinition;
use crate::error::{parse_own, parse_own_query};

const SCHEMA: &str = "sys";

/// The definer of the views, as in MySQL.
const DEFINER: &str = "`mysql.sys`@`localhost`";

/// Characters of a statement's text that are shown.
pub(crate) const STATEMENT_CHARACTERS: usize = 64;

static VIEWS: LazyLock<BTreeMap<String, Arc<ViewDefinition>>> = LazyLock::new(|| {
    let views = sources().into_iter();
    let views =
        views.filter_map(|(name, text)| Some((name.clone(), definition(&name, &text).ok()?)));
    views.map(|(name, view)| (name, Arc::new(view))).collect()
});

/// The view of a case-insensitive name.
pub(super) fn view(database: &str, name: &str) -> Option<Arc<ViewDefinition>> {
    if !database.eq_ignore_ascii_case(SCHEMA) {
        return None;
    }
    VIEWS.get(&name.to_lowercase()).cloned()
}

/// All views, by name.
pub(crate) fn all() -> impl Iterator<Item = &'static Arc<ViewDefinition>> {
    VIEWS.values()
}

/// The names of all views, and their queries.
fn sources() -> Vec<(String, String)> {
    let mut sources = Vec::new();
    let blocks = include_str!("system_views.sql").split("\n\n");
    for block in blocks {
        let (heading, text) = block.split_once('\n').unwrap_or((block, ""));
        let name = heading.trim_start_matches("# ");
        match name.strip_suffix(" +") {
            None => sources.push((name.to_owned(), expand(text, false))),
            Some(name) => {
                sources.push((name.to_owned(), expand(text, false)));
                sources.push((format!("x${name}"), expand(text, true)));
            }
        }
    }
    sources
}

/// A query with the differences of a view and its twin expanded.
fn expand(text: &str, is_twin: bool) -> String {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        let (argument, behind) = after.split_once(']').unwrap_or((after, ""));
        let word_at = before.rfind(|c: char| !c.is_ascii_lowercase());
        let word_at = word_at.map_or(0, |at| at + 1);
        expanded += &before[..word_at];
        expanded += &match (&before[word_at..], is_twin) {
            ("each", _) => format!("ROUND(IFNULL({argument} / NULLIF(COUNT_STAR, 0), 0))"),
            ("twin", false) => String::new(),
            ("time", false) => format!("FORMAT_PICO_TIME({argument})"),
            ("bytes", false) => format!("FORMAT_BYTES({argument})"),
            ("statement", false) => {
                let end = STATEMENT_CHARACTERS / 2 - 2;
                format!(
                    "IF(CHAR_LENGTH({argument}) > {STATEMENT_CHARACTERS}, \
                     CONCAT(LEFT({argument}, {end}), ' ... ', RIGHT({argument}, {end})), {argument})"
                )
            }
            _ => argument.to_owned(),
        };
        rest = behind;
    }
    expanded + rest
}

/// The names of a query's columns; none where its first part is no SELECT, or selects `*`.
fn columns(query: &Query) -> Vec<String> {
    let mut first = &*query.body;
    while let SetExpr::SetOperation { left, .. } = first {
        first = left;
    }
    let SetExpr::Select(select) = first else {
        return Vec::new();
    };
    let items = select.projection.iter();
    let names = items.filter_map(|item| match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(alias.value.clone()),
        _ => None,
    });
    names.collect()
}

fn definition(name: &str, text: &str) -> Result<ViewDefinition> {
    let text =
        format!("CREATE DEFINER={DEFINER} SQL SECURITY INVOKER VIEW `{SCHEMA}`.`{name}` AS {text}");
    let Statement::CreateView(mut create) = parse_own(&text)? else {
        return Err(Error::internal(format_args!("{text} is no view")));
    };
    create.columns = columns(&create.query);
    // A view that selects `*` has the columns of the view that it reads.
    if create.columns.is_empty() {
        let twin = if name.starts_with("x$") { "x$" } else { "" };
        let read = sources().into_iter();
        let read = read.filter(|(other, _)| *other == format!("{twin}processlist"));
        for (_, text) in read {
            create.columns = columns(&*parse_own_query(&text)?);
        }
    }
    let view = ViewDefinition::of_full_text(&create, SCHEMA);
    Ok(ViewDefinition {
        columns_named: true,
        character_set: "utf8mb4".to_owned(),
        collation: "utf8mb4_0900_ai_ci".to_owned(),
        ..view
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_query_is_a_view() {
        for (name, text) in sources() {
            let view = definition(&name, &text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(!view.source.columns.is_empty(), "{name}");
        }
        assert_eq!(VIEWS.len(), sources().len());
    }

    #[test]
    fn a_twin_shows_numbers() {
        let text = "SELECT time[SUM(a)] AS t, twin[b AS b,] each[c] AS d";
        assert_eq!(
            expand(text, false),
            "SELECT FORMAT_PICO_TIME(SUM(a)) AS t,  ROUND(IFNULL(c / NULLIF(COUNT_STAR, 0), 0)) AS d"
        );
        assert_eq!(
            expand(text, true),
            "SELECT SUM(a) AS t, b AS b, ROUND(IFNULL(c / NULLIF(COUNT_STAR, 0), 0)) AS d"
        );
    }
}
