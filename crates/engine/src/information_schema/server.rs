//! What the engine offers: `ENGINES`, `CHARACTER_SETS`, `COLLATIONS`,
//! `COLLATION_CHARACTER_SET_APPLICABILITY`, `KEYWORDS`.

use mayfly_types::Value;
use mayfly_types::charset::CHARSETS;
use mayfly_types::collation::COLLATIONS;

use super::relation::{Relation, Row, text, yes_no};
use crate::catalog::engines::ENGINES;
use crate::session::StatementContext;

pub(super) const RELATIONS: &[Relation] = &[
    Relation::new("ENGINES", engines),
    Relation::new("CHARACTER_SETS", character_sets),
    Relation::new("COLLATIONS", collations),
    Relation::new("COLLATION_CHARACTER_SET_APPLICABILITY", applicability),
    Relation::new("KEYWORDS", keywords),
];

fn engines(_: &StatementContext<'_>) -> Vec<Row> {
    let row = |engine: &crate::catalog::engines::Engine| {
        vec![
            text(engine.name),
            text(engine.support),
            text(engine.comment),
            yes_no(engine.transactions),
            text("NO"),
            yes_no(engine.transactions),
        ]
    };
    ENGINES.iter().map(row).collect()
}

fn character_sets(_: &StatementContext<'_>) -> Vec<Row> {
    let sets = CHARSETS.iter().map(|set| {
        vec![
            text(set.name),
            text(set.default_collation.name()),
            text(set.description),
            Value::UInt(set.max_length.into()),
        ]
    });
    sets.collect()
}

fn collations(_: &StatementContext<'_>) -> Vec<Row> {
    let rows = COLLATIONS.iter().map(|row| {
        vec![
            text(row.name),
            text(row.charset.name()),
            Value::UInt(row.id.0.into()),
            text(if row.is_default { "Yes" } else { "" }),
            text("Yes"),
            Value::UInt(row.sort_length.into()),
            text(if row.pad_space { "PAD SPACE" } else { "NO PAD" }),
        ]
    });
    rows.collect()
}

fn applicability(_: &StatementContext<'_>) -> Vec<Row> {
    COLLATIONS
        .iter()
        .map(|row| vec![text(row.name), text(row.charset.name())])
        .collect()
}

fn keywords(_: &StatementContext<'_>) -> Vec<Row> {
    let words = mayfly_syntax::all_keywords().map(|word| {
        let reserved = mayfly_syntax::is_reserved_word(word);
        vec![text(word), Value::Int(i64::from(reserved))]
    });
    words.collect()
}
