//! Temporary tables of other servers: which internal temporary tables MySQL 8.0, 5.7 and 5.0 and MariaDB 10.11 and 13 make for a
//! statement, what EXPLAIN notes of them, and where they are (`tmp_table_compat`).
//!
//! A statement's text is walked as those servers see it, query block by query block and without this planner's rules; each
//! place that could need a table is a *site* with facts (`facts`), and a table of rules (`rules`) decides. The outcome
//! depends on facts that a server's optimizer gets from costs only where a rule says so. `testing/eras` compares it with
//! live servers.

mod columns;
mod facts;
mod rules;
mod walk;

use std::collections::BTreeMap;

use mayfly_syntax::ast::Statement;

use self::facts::{Fact, Site};
use self::rules::{Makes, PLACES, RULES, SORT_FILES};
use self::walk::Walk;
use crate::catalog::Catalog;

/// A server whose temporary tables are predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Era {
    /// MySQL 8.0 and later: TempTable.
    MySql80,
    /// MySQL 5.7: MEMORY, then InnoDB.
    MySql57,
    /// MySQL 5.0: MEMORY, then MyISAM.
    MySql50,
    /// MariaDB 10.11: MEMORY, then Aria.
    MariaDb1011,
    /// MariaDB 13: MEMORY with BLOBs, then Aria.
    MariaDb13,
}

impl Era {
    /// Whether GROUP BY gives its groups in order, without ORDER BY.
    pub fn sorts_groups(self) -> bool {
        self != Self::MySql80
    }

    /// Whether a statement that names a temporary table twice is error 1137.
    pub fn refuses_reopening(self) -> bool {
        !matches!(self, Self::MariaDb1011 | Self::MariaDb13)
    }

    /// Bytes of a table's first block in memory, which no limit refuses (`Allocator::get_block_size` of TempTable).
    fn least_memory(self) -> u64 {
        match self {
            Self::MySql80 => 1 << 20,
            _ => 0,
        }
    }

    /// Whether a common table expression is made anew for each reference.
    fn copies_common_tables(self) -> bool {
        matches!(self, Self::MariaDb1011 | Self::MariaDb13)
    }

    /// Whether derived tables and views are merged into the query that reads them.
    fn merges(self) -> bool {
        self != Self::MySql50
    }

    /// Whether a derived table with a subquery in its select list is merged.
    fn merges_selected_subqueries(self) -> bool {
        self.copies_common_tables()
    }

    /// Whether a table that is found by a unique key is joined behind the one that gives the key, whatever FROM says.
    fn looks_up_last(self) -> bool {
        self.copies_common_tables()
    }
}

/// Eras of a rule.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Eras(&'static [Era]);

impl Eras {
    fn has(self, era: Era) -> bool {
        self.0.contains(&era)
    }
}

/// Settings that a prediction depends on.
#[derive(Debug, Clone, Copy)]
pub struct EraOptions {
    /// The server.
    pub era: Era,
    /// `big_tables`
    pub big_tables: bool,
    /// `sort_buffer_size`
    pub sort_buffer_size: u64,
    /// `derived_merge=on`
    pub derived_merge: bool,
}

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
        Makes::Windows(more) => (
            site.window_tables + more,
            site.sorted_windows + rule.sorts,
        ),
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
            assert!(rule.when.iter().all(|fact| !rule.unless.contains(fact)), "{rule:?}");
        }
        for era in [Era::MySql80, Era::MySql57, Era::MySql50, Era::MariaDb1011, Era::MariaDb13] {
            let places = PLACES.iter().filter(|place| place.eras.has(era));
            assert_eq!(places.clone().count(), 1, "{era:?}");
            assert!(places.into_iter().all(|place| !place.source.is_empty()));
        }
    }
}
