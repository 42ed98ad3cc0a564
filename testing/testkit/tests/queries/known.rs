//! Differences from other servers that are there on purpose: narrow rules, each with its row in
//! COMPAT.md.

use mayfly_testkit::server::Flavour;

/// A difference that may be.
pub(crate) struct Known {
    /// The row of COMPAT.md.
    pub(crate) slug: &'static str,
    /// Whether it explains that a query gives `ours` here and `theirs` there.
    pub(crate) explains:
        fn(flavour: Flavour, query: &str, ours: &[String], theirs: &[String]) -> bool,
}

/// All of them.
pub(crate) const KNOWN: &[Known] = &[
    Known {
        slug: "decimal-scale",
        explains: |_, query, ours, theirs| {
            let chooses = [
                "IF(",
                "CASE ",
                "COALESCE(",
                "IFNULL(",
                "NULLIF(",
                "UNION",
                "INTERSECT",
                "EXCEPT",
            ];
            chooses.iter().any(|word| query.contains(word)) && same_numbers(ours, theirs)
        },
    },
    // A constant that is no date.
    Known {
        slug: "constant-no-date",
        explains: |_, _, _, theirs| theirs.iter().any(|row| row.contains("ERROR 1525")),
    },
    Known {
        slug: "number-display",
        explains: |flavour, _, ours, theirs| {
            flavour == Flavour::MariaDb && same_numbers(ours, theirs)
        },
    },
];

/// Whether rows differ in zeros at the ends of numbers alone.
fn same_numbers(ours: &[String], theirs: &[String]) -> bool {
    let shortened = |rows: &[String]| {
        let mut rows: Vec<String> = rows
            .iter()
            .map(|row| row.split('\t').map(shortest).collect::<Vec<_>>().join("\t"))
            .collect();
        rows.sort();
        rows
    };
    shortened(ours) == shortened(theirs)
}

fn shortest(cell: &str) -> &str {
    let is_decimal = cell.contains('.')
        && cell
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.' || byte == b'-');
    match is_decimal {
        true => cell.trim_end_matches('0').trim_end_matches('.'),
        false => cell,
    }
}
