//! Estimated cardinalities compared with the rows of small tables whose columns are skewed, dependent and NULL.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array};
use mayfly_types::{Batch, IndexMethod, SqlType, TypeKind, Value};

use super::Estimates;
use super::groups::met;
use crate::catalog::{
    ColumnSource, IndexPartSource, IndexSource, TableId, TableSource, TableStatistics, ValueRange,
};
use crate::statistics::{ColumnStatistics, Sampler};
use crate::tree::access::Access;
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::{
    Aggregate, ColumnId, Computed, Join, Query, Relation, Scan, ScanStatistics,
};
use crate::tree::physical::{JoinKind, Purpose};

fn int() -> SqlType {
    SqlType::integer(TypeKind::Int)
}

/// Columns of a table.
#[derive(Debug, Clone)]
struct Contents {
    columns: Vec<Int64Array>,
    statistics: Vec<Arc<ColumnStatistics>>,
}

impl Contents {
    fn new(columns: Vec<Vec<Option<i64>>>) -> Self {
        let columns: Vec<Int64Array> = columns.into_iter().map(Int64Array::from).collect();
        let statistics = columns.iter().map(|column| {
            let rows = column.len() as u64;
            let array: ArrayRef = Arc::new(column.clone());
            let mut sampler = Sampler::new(&int(), rows, 16_384);
            sampler.add(&array);
            Arc::new(sampler.finish().expect("rows"))
        });
        Self {
            statistics: statistics.collect(),
            columns,
        }
    }

    fn rows(&self) -> usize {
        self.columns[0].len()
    }

    fn value(&self, column: usize, row: usize) -> Option<i64> {
        let column = &self.columns[column];
        column.is_valid(row).then(|| column.value(row))
    }

    fn scan(&self, number: usize, is_keyed: bool) -> Relation {
        let columns = 0..self.columns.len();
        let columns =
            columns.map(|at| ColumnSource::new(&format!("c{at}"), int(), at > 0 || !is_keyed));
        let id = TableId(number as u64);
        let rows = self.rows() as u64;
        let source = TableSource {
            unique_keys: if is_keyed { vec![vec![0]] } else { Vec::new() },
            ..TableSource::new(id, "test", "t", columns.collect(), rows)
        };
        Relation::Scan(Scan {
            table: Arc::new(source),
            alias: format!("t{number}"),
            first: number * 10,
            generated: Arc::new([]),
            predicates: Vec::new(),
            select_id: 1,
            statistics: Some(Arc::new(ScanStatistics::new(Arc::new(self.clone())))),
            hints: Arc::default(),
            rows: None,
            access: Access::Table,
            possible: Vec::new(),
        })
    }
}

impl TableStatistics for Contents {
    fn distinct_keys(&self, _index: usize, _parts: usize) -> u64 {
        1
    }

    fn rows_in_range(&self, _index: usize, _range: &ValueRange) -> u64 {
        1
    }

    fn column(&self, column: usize) -> Option<Arc<ColumnStatistics>> {
        self.statistics.get(column).cloned()
    }

    /// Rows by an index over the first column, whose values are in order.
    fn find(&self, _index: usize, keys: &ArrayRef, columns: &[usize]) -> Option<Batch> {
        let keys = keys.as_primitive::<Int64Type>();
        let rows = keys.iter().flatten();
        let rows = rows.filter_map(|key| self.columns[0].values().binary_search(&key).ok());
        let rows: Vec<usize> = rows.collect();
        let found = columns.iter().map(|column| {
            let values = rows.iter().map(|row| self.value(*column, *row));
            Arc::new(values.collect::<Int64Array>()) as ArrayRef
        });
        Some(Batch::new(found.collect(), rows.len()))
    }
}

fn column(id: ColumnId) -> Expression {
    Expression::column(id, int(), true)
}

fn compare(left: Expression, comparison: Comparison, right: Expression) -> Expression {
    let kind = ExpressionKind::Compare {
        comparison,
        left: Box::new(left),
        right: Box::new(right),
    };
    Expression::predicate(kind, true)
}

fn with(id: ColumnId, comparison: Comparison, value: i64) -> Expression {
    compare(
        column(id),
        comparison,
        Expression::literal(Value::Int(value), int()),
    )
}

fn estimate(relation: Relation) -> f64 {
    let mut query = Query {
        columns: Vec::new(),
        relation,
        output: Vec::new(),
        shared: Vec::new(),
        next_column: 100,
        parameter_count: 0,
        date_operands: Vec::new(),
        tables: Vec::new(),
        join_hints: Vec::new(),
        limit: None,
        buffering: crate::tree::logical::Buffering::default(),
        kept: None,
    };
    let estimates = Estimates::of(&mut query);
    estimates.relation(&query.relation)
}

/// Factor between the estimate and the correct number.
fn error(found: f64, right: usize) -> f64 {
    let (found, right) = (found.max(1.0), (right as f64).max(1.0));
    (found / right).max(right / found)
}

/// 5000 rows: a number, a skewed column with NULLs, a column that depends on it, a uniform one.
fn facts() -> Contents {
    let rows = 0..5000_i64;
    let skewed = |row: i64| match row % 10 {
        0 => None,
        1..=5 => Some(row % 4),
        _ => Some(row * 7919 / 10 % 500),
    };
    Contents::new(vec![
        rows.clone().map(Some).collect(),
        rows.clone().map(skewed).collect(),
        rows.clone()
            .map(|row| skewed(row).map(|value| value / 5))
            .collect(),
        rows.map(|row| Some(row * 104_729 / 7 % 100)).collect(),
    ])
}

#[test]
fn few_rows_meet_few_of_many_values() {
    assert!((met(1000.0, 10.0) - 9.955).abs() < 0.01);
    assert!((met(10.0, 1000.0) - 10.0).abs() < 0.01);
    assert_eq!(met(1.0, 5.0), 1.0);
    assert_eq!(met(0.0, 5.0), 0.0);
}

#[test]
fn conditions_leave_about_as_many_rows_as_they_do() {
    use Comparison::{Equal, Greater, Less, LessOrEqual, NotEqual};
    let facts = facts();
    let conditions = [
        vec![(1, Equal, 2)],
        vec![(1, Equal, 77)],
        vec![(1, NotEqual, 2)],
        vec![(1, Less, 3)],
        vec![(1, Greater, 3)],
        vec![(1, Greater, 100), (1, LessOrEqual, 200)],
        vec![(0, Less, 100)],
        vec![(3, Less, 50), (1, Equal, 2)],
        vec![(3, Equal, 7)],
        vec![(1, Greater, 400), (2, Greater, 80)],
        vec![(1, Less, 10), (3, Less, 10), (0, Less, 2500)],
    ];
    for conditions in conditions {
        let holds = |row: usize| {
            conditions.iter().all(|(column, comparison, value)| {
                let own = facts.value(*column, row);
                own.is_some_and(|own| comparison.holds(own.cmp(value)))
            })
        };
        let right = (0..facts.rows()).filter(|row| holds(*row)).count();
        let predicates = conditions
            .iter()
            .map(|(id, comparison, value)| with(*id, *comparison, *value));
        let predicates: Vec<Expression> = predicates.collect();
        let found = estimate(facts.scan(0, true).filtered(predicates));
        assert!(
            error(found, right) < 2.0,
            "{conditions:?}: {found} and not {right}"
        );
    }
}

#[test]
fn joins_give_about_as_many_rows_as_they_do() {
    let facts = facts();
    // The keys are half of the values of the facts' column.
    let keys: Vec<Option<i64>> = (0..250).map(|row| Some(row * 2)).collect();
    let groups: Vec<Option<i64>> = (0..250).map(|row| Some(row % 5)).collect();
    let dimension = Contents::new(vec![keys, groups]);
    let partners = |row: usize| {
        let own = facts.value(1, row);
        let rows = 0..dimension.rows();
        rows.filter(|other| own.is_some() && dimension.value(0, *other) == own)
            .count()
    };
    let pairs: usize = (0..facts.rows()).map(partners).sum();
    let with_partner = (0..facts.rows()).filter(|row| partners(*row) > 0).count();
    let without = facts.rows() - with_partner;
    for (kind, right, most) in [
        (JoinKind::Inner, pairs, 2.0),
        (JoinKind::Left, pairs + without, 1.5),
        (JoinKind::Semi, with_partner, 2.0),
        (JoinKind::Anti, without, 2.0),
    ] {
        let on = vec![compare(column(1), Comparison::Equal, column(10))];
        let join = Join::new(kind, facts.scan(0, true), dimension.scan(1, true), on);
        let found = estimate(Relation::Join(join));
        assert!(
            error(found, right) < most,
            "{kind:?}: {found} and not {right}"
        );
    }
    // Two skewed columns.
    let on = vec![compare(column(1), Comparison::Equal, column(11))];
    let both = Join::new(
        JoinKind::Inner,
        facts.scan(0, true),
        facts.scan(1, true),
        on,
    );
    let mut pairs = 0;
    for value in 0..500 {
        let rows = (0..facts.rows())
            .filter(|row| facts.value(1, *row) == Some(value))
            .count();
        pairs += rows * rows;
    }
    let found = estimate(Relation::Join(both));
    assert!(error(found, pairs) < 1.2, "{found} and not {pairs}");
}

/// A calendar of 200 years of which the facts are of five: a year of it is a fifth of the facts, and not a 200th.
#[test]
fn conditions_leave_as_much_of_the_rows_that_refer_to_them() {
    let days = Contents::new(vec![
        (0..73_000).map(Some).collect(),
        (0..73_000).map(|day| Some(day / 365)).collect(),
    ]);
    let day = |row: i64| 100 * 365 + row * 7919 % 1825;
    let facts = Contents::new(vec![
        (0..200_000).map(Some).collect(),
        (0..200_000)
            .map(|row| (row % 10 > 0).then(|| day(row)))
            .collect(),
    ]);
    let rows_of = |year: i64, kind: JoinKind| {
        let Relation::Scan(mut scan) = days.scan(1, true) else {
            panic!("a scan");
        };
        let table = Arc::get_mut(&mut scan.table).expect("one owner");
        table.indexes.push(IndexSource {
            id: Some(0),
            name: "PRIMARY".to_owned(),
            parts: vec![IndexPartSource {
                column: 0,
                prefix: None,
                descending: false,
                approximate: false,
                elements: None,
            }],
            unique: true,
            method: IndexMethod::Clustered,
            visible: true,
            covers: vec![0, 1],
        });
        scan.predicates = vec![with(11, Comparison::Equal, year)];
        let on = vec![compare(column(1), Comparison::Equal, column(10))];
        let join = Join::new(kind, facts.scan(0, true), Relation::Scan(scan), on);
        estimate(Relation::Join(join))
    };
    let found = rows_of(102, JoinKind::Inner);
    assert!(error(found, 36_000) < 1.5, "{found}");
    // A year without facts.
    let found = rows_of(7, JoinKind::Inner);
    assert!(found < 1000.0, "{found}");
    // Each row comes out of an outer join.
    let found = rows_of(102, JoinKind::Left);
    assert!(error(found, 200_000) < 1.1, "{found}");
}

#[test]
fn columns_that_are_a_key_together_meet_all_that_refer_to_them() {
    let order = |row: i64| Some(row / 3);
    let item = |row: i64| Some(row * 7919 % 1000);
    let of = |rows: Vec<i64>| {
        let orders = rows.iter().map(|row| order(*row)).collect();
        let items = rows.iter().map(|row| item(*row)).collect();
        Contents::new(vec![orders, items])
    };
    let lines = of((0..6000).collect());
    let returned = of((0..600).map(|row| row * 10).collect());
    let on = (0..2).map(|at| compare(column(at), Comparison::Equal, column(10 + at)));
    let (left, right) = (lines.scan(0, false), returned.scan(1, false));
    let join = Join::new(JoinKind::Inner, left, right, on.collect());
    let found = estimate(Relation::Join(join));
    assert!(error(found, returned.rows()) < 1.5, "{found}");
}

#[test]
fn an_equality_that_follows_from_others_counts_once() {
    let facts = facts();
    let flat = |number: usize| facts.scan(number, true);
    let equal = |a: ColumnId, b: ColumnId| compare(column(a), Comparison::Equal, column(b));
    let two = Relation::Join(Join::new(
        JoinKind::Inner,
        flat(0),
        flat(1),
        vec![equal(0, 10)],
    ));
    let three = Join::new(
        JoinKind::Inner,
        two,
        flat(2),
        vec![equal(0, 20), equal(10, 20)],
    );
    let found = estimate(Relation::Join(three));
    assert!(error(found, facts.rows()) < 1.1, "{found}");
}

#[test]
fn pairs_that_derived_filters_left_meet_the_disjunction_they_are_of() {
    use Comparison::Equal;
    // (a = 1 AND b = 2) OR (a = 2 AND b = 1), from which a IN (1, 2) and b IN (1, 2) were derived.
    let facts = facts();
    let (a, b) = (3, 13);
    let either = |arms: Vec<Expression>| Expression::predicate(ExpressionKind::Or(arms), true);
    let both = |x, y| {
        let arms = vec![with(a, Equal, x), with(b, Equal, y)];
        Expression::predicate(ExpressionKind::And(arms), true)
    };
    let derived = |id| either(vec![with(id, Equal, 1), with(id, Equal, 2)]);
    let left = facts.scan(0, true).filtered(vec![derived(a)]);
    let right = facts.scan(1, true).filtered(vec![derived(b)]);
    let on = vec![either(vec![both(1, 2), both(2, 1)])];
    let join = Relation::Join(Join::new(JoinKind::Inner, left, right, on));
    let rows_of = |value| {
        let rows = 0..facts.rows();
        rows.filter(|row| facts.value(3, *row) == Some(value))
            .count()
    };
    let right = 2 * rows_of(1) * rows_of(2);
    let found = estimate(join);
    assert!(error(found, right) < 2.0, "{found} and not {right}");
}

#[test]
fn there_are_no_more_groups_than_rows_of_a_part_that_has_their_keys() {
    // Twenty of the keys, each with ten of the facts: grouped by the facts' column, which is the key.
    let lines = Contents::new(vec![
        (0..5000).map(Some).collect(),
        (0..5000).map(|row| Some(row * 7919 % 500)).collect(),
    ]);
    let orders = Contents::new(vec![(0..500).map(Some).collect()]);
    let few = orders
        .scan(0, true)
        .filtered(vec![with(0, Comparison::Less, 20)]);
    let on = vec![compare(column(0), Comparison::Equal, column(11))];
    let join = Join::new(JoinKind::Inner, few, lines.scan(1, true), on);
    let key = Computed {
        id: 11,
        expression: column(11),
    };
    let input = Relation::Join(join);
    let groups = Aggregate::new(input, vec![key], Vec::new(), Purpose::GroupBy, "test");
    let found = estimate(Relation::Aggregate(groups));
    assert!(error(found, 20) < 1.1, "{found}");
}

#[test]
fn groups_are_of_the_values_that_conditions_leave() {
    let facts = facts();
    let few = vec![with(3, Comparison::Less, 5)];
    let key = Computed {
        id: 3,
        expression: column(3),
    };
    let mut input = facts.scan(0, true);
    if let Relation::Scan(scan) = &mut input {
        scan.predicates = few;
    }
    let groups = Aggregate::new(input, vec![key], Vec::new(), Purpose::GroupBy, "test");
    let found = estimate(Relation::Aggregate(groups));
    assert!(error(found, 5) < 1.3, "{found}");
}

#[test]
fn groups_are_about_as_many_as_they_are() {
    let facts = facts();
    for columns in [vec![3], vec![1], vec![1, 3], vec![0, 3], vec![1, 2]] {
        let key = |id: &ColumnId| Computed {
            id: *id,
            expression: column(*id),
        };
        let keys = columns.iter().map(key).collect();
        let input = facts.scan(0, true);
        let groups = Aggregate::new(input, keys, Vec::new(), Purpose::GroupBy, "test");
        let mut all: Vec<Vec<Option<i64>>> = (0..facts.rows())
            .map(|row| {
                columns
                    .iter()
                    .map(|column| facts.value(*column, row))
                    .collect()
            })
            .collect();
        all.sort();
        all.dedup();
        let found = estimate(Relation::Aggregate(groups));
        // The dependence of one column on the other is not known.
        let most = if columns == [1, 2] { 12.0 } else { 3.0 };
        assert!(
            error(found, all.len()) < most,
            "{columns:?}: {found} and not {}",
            all.len()
        );
    }
}
