//! Distribution of a plan: cuts a physical plan into the fragments of a job.
//!
//! The plan is walked from its leaves up, with one open fragment for each subtree. An operator joins the open fragment of
//! its input where the rows are where it needs them, and otherwise the fragment is closed, and another one is opened
//! that reads its rows through an exchange ([`open`]). Grouping is done in two steps where groups are few
//! ([`grouping`]), joins by broadcasting the smaller side or by the hash of their keys ([`joins`]), windows by the
//! hash of what all of them are partitioned by ([`windows`]). So a result is the same rows as the plan's, in any order
//! where the plan does not define one.
//!
//! The walk stops at what is not distributed. Operators above a subtree that is distributed may stay in the server: the
//! rest of the plan then reads the rows of the job as a table.

mod constants;
mod grouping;
mod joins;
mod open;
mod operators;
mod sets;
mod shown;
mod windows;

use std::collections::HashMap;
use std::sync::Arc;

use mayfly_plan::expression::{Subquery, SubqueryKind};
use mayfly_plan::logical::{visit_expression, visit_expression_mut};
use mayfly_plan::physical::POSITION;
use mayfly_plan::physical::{
    Operator, Plan, PushedTerm, QueryPlan, SharedId, SharedResult, SharedSource,
};
use mayfly_plan::{Expression, ExpressionKind, TableId, TableSource, with_stack};
use mayfly_types::SqlType;

pub use self::constants::{Compute, settle};
use self::open::Open;
use crate::encoding::Refused;
use crate::job::{
    Exchange, Fragment, Input, Job, JobSettings, TableCopy, TableInput, input_source,
};

/// Copies of tables, as a distribution asks for them.
pub trait Copies {
    /// The copy of a table and, for each of its columns, the column of the copy; else the reason why there is none that
    /// the statement may read.
    ///
    /// # Errors
    /// The reason, for users.
    fn copy(&self, table: &TableSource) -> Result<(TableCopy, Vec<Option<usize>>), Refused>;
}

/// A plan that is distributed.
#[derive(Debug)]
pub struct Distributed {
    /// The job.
    pub job: Job,
    /// What is left to the server: a plan that scans the table `result`.
    pub rest: QueryPlan,
    /// Number of operators above the job.
    above: usize,
    /// Scans of tables by the numbers of their inputs, as they are in the plan.
    scans: HashMap<usize, Plan>,
}

impl Distributed {
    /// The whole plan for EXPLAIN, with the exchanges of the job as operators.
    pub fn shown(&self, partitions: usize) -> QueryPlan {
        let last = self.job.fragments.len() - 1;
        let whole = shown::shown(&self.job, last, &self.scans, partitions);
        let mut shown = self.rest.clone();
        replace(&mut shown.root, self.above, whole);
        shown
    }
}

/// Distributes a plan over `partitions`. `result` is the number of the table by which the rest of the plan names the rows of
/// the job.
///
/// # Errors
/// The reason why nothing of the plan is distributed.
pub fn distribute(
    plan: &QueryPlan,
    copies: &dyn Copies,
    partitions: usize,
    settings: &JobSettings,
    result: TableId,
) -> Result<Distributed, Refused> {
    let mut first_reason = None;
    let mut above = 0;
    let mut at = &plan.root;
    loop {
        let mut distribution = Distribution::new(plan, copies, partitions);
        let made = distribution.place(at).and_then(|open| {
            distribution.close(open);
            let fragments = std::mem::take(&mut distribution.fragments);
            let job = Job {
                fragments,
                settings: settings.clone(),
            };
            job.encode().map(|_| job)
        });
        let reason = match made {
            Ok(job) => {
                // A job that would only send the rows of a table is none.
                if let (1, Some(reason)) = (job.fragments.len(), first_reason) {
                    return Err(reason);
                }
                let mut rest = plan.clone();
                replace(&mut rest.root, above, rows_of_job(at, result));
                return Ok(Distributed {
                    job,
                    rest,
                    above,
                    scans: distribution.scans,
                });
            }
            Err(reason) => first_reason.get_or_insert(reason).clone(),
        };
        let Some(below) = single_input(at) else {
            return Err(reason);
        };
        if let Operator::Aggregate { grouping, .. } = &at.operator {
            grouping::check_order(grouping)?;
        }
        at = below;
        above += 1;
    }
}

/// The input of an operator that gives or changes rows one by one.
fn single_input(plan: &Plan) -> Option<&Plan> {
    match &plan.operator {
        Operator::Filter { input, .. }
        | Operator::Project { input, .. }
        | Operator::Limit { input, .. }
        | Operator::Sort { input, .. }
        | Operator::Block { input, .. }
        | Operator::Materialize { input, .. }
        | Operator::Aggregate { input, .. }
        | Operator::Window { input, .. } => Some(input),
        _ => None,
    }
}

/// Replaces the operator `depth` inputs below, all of which are single ones.
fn replace(plan: &mut Plan, depth: usize, with: Plan) {
    let mut with = Some(with);
    replace_at(plan, depth, &mut with);
}

fn replace_at(plan: &mut Plan, depth: usize, with: &mut Option<Plan>) {
    if depth > 0 {
        plan.for_each_input_mut(&mut |input| replace_at(input, depth - 1, with));
    } else if let Some(with) = with.take() {
        *plan = with;
    }
}

/// A scan of a job's rows in place of the operator that the job computes.
fn rows_of_job(replaced: &Plan, result: TableId) -> Plan {
    let mut source = input_source(0, &replaced.output, replaced.estimated_rows);
    source.id = result;
    Plan {
        number: replaced.number,
        operator: scan_of(source, None),
        output: replaced.output.clone(),
        estimated_rows: replaced.estimated_rows,
    }
}

/// A scan of all columns of a table.
fn scan_of(table: TableSource, predicate: Option<Expression>) -> Operator {
    Operator::TableScan {
        alias: table.name.clone(),
        columns: (0..table.columns.len()).collect(),
        table: Arc::new(table),
        predicate,
        pushed: Vec::new(),
        order: Vec::new(),
        possible: Vec::new(),
    }
}

/// State of a distribution.
struct Distribution<'p> {
    shared: &'p [SharedResult],
    /// Number of scans of each shared result.
    readers: Vec<usize>,
    copies: &'p dyn Copies,
    partitions: usize,
    fragments: Vec<Fragment>,
    /// Number of the next input, unique in the job.
    next_input: usize,
    /// Scans of tables by the numbers of their inputs, as they are in the plan.
    scans: HashMap<usize, Plan>,
}

impl<'p> Distribution<'p> {
    fn new(plan: &'p QueryPlan, copies: &'p dyn Copies, partitions: usize) -> Self {
        let mut readers = vec![0; plan.shared.len()];
        count_readers(&plan.root, &mut readers);
        for shared in &plan.shared {
            match &shared.source {
                SharedSource::Plan(plan) => count_readers(plan, &mut readers),
                SharedSource::Recursive { seed, step, .. } => {
                    count_readers(seed, &mut readers);
                    count_readers(step, &mut readers);
                }
            }
        }
        Self {
            shared: &plan.shared,
            readers,
            copies,
            partitions,
            fragments: Vec::new(),
            next_input: 0,
            scans: HashMap::new(),
        }
    }

    /// Places an operator and all below it.
    fn place(&mut self, plan: &Plan) -> Result<Open, Refused> {
        with_stack(|| self.place_operator(plan))
    }

    fn place_operator(&mut self, plan: &Plan) -> Result<Open, Refused> {
        match &plan.operator {
            Operator::TableScan { .. } => self.scan(plan),
            Operator::Values { .. } => {
                let mut open = Open::once(plan.clone());
                self.subqueries(&mut open)?;
                Ok(open)
            }
            Operator::Filter { input, .. } | Operator::Project { input, .. } => {
                let open = self.place(input)?.under(plan);
                self.with_subqueries(open)
            }
            Operator::Block { input, .. } | Operator::Materialize { input, .. } => {
                self.place(input)
            }
            Operator::Limit {
                input,
                offset,
                count,
            } => self.limit(plan, input, (*offset, *count)),
            Operator::Sort { input, limit, .. } => self.sort(plan, input, *limit),
            Operator::Aggregate { input, grouping } => self.aggregate(plan, input, grouping),
            Operator::Window { .. } => self.windows(plan),
            Operator::HashJoin { .. } | Operator::NestedLoopJoin { .. } => self.join(plan),
            Operator::SetOperation {
                kind, all, inputs, ..
            } => self.set_operation(plan, *kind, *all, inputs),
            Operator::SharedScan {
                shared, arguments, ..
            } => {
                if !arguments.is_empty() {
                    return Err(Refused("a dependent derived table".to_owned()));
                }
                self.shared(*shared)
            }
            other => Err(Refused(crate::encoding::operator_name(other).to_owned())),
        }
    }

    /// Each run reads a part of the table's copy.
    fn scan(&mut self, plan: &Plan) -> Result<Open, Refused> {
        let Operator::TableScan {
            table,
            columns,
            predicate,
            pushed,
            order,
            ..
        } = &plan.operator
        else {
            return Err(Refused("no scan".to_owned()));
        };
        if !order.is_empty() {
            return Err(Refused(format!("{} is read in an order", table.name)));
        }
        if columns.contains(&POSITION) {
            return Err(Refused("positions of rows".to_owned()));
        }
        let (copy, places) = self.copies.copy(table)?;
        // A table of files is read by the runs themselves, which make use of the terms as this process would.
        let pushed: &[PushedTerm] = if copy.call.is_some() { pushed } else { &[] };
        let mut read = columns.clone();
        for term in pushed {
            if !read.contains(&term.shape.column) {
                read.push(term.shape.column);
            }
        }
        let in_copy = read.iter().map(|column| {
            let place = places.get(*column).copied().flatten();
            place.ok_or_else(|| {
                let name = &table.columns[*column].name;
                Refused(format!("column {}.{name} is NOT SECONDARY", table.name))
            })
        });
        let types: Vec<SqlType> = read
            .iter()
            .map(|column| table.columns[*column].ty.clone())
            .collect();
        let input = Input::Table(TableInput {
            copy,
            columns: in_copy.collect::<Result<Vec<_>, _>>()?,
        });
        let number = self.input_number();
        self.scans.insert(number, plan.clone());
        let source = input_source(number, &types, table.row_count as f64);
        let place = |column| read.iter().position(|own| *own == column);
        let pushed = pushed.iter();
        let pushed = pushed.filter_map(|term| Some(moved(term, place(term.shape.column)?)));
        let mut operator = scan_of(source, predicate.clone());
        if let Operator::TableScan {
            columns: output,
            pushed: own,
            ..
        } = &mut operator
        {
            output.truncate(columns.len());
            *own = pushed.collect();
        }
        let scan = Plan {
            operator,
            ..plan.clone()
        };
        self.with_subqueries(Open::parts(scan, number, input))
    }

    /// The first rows of each run, then those of all.
    fn limit(&mut self, plan: &Plan, input: &Plan, range: (u64, u64)) -> Result<Open, Refused> {
        let open = self.place(input)?;
        if open.once {
            return Ok(open.under(plan));
        }
        let (offset, count) = range;
        let count = offset.saturating_add(count);
        let open = open.with(plan.number, input.output.clone(), |input| Operator::Limit {
            input,
            offset: 0,
            count,
        });
        Ok(self.gathered(open).under(plan))
    }

    /// All rows in order come from one run.
    fn sort(
        &mut self,
        plan: &Plan,
        input: &Plan,
        limit: Option<(u64, u64)>,
    ) -> Result<Open, Refused> {
        let open = self.place(input)?;
        if open.once {
            return self.with_subqueries(open.under(plan));
        }
        let open = match limit {
            None => open,
            Some((offset, count)) => {
                let mut first = plan.clone();
                if let Operator::Sort { limit, .. } = &mut first.operator {
                    *limit = Some((0, offset.saturating_add(count)));
                }
                let open = open.under(&first);
                self.with_subqueries(open)?
            }
        };
        let open = self.gathered(open).under(plan);
        self.with_subqueries(open)
    }

    /// A shared result is computed by each of its readers, if all get the same rows.
    fn shared(&mut self, id: SharedId) -> Result<Open, Refused> {
        let shared = self
            .shared
            .get(id.0)
            .ok_or_else(|| Refused("a shared result".to_owned()))?;
        if shared.kept.is_some() {
            return Err(Refused(
                "a result that is kept for other statements".to_owned(),
            ));
        }
        let SharedSource::Plan(source) = &shared.source else {
            return Err(Refused("a recursive common table expression".to_owned()));
        };
        if self.readers[id.0] > 1 && !gives_same_rows(source) {
            return Err(Refused(format!(
                "{} is read several times and chooses rows",
                shared.name
            )));
        }
        self.place(source)
    }

    /// [`Self::subqueries`] of an open fragment.
    fn with_subqueries(&mut self, mut open: Open) -> Result<Open, Refused> {
        self.subqueries(&mut open)?;
        Ok(open)
    }

    /// Makes the rows of subqueries in the top operator's expressions inputs of the fragment.
    pub(super) fn subqueries(&mut self, open: &mut Open) -> Result<(), Refused> {
        let mut has_any = false;
        open.plan.for_each_expression(&mut |expression| {
            visit_expression(expression, &mut |inner| {
                has_any |= matches!(inner.kind, ExpressionKind::Subquery(_));
                true
            });
        });
        if !has_any {
            return Ok(());
        }
        let mut done = Ok(());
        let mut inputs = Vec::new();
        open.plan.for_each_expression_mut(&mut |expression| {
            if done.is_ok() {
                done = self.subqueries_in(expression, &mut inputs);
            }
        });
        open.inputs.extend(inputs);
        done
    }

    /// Replaces the plans of subqueries in an expression by scans of inputs.
    fn subqueries_in(
        &mut self,
        expression: &mut Expression,
        inputs: &mut Vec<(usize, Input)>,
    ) -> Result<(), Refused> {
        let mut done = Ok(());
        visit_expression_mut(expression, &mut |inner| {
            if let ExpressionKind::Subquery(subquery) = &mut inner.kind
                && done.is_ok()
            {
                match self.subquery(subquery, inputs) {
                    Ok(own) => *subquery = Arc::new(own),
                    Err(reason) => done = Err(reason),
                }
            }
            true
        });
        done
    }

    /// A subquery over rows that each run gets.
    fn subquery(
        &mut self,
        subquery: &Subquery,
        inputs: &mut Vec<(usize, Input)>,
    ) -> Result<Subquery, Refused> {
        if !subquery.parameters.is_empty() {
            return Err(Refused("a dependent subquery".to_owned()));
        }
        let mut kind = subquery.kind.clone();
        if let SubqueryKind::Quantified { left, .. } | SubqueryKind::Row { left, .. } = &mut kind {
            for side in left {
                self.subqueries_in(side, inputs)?;
            }
        }
        let open = self.place(&subquery.plan)?;
        let (plan, input) = self.sent(open, Exchange::Broadcast);
        inputs.push(input);
        Ok(Subquery {
            plan,
            kind,
            ..subquery.clone()
        })
    }

    fn input_number(&mut self) -> usize {
        self.next_input += 1;
        self.next_input - 1
    }
}

/// A term on another column.
fn moved(term: &PushedTerm, column: usize) -> PushedTerm {
    let mut moved = term.clone();
    moved.shape.column = column;
    visit_expression_mut(&mut moved.predicate, &mut |inner| {
        if let ExpressionKind::Column(own) = &mut inner.kind {
            *own = column;
        }
        true
    });
    moved
}

/// Whether each run of a plan gives the same rows: it chooses none by their order of arrival.
fn gives_same_rows(plan: &Plan) -> bool {
    let own = match &plan.operator {
        Operator::Limit { .. } => false,
        Operator::Window { calls, .. } => calls.iter().all(windows::is_same_for_peers),
        Operator::Sort { limit, .. } => limit.is_none(),
        Operator::Aggregate { grouping, .. } => grouping.first_groups.is_none(),
        _ => true,
    };
    let mut all = own;
    with_stack(|| plan.for_each_input(&mut |input| all = all && gives_same_rows(input)));
    all
}

/// Counts the scans of shared results in a plan and its subqueries.
fn count_readers(plan: &Plan, readers: &mut [usize]) {
    if let Operator::SharedScan { shared, .. } = &plan.operator
        && let Some(count) = readers.get_mut(shared.0)
    {
        *count += 1;
    }
    with_stack(|| {
        plan.for_each_input(&mut |input| count_readers(input, readers));
        plan.for_each_expression(&mut |expression| {
            visit_expression(expression, &mut |inner| {
                if let ExpressionKind::Subquery(subquery) = &inner.kind {
                    count_readers(&subquery.plan, readers);
                }
                true
            });
        });
    });
}

/// Columns of rows of these types as expressions.
fn columns(types: &[SqlType]) -> Vec<Expression> {
    Expression::columns_of(types)
}
