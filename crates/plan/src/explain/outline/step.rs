//! Steps of a plan: the lines of FORMAT=TREE, and the objects of FORMAT=JSON version 2.

use super::super::facts::TableFacts;
use super::super::measured::Actual;
use crate::document::{Document, Members};

/// Factor of underestimation from which a join is reported.
const UNDERESTIMATED: f64 = 10.0;

/// Estimated cost and cardinality of an operator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in super::super) struct Estimate {
    /// Cost of all rows.
    pub(in super::super) cost: f64,
    /// Cost until the first row, if all of the input is needed before it.
    pub(in super::super) first: Option<f64>,
    pub(in super::super) rows: f64,
}

impl Estimate {
    pub(super) fn new(cost: f64, rows: f64) -> Self {
        Self {
            cost,
            first: None,
            rows,
        }
    }
}

/// A step: its operation and properties.
#[derive(Debug, Clone)]
pub(in super::super) struct Step {
    /// Text of the operation.
    pub(in super::super) text: String,
    /// Step above it in the tree, which states what its rows are for.
    pub(in super::super) heading: Option<Heading>,
    /// Estimated cost and cardinality, if known.
    pub(in super::super) estimate: Option<Estimate>,
    /// JSON members besides `operation`, `inputs` and the estimates.
    pub(in super::super) members: Members,
    /// Temporary table that it creates.
    pub(in super::super) table: Option<TableFacts>,
    /// Measurements, if it was measured.
    pub(in super::super) actual: Option<Actual>,
    /// Input steps.
    pub(in super::super) inputs: Vec<Step>,
    /// Subqueries of the select list.
    pub(in super::super) of_select_list: Vec<Step>,
}

/// A heading that states what the rows of a step are for.
#[derive(Debug, Clone)]
pub(in super::super) struct Heading {
    pub(in super::super) text: String,
    pub(in super::super) members: Members,
    /// Temporary table of the rows.
    pub(in super::super) table: Option<TableFacts>,
}

impl Heading {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            members: Vec::new(),
            table: None,
        }
    }

    pub(super) fn making(self, table: Option<TableFacts>) -> Self {
        Self { table, ..self }
    }
}

impl Step {
    /// A step of an access type.
    pub(super) fn new(text: impl Into<String>, access_type: &'static str) -> Self {
        Self {
            text: text.into(),
            heading: None,
            estimate: None,
            members: vec![("access_type", Document::from(access_type))],
            table: None,
            actual: None,
            inputs: Vec::new(),
            of_select_list: Vec::new(),
        }
    }

    pub(super) fn costing(mut self, cost: f64, rows: f64) -> Self {
        self.estimate = Some(Estimate::new(cost, rows));
        self
    }

    /// Marks a step that needs all rows of the input before its first.
    pub(super) fn holding(mut self, first: f64) -> Self {
        if let Some(estimate) = &mut self.estimate {
            estimate.first = Some(first);
        }
        self
    }

    pub(super) fn over(mut self, inputs: Vec<Step>) -> Self {
        self.inputs = inputs;
        self
    }

    pub(super) fn with(mut self, name: &'static str, value: impl Into<Document>) -> Self {
        self.members.push((name, value.into()));
        self
    }

    pub(super) fn making(mut self, table: Option<TableFacts>) -> Self {
        self.table = table;
        self
    }

    pub(super) fn having_done(mut self, actual: Option<Actual>) -> Self {
        self.actual = actual;
        self
    }

    pub(super) fn under(mut self, heading: Heading) -> Self {
        self.heading = Some(heading);
        self
    }

    /// Ratio of actual to estimated rows of a join, if it indicates a bad plan.
    pub(in super::super) fn underestimated(&self) -> Option<f64> {
        let is_join = self.members.first() == Some(&("access_type", Document::from("join")));
        let (actual, estimate) = (self.actual.filter(|_| is_join)?, self.estimate?);
        let times = actual.rows_of_loop() / estimate.rows.max(1.0);
        (times >= UNDERESTIMATED).then_some(times)
    }

    /// (cost, rows) if known, else zeros.
    pub(super) fn known(&self) -> (f64, f64) {
        self.estimate
            .map_or((0.0, 0.0), |estimate| (estimate.cost, estimate.rows))
    }
}
