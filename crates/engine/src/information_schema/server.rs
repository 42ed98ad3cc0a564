//! Features of the engine: `ENGINES`, `CHARACTER_SETS`, `COLLATIONS`, `COLLATION_CHARACTER_SET_APPLICABILITY`,
//! `KEYWORDS`.

use mayfly_types::Value;
use mayfly_types::charset::CHARSETS;
use mayfly_types::collation::COLLATIONS;

use super::context::RelationContext;
use super::relation::Relation;
use super::row::{Row, row, yes_no};
use crate::catalog::system_views::STATEMENT_CHARACTERS;
use crate::engines::Engine;
use crate::names::word_if;

pub(super) const RELATIONS: &[Relation] = &[
    Relation::new("ENGINES", engines),
    Relation::new("CHARACTER_SETS", character_sets),
    Relation::new("COLLATIONS", collations),
    Relation::new("COLLATION_CHARACTER_SET_APPLICABILITY", applicability),
    Relation::new("KEYWORDS", keywords),
    Relation::new("sys.sys_config", sys_config),
];

fn engines(_: &RelationContext) -> Vec<Row> {
    let row = |engine: &Engine| {
        let support = if *engine == Engine::InnoDb {
            "DEFAULT"
        } else {
            "YES"
        };
        let transactions = yes_no(engine.has_transactions());
        row![
            engine.name(),
            support,
            engine.comment(),
            transactions,
            "NO",
            transactions
        ]
    };
    Engine::ALL.iter().map(row).collect()
}

fn character_sets(_: &RelationContext) -> Vec<Row> {
    let sets = CHARSETS.iter().map(|set| {
        let collation = set.default_collation.name();
        row![
            set.name,
            collation,
            set.description,
            u64::from(set.max_length)
        ]
    });
    sets.collect()
}

fn collations(_: &RelationContext) -> Vec<Row> {
    let rows = COLLATIONS.iter().map(|row| {
        row![
            row.name,
            row.charset.name(),
            u64::from(row.id.0),
            word_if(row.is_default, "Yes"),
            "Yes",
            u64::from(row.sort_length),
            if row.pad_space { "PAD SPACE" } else { "NO PAD" },
        ]
    });
    rows.collect()
}

fn applicability(_: &RelationContext) -> Vec<Row> {
    let rows = COLLATIONS.iter();
    rows.map(|row| row![row.name, row.charset.name()]).collect()
}

/// `sys.sys_config`: settings of the `sys` views, such as the length of shown statements.
fn sys_config(_: &RelationContext) -> Vec<Row> {
    let length = STATEMENT_CHARACTERS.to_string();
    vec![row![
        "statement_truncate_len",
        length,
        Value::Null,
        Value::Null
    ]]
}

fn keywords(_: &RelationContext) -> Vec<Row> {
    let words = mayfly_syntax::all_keywords().map(|word| {
        let reserved = mayfly_syntax::is_reserved_word(word);
        row![word, Value::Int(i64::from(reserved))]
    });
    words.collect()
}
