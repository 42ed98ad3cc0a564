//! Filter of a scan, evaluated before all columns of a row are read: the terms of its predicate, and the column filters of
//! the joins and sorts above.
//!
//! Each is a step of a [`RowFilter`]. A comparison of a numeric column with a value that is the same for all rows is a
//! range, and the ranges of one column are one step. Terms that can neither fail nor warn are evaluated in the order of
//! their cost, and, where all terms are such, of their observed selectivity; the others keep their places, and see the
//! rows that those before them let through.

use std::sync::Arc;

use arrow_array::ArrayRef;
use mayfly_functions::Column;
use mayfly_plan::{Comparison, Expression, ExpressionKind};
use mayfly_storage::{FilterKind, NumberRange, RowFilter};
use mayfly_types::convert::array_value;
use mayfly_types::{PhysicalType, Result, Selection, Value};

use crate::context::RunContext;
use crate::expression::Program;
use crate::expression::values::{as_decimal, as_i64, as_u64};
use crate::key_filter::ColumnFilter;

/// Estimated nanoseconds for each row of a comparison with a range inside a block, of a lookup in a key filter, and of
/// reading a column for a term.
const COST_OF_RANGE: f64 = 0.5;
const COST_OF_KEY: f64 = 3.0;
const COST_OF_COLUMN: f64 = 3.0;

/// A step of a predicate.
struct Term {
    columns: Box<[usize]>,
    test: Test,
}

enum Test {
    /// Range conditions on a column, all of which must hold.
    Within(Vec<Bound>),
    Program(Program),
}

/// A bound of a range on a numeric column.
struct Bound {
    comparison: Comparison,
    /// Value of the bound, the same for all rows.
    value: Program,
    physical: PhysicalType,
}

impl Term {
    fn compile(term: &Expression) -> Self {
        if let Some((column, bound)) = bound_of(term) {
            return Self {
                columns: [column].into(),
                test: Test::Within(vec![bound]),
            };
        }
        let program = Program::compile(term);
        let mut columns: Vec<usize> = program.columns().collect();
        columns.sort_unstable();
        columns.dedup();
        Self {
            columns: columns.into(),
            test: Test::Program(program),
        }
    }

    /// Whether the term may be evaluated before the terms that precede it.
    fn can_move(&self) -> bool {
        match &self.test {
            Test::Within(_) => true,
            Test::Program(program) => program.is_total(),
        }
    }

    fn cost(&self) -> f64 {
        match &self.test {
            Test::Within(_) => COST_OF_RANGE,
            Test::Program(_) => COST_OF_COLUMN * self.columns.len() as f64,
        }
    }
}

/// The column that a term compares with a value that is the same for all rows, and the bound.
fn bound_of(term: &Expression) -> Option<(usize, Bound)> {
    let ExpressionKind::Compare {
        comparison,
        left,
        right,
    } = &term.kind
    else {
        return None;
    };
    let physical = left.ty.physical();
    let has_order = matches!(
        physical,
        PhysicalType::Int64 | PhysicalType::UInt64 | PhysicalType::Decimal128(_)
    );
    let is_range = !matches!(comparison, Comparison::NotEqual | Comparison::NullSafeEqual);
    if !has_order || !is_range || right.ty.physical() != physical {
        return None;
    }
    let (column, value, comparison) = match (&left.kind, &right.kind) {
        (ExpressionKind::Column(column), _) => (*column, right, *comparison),
        (_, ExpressionKind::Column(column)) => (*column, left, comparison.mirrored()),
        _ => return None,
    };
    let value = Program::compile(value);
    let is_constant = value.is_alike() && value.columns().next().is_none();
    is_constant.then_some((
        column,
        Bound {
            comparison,
            value,
            physical,
        },
    ))
}

impl Bound {
    fn range(&self, run: &RunContext) -> Result<NumberRange> {
        let value = match self.value.evaluate_rows(&[], 1, run)? {
            Column::Constant(value) => value,
            Column::Array(array) => array_value(&array, 0),
        };
        if value == Value::Null {
            return Ok(NumberRange::EMPTY);
        }
        let number = match self.physical {
            PhysicalType::Int64 => as_i64(&value).into(),
            PhysicalType::UInt64 => as_u64(&value).into(),
            PhysicalType::Decimal128(scale) => {
                let value = as_decimal(&value, scale);
                match value.to_i128() {
                    Some(value) => value,
                    None => return Ok(self.beyond(value.is_negative())),
                }
            }
            _ => return Ok(NumberRange::EMPTY),
        };
        let all = NumberRange::ALL;
        let (before, after) = (number.checked_sub(1), number.checked_add(1));
        let range = match self.comparison {
            Comparison::Less => before.map(|greatest| NumberRange { greatest, ..all }),
            Comparison::Greater => after.map(|least| NumberRange { least, ..all }),
            Comparison::LessOrEqual => Some(NumberRange {
                greatest: number,
                ..all
            }),
            Comparison::GreaterOrEqual => Some(NumberRange {
                least: number,
                ..all
            }),
            _ => Some(NumberRange {
                least: number,
                greatest: number,
            }),
        };
        Ok(range.unwrap_or(NumberRange::EMPTY))
    }

    /// Range for a value outside the domain of the column, below or above it.
    fn beyond(&self, is_below: bool) -> NumberRange {
        let holds = match self.comparison {
            Comparison::Less | Comparison::LessOrEqual => !is_below,
            Comparison::Greater | Comparison::GreaterOrEqual => is_below,
            _ => false,
        };
        if holds {
            NumberRange::ALL
        } else {
            NumberRange::EMPTY
        }
    }
}

/// Conjuncts of a predicate; none without one.
pub(super) fn conjuncts(predicate: Option<&Expression>) -> &[Expression] {
    match predicate.map(|predicate| (&predicate.kind, predicate)) {
        Some((ExpressionKind::And(terms), _)) => terms,
        Some((_, term)) => std::slice::from_ref(term),
        None => &[],
    }
}

/// Steps of a predicate.
pub(super) struct Terms(Vec<Term>);

impl Terms {
    pub(super) fn compile(predicate: Option<&Expression>) -> Self {
        let terms = conjuncts(predicate);
        let mut terms: Vec<Term> = terms.iter().map(Term::compile).collect();
        for group in terms.chunk_by_mut(|one, next| one.can_move() && next.can_move()) {
            let order = |one: &Term, other: &Term| one.cost().total_cmp(&other.cost());
            group.sort_by(|one, other| order(one, other).then(one.columns.cmp(&other.columns)));
        }
        let mut steps: Vec<Term> = Vec::with_capacity(terms.len());
        for term in terms {
            match (steps.last_mut(), term) {
                (
                    Some(Term {
                        columns: known,
                        test: Test::Within(bounds),
                    }),
                    Term {
                        columns,
                        test: Test::Within(more),
                    },
                ) if *known == columns => bounds.extend(more),
                (_, term) => steps.push(term),
            }
        }
        Self(steps)
    }
}

/// A step, with the numbers of rows tested and kept.
struct Step {
    question: Question,
    /// Estimated cost for each row.
    cost: f64,
    asked: u64,
    kept: u64,
}

#[derive(Debug, Clone, Copy)]
enum Question {
    Term(usize),
    /// Whether a value is in the range of a column filter.
    FilterRange(usize),
    /// Whether a key is one of a key filter.
    Key(usize),
}

/// Number of rows after which the selectivity of a filter is judged.
const TRIED_ROWS: u64 = 64 << 10;

impl Step {
    fn new(question: Question, cost: f64) -> Self {
        Self {
            question,
            cost,
            asked: 0,
            kept: 0,
        }
    }

    /// Whether the step refuses enough rows to be worth its cost.
    fn pays(&self) -> bool {
        self.asked < TRIED_ROWS || self.kept < self.asked / 8 * 7
    }

    /// Cost for each refused row: steps are ordered by it ("predicate migration": Hellerstein and Stonebraker, SIGMOD
    /// 1993).
    fn cost_of_refusal(&self) -> f64 {
        let refused = match self.asked {
            0 => 0.5,
            asked => 1.0 - self.kept as f64 / asked as f64,
        };
        self.cost / refused.max(0.01)
    }
}

/// Predicate and column filters of a scan, for one worker.
pub(super) struct ScanFilter {
    terms: Arc<Terms>,
    /// Ranges of the terms that are ranges, computed on demand.
    ranges: Vec<Option<NumberRange>>,
    /// (column, filter) of the operators above.
    filters: Vec<(usize, ColumnFilter)>,
    steps: Vec<Step>,
    /// Whether the steps may be evaluated in any order.
    can_move: bool,
}

impl ScanFilter {
    pub(super) fn new(
        terms: &Arc<Terms>,
        filters: impl Iterator<Item = (usize, ColumnFilter)>,
    ) -> Self {
        let filters: Vec<_> = filters.collect();
        let of_terms = terms.0.iter().enumerate();
        let mut steps: Vec<Step> = of_terms
            .map(|(number, term)| Step::new(Question::Term(number), term.cost()))
            .collect();
        for (number, (_, filter)) in filters.iter().enumerate() {
            let range = Question::FilterRange(number);
            match filter {
                ColumnFilter::Keys(_) => {
                    steps.push(Step::new(range, COST_OF_RANGE));
                    steps.push(Step::new(Question::Key(number), COST_OF_KEY));
                }
                // It refuses nearly all rows once it is known, whatever it has refused before.
                ColumnFilter::First(_) => steps.push(Step::new(range, 0.0)),
            }
        }
        Self {
            ranges: vec![None; terms.0.len()],
            can_move: terms.0.iter().all(Term::can_move),
            terms: Arc::clone(terms),
            filters,
            steps,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The filter for the rows of one batch.
    pub(super) fn asked<'a>(&'a mut self, run: &'a RunContext) -> Asked<'a> {
        if self.can_move {
            let cost = Step::cost_of_refusal;
            self.steps
                .sort_by(|one, other| cost(one).total_cmp(&cost(other)));
        }
        Asked { filter: self, run }
    }
}

/// The filter within a run.
pub(super) struct Asked<'a> {
    filter: &'a mut ScanFilter,
    run: &'a RunContext,
}

impl RowFilter for Asked<'_> {
    fn steps(&self) -> usize {
        self.filter.steps.len()
    }

    fn columns(&self, step: usize) -> &[usize] {
        match self.filter.steps[step].question {
            Question::Term(term) => &self.filter.terms.0[term].columns,
            Question::FilterRange(filter) | Question::Key(filter) => {
                std::slice::from_ref(&self.filter.filters[filter].0)
            }
        }
    }

    fn kind(&mut self, step: usize) -> Result<FilterKind> {
        let filter = &mut *self.filter;
        let step = &filter.steps[step];
        Ok(match step.question {
            Question::Term(term) => match (&filter.terms.0[term].test, &mut filter.ranges[term]) {
                (Test::Within(_), Some(range)) => FilterKind::Within(*range),
                (Test::Within(bounds), range) => {
                    let mut all = bounds[0].range(self.run)?;
                    for bound in &bounds[1..] {
                        all = all.and(bound.range(self.run)?);
                    }
                    FilterKind::Within(*range.insert(all))
                }
                (Test::Program(program), _) if program.is_alike() => FilterKind::Values,
                (Test::Program(_), _) => FilterKind::Rows,
            },
            Question::FilterRange(number) => {
                let range = filter.filters[number].1.range();
                range.map_or(FilterKind::All, FilterKind::Within)
            }
            Question::Key(_) if step.pays() => FilterKind::Values,
            Question::Key(_) => FilterKind::All,
        })
    }

    fn select(&mut self, step: usize, columns: &[ArrayRef], rows: usize) -> Result<Selection> {
        match self.filter.steps[step].question {
            Question::Term(term) => match &self.filter.terms.0[term].test {
                Test::Program(program) => program.select_of(columns, rows, self.run),
                Test::Within(_) => Ok(Selection::All),
            },
            Question::FilterRange(_) => Ok(Selection::All),
            Question::Key(number) => Ok(match &self.filter.filters[number] {
                (column, ColumnFilter::Keys(keys)) => {
                    Selection::of_bits(keys.kept(&columns[*column]))
                }
                (_, ColumnFilter::First(_)) => Selection::All,
            }),
        }
    }

    fn decided(&mut self, step: usize, asked: usize, kept: usize) {
        let step = &mut self.filter.steps[step];
        step.asked += asked as u64;
        step.kept += kept as u64;
    }
}
