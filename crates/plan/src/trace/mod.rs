//! The optimizer trace: the planner's decisions about a statement, in the format of MySQL (the manual, "Tracing the
//! Optimizer").
//!
//! The planner gets a [`Trace`] only where the session asks for one ([`crate::Catalog::trace`]): without it nothing is
//! formatted or stored. Recorded is what the rules compared when they decided; the documents are made in
//! `rules::noted`, and a decision that MySQL has a name for has that name.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::document::{Document, Layout, Members};
use crate::stack::with_stack;

/// `optimizer_trace_features`: parts of the trace that may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceFeatures {
    /// Join orders that were compared.
    pub greedy_search: bool,
    /// Access paths through indexes that were compared.
    pub range_optimizer: bool,
}

/// Output options of the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TraceLayout {
    /// `optimizer_trace='one_line=on'`
    pub one_line: bool,
    /// `end_markers_in_json`
    pub end_markers: bool,
}

/// Steps of `join_optimization`, in MySQL's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    Conditions,
    TableDependencies,
    RowsEstimation,
    SemijoinChoice,
    ExecutionPlans,
    JoinAccess,
    AttachedConditions,
    IndexOrder,
    IndexEnds,
    FinalConditions,
    TemporaryTables,
    Rules,
}

impl Step {
    /// Name of the step, and whether it holds a list of all entries.
    fn shape(self) -> (&'static str, bool) {
        match self {
            Self::Conditions => ("condition_processing", false),
            Self::TableDependencies => ("table_dependencies", true),
            Self::RowsEstimation => ("rows_estimation", true),
            Self::SemijoinChoice => ("semijoin_strategy_choice", true),
            Self::ExecutionPlans => ("considered_execution_plans", true),
            Self::JoinAccess => ("considered_join_access", true),
            Self::AttachedConditions => ("attaching_conditions_to_tables", false),
            Self::IndexOrder => ("reconsidering_access_paths_for_index_ordering", false),
            Self::IndexEnds => ("reading_ends_of_indexes", false),
            Self::FinalConditions => ("finalizing_table_conditions", true),
            Self::TemporaryTables => ("considering_tmp_tables", true),
            Self::Rules => ("applied_rules", true),
        }
    }
}

/// Trace of one query of a statement.
#[derive(Debug, Default)]
struct TracedQuery {
    preparation: Vec<Document>,
    /// Entries by the number of the query block.
    optimization: BTreeMap<usize, BTreeMap<Step, Vec<Document>>>,
    /// Names of columns by their numbers.
    names: BTreeMap<usize, String>,
    /// `select#` of each table's query block, by the number of the table's first column.
    blocks: BTreeMap<usize, usize>,
    /// Text of the rewritten query.
    rewritten: String,
    /// Name of the phase behind its planning, if it was reached.
    execution_name: Option<&'static str>,
    execution: Vec<Document>,
}

/// Trace of the planning of a statement.
#[derive(Debug)]
pub struct Trace {
    features: TraceFeatures,
    /// (setting, bytes) of the memory limits of a temporary table.
    limits: Vec<(String, u64)>,
    queries: RefCell<Vec<TracedQuery>>,
}

/// `` {name: value} ``
pub(crate) fn object(name: &'static str, value: impl Into<Document>) -> Document {
    Document::Object(vec![(name, value.into())])
}

/// A number of a query block or table.
pub(crate) fn number(number: usize) -> Document {
    Document::Integer(number as u64)
}

/// The document with numbers for people: rows and costs have at most four decimals.
fn plain(document: Document) -> Document {
    with_stack(|| match document {
        Document::Number(number) if number.is_finite() => {
            let rounded = (number * 1e4).round() / 1e4;
            if rounded.fract() == 0.0 && (0.0..1e15).contains(&rounded) {
                Document::Integer(rounded as u64)
            } else {
                Document::Number(rounded)
            }
        }
        Document::List(values) => Document::List(values.into_iter().map(plain).collect()),
        Document::Object(members) => {
            let members = members.into_iter();
            Document::Object(members.map(|(name, value)| (name, plain(value))).collect())
        }
        other => other,
    })
}

impl Trace {
    /// An empty trace. `limits`: (setting, bytes) of the memory limits of a temporary table.
    pub fn new(features: TraceFeatures, limits: Vec<(String, u64)>) -> Self {
        let queries = RefCell::default();
        Self {
            features,
            limits,
            queries,
        }
    }

    /// Discards the trace when a statement is planned again, since what it depends on has changed.
    pub fn restart(&self) {
        self.queries.borrow_mut().clear();
    }

    pub(crate) fn features(&self) -> TraceFeatures {
        self.features
    }

    pub(crate) fn limits(&self) -> &[(String, u64)] {
        &self.limits
    }

    /// Begins the trace of a query.
    pub(crate) fn begin(&self) {
        self.queries.borrow_mut().push(TracedQuery::default());
    }

    /// Discards the plan: the statement could not be planned, and another query may be planned in its place.
    pub(crate) fn abandon(&self) {
        self.queries.borrow_mut().pop();
    }

    fn with_last(&self, change: impl FnOnce(&mut TracedQuery)) {
        let mut queries = self.queries.borrow_mut();
        if let Some(last) = queries.last_mut() {
            change(last);
        }
    }

    /// Records the names of columns; the query is optimized from here on.
    pub(crate) fn name_columns(&self, names: BTreeMap<usize, String>) {
        self.with_last(|query| {
            query.names.extend(names);
            query.optimization.entry(1).or_default();
        });
    }

    /// Name of a column.
    pub(crate) fn column_name(&self, column: usize) -> String {
        let queries = self.queries.borrow();
        let name = queries.last().and_then(|query| query.names.get(&column));
        name.map_or_else(|| format!("column_{column}"), String::clone)
    }

    /// Records the query blocks of tables, by the numbers of their first columns.
    pub(crate) fn place_tables(&self, blocks: BTreeMap<usize, usize>) {
        self.with_last(|query| query.blocks = blocks);
    }

    /// `select#` of a table's query block.
    pub(crate) fn block_of(&self, first_column: usize) -> usize {
        let queries = self.queries.borrow();
        let last = queries.last();
        let block = last.and_then(|query| query.blocks.get(&first_column));
        block.copied().unwrap_or(1)
    }

    /// Records a step of `join_preparation`.
    pub(crate) fn prepared(&self, step: Document) {
        self.with_last(|query| query.preparation.push(plain(step)));
    }

    /// Records a step of a query block's `join_optimization`.
    pub(crate) fn note(&self, select_id: usize, step: Step, noted: Document) {
        self.with_last(|query| {
            let steps = query.optimization.entry(select_id).or_default();
            steps.entry(step).or_default().push(plain(noted));
        });
    }

    /// Whether there is an entry for a step of a query block.
    pub(crate) fn has(&self, select_id: usize, step: Step) -> bool {
        let queries = self.queries.borrow();
        let steps = queries
            .last()
            .and_then(|query| query.optimization.get(&select_id));
        steps.is_some_and(|steps| steps.contains_key(&step))
    }

    /// Records the text of the rewritten query.
    pub(crate) fn rewritten(&self, text: String) {
        self.with_last(|query| query.rewritten = text);
    }

    /// Text recorded by [`Self::rewritten`].
    pub(crate) fn rewritten_text(&self) -> String {
        let queries = self.queries.borrow();
        let last = queries.last();
        last.map_or_else(String::new, |query| query.rewritten.clone())
    }

    /// Records that the statement has run, or was explained.
    pub(crate) fn executed(&self, name: &'static str, steps: Vec<Document>) {
        self.with_last(|query| {
            query.execution_name = Some(name);
            query.execution.extend(steps.into_iter().map(plain));
        });
    }

    /// Text of the trace.
    pub fn text(&self, layout: TraceLayout) -> String {
        self.bounded_text(layout, usize::MAX).0
    }

    /// (first bytes of the text, number of further bytes).
    pub fn bounded_text(&self, layout: TraceLayout, bytes_max: usize) -> (String, usize) {
        let mut steps = Vec::new();
        for query in self.queries.borrow().iter() {
            steps.extend(query.steps(self.features));
        }
        let document = object("steps", Document::List(steps));
        let layout = Layout {
            end_markers: layout.end_markers,
            one_line: layout.one_line,
            ..Layout::default()
        };
        document.to_bounded_text(layout, bytes_max)
    }
}

impl TracedQuery {
    fn steps(&self, features: TraceFeatures) -> Vec<Document> {
        let phase = |name, select_id: usize, steps: Vec<Document>| {
            let members: Members = vec![
                ("select#", number(select_id)),
                ("steps", Document::List(steps)),
            ];
            object(name, members)
        };
        let mut steps = vec![phase("join_preparation", 1, self.preparation.clone())];
        for (select_id, noted) in &self.optimization {
            let mut inner = Vec::new();
            for (step, documents) in noted {
                let (name, is_list) = step.shape();
                let is_left_out = match step {
                    Step::ExecutionPlans | Step::JoinAccess => !features.greedy_search,
                    _ => false,
                };
                if is_left_out {
                    inner.push(object(name, "..."));
                } else if is_list {
                    inner.push(object(name, Document::List(documents.clone())));
                } else {
                    inner.extend(documents.iter().map(|one| object(name, one.clone())));
                }
            }
            steps.push(phase("join_optimization", *select_id, inner));
        }
        if let Some(name) = self.execution_name {
            steps.push(phase(name, 1, self.execution.clone()));
        }
        steps
    }
}

#[cfg(test)]
mod tests;
