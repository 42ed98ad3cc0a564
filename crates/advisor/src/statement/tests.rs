//! Analysis of statements.

use super::{Role, Statement, StatementKind, SubqueryKind, Value, ValueTypes, analyze};
use crate::schema::Schema;

fn schema() -> Schema {
    let mut schema = Schema::new();
    schema.read_dump(
        "CREATE TABLE t (a int, b varchar(600), c text, d varchar(20) CHARACTER SET latin1, KEY (a));
         CREATE TABLE u (a int, e datetime);
         CREATE VIEW v AS SELECT a, count(*) AS n FROM t GROUP BY a;",
        "test",
    );
    schema
}

fn taken_apart(sql: &str) -> Statement {
    analyze(sql, &schema(), Some("test")).expect("the test's SQL is read")
}

#[test]
fn blocks_stand_in_the_order_of_their_selects() {
    let statement = taken_apart(
        "WITH w AS (SELECT a FROM t) SELECT (SELECT max(e) FROM u) FROM w, w x, \
         (SELECT DISTINCT a FROM u) d WHERE w.a IN (SELECT a FROM u) ORDER BY 1",
    );
    let roles: Vec<&Role> = statement.blocks.iter().map(|block| &block.role).collect();
    assert_eq!(
        roles,
        [
            &Role::CommonTable("w".into(), 2),
            &Role::Top,
            &Role::Subquery(SubqueryKind::Scalar),
            &Role::Derived("d".into()),
            &Role::Subquery(SubqueryKind::In),
        ]
    );
}

#[test]
fn names_and_conditions_are_resolved() {
    let statement = taken_apart(
        "SELECT d AS k, x.b, count(*) FROM t AS x JOIN u ON u.a = x.a AND u.e > 5 WHERE 7 = x.a GROUP BY k, 2 ORDER BY k",
    );
    let block = &statement.blocks[0];
    assert_eq!(block.conditions.len(), 3);
    let keys: Vec<String> = block.group_by.iter().map(ToString::to_string).collect();
    assert_eq!(keys, ["d", "x.b"]);
    assert_eq!(block.order_by[0].expr.to_string(), "d");
    assert_eq!(block.fixed_columns().len(), 1);
    assert_eq!(block.joined_columns().len(), 1);
    assert_eq!(block.aggregates.len(), 1);
}

#[test]
fn values_are_as_wide_as_the_binder_says() {
    let (schema, statement) = (
        schema(),
        taken_apart(
            "SELECT b, c, max(b), concat(d, d), left(c, 10), a + 1, upper(d) FROM t GROUP BY a",
        ),
    );
    let types = ValueTypes::new(&schema, Some("test"), 1024);
    let block = &statement.blocks[0];
    let values: Vec<Value> = block.items().map(|item| types.value(block, item)).collect();
    let text = |characters, bytes_per_character| Value::Text {
        characters,
        bytes_per_character,
    };
    assert_eq!(values[0], text(600, 4));
    assert_eq!(values[1], Value::Blob);
    assert_eq!(values[2], text(600, 4));
    assert_eq!(values[3], text(40, 1));
    assert_eq!(values[4], text(10, 4));
    assert_eq!(values[5], Value::Fixed(8));
    assert_eq!(values[6], text(20, 1));
}

#[test]
fn kinds_and_digest_texts() {
    assert!(matches!(
        taken_apart("INSERT INTO t (a) SELECT a FROM t").kind,
        StatementKind::InsertSelect {
            reads_target: true,
            ..
        }
    ));
    assert!(matches!(
        taken_apart("INSERT INTO t (a) SELECT a FROM u").kind,
        StatementKind::InsertSelect {
            reads_target: false,
            ..
        }
    ));
    assert_eq!(
        taken_apart("UPDATE t JOIN u ON t.a = u.a SET t.d = 1").kind,
        StatementKind::MultiTableUpdate
    );
    assert_eq!(
        taken_apart("SHOW COLUMNS FROM t").kind,
        StatementKind::Show("Columns".into())
    );
    let digest = "SELECT `a` , COUNT ( * ) FROM `t` WHERE `a` IN (...) GROUP BY `a` LIMIT ?";
    assert_eq!(taken_apart(digest).blocks[0].group_by.len(), 1);
    assert_eq!(
        taken_apart("SET STATEMENT max_statement_time=1 FOR SELECT a FROM t")
            .blocks
            .len(),
        1
    );
    assert!(analyze("SELEC a", &schema(), None).is_err());
}
