//! The steps of a plan: what FORMAT=TREE writes a line about, and version 2 of FORMAT=JSON an object.

use super::super::facts::TableFacts;
use super::super::measured::Actual;
use crate::document::{Document, Members};

/// Factor of underestimation: a join that gives `n` times the estimated rows is remarked on.
const UNDERESTIMATED: f64 = 10.0;

/// What an operator is thought to cost, and to give.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in super::super) struct Estimate {
    /// The cost of all rows.
    pub(in super::super) cost: f64,
    /// The cost up to the first row, where all of the input must be there before it.
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

/// What is done, and with what.
#[derive(Debug, Clone)]
pub(in super::super) struct Step {
    /// What is done.
    pub(in super::super) text: String,
    /// What stands above it in the tree: what its rows are for.
    pub(in super::super) heading: Option<Heading>,
    /// Cost and rows, where they are thought to be known.
    pub(in super::super) estimate: Option<Estimate>,
    /// Its members in JSON beside `operation`, `inputs` and the estimates.
    pub(in super::super) members: Members,
    /// The temporary table that it makes.
    pub(in super::super) table: Option<TableFacts>,
    /// What it did, where that was measured.
    pub(in super::super) actual: Option<Actual>,
    /// What it reads.
    pub(in super::super) inputs: Vec<Step>,
    /// The subqueries of the select list.
    pub(in super::super) of_select_list: Vec<Step>,
}

/// What the rows of a step are for.
#[derive(Debug, Clone)]
pub(in super::super) struct Heading {
    pub(in super::super) text: String,
    pub(in super::super) members: Members,
    /// The temporary table that they go into.
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

    /// All rows of the input are there before the first is given.
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

    /// How many times as many rows a join gave as were estimated, where that is a sign that the plan may be a bad one.
    pub(in super::super) fn underestimated(&self) -> Option<f64> {
        let is_join = self.members.first() == Some(&("access_type", Document::from("join")));
        let (actual, estimate) = (self.actual.filter(|_| is_join)?, self.estimate?);
        let times = actual.rows_of_loop() / estimate.rows.max(1.0);
        (times >= UNDERESTIMATED).then_some(times)
    }

    /// Cost and rows; nothing where they are not known.
    pub(super) fn known(&self) -> (f64, f64) {
        self.estimate
            .map_or((0.0, 0.0), |estimate| (estimate.cost, estimate.rows))
    }
}
