//! Random joins: the order found has the cost of the best tree, and every tree gives the rows of the written one.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use mayfly_types::{SqlType, TypeKind};

use super::costs::{Costs, Joined};
use super::operators::{Operator, Region, Set};
use super::search::Search;
use super::{built, shape};
use crate::catalog::{ColumnSource, TableId, TableSource};
use crate::estimate::Estimates;
use crate::options::PlanOptions;
use crate::tree::access::Access;
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::{ColumnId, Join, Query, Relation, Scan, produced};
use crate::tree::physical::JoinKind;

/// Number of columns of each table.
const WIDTH: usize = 2;

/// Deterministic pseudo-random generator.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % limit as u64) as usize
    }
}

fn scan(number: usize, rows: u64) -> Relation {
    let int = SqlType::integer(TypeKind::Int);
    let columns = (0..WIDTH).map(|at| ColumnSource::new(&format!("c{at}"), int.clone(), true));
    let name = format!("t{number}");
    let id = TableId(number as u64);
    Relation::Scan(Scan {
        table: Arc::new(TableSource::new(id, "test", &name, columns.collect(), rows)),
        alias: name,
        first: number * (WIDTH + 1),
        generated: Arc::new([]),
        predicates: Vec::new(),
        select_id: 1,
        statistics: None,
        hints: Arc::default(),
        rows: None,
        access: Access::Table,
        possible: Vec::new(),
    })
}

fn column(id: ColumnId) -> Expression {
    Expression::column(id, SqlType::integer(TypeKind::Int), true)
}

fn equality(left: ColumnId, right: ColumnId, comparison: Comparison) -> Expression {
    let kind = ExpressionKind::Compare {
        comparison,
        left: Box::new(column(left)),
        right: Box::new(column(right)),
    };
    Expression::predicate(kind, true)
}

fn values_of(relation: &Relation) -> Vec<ColumnId> {
    let is_value = |id: &ColumnId| id % (WIDTH + 1) < WIDTH;
    produced(relation).iter().filter(is_value).collect()
}

/// A predicate over both sides, which may be true of NULL.
fn predicate(random: &mut Random, left: &[ColumnId], right: &[ColumnId]) -> Expression {
    let (a, b) = (
        left[random.below(left.len())],
        right[random.below(right.len())],
    );
    match random.below(6) {
        0 => equality(a, b, Comparison::NullSafeEqual),
        1 => {
            let null = if random.below(2) == 0 { a } else { b };
            let is_null = ExpressionKind::IsNull(Box::new(column(null)));
            let is_null = Expression::predicate(is_null, false);
            let either = vec![equality(a, b, Comparison::Equal), is_null];
            Expression::predicate(ExpressionKind::Or(either), true)
        }
        2 if left.len() > WIDTH => {
            let other = left[random.below(left.len())];
            let both = vec![
                equality(a, b, Comparison::Equal),
                equality(other, b, Comparison::Equal),
            ];
            Expression::predicate(ExpressionKind::Or(both), true)
        }
        _ => equality(a, b, Comparison::Equal),
    }
}

/// Joins of the tables `from..to`.
fn joins(random: &mut Random, from: usize, to: usize, simple: bool) -> Relation {
    if to - from == 1 {
        return scan(from, [1, 10, 100, 1000, 50_000][random.below(5)]);
    }
    let middle = from + 1 + random.below(to - from - 1);
    let left = joins(random, from, middle, simple);
    let right = joins(random, middle, to, simple);
    let (a, b) = (values_of(&left), values_of(&right));
    let kinds = [
        JoinKind::Inner,
        JoinKind::Inner,
        JoinKind::Left,
        JoinKind::Semi,
        JoinKind::Anti,
    ];
    let kind = kinds[random.below(kinds.len())];
    let count = match kind {
        JoinKind::Inner => [0, 1, 1, 1, 2][random.below(5)],
        _ => 1,
    };
    let on = (0..count).map(|_| {
        if simple {
            let (a, b) = (a[random.below(a.len())], b[random.below(b.len())]);
            equality(a, b, Comparison::Equal)
        } else {
            predicate(random, &a, &b)
        }
    });
    let on = on.collect();
    Relation::Join(Join::new(kind, left, right, on))
}

fn query(relation: Relation, tables: usize) -> Query {
    Query {
        columns: values_of(&relation),
        relation,
        output: Vec::new(),
        shared: Vec::new(),
        next_column: tables * (WIDTH + 1),
        parameter_count: 0,
        date_operands: Vec::new(),
        tables: Vec::new(),
        join_hints: Vec::new(),
        limit: None,
        buffering: crate::tree::logical::Buffering::default(),
        kept: None,
    }
}

type Row = BTreeMap<ColumnId, Option<i64>>;
type Tables = HashMap<ColumnId, Vec<Row>>;

fn contents(random: &mut Random, tables: usize) -> Tables {
    let row = |random: &mut Random, first: ColumnId| -> Row {
        let value = |random: &mut Random| match random.below(4) {
            0 => None,
            value => Some(value as i64 % 2),
        };
        (first..first + WIDTH)
            .map(|id| (id, value(random)))
            .collect()
    };
    let table = |number: usize| {
        let first = number * (WIDTH + 1);
        let count = random.below(4);
        (first, (0..count).map(|_| row(random, first)).collect())
    };
    (0..tables).map(table).collect()
}

fn truth(expression: &Expression, row: &Row) -> Option<bool> {
    let value = |side: &Expression| match side.kind {
        ExpressionKind::Column(id) => row[&id],
        _ => unreachable!("only columns are compared"),
    };
    match &expression.kind {
        ExpressionKind::Compare {
            comparison: Comparison::NullSafeEqual,
            left,
            right,
        } => Some(value(left) == value(right)),
        ExpressionKind::Compare { left, right, .. } => Some(value(left)? == value(right)?),
        ExpressionKind::IsNull(operand) => Some(value(operand).is_none()),
        ExpressionKind::Or(operands) => {
            let truths: Vec<Option<bool>> = operands.iter().map(|one| truth(one, row)).collect();
            match truths.contains(&Some(true)) {
                true => Some(true),
                false if truths.contains(&None) => None,
                false => Some(false),
            }
        }
        _ => unreachable!("no other predicate is made"),
    }
}

/// Rows of a relation.
fn rows(relation: &Relation, tables: &Tables) -> Vec<Row> {
    let join = match relation {
        Relation::Scan(scan) => return tables[&scan.first].clone(),
        Relation::Join(join) => join,
        _ => unreachable!("only joins of tables are made"),
    };
    let (left, right) = (rows(&join.left, tables), rows(&join.right, tables));
    let mut all = Vec::new();
    for row in left {
        let pairs = right.iter().map(|other| {
            let mut pair = row.clone();
            pair.extend(other.clone());
            pair
        });
        let meets = |pair: &Row| join.on.iter().all(|on| truth(on, pair) == Some(true));
        let pairs: Vec<Row> = pairs.filter(meets).collect();
        match join.kind {
            JoinKind::Inner => all.extend(pairs),
            JoinKind::Semi if !pairs.is_empty() => all.push(row),
            JoinKind::Anti if pairs.is_empty() => all.push(row),
            JoinKind::Left if pairs.is_empty() => {
                let mut extended = row;
                extended.extend(values_of(&join.right).into_iter().map(|id| (id, None)));
                all.push(extended);
            }
            JoinKind::Left => all.extend(pairs),
            _ => {}
        }
    }
    all
}

fn sorted(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort();
    rows
}

/// Best join of a set over all divisions. The cardinality of a set is taken from the search: estimates may depend
/// slightly on the join tree.
fn best(
    search: &Search<'_, '_>,
    set: Set,
    known: &mut HashMap<Set, Option<Joined>>,
) -> Option<Joined> {
    if let Some(known) = known.get(&set) {
        return *known;
    }
    let costs = search.costs;
    let found = if set.count_ones() == 1 {
        Some(costs.table(set.trailing_zeros() as usize))
    } else {
        let mut found: Option<Joined> = None;
        let mut left = set & set.wrapping_neg();
        while left != set {
            let right = set & !left;
            if let (Some(operators), Some(a), Some(b)) = (
                costs.operators(left, right),
                best(search, left, known),
                best(search, right, known),
            ) {
                let rows = search.plans.get(&set).map(|plan| plan.rows);
                let step = costs.step(&operators, (left, a), (right, b), rows);
                if found.is_none_or(|found| step.cost < found.cost) {
                    found = Some(Joined {
                        rows: step.rows,
                        cost: step.cost,
                        parts: Some((left, right)),
                    });
                }
            }
            left = left.wrapping_sub(set) & set;
        }
        found
    };
    known.insert(set, found);
    found
}

/// A random tree of a set.
fn any(costs: &Costs<'_>, random: &mut Random, set: Set, plans: &mut HashMap<Set, Joined>) -> bool {
    if set.count_ones() == 1 {
        plans.insert(set, costs.table(set.trailing_zeros() as usize));
        return true;
    }
    let mut ways = Vec::new();
    let mut left = set & set.wrapping_neg();
    while left != set {
        if costs.operators(left, set & !left).is_some() {
            ways.push(left);
        }
        left = left.wrapping_sub(set) & set;
    }
    while !ways.is_empty() {
        let left = ways.swap_remove(random.below(ways.len()));
        let right = set & !left;
        if any(costs, random, left, plans) && any(costs, random, right, plans) {
            let parts = Some((left, right));
            let (rows, cost) = (0.0, 0.0);
            plans.insert(set, Joined { rows, cost, parts });
            return true;
        }
    }
    false
}

fn rebuilt(region: Region, plans: HashMap<Set, Joined>, estimates: &Estimates) -> Relation {
    let (needed, options) = (Default::default(), PlanOptions::default());
    let shape = {
        let costs = Costs::new(&region, estimates, &needed, &options);
        let mut search = Search::new(&costs);
        search.plans = plans;
        shape(&search, search.all()).expect("a tree")
    };
    let mut leaves = region
        .leaves
        .into_iter()
        .map(|leaf| Some(leaf.relation))
        .collect();
    let mut operators = region.operators.into_iter().map(Some).collect();
    let relation = built(shape, &mut leaves, &mut operators, false).expect("a tree");
    // Operators that are not used are implied by others.
    let is_said = |operator: &Operator| operator.is_cross || operator.class.is_some();
    assert!(operators.iter().flatten().all(is_said));
    relation
}

#[test]
fn the_order_that_is_found_is_the_cheapest() {
    let mut random = Random(1);
    let mut reordered = 0;
    for _ in 0..2000 {
        let tables = 2 + random.below(5);
        let written = joins(&mut random, 0, tables, true);
        let mut query = query(written.clone(), tables);
        let estimates = Estimates::of(&mut query);
        let region = Region::of(written.clone());
        let (needed, options) = (Default::default(), PlanOptions::default());
        let costs = Costs::new(&region, &estimates, &needed, &options);
        let mut search = Search::new(&costs);
        let found = search.run();
        let all = search.all();
        let expected = best(&search, all, &mut HashMap::new());
        let text = |found: Option<Joined>| found.map(|found| (found.cost * 0.98).round());
        match (found, expected) {
            (Some(found), Some(expected)) => {
                let is_close = found.cost <= expected.cost * 1.02 + 1e-6;
                assert!(
                    is_close,
                    "{} and not {}: {query}",
                    found.cost, expected.cost
                );
                reordered += 1;
            }
            (None, None) => {}
            (found, expected) => panic!("{:?} and not {:?}: {query}", text(found), text(expected)),
        }
    }
    assert!(reordered > 1500, "{reordered}");
}

#[test]
fn every_order_gives_the_rows_of_the_one_that_was_written() {
    let mut random = Random(2);
    let mut changed = 0;
    for _ in 0..30_000 {
        let tables = 3 + random.below(3);
        let simple = random.below(2) == 0;
        let written = joins(&mut random, 0, tables, simple);
        let mut query = query(written.clone(), tables);
        let estimates = Estimates::of(&mut query);
        let region = Region::of(written.clone());
        let (needed, options) = (Default::default(), PlanOptions::default());
        let costs = Costs::new(&region, &estimates, &needed, &options);
        let mut plans = HashMap::new();
        let all = Search::new(&costs).all();
        if !any(&costs, &mut random, all, &mut plans) {
            continue;
        }
        drop(costs);
        let other = rebuilt(region, plans, &estimates);
        changed += usize::from(format!("{other:?}") != format!("{written:?}"));
        for _ in 0..4 {
            let tables = contents(&mut random, tables);
            let (a, b) = (rows(&written, &tables), rows(&other, &tables));
            assert_eq!(sorted(a), sorted(b), "{query}{other:#?}{tables:?}");
        }
    }
    assert!(changed > 10_000, "{changed}");
}

/// A chain of tables with these cardinalities, each joined to the next by its first column.
fn chain(rows: &[u64]) -> Relation {
    let mut tables = rows.iter().enumerate();
    let first = tables.next().map(|(number, rows)| scan(number, *rows));
    tables.fold(first.expect("a table"), |joined, (number, rows)| {
        let (before, own) = ((number - 1) * (WIDTH + 1), number * (WIDTH + 1));
        let on = vec![equality(before, own, Comparison::Equal)];
        Relation::Join(Join::new(JoinKind::Inner, joined, scan(number, *rows), on))
    })
}

#[test]
fn tables_are_joined_by_an_equality_that_follows_from_others() {
    // The small tables find each other without the large one.
    let relation = chain(&[10, 50_000, 10]);
    let mut query = query(relation.clone(), 3);
    let estimates = Estimates::of(&mut query);
    let region = Region::of(relation);
    assert_eq!(region.operators.len(), 3);
    let (needed, options) = (Default::default(), PlanOptions::default());
    let costs = Costs::new(&region, &estimates, &needed, &options);
    let mut search = Search::new(&costs);
    let found = search.run().expect("a tree");
    let (left, right) = found.parts.expect("a join");
    assert!([left, right].contains(&0b101), "{left:b} and {right:b}");
    // The large one is compared once.
    assert_eq!(
        costs.operators(left, right).map(|asked| asked.len()),
        Some(1)
    );
}

#[test]
fn beyond_the_pairs_that_are_wanted_the_order_is_chosen_greedily() {
    let relation = chain(&[10, 20, 30, 40]);
    let mut query = query(relation.clone(), 4);
    let estimates = Estimates::of(&mut query);
    let region = Region::of(relation);
    let needed = Default::default();
    for (max_subgraph_pairs, is_greedy) in [(100_000, false), (3, true)] {
        let options = PlanOptions {
            max_subgraph_pairs,
            ..PlanOptions::default()
        };
        let costs = Costs::new(&region, &estimates, &needed, &options);
        let mut search = Search::new(&costs);
        assert!(search.run().is_some());
        assert_eq!(search.is_greedy, is_greedy);
    }
}

#[test]
fn many_tables_are_ordered_in_time() {
    // A chain has few connected subsets, a star many.
    for (is_star, tables) in [(false, 20), (true, 20), (false, 60), (true, 60)] {
        let mut relation = scan(0, 100_000);
        for table in 1..tables {
            let hub = if is_star { 0 } else { table - 1 };
            let on = equality(hub * (WIDTH + 1), table * (WIDTH + 1), Comparison::Equal);
            let right = scan(table, 10 + table as u64);
            relation = Relation::Join(Join::new(JoinKind::Inner, relation, right, vec![on]));
        }
        let mut query = query(relation.clone(), tables);
        let estimates = Estimates::of(&mut query);
        let started = std::time::Instant::now();
        let region = Region::of(relation);
        let (needed, options) = (Default::default(), PlanOptions::default());
        let costs = Costs::new(&region, &estimates, &needed, &options);
        let mut search = Search::new(&costs);
        assert!(search.run().is_some());
        let took = started.elapsed().as_millis();
        println!(
            "{tables} tables, star {is_star}: {took} ms, {} pairs",
            search.pairs
        );
        assert!(took < 2000, "{took} ms");
    }
}
