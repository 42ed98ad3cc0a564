//! Subqueries as values and predicates.
//!
//! A subquery's result depends on the parameters that its plan reads. Those that it sets itself
//! from the outer row are the key of a cache: each distinct combination runs the plan once. Those
//! that it inherits from further out are compared when evaluation begins; when they changed, the
//! cache is emptied. A subquery without parameters of its own thus runs once.
//!
//! Answers are charged to the statement. A cache that finds no memory for another answer is emptied. Each worker has a
//! cache of its own while it evaluates, so that none waits for another's plan; but a worker that finds a subquery
//! without parameters running waits for its only answer.

use std::sync::{Arc, Mutex};

use arrow_array::ArrayRef;
use mayfly_functions::Column;
use mayfly_functions::output::TextColumn;
use mayfly_memory::Reservation;
use mayfly_plan::expression::{Subquery, SubqueryKind};
use mayfly_plan::logical::visit_expression;
use mayfly_plan::physical::TemporaryTable;
use mayfly_plan::{Comparison, Expression, ExpressionKind};
use mayfly_storage::{Access, GroupIndex, KeyMode, Purpose, TempTable};
use mayfly_types::convert::array_value;
use mayfly_types::error::codes;
use mayfly_types::{Error, PhysicalType, Result, SqlType, Value};

use super::Program;
use super::compare::Comparer;
use super::extremes::Extremes;
use super::membership::{Members, Membership};
use super::truth::Truth;
use super::values::{array_of, into_array};
use crate::context::RunContext;
use crate::operators::tables::create_for;
use crate::parameters::free_parameters;
use crate::representation::{column_type, column_types, to_column};
use crate::state::lock;

/// A subquery in a compiled expression.
#[derive(Debug)]
pub(super) struct SubqueryNode {
    subquery: Arc<Subquery>,
    /// Temporary tables of its rows and of its results.
    temporary: TemporaryTable,
    parameters: Vec<(usize, Program, PhysicalType)>,
    left: Vec<(Program, Comparer)>,
    columns: Vec<usize>,
    physical: PhysicalType,
}

/// Cached results of a subquery, kept for the run.
pub(crate) struct SubqueryState {
    subquery: Arc<Subquery>,
    /// Only answer of a subquery without parameters of its own.
    single: Mutex<Option<Cache>>,
    /// Caches that no worker uses.
    idle: Mutex<Vec<Cache>>,
}

impl SubqueryState {
    pub(crate) fn new(subquery: Arc<Subquery>) -> Self {
        Self {
            subquery,
            single: Mutex::new(None),
            idle: Mutex::default(),
        }
    }
}

struct Cache {
    /// (parameter, value) of parameters set further out, as of the beginning of the cache.
    inherited: Vec<(usize, Value)>,
    /// Index that numbers the combinations of the subquery's own parameters.
    index: Option<GroupIndex>,
    results: Vec<Answer>,
    /// Bytes of the answers.
    bytes: u64,
    held: Reservation,
}

/// Step in bytes in which answers are charged.
const CHARGE_STEP: u64 = 64 << 10;

impl Cache {
    /// Removes all answers.
    fn clear(&mut self) {
        if let Some(index) = &mut self.index {
            index.clear();
        }
        self.results.clear();
        self.bytes = 0;
        self.held.free();
    }

    /// Keeps an answer; false if there is no memory for it. The only answer of a subquery is always kept, or the
    /// statement ends with an error.
    fn keep(&mut self, answer: Answer, run: &RunContext) -> Result<bool> {
        self.bytes += answer.memory_bytes();
        if self.bytes > self.held.bytes() {
            let bytes = self.bytes.next_multiple_of(CHARGE_STEP);
            if self.index.is_none() {
                run.statement
                    .temp
                    .resize_working_set(&mut self.held, bytes)?;
            } else if self.held.try_resize(bytes).is_err() {
                return Ok(false);
            }
        }
        self.results.push(answer);
        Ok(true)
    }
}

/// Values of a batch.
enum Results<'a> {
    Texts(TextColumn<'a>),
    Values(Vec<Value>, PhysicalType),
}

impl<'a> Results<'a> {
    fn new(physical: PhysicalType, rows: usize, run: &'a RunContext) -> Self {
        match physical {
            PhysicalType::Bytes => Self::Texts(TextColumn::new(rows, run.evaluation())),
            _ => Self::Values(Vec::with_capacity(rows), physical),
        }
    }

    fn finish(self) -> ArrayRef {
        match self {
            Self::Texts(texts) => texts.finish(),
            Self::Values(values, physical) => array_of(&values, physical),
        }
    }
}

/// Result of one run of the plan.
enum Answer {
    /// Columns of the only row; `None` without rows.
    Row(Option<Arc<[Value]>>),
    /// Whether a row exists: EXISTS.
    Found(bool),
    /// All rows, for IN and NOT IN.
    Rows(Box<Members>),
    /// Extremes of the rows, for other comparisons by ANY and ALL.
    Extremes(Extremes),
}

/// Bytes of a temporary table's handles, which its budget does not count.
const TABLE_BYTES: u64 = 4 << 10;

impl Answer {
    /// Bytes of memory beside those that a table charges itself.
    fn memory_bytes(&self) -> u64 {
        let of_value = |value: &Value| match value {
            Value::Bytes(bytes) => size_of::<Value>() + bytes.capacity(),
            _ => size_of::<Value>(),
        };
        let beside = match self {
            Self::Row(Some(values)) => values.iter().map(of_value).sum::<usize>() as u64,
            Self::Extremes(extremes) => {
                extremes.values().iter().map(of_value).sum::<usize>() as u64
            }
            Self::Row(None) | Self::Found(_) => 0,
            Self::Rows(_) => TABLE_BYTES,
        };
        size_of::<Self>() as u64 + beside
    }
}

impl SubqueryNode {
    pub(super) fn compile(subquery: &Arc<Subquery>) -> Self {
        let left = subquery.kind.left();
        let mut columns = Vec::new();
        for expression in left
            .iter()
            .chain(subquery.parameters.iter().map(|(_, expression)| expression))
        {
            collect_columns(expression, &mut columns);
        }
        let comparer = |ty: &SqlType| Comparer {
            physical: column_type(ty),
            collation: ty.comparison_collation(),
        };
        let cause = format!("results of subquery #{}", subquery.select_id);
        let temporary = TemporaryTable {
            operator: Some(subquery.plan.number),
            ..TemporaryTable::new(Purpose::Subquery, cause)
        };
        Self {
            subquery: Arc::clone(subquery),
            temporary,
            parameters: subquery
                .parameters
                .iter()
                .map(|(parameter, expression)| {
                    let physical = column_type(&expression.ty);
                    (*parameter, Program::compile(expression), physical)
                })
                .collect(),
            left: left
                .iter()
                .map(|expression| (Program::compile(expression), comparer(&expression.ty)))
                .collect(),
            columns,
            physical: match &subquery.kind {
                SubqueryKind::Scalar => subquery
                    .plan
                    .output
                    .first()
                    .map_or(PhysicalType::Int64, SqlType::physical),
                _ => PhysicalType::Bool,
            },
        }
    }

    /// Columns of the outer row that the subquery reads.
    pub(super) fn columns(&self) -> &[usize] {
        &self.columns
    }

    pub(super) fn evaluate(
        &self,
        columns: &[ArrayRef],
        row_count: usize,
        run: &RunContext,
    ) -> Result<Column> {
        let state = run.state.subquery(&self.subquery, || {
            SubqueryState::new(Arc::clone(&self.subquery))
        });
        let evaluate = |program: &Program| {
            let column = program.evaluate_rows(columns, row_count, run)?;
            Ok(to_column(into_array(column, program.physical(), row_count)))
        };
        let parameters = self.parameters.iter();
        let parameters = parameters.map(|(_, program, _)| evaluate(program));
        let parameters = parameters.collect::<Result<Vec<_>>>()?;
        let left = self.left.iter().map(|(program, _)| evaluate(program));
        let left = left.collect::<Result<Vec<_>>>()?;
        let constant = parameters.is_empty() && left.is_empty() && self.subquery.cacheable;
        let rows = if constant { 1 } else { row_count };
        // No cache is kept when evaluation ends early: it would have keys without answers.
        let (column, _) = if self.parameters.is_empty() && self.subquery.cacheable {
            let mut single = lock(&state.single);
            let mut cache = self.current_cache(&state, single.take(), run)?;
            let column = self.answers(&mut cache, &parameters, &left, rows, run)?;
            (column, single.replace(cache))
        } else {
            let idle = lock(&state.idle).pop();
            let mut cache = self.current_cache(&state, idle, run)?;
            let column = self.answers(&mut cache, &parameters, &left, rows, run)?;
            lock(&state.idle).push(cache);
            (column, None)
        };
        if constant {
            return Ok(Column::Constant(array_value(&column, 0)));
        }
        Ok(Column::Array(column))
    }

    /// Adds the answers of `rows` outer rows.
    fn answers(
        &self,
        cache: &mut Cache,
        parameters: &[ArrayRef],
        left: &[ArrayRef],
        rows: usize,
        run: &RunContext,
    ) -> Result<ArrayRef> {
        let mut out = Results::new(self.physical, rows, run);
        let mut ids = Vec::new();
        let mut row = 0;
        if cache.index.is_none() && self.subquery.cacheable && self.is_membership() && rows > 0 {
            if cache.results.is_empty() {
                let answer = self.run_once(parameters, 0, run)?;
                cache.keep(answer, run)?;
            }
            if let Some(answer) = cache.results.first_mut() {
                self.push_all(&mut out, answer, left, rows)?;
            }
            return Ok(out.finish());
        }
        while row < rows {
            let taken = match (&mut cache.index, self.subquery.cacheable) {
                (Some(index), true) => {
                    let keys: Vec<ArrayRef> = parameters
                        .iter()
                        .map(|p| p.slice(row, rows - row))
                        .collect();
                    index.find_or_insert(&keys, rows - row, &mut ids)?
                }
                (None, true) => {
                    ids.clear();
                    ids.resize(rows - row, 0);
                    rows - row
                }
                (_, false) => {
                    cache.clear();
                    ids.clear();
                    ids.push(0);
                    1
                }
            };
            if taken == 0 {
                // The cache is full: empty it.
                cache.clear();
                continue;
            }
            for id in &ids[..taken] {
                let known = cache.results.get_mut(*id as usize);
                if let Some(answer) = known {
                    self.push(&mut out, answer, left, row)?;
                    row += 1;
                    continue;
                }
                let mut answer = self.run_once(parameters, row, run)?;
                self.push(&mut out, &mut answer, left, row)?;
                row += 1;
                if !cache.keep(answer, run)? {
                    // No memory for another answer: empty the cache.
                    cache.clear();
                    break;
                }
            }
        }
        Ok(out.finish())
    }

    /// Whether the predicate is IN or NOT IN.
    fn is_membership(&self) -> bool {
        let SubqueryKind::Quantified {
            comparison, all, ..
        } = &self.subquery.kind
        else {
            return false;
        };
        matches!(
            (comparison, all),
            (Comparison::Equal, false) | (Comparison::NotEqual, true)
        )
    }

    /// Adds the results of `rows` outer rows that share one answer.
    fn push_all(
        &self,
        out: &mut Results<'_>,
        answer: &mut Answer,
        left: &[ArrayRef],
        rows: usize,
    ) -> Result<()> {
        let (
            Results::Values(values, _),
            Answer::Rows(members),
            SubqueryKind::Quantified {
                comparison, all, ..
            },
        ) = (out, answer, &self.subquery.kind)
        else {
            return Err(answered_otherwise());
        };
        let known = members.find(left, rows, &mut Vec::new())?;
        for (row, known) in known.into_iter().enumerate() {
            let truth = self.decided(known, members, (*comparison, *all), left, row)?;
            values.push(truth_value(truth));
        }
        Ok(())
    }

    /// Result for an outer row's left side: by its membership, or by comparison with all rows.
    fn decided(
        &self,
        known: Membership,
        members: &Members,
        (comparison, all): (Comparison, bool),
        left: &[ArrayRef],
        row: usize,
    ) -> Result<Option<bool>> {
        match (known, members.rows()) {
            (Membership::IsMember, _) => Ok(Some(!all)),
            (Membership::NoMember, _) => Ok(Some(all)),
            (Membership::Open, Some(rows)) => self.quantified(comparison, all, left, row, rows),
            (Membership::Unknown | Membership::Open, _) => Ok(None),
        }
    }

    fn push(
        &self,
        out: &mut Results<'_>,
        answer: &mut Answer,
        left: &[ArrayRef],
        row: usize,
    ) -> Result<()> {
        match (out, answer) {
            (Results::Texts(texts), Answer::Row(values)) => {
                match values.as_ref().and_then(|values| values.first()) {
                    Some(Value::Bytes(text)) => texts.append(text)?,
                    _ => texts.append_null(),
                }
            }
            (Results::Texts(texts), _) => texts.append_null(),
            (Results::Values(values, _), answer) => values.push(self.value(answer, left, row)?),
        }
        Ok(())
    }

    fn current_cache(
        &self,
        state: &SubqueryState,
        cache: Option<Cache>,
        run: &RunContext,
    ) -> Result<Cache> {
        let inherited = match cache {
            Some(cache) => {
                let mut inherited = cache.inherited.iter();
                if inherited.all(|(parameter, value)| run.parameter(*parameter) == *value) {
                    return Ok(cache);
                }
                cache.inherited.into_iter().map(|(p, _)| p).collect()
            }
            None => free_parameters(&state.subquery.plan, run.state.plan()),
        };
        let own = |parameter: &usize| self.parameters.iter().any(|(own, ..)| own == parameter);
        Ok(Cache {
            inherited: inherited
                .into_iter()
                .filter(|parameter| !own(parameter))
                .map(|parameter| (parameter, run.parameter(parameter)))
                .collect(),
            index: match self.parameters.as_slice() {
                [] => None,
                parameters => Some(self.cache_index(parameters, run)?),
            },
            results: Vec::new(),
            bytes: 0,
            held: run.statement.temp.memory().reservation(),
        })
    }

    fn cache_index(
        &self,
        parameters: &[(usize, Program, PhysicalType)],
        run: &RunContext,
    ) -> Result<GroupIndex> {
        let types = parameters.iter().map(|(_, _, physical)| *physical);
        let types: Vec<PhysicalType> = types.collect();
        let modes = vec![KeyMode::Binary; types.len()];
        let (purpose, none) = (Purpose::SubqueryCache, Access::Plain);
        let table = create_for(purpose, &self.temporary, Vec::new(), none, run)?;
        GroupIndex::new(&table, &types, &modes)
    }

    /// Runs the plan for one outer row.
    fn run_once(&self, parameters: &[ArrayRef], row: usize, run: &RunContext) -> Result<Answer> {
        run.statement.check_interrupt()?;
        let inner = if self.parameters.is_empty() {
            run.clone()
        } else {
            let parameters = self.parameters.iter().zip(parameters);
            run.with_outer_row(parameters.map(|((parameter, ..), array)| {
                let value = array_value(array, row);
                (*parameter, value)
            }))
        };
        let plan = &self.subquery.plan;
        let node = inner.build(plan)?;
        let open = || {
            node.prepare(&inner)?;
            node.open(&inner)
        };
        match &self.subquery.kind {
            SubqueryKind::Scalar | SubqueryKind::Row { .. } => {
                let mut cursor = open()?;
                let mut answer = None;
                while let Some(batch) = cursor.next(&inner)? {
                    match batch.row_count() {
                        0 => continue,
                        1 if answer.is_none() => {}
                        _ => return Err(codes::ER_SUBQUERY_NO_1_ROW.error()),
                    }
                    let values = batch.columns().iter();
                    answer = Some(values.map(|array| array_value(array, 0)).collect());
                }
                Ok(Answer::Row(answer))
            }
            SubqueryKind::Exists { .. } => {
                let mut cursor = open()?;
                while let Some(batch) = cursor.next(&inner)? {
                    if !batch.is_empty() {
                        return Ok(Answer::Found(true));
                    }
                }
                Ok(Answer::Found(false))
            }
            SubqueryKind::Quantified { .. } if !self.is_membership() => {
                let (_, comparer) = self.left.first().ok_or_else(answered_otherwise)?;
                let mut extremes = Extremes::new(*comparer);
                let mut cursor = open()?;
                while let Some(batch) = cursor.next(&inner)? {
                    inner.statement.check_interrupt()?;
                    extremes.learn(&batch);
                }
                Ok(Answer::Extremes(extremes))
            }
            SubqueryKind::Quantified { .. } => {
                let columns = column_types(&plan.output);
                let (purpose, none) = (Purpose::Subquery, Access::Plain);
                let table = create_for(purpose, &self.temporary, columns, none, run)?;
                let mut members = Members::new(self.member_index(&table)?);
                let (mut writer, mut ids) = (table.writer(), Vec::new());
                let mut cursor = open()?;
                while let Some(batch) = cursor.next(&inner)? {
                    inner.statement.check_interrupt()?;
                    members.learn(&batch, &mut ids)?;
                    writer.append(&batch)?;
                }
                writer.finish()?;
                members.finish(table);
                Ok(Answer::Rows(Box::new(members)))
            }
        }
    }

    /// Index of the rows of a table for membership. Rows that are found anew for each outer row are not worth an index.
    fn member_index(&self, table: &TempTable) -> Result<Option<GroupIndex>> {
        if !self.parameters.is_empty() {
            return Ok(None);
        }
        let types = table.spec().columns.clone();
        let modes = self
            .left
            .iter()
            .map(|(_, comparer)| match comparer.physical {
                PhysicalType::Bytes => KeyMode::Collated(comparer.collation),
                _ => KeyMode::Binary,
            });
        let modes: Vec<KeyMode> = modes.collect();
        Ok(Some(GroupIndex::new(table, &types, &modes)?))
    }

    /// Result for the outer row.
    fn value(&self, answer: &mut Answer, left: &[ArrayRef], row: usize) -> Result<Value> {
        let truth = truth_value;
        match (&self.subquery.kind, answer) {
            (SubqueryKind::Scalar, Answer::Row(values)) => Ok(values
                .as_ref()
                .and_then(|values| values.first().cloned())
                .unwrap_or(Value::Null)),
            (SubqueryKind::Exists { negated }, Answer::Found(found)) => {
                Ok(truth(Some(found != negated)))
            }
            (SubqueryKind::Row { comparison, .. }, Answer::Row(values)) => {
                let right = match values {
                    None if *comparison == Comparison::NullSafeEqual => {
                        Arc::from(vec![Value::Null; left.len()])
                    }
                    None => return Ok(Value::Null),
                    Some(values) => Arc::clone(values),
                };
                Ok(truth(self.compare_rows(*comparison, left, row, &right)))
            }
            (
                SubqueryKind::Quantified {
                    comparison, all, ..
                },
                Answer::Rows(members),
            ) => {
                let of_row: Vec<ArrayRef> = left.iter().map(|side| side.slice(row, 1)).collect();
                let known = members.find(&of_row, 1, &mut Vec::new())?;
                let known = known.first().copied().unwrap_or(Membership::Open);
                let decided = self.decided(known, members, (*comparison, *all), left, row)?;
                Ok(truth(decided))
            }
            (
                SubqueryKind::Quantified {
                    comparison, all, ..
                },
                Answer::Extremes(extremes),
            ) => {
                let side = left.first().ok_or_else(answered_otherwise)?;
                Ok(truth(extremes.decide(
                    *comparison,
                    *all,
                    &array_value(side, row),
                )))
            }
            _ => Err(answered_otherwise()),
        }
    }

    fn compare_rows(
        &self,
        comparison: Comparison,
        left: &[ArrayRef],
        row: usize,
        right: &[Value],
    ) -> Option<bool> {
        let pairs = self.left.iter().zip(left).zip(right);
        let sides = pairs.map(|(((_, comparer), left), right)| {
            let left = Column::Constant(array_value(left, row));
            (*comparer, left, Column::Constant(right.clone()))
        });
        row_comparison(comparison, sides, 1).constant()
    }

    fn quantified(
        &self,
        comparison: Comparison,
        all: bool,
        left: &[ArrayRef],
        row: usize,
        table: &TempTable,
    ) -> Result<Option<bool>> {
        // ALL is NOT ANY of the negation; both are computed as ANY of `wanted`.
        let mut unknown = false;
        let mut scan = table.scan(None);
        while let Some(batch) = scan.next_batch()? {
            let sides = self.left.iter().zip(left).zip(batch.columns());
            let sides = sides.map(|(((_, comparer), left), right)| {
                let left = Column::Constant(array_value(left, row));
                (*comparer, left, Column::Array(Arc::clone(right)))
            });
            let truth = row_comparison(comparison, sides, batch.row_count());
            let truth = if all { truth.negate() } else { truth };
            match truth {
                Truth::Constant(Some(true)) => return Ok(Some(!all)),
                Truth::Constant(Some(false)) => {}
                Truth::Constant(None) => unknown = true,
                Truth::Rows { yes, no } => {
                    if yes.count_set_bits() > 0 {
                        return Ok(Some(!all));
                    }
                    unknown |= no.is_some_and(|no| no.count_set_bits() < no.len());
                }
            }
        }
        Ok(if unknown { None } else { Some(all) })
    }
}

fn answered_otherwise() -> Error {
    Error::internal("a subquery answered in another kind")
}

fn truth_value(truth: Option<bool>) -> Value {
    truth.map_or(Value::Null, |truth| Value::Int(i64::from(truth)))
}

/// Compares row values, column by column from the first (the manual, "Comparison Functions and
/// Operators": `(a, b) < (x, y)` is `a < x OR (a = x AND b < y)`).
fn row_comparison(
    comparison: Comparison,
    sides: impl Iterator<Item = (Comparer, Column, Column)>,
    rows: usize,
) -> Truth {
    let sides: Vec<_> = sides.collect();
    let truth = |comparison, (comparer, left, right): &(Comparer, Column, Column)| {
        comparer.compare(comparison, left, right, rows)
    };
    match comparison {
        Comparison::Equal | Comparison::NullSafeEqual => sides
            .iter()
            .map(|side| truth(comparison, side))
            .fold(Truth::Constant(Some(true)), Truth::and),
        Comparison::NotEqual => sides
            .iter()
            .map(|side| truth(comparison, side))
            .fold(Truth::Constant(Some(false)), Truth::or),
        Comparison::Less | Comparison::LessOrEqual => {
            lexicographic(comparison, Comparison::Less, &sides, &truth)
        }
        Comparison::Greater | Comparison::GreaterOrEqual => {
            lexicographic(comparison, Comparison::Greater, &sides, &truth)
        }
    }
}

fn lexicographic(
    comparison: Comparison,
    strict: Comparison,
    sides: &[(Comparer, Column, Column)],
    truth: &impl Fn(Comparison, &(Comparer, Column, Column)) -> Truth,
) -> Truth {
    let Some((last, before)) = sides.split_last() else {
        return Truth::Constant(None);
    };
    before
        .iter()
        .rev()
        .fold(truth(comparison, last), |rest, side| {
            truth(strict, side).or(truth(Comparison::Equal, side).and(rest))
        })
}

fn collect_columns(expression: &Expression, columns: &mut Vec<usize>) {
    visit_expression(expression, &mut |inner| {
        if let ExpressionKind::Column(column) = inner.kind {
            columns.push(column);
        }
        true
    });
}
