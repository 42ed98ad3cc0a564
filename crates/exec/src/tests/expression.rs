//! Expressions: laziness, subqueries, IN lists.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::ArrayRef;
use mayfly_functions::{Binding, Call, ScalarFunction, Signature};
use mayfly_plan::expression::{Subquery, SubqueryKind};
use mayfly_plan::physical::Plan;
use mayfly_plan::{Comparison, Expression, ExpressionKind};
use mayfly_types::convert::array_value;
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType, Value};

use crate::expression::values::into_array;
use crate::testing::*;
use crate::{Program, RunContext};

static SEEN: AtomicU64 = AtomicU64::new(0);

static WATCHED: ScalarFunction =
    ScalarFunction::new(&["watched"], 1..=1, unbound, watch).volatile();

fn unbound(_: &Binding<'_>) -> Result<Signature> {
    unreachable!("tests bring their signatures")
}

/// Returns its argument, counts the rows that it sees, and fails on 13.
fn watch(call: &Call<'_>) -> Result<ArrayRef> {
    SEEN.fetch_add(call.rows as u64, Ordering::Relaxed);
    let physical = call.signature.result.physical();
    let array = into_array(call.arguments[0].clone(), physical, call.rows);
    use arrow_array::cast::AsArray;
    let values = array.as_primitive::<arrow_array::types::Int64Type>();
    if values.iter().flatten().any(|value| value == 13) {
        return Err(codes::ER_DIVISION_BY_ZERO.error());
    }
    Ok(array)
}

fn watched(argument: Expression) -> Expression {
    let signature = Signature::new(vec![int()], int(), true);
    Expression::call(&WATCHED, vec![argument], signature)
}

fn evaluate(expression: &Expression, types: &[SqlType], rows: &[Row]) -> Result<Vec<Value>> {
    let world = World::new();
    let run = RunContext::for_expressions(world.statement(&configs()[0]), &[]);
    let physical: Vec<_> = types
        .iter()
        .map(crate::representation::column_type)
        .collect();
    let array = Program::compile(expression).evaluate_array(&batch(&physical, rows), &run)?;
    let rows = 0..rows.len();
    Ok(rows.map(|row| array_value(&array, row)).collect())
}

fn numbers(values: &[i64]) -> Vec<Row> {
    values.iter().map(|value| vec![n(*value)]).collect()
}

fn is(value: i64) -> Expression {
    compare(
        Comparison::Equal,
        column(0, int()),
        literal(n(value), int()),
    )
}

fn watched_positive() -> Expression {
    compare(
        Comparison::Greater,
        watched(column(0, int())),
        literal(n(0), int()),
    )
}

#[test]
fn later_terms_see_only_undecided_rows() {
    let not = |e| boolean(ExpressionKind::Not(Box::new(e)));
    let rows = numbers(&[13, 1, 2]);
    let and = boolean(ExpressionKind::And(vec![not(is(13)), watched_positive()]));
    assert_eq!(evaluate(&and, &[int()], &rows).unwrap(), [n(0), n(1), n(1)]);
    let or = boolean(ExpressionKind::Or(vec![is(13), watched_positive()]));
    assert_eq!(evaluate(&or, &[int()], &rows).unwrap(), [n(1), n(1), n(1)]);
    let wrong = boolean(ExpressionKind::And(vec![watched_positive(), not(is(13))]));
    assert_eq!(evaluate(&wrong, &[int()], &rows).unwrap_err().errno(), 1365);
    // All rows are decided: the call is never made.
    let none = boolean(ExpressionKind::And(vec![is(99), watched_positive()]));
    assert_eq!(
        evaluate(&none, &[int()], &numbers(&[13, 13])).unwrap(),
        [n(0), n(0)]
    );
}

#[test]
fn case_evaluates_a_branch_for_its_rows_only() {
    let kind = ExpressionKind::Case {
        branches: vec![
            (is(13), literal(n(-1), int())),
            (is(2), watched(column(0, int()))),
        ],
        otherwise: Some(Box::new(literal(NULL, int()))),
    };
    let case = Expression::new(kind, int(), true);
    assert_eq!(
        evaluate(&case, &[int()], &numbers(&[13, 2, 3, 13])).unwrap(),
        [n(-1), n(2), NULL, n(-1)]
    );
    assert_eq!(
        evaluate(&case, &[int()], &numbers(&[2, 2])).unwrap(),
        [n(2), n(2)]
    );
    assert_eq!(evaluate(&case, &[int()], &[]).unwrap(), []);
}

#[test]
fn in_lists() {
    let list = |values: &[Value], negated| {
        boolean(ExpressionKind::InList {
            operand: Box::new(column(0, text())),
            list: values.into(),
            negated,
        })
    };
    let rows = [vec![s("A")], vec![s("x")], vec![NULL]];
    let evaluate = |e: &Expression| evaluate(e, &[text()], &rows).unwrap();
    assert_eq!(
        evaluate(&list(&[s("a"), s("b")], false)),
        [n(1), n(0), NULL]
    );
    assert_eq!(evaluate(&list(&[s("a"), NULL], false)), [n(1), NULL, NULL]);
    assert_eq!(evaluate(&list(&[s("a"), NULL], true)), [n(0), NULL, NULL]);
    let many: Vec<Value> = (0..100)
        .map(|i| s(&format!("X{i}")))
        .chain([s("X")])
        .collect();
    assert_eq!(evaluate(&list(&many, true)), [n(1), n(0), NULL]);
}

/// A plan of one column: the rows of a table whose first column equals parameter 0.
fn correlated(input: Plan) -> Plan {
    let predicate = compare(Comparison::Equal, column(0, int()), parameter(0, int()));
    project(filter(input, predicate), vec![column(1, int())])
}

fn subquery(kind: SubqueryKind, plan: Plan, parameters: Vec<(usize, Expression)>) -> Expression {
    let ty = match kind {
        SubqueryKind::Scalar => int(),
        _ => SqlType::boolean(),
    };
    let subquery = Subquery {
        kind,
        plan,
        parameters,
        cacheable: true,
        select_id: 2,
    };
    Expression::new(ExpressionKind::Subquery(Arc::new(subquery)), ty, true)
}

#[test]
fn subqueries_by_parameter() {
    let mut world = World::new();
    let outer: Vec<Row> = (0..200).map(|i| vec![n(i % 10)]).collect();
    let inner: Vec<Row> = (0..8).map(|i| vec![n(i), n(i * 100)]).collect();
    let outer = world.table(&[int()], &outer);
    let inner = world.table(&[int(), int()], &inner);
    let over_outer = |expression: Expression| {
        let project = project(scan(&outer), vec![column(0, int()), expression]);
        query_with(project, Vec::new(), 1)
    };
    let own = vec![(0, column(0, int()))];
    let scalar = subquery(SubqueryKind::Scalar, correlated(scan(&inner)), own.clone());
    let expected: Vec<Row> = (0..200)
        .map(|i| vec![n(i % 10), if i % 10 < 8 { n(i % 10 * 100) } else { NULL }])
        .collect();
    world.check(over_outer(scalar), &expected);
    for negated in [false, true] {
        let kind = SubqueryKind::Exists { negated };
        let exists = subquery(kind, correlated(scan(&inner)), own.clone());
        let expected: Vec<Row> = (0..200)
            .map(|i| vec![n(i % 10), n(i64::from((i % 10 < 8) != negated))])
            .collect();
        world.check(over_outer(exists), &expected);
    }
    // 200 outer rows, 10 combinations: the plan runs 10 times over 8 rows, and one outer scan.
    let counted = subquery(SubqueryKind::Scalar, correlated(scan(&inner)), own);
    assert_eq!(world.rows_examined(over_outer(counted)), 200 + 80);
}

#[test]
fn a_scalar_subquery_of_two_rows_is_an_error() {
    let mut world = World::new();
    let two = world.table(&[int()], &numbers(&[1, 2]));
    let scalar = subquery(SubqueryKind::Scalar, scan(&two), Vec::new());
    let query = Arc::new(query(values(vec![scalar])));
    for config in configs() {
        assert_eq!(world.run(&query, &config).unwrap_err().errno(), 1242);
    }
}

#[test]
fn any_and_all_know_nulls() {
    let (yes, no) = (n(1), n(0));
    let cases: [(i64, Comparison, bool, &[Value], Value); 9] = [
        (1, Comparison::Equal, false, &[n(1), NULL], yes.clone()),
        (2, Comparison::Equal, false, &[n(1), NULL], NULL),
        (2, Comparison::Equal, false, &[n(1), n(3)], no.clone()),
        (2, Comparison::Equal, false, &[], no.clone()),
        (2, Comparison::NotEqual, true, &[n(1), NULL], NULL),
        (1, Comparison::NotEqual, true, &[n(1), NULL], no.clone()),
        (5, Comparison::Greater, true, &[n(1), n(4)], yes.clone()),
        (5, Comparison::Greater, true, &[], yes.clone()),
        (5, Comparison::Less, false, &[n(1), n(9)], yes.clone()),
    ];
    for (left, comparison, all, rows, expected) in cases {
        let mut world = World::new();
        let rows: Vec<Row> = rows.iter().map(|value| vec![value.clone()]).collect();
        let table = world.table(&[int()], &rows);
        let kind = SubqueryKind::Quantified {
            left: vec![literal(n(left), int())],
            comparison,
            all,
        };
        let quantified = subquery(kind, scan(&table), Vec::new());
        world.check(query(values(vec![quantified])), &[vec![expected]]);
    }
}

#[test]
fn row_values_compare_column_by_column() {
    let cases = [
        (Comparison::Equal, [n(1), n(2)], [n(1), n(2)], n(1)),
        (Comparison::Equal, [n(1), NULL], [n(2), n(2)], n(0)),
        (Comparison::Equal, [n(1), NULL], [n(1), n(2)], NULL),
        (Comparison::Less, [n(1), n(2)], [n(1), n(3)], n(1)),
        (Comparison::Less, [n(1), NULL], [n(2), n(3)], n(1)),
        (Comparison::GreaterOrEqual, [n(1), n(2)], [n(1), n(2)], n(1)),
        (Comparison::NotEqual, [n(1), n(2)], [n(1), n(3)], n(1)),
        (Comparison::NullSafeEqual, [NULL, n(2)], [NULL, n(2)], n(1)),
    ];
    for (comparison, left, right, expected) in cases {
        let mut world = World::new();
        let table = world.table(&[int(), int()], &[right.to_vec()]);
        let left = left
            .iter()
            .map(|value| literal(value.clone(), int()))
            .collect();
        let kind = SubqueryKind::Row { left, comparison };
        let row = subquery(kind, scan(&table), Vec::new());
        world.check(query(values(vec![row])), &[vec![expected]]);
    }
}

#[test]
fn casts_are_those_of_the_types() {
    let cast = |input: Expression, ty: &SqlType| {
        let kind = ExpressionKind::Cast(Box::new(input), None);
        Expression::new(kind, ty.clone(), true)
    };
    let rows = [vec![s("12abc")], vec![NULL], vec![s(" -7")]];
    let to_int = cast(column(0, text()), &int());
    assert_eq!(
        evaluate(&to_int, &[text()], &rows).unwrap(),
        [n(12), NULL, n(-7)]
    );
    let constant = cast(literal(s("1.5"), text()), &SqlType::decimal(10, 2));
    let decimal = Value::Decimal {
        unscaled: arrow_buffer::i256::from_i128(150),
        scale: 2,
    };
    assert_eq!(
        evaluate(&constant, &[text()], &rows).unwrap(),
        vec![decimal; 3]
    );
    let text = cast(column(0, int()), &text());
    assert_eq!(
        evaluate(&text, &[int()], &numbers(&[-5])).unwrap(),
        [s("-5")]
    );
}

#[test]
fn a_row_sees_the_variable_that_the_row_before_set() {
    let call = |name: &str, arguments: Vec<Expression>| {
        let types = arguments.iter().map(|argument| argument.ty.clone());
        let signature = Signature::new(types.collect(), int(), true);
        let function = mayfly_functions::scalar::by_name(name).unwrap();
        Expression::call(function, arguments, signature)
    };
    // @total := IFNULL(@total, 0) + column
    let name = || literal(s("total"), text());
    let before = call("get_user_variable", vec![name()]);
    let before = call("ifnull", vec![before, literal(n(0), int())]);
    let sum = call("+", vec![before, column(0, int())]);
    let total = call("set_user_variable", vec![name(), sum]);
    let mut world = World::new();
    let table = world.table(&[int()], &numbers(&[1, 2, 3, 4]));
    let project = project(scan(&table), vec![total]);
    let rows = world.run(&Arc::new(query(project)), &configs()[0]);
    assert_eq!(rows.unwrap(), numbers(&[1, 3, 6, 10]));
}
