//! Temporary tables of other servers: which internal temporary tables MySQL 8.0, 5.7 and 5.0 and MariaDB 10.11 and 13 make for a
//! statement, what EXPLAIN notes of them, and where they are (`tmp_table_compat`).
//!
//! A statement's text is walked as those servers see it, query block by query block and without this planner's rules; each
//! place that could need a table is a *site* with facts (`facts`), and a table of rules (`rules`) decides. The outcome
//! depends on facts that a server's optimizer gets from costs only where a rule says so. `testing/eras` compares it with
//! live servers.

mod block;
mod columns;
mod era;
mod facts;
mod from;
mod rules;
mod subqueries;
mod tables;
mod text;
mod walk;

use std::collections::BTreeMap;

use mayfly_syntax::ast::Statement;

pub use self::era::{Era, EraOptions};
use self::facts::{Fact, Site};
use self::rules::{Makes, PLACES, RULES, SORT_FILES};
use self::walk::Walk;
use crate::catalog::Catalog;

/// A predicted temporary table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PredictedTable {
    /// The place of the statement that needs it.
    pub purpose: &'static str,
    /// The engine in which it starts.
    pub engine: &'static str,
    /// Whether that is on disk.
    pub on_disk: bool,
    /// The reason why it starts on disk.
    pub cause: Option<&'static str>,
}

/// Notes of EXPLAIN on a query block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Notes {
    /// Using temporary
    pub temporary: bool,
    /// Using filesort
    pub filesort: bool,
}

/// What another server does for a statement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prediction {
    /// Its internal temporary tables.
    pub tables: Vec<PredictedTable>,
    /// Notes on each query block, by its number.
    pub notes: BTreeMap<u64, Notes>,
    /// Notes on the results of set operations, in order.
    pub results: Vec<Notes>,
    /// Number of sorts.
    pub sorts: u64,
    /// Number of temporary files of sorts.
    pub files: u64,
    /// Number of merges of sorts' runs.
    pub merges: u64,
    /// Bytes that a table may have in memory, however small `tmp_table_size` is.
    pub least_memory: u64,
}

impl Prediction {
    /// Number of tables that start on disk.
    pub fn on_disk(&self) -> u64 {
        self.tables.iter().filter(|table| table.on_disk).count() as u64
    }
}

/// Predicts the temporary tables of a statement; `None` for one without any, or with names that are not known.
pub fn predict(
    statement: &Statement,
    catalog: &dyn Catalog,
    options: &EraOptions,
) -> Option<Prediction> {
    let sites = Walk::new(catalog, options).statement(statement)?;
    let mut prediction = Prediction {
        least_memory: options.era.least_memory(),
        ..Prediction::default()
    };
    for site in &sites {
        apply(site, options.era, &mut prediction);
    }
    Some(prediction)
}

fn apply(site: &Site, era: Era, prediction: &mut Prediction) {
    let rule = RULES.iter().find(|rule| {
        rule.eras.has(era)
            && rule.when.iter().all(|fact| site.has(*fact))
            && !rule.unless.iter().any(|fact| site.has(*fact))
    });
    let Some(rule) = rule else {
        return;
    };
    let (tables, sorts) = match rule.makes {
        Makes::Tables(tables) => (tables, rule.sorts),
        Makes::Windows(more) => (site.window_tables + more, site.sorted_windows + rule.sorts),
    };
    prediction.sorts += sorts;
    let notes = Notes {
        temporary: rule.notes.contains('T'),
        filesort: rule.notes.contains('F'),
    };
    if site.has(Fact::SetOperation) || site.has(Fact::Recursive) {
        if !site.has(Fact::UnionAll) || notes != Notes::default() {
            prediction.results.push(notes);
        }
    } else if notes != Notes::default() {
        let known = prediction.notes.entry(site.block).or_default();
        known.temporary |= notes.temporary;
        known.filesort |= notes.filesort;
    }
    if let Some(place) = PLACES.iter().find(|place| place.eras.has(era)) {
        let cause = place.on_disk.iter().find(|fact| site.has(**fact));
        for _ in 0..tables {
            prediction.tables.push(PredictedTable {
                purpose: site.purpose(),
                engine: match cause {
                    Some(_) => place.engines.1,
                    None => place.engines.0,
                },
                on_disk: cause.is_some(),
                cause: cause.and_then(|fact| fact.cause()),
            });
        }
    }
    for (eras, fact, files, _) in SORT_FILES {
        if sorts > 0 && eras.has(era) && site.has(*fact) {
            prediction.files += files;
            prediction.merges += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_source_and_can_apply() {
        for rule in RULES {
            assert!(!rule.source.is_empty(), "{rule:?}");
            assert!(
                rule.when.iter().all(|fact| !rule.unless.contains(fact)),
                "{rule:?}"
            );
        }
        for era in [
            Era::MySql80,
            Era::MySql57,
            Era::MySql50,
            Era::MariaDb1011,
            Era::MariaDb13,
        ] {
            let places = PLACES.iter().filter(|place| place.eras.has(era));
            assert_eq!(places.clone().count(), 1, "{era:?}");
            assert!(places.into_iter().all(|place| !place.source.is_empty()));
        }
    }
}
