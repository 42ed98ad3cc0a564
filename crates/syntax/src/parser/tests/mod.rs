//! Tests of the grammar, with MySQL's answers on which texts are accepted and where errors are.

use proptest::prelude::*;

use crate::ast::{SetExpr, Statement};
use crate::{DEPTH_MAX, ParseOptions, SyntaxErrorKind, all_keywords, parse, parse_one, statements};

const DEFAULT: ParseOptions = ParseOptions::MYSQL_DEFAULT;

/// The first select item of a query, with every operation in parentheses of its own.
fn grouped(expression: &str, options: &ParseOptions) -> String {
    let sql = format!("select {expression} as x");
    let parsed = parse_one(&sql, options).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let Statement::Query(query) = parsed.statement else {
        panic!("{sql}: not a query")
    };
    let SetExpr::Select(select) = *query.body else {
        panic!("{sql}: not a select")
    };
    match select.projection.first() {
        Some(crate::ast::SelectItem::ExprWithAlias { expr, .. }) => parenthesised(expr),
        other => panic!("{sql}: {other:?}"),
    }
}

fn parenthesised(expr: &crate::ast::Expr) -> String {
    use crate::ast::Expr;
    match expr {
        Expr::BinaryOp { left, op, right } => {
            format!("({} {op} {})", parenthesised(left), parenthesised(right))
        }
        Expr::UnaryOp { op, expr } => format!("({op} {})", parenthesised(expr)),
        Expr::Between {
            expr, low, high, ..
        } => format!(
            "({} BETWEEN {} AND {})",
            parenthesised(expr),
            parenthesised(low),
            parenthesised(high)
        ),
        Expr::Like { expr, pattern, .. } => {
            format!("({} LIKE {})", parenthesised(expr), parenthesised(pattern))
        }
        Expr::IsNull(expr) => format!("({} IS NULL)", parenthesised(expr)),
        Expr::IsTrue(expr) => format!("({} IS TRUE)", parenthesised(expr)),
        Expr::Collate { expr, collation } => {
            format!("({} COLLATE {collation})", parenthesised(expr))
        }
        Expr::Nested(expr) => parenthesised(expr),
        other => other.to_string(),
    }
}

#[test]
fn accepted() {
    for sql in include_str!("accepted.sql").lines() {
        if let Err(error) = parse(sql, &DEFAULT) {
            panic!("{sql}: {error}");
        }
    }
}

/// Both walks over a query meet as many literals as its debug text shows.
#[test]
fn walks_meet_every_literal() {
    use crate::ast::{Expr, visit_expressions, visit_expressions_mut};
    use std::ops::ControlFlow::{self, Continue};
    let mut queries = 0;
    for sql in include_str!("accepted.sql").lines() {
        let parsed = parse_one(sql, &DEFAULT);
        let Ok(Statement::Query(mut query)) = parsed.map(|parsed| parsed.statement) else {
            continue;
        };
        let shown = format!("{query:?}").matches("Value(").count();
        let (mut met, mut met_mut) = (0, 0);
        let _: ControlFlow<()> = visit_expressions(&query, |expr| {
            met += usize::from(matches!(expr, Expr::Value(_)));
            Continue(())
        });
        let _: ControlFlow<()> = visit_expressions_mut(&mut query, |expr| {
            met_mut += usize::from(matches!(expr, Expr::Value(_)));
            Continue(())
        });
        assert_eq!((met, met_mut), (shown, shown), "{sql}");
        queries += 1;
    }
    assert!(queries > 100, "{queries}");
}

#[test]
fn rejected_near_the_offending_token() {
    for case in include_str!("rejected.txt").lines() {
        let (sql, near) = case.split_once('\t').expect("two columns");
        match parse(sql, &DEFAULT) {
            Ok(_) => panic!("{sql}: accepted"),
            Err(error) => assert_eq!(error.near, near, "{sql}"),
        }
    }
}

#[test]
fn lines_of_errors() {
    let check = |sql: &str, near: &str, line: u32| {
        let error = parse(sql, &DEFAULT).expect_err(sql);
        assert_eq!((error.near.as_str(), error.line), (near, line), "{sql}");
    };
    check("select\n1\nfrom\n", "", 3);
    check("select 1\n from t\n where where", "where", 3);
    check("select 1; select 2;\nselect from t", "from t", 2);
    let long = format!("select * form {}", "x".repeat(200));
    let error = parse(&long, &DEFAULT).expect_err("misspelled");
    assert_eq!(error.near, format!("form {}", "x".repeat(75)));
}

#[test]
fn precedence() {
    let check = |sql: &str, expected: &str| assert_eq!(grouped(sql, &DEFAULT), expected, "{sql}");
    check("1 + 2 * 3", "(1 + (2 * 3))");
    check("1 | 2 & 3 << 4 - 5", "(1 | (2 & (3 << (4 - 5))))");
    check("2 * 3 ^ 4", "(2 * (3 ^ 4))");
    check("a or b xor c and not d", "(a OR (b XOR (c AND (NOT d))))");
    check("a || b && c", "(a OR (b AND c))");
    check("not a = b", "(NOT (a = b))");
    check("! a = b", "((NOT a) = b)");
    check("- a ^ b", "((- a) ^ b)");
    check("a = b is null", "((a = b) IS NULL)");
    check("a and b is true", "(a AND (b IS TRUE))");
    check("a between 1 and 2 and c", "((a BETWEEN 1 AND 2) AND c)");
    check("a like 'x' = b", "((a LIKE 'x') = b)");
    check("a + 'x' collate c = b", "((a + ('x' COLLATE c)) = b)");
    check("@a := 1 or 2", "(@a := (1 OR 2))");
    let concat = ParseOptions {
        pipes_as_concat: true,
        ..DEFAULT
    };
    assert_eq!(grouped("a || b ^ c", &concat), "((a || b) ^ c)");
    let high_not = ParseOptions {
        high_not_precedence: true,
        ..DEFAULT
    };
    assert_eq!(
        grouped("not a between b and c", &high_not),
        "((NOT a) BETWEEN b AND c)"
    );
    assert_eq!(
        grouped("not a between b and c", &DEFAULT),
        "(NOT (a BETWEEN b AND c))"
    );
}

#[test]
fn sql_modes() {
    let ansi = ParseOptions {
        ansi_quotes: true,
        ..DEFAULT
    };
    assert_eq!(grouped("\"a b\"", &ansi), "`a b`");
    assert_eq!(grouped("\"a b\"", &DEFAULT), "'a b'");
    let spaces = ParseOptions {
        ignore_space: true,
        ..DEFAULT
    };
    assert!(parse("select count (*)", &spaces).is_ok());
    assert!(parse("select count (*)", &DEFAULT).is_err());
}

/// Nesting of every kind either works or is refused, whatever its size.
#[test]
fn deep_statements_end() {
    let repeat = |text: &str, count: usize| text.repeat(count);
    for size in [10, 100, 1_000, 100_000] {
        let mut texts = vec![
            format!("select {}1{}", repeat("(", size), repeat(")", size)),
            format!("select {}1", repeat("not ", size)),
            format!("select {}1", repeat("- ", size)),
            format!("select {}1", repeat("! ", size)),
            format!("select 1{}", repeat(" + 1", size)),
            format!("select 1{}", repeat(" and 1", size)),
            format!("select 1{}", repeat(" = 1", size)),
            format!("select 1{}", repeat(" union select 1", size)),
            format!("select 1{}", repeat(" collate c", size)),
            format!("select 1{}", repeat(" is null", size)),
            format!("select * from t{}", repeat(" join t", size)),
            format!("select 1{}", repeat(" in (1", size)),
            format!("select a{}", repeat("->'$'", size)),
            format!("select 1 from t where a in ({}1)", repeat("1,", size)),
            format!("insert into t values {}(1)", repeat("(1),", size)),
        ];
        for (open, middle, close) in [
            ("case when 1 then ", "1", " end"),
            ("f(", "1", ")"),
            ("(select ", "1", ")"),
            ("exists (select ", "1", ")"),
            ("cast(", "1", " as signed)"),
            ("interval(1,", "1", ")"),
            ("if(1,", "1", ",2)"),
            ("(1,", "1", ")"),
            ("count(*) over (order by ", "1", ")"),
        ] {
            texts.push(format!(
                "select {}{middle}{}",
                repeat(open, size),
                repeat(close, size)
            ));
        }
        for (open, middle, close) in [
            ("(select * from ", "t", ") x"),
            ("(", "t", ")"),
            ("(t join ", "t", ")"),
        ] {
            texts.push(format!(
                "select * from {}{middle}{}",
                repeat(open, size),
                repeat(close, size)
            ));
        }
        texts.push(format!(
            "{}select 1{}",
            repeat("(", size),
            repeat(")", size)
        ));
        texts.push(format!(
            "{}select 1{}",
            repeat("with c as (", size),
            repeat(") select 1", size)
        ));
        texts.push(format!("{}select 1", repeat("explain ", size)));
        for text in texts {
            match parse(&text, &DEFAULT) {
                Ok(parsed) => {
                    assert!(parsed.iter().all(|statement| statement.height <= DEPTH_MAX));
                }
                Err(error) => assert!(
                    size >= 100 || error.kind == SyntaxErrorKind::Unexpected,
                    "{}: {error:?}",
                    text.get(..60).unwrap_or(&text)
                ),
            }
        }
    }
}

/// Words, operators and literals from which random statements are made.
fn token() -> impl Strategy<Value = String> {
    let words: Vec<&'static str> = all_keywords().collect();
    let marks = vec![
        "(", ")", ",", ".", "*", "+", "-", "/", "%", "=", "<", ">", "<=>", ":=", "||", "&&", "!",
        "~", "^", "@", "@@", "@a", "'x'", "\"y\"", "`z`", "1", "2.5", "1e3", "0x4D", "b'1'", "?",
        "a", "b", "t", "_latin1", "{", "}", "->", "->>", ";", "/*", "*/", "/*!80000", "-- ", "#",
        "\n", "é", "\\",
    ];
    prop_oneof![
        prop::sample::select(words).prop_map(str::to_owned),
        prop::sample::select(marks).prop_map(str::to_owned),
    ]
}

/// An accepted statement with some of its words changed for others.
fn mutation() -> impl Strategy<Value = String> {
    let lines: Vec<&'static str> = include_str!("accepted.sql").lines().collect();
    let change = (any::<prop::sample::Index>(), token());
    (
        prop::sample::select(lines),
        prop::collection::vec(change, 1..4),
    )
        .prop_map(|(line, changes)| {
            let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            for (index, token) in changes {
                let at = index.index(words.len());
                if let Some(word) = words.get_mut(at) {
                    *word = token;
                }
            }
            words.join(" ")
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn token_soup_never_panics(tokens in prop::collection::vec(token(), 0..40)) {
        let sql = tokens.join(" ");
        for statement in statements(&sql, &DEFAULT) {
            drop(statement);
        }
        crate::digest(&sql);
    }

    #[test]
    fn any_text_never_panics(sql in "\\PC{0,60}") {
        drop(parse(&sql, &DEFAULT));
        crate::digest(&sql);
        drop(crate::parameterize(&sql, &DEFAULT));
    }

    #[test]
    fn changed_statements_never_panic(sql in mutation()) {
        drop(parse(&sql, &DEFAULT));
    }

    /// A parameterized text has as many `?` as literals, and is the same statement.
    #[test]
    fn literals_become_parameters(sql in mutation()) {
        if let (Some(taken), Ok(whole)) = (crate::parameterize(&sql, &DEFAULT), parse_one(&sql, &DEFAULT)) {
            prop_assert_eq!(taken.source, whole.text);
            prop_assert!(taken.text.matches('?').count() >= taken.literals.len());
            if let Ok(parsed) = parse_one(&taken.text, &DEFAULT) {
                prop_assert_eq!(parsed.parameters as usize, taken.literals.len());
                let kind = std::mem::discriminant(&parsed.statement);
                prop_assert_eq!(kind, std::mem::discriminant(&whole.statement));
            }
        }
    }

    /// The bounds of heights and texts that callers rely on to walk a tree and to quote a
    /// statement.
    #[test]
    fn heights_and_texts_are_in_bounds(sql in mutation()) {
        if let Ok(parsed) = parse_one(&sql, &DEFAULT) {
            prop_assert!(parsed.height <= DEPTH_MAX);
            prop_assert!(sql.contains(parsed.text));
        }
    }
}

#[test]
fn returning_is_a_clause_where_an_expression_follows() {
    let clauses = [
        "delete from t returning *",
        "delete from t returning default(b)",
        "delete from t returning left(b, 1), 2",
        "delete from t where a = 1 returning case when a then 1 end",
        "insert into t select a from u returning a + 1 as n",
        "insert into t select 1 returning `a`",
        "insert into t select 1 from u union select 2 from u returning current_date",
        "replace into t (select a from u) returning -a",
        "insert into t select a from u where a > 1 returning (a)",
    ];
    let aliases = [
        "delete from t returning where a = 1",
        "insert into t select returning.a from u returning",
        "insert into t select a from u returning join v on (a = b)",
        "insert into t select 1 returning from u",
        "insert into t select a from u returning union (select 1)",
        "insert into t select a from u returning left join v using (a)",
        "insert into t select a from u returning, v on duplicate key update a = 1",
    ];
    let has_clause = |sql: &str| match parse_one(sql, &DEFAULT) {
        Ok(parsed) => match parsed.statement {
            Statement::Insert(insert) => !insert.returning.is_empty(),
            Statement::Delete(delete) => !delete.returning.is_empty(),
            other => panic!("{sql}: {other:?}"),
        },
        Err(error) => panic!("{sql}: {error}"),
    };
    for sql in clauses {
        assert!(has_clause(sql), "{sql}");
    }
    for sql in aliases {
        assert!(!has_clause(sql), "{sql}");
    }
}
