//! EXPLAIN ANALYZE shows estimated and actual rows of each node: here they are close, for queries where an error of
//! orders of magnitude is easy.

use mayfly_testkit::fixture::{Fixture, SessionExt};

use crate::explain::text_of;

/// A shop: customers of 25 regions, orders of customers, one to seven items of each order in the order of its number.
fn fixture() -> Fixture {
    let (fixture, mut session) = Fixture::with_session();
    for sql in [
        "CREATE TABLE n (n INT PRIMARY KEY)",
        "INSERT INTO n WITH RECURSIVE s (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM s WHERE i < 999)
         SELECT i FROM s",
        "CREATE TABLE customers (id INT PRIMARY KEY, region INT, phone VARCHAR(20), name VARCHAR(40))",
        "INSERT INTO customers SELECT n, n * 7 % 25, CONCAT(10 + n * 11 % 25, '-', n * 7919 % 1000),
         CONCAT('customer number ', n) FROM n",
        "CREATE TABLE regions (id INT PRIMARY KEY, name VARCHAR(20))",
        "INSERT INTO regions SELECT n, CONCAT('region ', n) FROM n WHERE n < 25",
        "CREATE TABLE orders (id INT PRIMARY KEY, customer INT, day DATE)",
        "INSERT INTO orders SELECT a.n * 10 + b.n, (a.n * 17 + b.n * 131) % 1000,
         DATE '1992-01-01' + INTERVAL (a.n * 37 + b.n * 211) % 2400 DAY FROM n a JOIN n b ON b.n < 10",
        // Without an index on the order of an item.
        "CREATE TABLE items (id INT PRIMARY KEY, order_id INT, quantity INT, price DECIMAL(10, 2))",
        "INSERT INTO items SELECT o.id * 7 + k.n, o.id, 1 + (o.id * 31 + k.n * 17) % 50,
         100 + (o.id * 7919 + k.n * 104729) % 9000 FROM orders o JOIN n k ON k.n < 1 + o.id * 13 % 7 ORDER BY 1",
        // In the order of the texts, which are longer than the part that a sample keeps.
        "CREATE TABLE notes (id INT PRIMARY KEY, note VARCHAR(300))",
        "INSERT INTO notes SELECT id, CONCAT(LPAD(id, 8, '0'), REPEAT('x', id % 200)) FROM orders ORDER BY id",
        "CREATE TABLE documents (id INT PRIMARY KEY, document TEXT)",
        "INSERT INTO documents SELECT id, CONCAT(LPAD(id, 8, '0'), REPEAT('x', 3000)) FROM orders ORDER BY id",
    ] {
        session.must(sql);
    }
    fixture
}

/// The largest factor between estimated and actual rows, of the nodes of a tree that ran.
fn worst(tree: &str) -> f64 {
    let number = |text: &str, name: &str| -> Option<f64> {
        let at = text.find(name)? + name.len();
        let end = text[at..].find([' ', ')']).map(|end| at + end)?;
        text[at..end].parse().ok()
    };
    let factors = tree.lines().filter_map(|line| {
        let (plan, actual) = line.split_once(" (actual time=")?;
        let plan = &plan[plan.rfind("(cost=")?..];
        let (estimated, actual) = (number(plan, "rows=")?, number(actual, "rows=")?);
        let (estimated, actual) = (estimated.max(1.0), actual.max(1.0));
        Some((estimated / actual).max(actual / estimated))
    });
    factors.fold(0.0, f64::max)
}

#[test]
fn estimates_are_about_what_came() {
    let fixture = fixture();
    let mut session = fixture.session();
    for (sql, most) in [
        // Long texts at the end of a table.
        ("SELECT COUNT(*) FROM notes WHERE note >= '00009000'", 1.5),
        ("SELECT COUNT(*) FROM documents WHERE document >= '00009000'", 2.0),
        // Rows of a scan that match a hash join's keys.
        (
            "SELECT COUNT(*) FROM regions r JOIN customers c ON c.region = r.id
             JOIN orders o ON o.customer = c.id JOIN items l ON l.order_id = o.id WHERE r.name = 'region 7'",
            3.0,
        ),
        // Rows that are grouped before a hash join, whose keys leave few groups.
        (
            "SELECT COUNT(*) FROM customers c JOIN (SELECT order_id, SUM(price) AS total FROM items GROUP BY order_id) g
             ON g.order_id = c.id WHERE c.region = 3",
            2.0,
        ),
        // A disjunction over two tables, each of which was filtered by its part.
        (
            "SELECT COUNT(*) FROM regions r, regions s WHERE (r.name = 'region 1' AND s.name = 'region 2')
             OR (r.name = 'region 2' AND s.name = 'region 1')",
            2.0,
        ),
        // Groups by a function: all groups, and those that conditions leave.
        (
            "SELECT SUBSTRING(phone, 1, 2), COUNT(*) FROM customers GROUP BY SUBSTRING(phone, 1, 2)",
            1.5,
        ),
        (
            "SELECT SUBSTRING(phone, 1, 2), COUNT(*) FROM customers
             WHERE SUBSTRING(phone, 1, 2) IN ('12', '14', '17', '30') GROUP BY SUBSTRING(phone, 1, 2)",
            2.0,
        ),
        (
            "SELECT YEAR(day), COUNT(*) FROM orders WHERE day BETWEEN '1995-01-01' AND '1996-12-31' GROUP BY YEAR(day)",
            2.0,
        ),
        // Groups of joined rows: no more than orders.
        (
            "SELECT l.order_id, SUM(l.price) FROM orders o JOIN items l ON l.order_id = o.id
             WHERE o.day < '1992-06-01' GROUP BY l.order_id",
            2.0,
        ),
        // The group with the greatest sum.
        (
            "WITH sums AS (SELECT order_id, SUM(price * quantity) AS total FROM items GROUP BY order_id)
             SELECT COUNT(*) FROM sums WHERE total = (SELECT MAX(total) FROM sums)",
            2.0,
        ),
        // Rare groups: seven items of large quantities.
        (
            "SELECT order_id FROM items GROUP BY order_id HAVING SUM(quantity) > 220",
            4.0,
        ),
        // One match is enough, and a row without one has none.
        (
            "SELECT COUNT(*) FROM orders o WHERE NOT EXISTS (SELECT * FROM customers c WHERE c.id = o.customer AND c.region <> 3)",
            3.0,
        ),
    ] {
        let tree = text_of(&mut session, &format!("EXPLAIN ANALYZE {sql}"));
        let worst = worst(&tree);
        assert!(worst <= most, "{worst} times too many or few:\n{sql}\n{tree}");
        assert!(worst > 0.0, "nothing ran:\n{tree}");
    }
}

#[test]
fn the_bytes_of_texts_are_those_of_their_columns() {
    let fixture = fixture();
    let mut session = fixture.session();
    // Values of 17 to 19 bytes, of a type with at most 40.
    let tree = text_of(
        &mut session,
        "EXPLAIN FORMAT=TREE SELECT DISTINCT name FROM customers ORDER BY name",
    );
    let sort = tree
        .lines()
        .find(|line| line.contains("Sort: "))
        .expect("a sort");
    // 8 bytes before a row, 16 for its cell, and the text.
    assert!(sort.contains("1000 rows, 42 KiB"), "{sort}");
}

#[test]
fn a_join_that_is_much_larger_than_estimated_is_noticed() {
    let (_fixture, mut session) = Fixture::with_session();
    // Distinct values in the rows that statistics are made from, and then one of them a thousand times.
    for sql in [
        "CREATE TABLE n (n INT PRIMARY KEY)",
        "SET cte_max_recursion_depth = 10000",
        "INSERT INTO n WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 6000) SELECT i FROM s",
        "CREATE TABLE a (k INT, v INT)",
        "CREATE TABLE b (k INT, v INT)",
        "INSERT INTO a SELECT n, n FROM n",
        "INSERT INTO b SELECT n, n FROM n",
    ] {
        session.must(sql);
    }
    let join = "EXPLAIN ANALYZE SELECT COUNT(*) FROM a JOIN b ON a.k = b.k";
    let before = text_of(&mut session, join);
    assert!(!before.contains("times as many rows"), "{before}");
    session.must("INSERT INTO a SELECT 1, n FROM n WHERE n <= 1000");
    session.must("INSERT INTO b SELECT 1, n FROM n WHERE n <= 1000");
    let after = text_of(&mut session, join);
    let line = after
        .lines()
        .find(|line| line.contains("hash join"))
        .expect("a join");
    assert!(
        line.contains(" times as many rows as estimated]"),
        "{after}"
    );
}
