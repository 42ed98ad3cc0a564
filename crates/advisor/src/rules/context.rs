//! Facts that rules see of a statement, and texts that several rules share.

use crate::explain::Explain;
use crate::finding::{Cause, Change, ChangeKind, Confidence, Finding};
use crate::index::IndexAdvice;
use crate::quantities;
use crate::schema::Schema;
use crate::server::Server;
use crate::statement::{Block, Statement};
use crate::temp_tables::{Held, Purpose, Strength, TemporaryTable};
use crate::workload::Digest;

/// Facts about one statement.
pub(crate) struct Context<'a> {
    pub(crate) digest: &'a Digest,
    pub(crate) statement: &'a Statement,
    pub(crate) tables: &'a [TemporaryTable],
    pub(crate) server: &'a Server,
    pub(crate) schema: &'a Schema,
    pub(crate) explain: Option<&'a Explain>,
    /// Whether every table of the statement is known.
    pub(crate) known: bool,
}

impl Context<'_> {
    /// Confidence of a finding about a temporary table, and its basis.
    pub(crate) fn confidence(&self, strength: Strength) -> (Confidence, String) {
        let (sure, why) = match (self.digest.is_counted(), self.known, self.explain.is_some()) {
            (true, true, _) => (
                Confidence::Certain,
                "the server counted the tables, and the schema shows the cause",
            ),
            (true, false, _) => (
                Confidence::Likely,
                "the server counted the tables; the schema is not known",
            ),
            (false, _, true) => (
                Confidence::Likely,
                "the server's EXPLAIN says so; the log does not count temporary tables",
            ),
            (false, true, false) => (
                Confidence::Likely,
                "the server's rules and the schema say so; the log does not count temporary tables",
            ),
            (false, false, false) => (
                Confidence::Possible,
                "only the statement is known: neither counters nor the schema",
            ),
        };
        match strength {
            Strength::Always => (sure, why.to_owned()),
            Strength::Perhaps => (
                sure.lowered(),
                format!("{why}; the optimizer decides by costs"),
            ),
        }
    }

    /// The tables made for a purpose.
    pub(crate) fn tables_for(
        &self,
        is_wanted: impl Fn(&Purpose) -> bool,
    ) -> impl Iterator<Item = &TemporaryTable> {
        self.tables
            .iter()
            .filter(move |table| is_wanted(&table.purpose))
    }

    /// The block that a table is made for.
    pub(crate) fn block(&self, table: &TemporaryTable) -> Option<&Block> {
        self.statement.blocks.get(table.block?)
    }

    /// Whether tables were on disk, by the counters; `None` where they are unknown.
    pub(crate) fn is_on_disk(&self) -> Option<bool> {
        self.digest
            .is_counted()
            .then_some(self.digest.disk_tables > 0)
    }

    /// The values that send a table to disk at its creation.
    pub(crate) fn disk_values(
        &self,
        is_cause: impl Fn(&Held) -> bool,
    ) -> Vec<(&TemporaryTable, &Held)> {
        if !self.server.blobs_on_disk() || self.is_on_disk() == Some(false) {
            return Vec::new();
        }
        let mut found: Vec<(&TemporaryTable, &Held)> = Vec::new();
        for table in self.tables {
            for held in table.held.iter().filter(|held| is_cause(held)) {
                let is_new = !found.iter().any(|(_, other)| other.expr == held.expr);
                if is_new {
                    found.push((table, held));
                }
            }
        }
        found
    }

    /// The statement's own text, when it may be rewritten.
    pub(crate) fn text(&self) -> Option<&str> {
        self.digest
            .example_is_whole
            .then_some(self.digest.example.as_str())
    }

    /// A finding about a table.
    pub(crate) fn finding(
        &self,
        cause: Cause,
        strength: Strength,
        evidence: impl Into<String>,
    ) -> Finding {
        let (confidence, because) = self.confidence(strength);
        Finding {
            cause,
            confidence,
            because,
            evidence: evidence.into(),
            changes: Vec::new(),
            gain: self.gain(cause),
        }
    }

    fn gain(&self, cause: Cause) -> String {
        let seconds = quantities::seconds(self.digest.seconds);
        let runs = quantities::runs(self.digest.runs);
        match (cause.is_of_disk(), self.digest.disk_tables) {
            (true, disk) if disk > 0 => format!(
                "{} less in {runs}; a part of {seconds} goes away",
                quantities::counted(disk, "disk table")
            ),
            (true, _) => format!("no disk table in {runs}; a part of {seconds} goes away"),
            (false, _) if self.digest.is_counted() => format!(
                "up to {} less in {runs}, which took {seconds}",
                quantities::counted(self.digest.tables, "temporary table")
            ),
            (false, _) => {
                format!("a temporary table less in each of {runs}, which took {seconds}")
            }
        }
    }
}

/// Text before the estimated size of an index in its risk, which a trial replaces by a measurement.
pub(crate) const INDEX_SIZE_MAX: &str = ", of at most ";

/// A change by an index, and whether the optimizer uses it for certain.
pub(crate) fn index_change(advice: &IndexAdvice, what: &str) -> Change {
    let mut does = format!("{what} then follows the index");
    if advice.covering {
        does.push_str(", and the table itself is not read");
    } else {
        does.push_str("; the optimizer uses it when that is cheaper than reading the whole table");
    }
    let mut risk = "every write of the table maintains one more index".to_owned();
    if let Some(bytes) = advice.bytes_max {
        risk.push_str(&format!("{INDEX_SIZE_MAX}{}", quantities::size(bytes)));
    }
    if let Some(name) = &advice.replaces {
        risk.push_str(&format!("; the index `{name}` is then superfluous"));
    }
    let change = Change::new(ChangeKind::Index, advice.statement.clone(), does).at_risk(risk);
    if (advice.covering || advice.limited) && !advice.filtered {
        change
    } else {
        change.uncertain()
    }
}

/// A list of at most four expressions.
pub(crate) fn list_of<'e>(
    expressions: impl IntoIterator<Item = &'e mayfly_syntax::ast::Expr>,
) -> String {
    let all: Vec<String> = expressions
        .into_iter()
        .map(|expr| crate::sql_text::one_line(&expr.to_string(), 60))
        .collect();
    let shown = all.iter().take(4).cloned().collect::<Vec<_>>().join(", ");
    if all.len() > 4 {
        format!("{shown}, …")
    } else {
        shown
    }
}
