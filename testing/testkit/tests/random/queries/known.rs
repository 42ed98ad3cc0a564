//! Intended differences from other servers: narrow rules, each with its row in COMPAT.md.

use mayfly_testkit::server::Flavour;

use crate::queries::answers::Answer;

/// A query that another server answers differently.
pub(crate) struct Difference<'d> {
    pub(crate) flavour: Flavour,
    pub(crate) query: &'d str,
    /// The statements that created the tables.
    pub(crate) tables: &'d str,
    pub(crate) ours: &'d Answer,
    pub(crate) theirs: &'d Answer,
}

impl Difference<'_> {
    /// Whether the tables have all types, and the query compares different ones.
    fn mixes_types(&self) -> bool {
        self.tables.contains("utf8mb4_0900_bin")
    }

    fn names(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.query.contains(word))
    }

    /// Whether the other server returns one of these errors, with this in its text.
    fn refuses(&self, errors: &[u16], has: &str) -> bool {
        matches!(self.theirs, Answer::Error(errno, text) if errors.contains(errno) && text.contains(has))
            && matches!(self.ours, Answer::Rows(_))
    }
}

/// A known difference.
pub(crate) struct Known {
    /// The row of COMPAT.md.
    pub(crate) slug: &'static str,
    pub(crate) explains: fn(&Difference<'_>) -> bool,
}

/// Functions that return one of several values.
const CHOICES: [&str; 13] = [
    "IF(",
    "CASE ",
    "COALESCE(",
    "IFNULL(",
    "NULLIF(",
    "GREATEST(",
    "LEAST(",
    "ANY_VALUE(",
    "MIN(",
    "MAX(",
    "UNION",
    "INTERSECT",
    "EXCEPT",
];

const fn known(slug: &'static str, explains: fn(&Difference<'_>) -> bool) -> Known {
    Known { slug, explains }
}

/// All known differences.
pub(crate) const KNOWN: &[Known] = &[
    known("quantified-windows", |found| {
        found.refuses(&[1235], "contained window functions")
    }),
    known("unsigned-distances", |found| {
        found.names(&[" RANGE "]) && found.refuses(&[1690], "BIGINT UNSIGNED")
    }),
    known("decimal-scale", |found| {
        found.names(&CHOICES) && same_numbers(found, 0.0)
    }),
    known("constant-no-date", |found| {
        matches!(found.theirs, Answer::Error(1525, _))
    }),
    known("number-display", |found| {
        found.flavour == Flavour::MariaDb && same_numbers(found, 0.0)
    }),
    known("exact-sums", |found| {
        found.names(&["SUM(", "AVG(", "STD", "VAR"]) && same_numbers(found, 1e-12)
    }),
    known("year-zero", |found| {
        shows(found.ours, &["0000"]) && same_numbers(found, 0.0)
    }),
    known("binary-texts", |found| {
        found.refuses(&[3854], "from binary to") || found.refuses(&[3995], "'binary'")
    }),
    known("removed-in-9", |found| {
        let removed = ["MD5 ", "SHA1 ", "SHA ", "SHA1(", "MD5("];
        removed.iter().any(|name| found.refuses(&[1305], name))
    }),
    known("small-numbers-as-dates", |found| {
        found.names(&["YEAR(", "DATE(", "AS DATE", "MONTH", "DAY", "QUARTER("])
            && shows(found.theirs, &["0"])
            && shows(found.ours, &["NULL", "0000"])
    }),
    known("small-numbers-as-dates", |found| {
        let names = found.names(&["DAYNAME(", "MONTHNAME("]);
        names && found.tables.contains(" YEAR") && shows(found.ours, &["NULL"])
    }),
    known(
        "decimal-digits",
        |found| matches!(found.ours, Answer::Error(1690, text) if text.contains("DECIMAL")),
    ),
    known("argument-errors", |found| match found.ours {
        Answer::Error(1411, _) => true,
        Answer::Error(1690, _) => found.names(&["NULL", "JSON_VALID("]),
        _ => false,
    }),
    known("week-mode", |found| {
        let is_zero = |row: &String| row.split('\t').any(|cell| cell == "0");
        let is_unknown = matches!(found.theirs, Answer::Rows(rows) if rows.iter().any(is_zero));
        let is_wide = found.tables.contains("BIT(64)") || found.query.contains("1234567890");
        found.names(&["WEEK("]) && (is_unknown || is_wide)
    }),
    known("interval-of-choices", |found| {
        let at_midnight = shows(found.theirs, &[" 00:00:00"]);
        found.names(&CHOICES) && found.names(&["INTERVAL "]) && at_midnight
    }),
    known("time-of-texts", |found| {
        let parts = ["HOUR(", "MINUTE(", "SECOND(", "TIME", "AS TIME"];
        let is_null = shows(found.theirs, &["NULL"]);
        found.names(&parts) && found.names(&["REVERSE(", "CONCAT"]) && is_null
    }),
    known("repeated-constants", |found| {
        found.names(&["OCT(", "CONV(", "BIN("]) && found.names(&["DATE", "TIME"])
    }),
    known("replace-length", |found| {
        found.names(&["REPLACE("]) && found.names(&["DISTINCT", "UNION", "GROUP"])
    }),
    known("week-of-no-month", |found| {
        found.names(&["WEEK", "DATE_FORMAT("]) && shows(found.theirs, &["6135667"])
    }),
    known("picoseconds", |found| {
        found.refuses(&[1253, 1267], "utf8mb3")
    }),
    known("null-collation", |found| {
        found.flavour == Flavour::MariaDb && matches!(found.ours, Answer::Error(1253, _))
    }),
    known("rollup-constants", |found| {
        match (found.ours, found.theirs) {
            (Answer::Rows(ours), Answer::Rows(theirs)) => {
                found.names(&[" WITH ROLLUP"]) && theirs.len() < ours.len()
            }
            _ => false,
        }
    }),
    known("exact-ranges", |found| {
        let years = found.tables.contains(" YEAR");
        let compares = found.names(&["=", "<", ">", "BETWEEN", " IN ("]);
        let documents = found.tables.contains("BIGINT") && found.query.contains("JSON") && compares;
        documents || years && found.names(&[" IN (", "BETWEEN ", "CASE ", "<=>"])
    }),
    // In MySQL, IN takes -1 for 18446744073709551615; or a year is compared with a date.
    known("comparison-types", |found| {
        let unsigned = ["BIGINT UNSIGNED", "BIT(64)", "18446744073709551615"];
        let has_one = |text: &str| unsigned.iter().any(|word| text.contains(word));
        found.names(&[" IN (", "CASE "]) && (has_one(found.query) || has_one(found.tables))
            || (found.names(&[" IN (", "YEAR("]) || found.tables.contains(" YEAR"))
                && found.mixes_types()
                && found.names(&["DATE", "TIME"])
    }),
    known("comparison-types", |found| {
        found.names(&["NULLIF("]) && found.tables.contains(" YEAR") && shows(found.theirs, &["20"])
    }),
    known("comparison-types", |found| {
        let mut kinds = [" SET(", " ENUM("].into_iter();
        let reads_one = kinds.any(|kind| {
            let mut ends = found.tables.match_indices(kind).map(|(end, _)| end);
            ends.any(|end| {
                let column = found.tables[..end].rsplit(' ').next();
                column.is_some_and(|column| found.query.contains(&format!(".{column} ")))
            })
        });
        reads_one && found.names(&["IN (SELECT", "ANY (SELECT", "ALL (SELECT"])
    }),
    known("time-and-moment", |found| {
        let compares = ["=", "<", ">", "BETWEEN"];
        found.tables.contains(" TIME")
            && found.names(&["DATE", "TIMESTAMP"])
            && found.names(&compares)
    }),
    known("count-distinct-null", |found| {
        found.names(&["COUNT(DISTINCT "]) && found.names(&["(SELECT "])
    }),
    known("null-beside-values", |found| {
        let choosing = [
            "FIELD(",
            "ELT(",
            "MAKE_SET(",
            "CONCAT_WS(",
            "INTERVAL(",
            "CHAR(",
            "QUOTE(",
        ];
        found.names(&choosing) && found.names(&[" LEFT JOIN ", " RIGHT JOIN "])
    }),
    known("set-operations-in-subqueries", |found| {
        let quantified = ["IN (SELECT", "ANY (SELECT", "ALL (SELECT", "EXISTS (SELECT"];
        let counted = found.names(&[" INTERSECT ALL ", " EXCEPT ALL "]);
        found.names(&quantified) && found.names(&[" INTERSECT ", " EXCEPT "])
            || found.query.starts_with("WITH ") && counted
    }),
    known("bit-choices", |found| {
        let gives_rows = |answer: &Answer| matches!(answer, Answer::Rows(_));
        let shows = found.names(&CHOICES) || found.query.contains("JSON");
        found.tables.contains(" BIT(")
            && shows
            && gives_rows(found.ours)
            && gives_rows(found.theirs)
    }),
];

/// Whether a row contains one of these texts.
fn shows(answer: &Answer, texts: &[&str]) -> bool {
    let has = |row: &String| texts.iter().any(|text| row.contains(text));
    matches!(answer, Answer::Rows(rows) if rows.iter().any(has))
}

/// Whether rows differ only in zeros at the ends of numbers, or by that part of them.
fn same_numbers(found: &Difference<'_>, part: f64) -> bool {
    let (Answer::Rows(ours), Answer::Rows(theirs)) = (found.ours, found.theirs) else {
        return false;
    };
    let cells = |rows: &[String]| {
        let mut rows: Vec<Vec<String>> = rows
            .iter()
            .map(|row| {
                row.split('\t')
                    .map(|cell| shortest(cell).to_owned())
                    .collect()
            })
            .collect();
        rows.sort();
        rows.concat()
    };
    let (ours, theirs) = (cells(ours), cells(theirs));
    let near = |a: f64, b: f64| a == b || (a - b).abs() <= part * a.abs().max(b.abs());
    let same = |a: &String, b: &String| {
        a == b || a.parse().is_ok_and(|a| b.parse().is_ok_and(|b| near(a, b)))
    };
    ours.len() == theirs.len() && ours.iter().zip(&theirs).all(|(a, b)| same(a, b))
}

/// A number or a time without zeros at its end.
fn shortest(cell: &str) -> &str {
    let is_part = |byte: u8| byte.is_ascii_digit() || b".-: ".contains(&byte);
    if cell.contains('.') && cell.bytes().all(is_part) {
        cell.trim_end_matches('0').trim_end_matches('.')
    } else {
        cell
    }
}
