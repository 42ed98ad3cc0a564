//! EXPLAIN output of the server in its traditional form, from its slow log or from a connection.

/// One row of EXPLAIN.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExplainRow {
    /// `select#`, empty for the result of a set operation.
    pub id: String,
    /// SIMPLE, PRIMARY, DERIVED, …
    pub select_type: String,
    /// The table's alias, or a name such as `<derived2>`.
    pub table: String,
    /// Its access type: ALL, index, ref, …
    pub access: String,
    /// The index that is used.
    pub key: String,
    /// Estimated number of rows read.
    pub rows: Option<u64>,
    /// `Using temporary`, `Using filesort`, …
    pub extra: String,
}

/// EXPLAIN output of a statement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Explain {
    /// Its rows, in order.
    pub rows: Vec<ExplainRow>,
}

impl Explain {
    /// Output from rows with column names.
    pub fn of_rows(names: &[String], rows: &[Vec<Option<String>>]) -> Self {
        let place = |name: &str| names.iter().position(|one| one.eq_ignore_ascii_case(name));
        let places = ["id", "select_type", "table", "type", "key", "rows", "Extra"].map(place);
        let rows = rows.iter().map(|row| {
            let value = |at: usize| {
                let value = places[at]
                    .and_then(|place| row.get(place))
                    .cloned()
                    .flatten();
                value.filter(|value| value != "NULL").unwrap_or_default()
            };
            ExplainRow {
                id: value(0),
                select_type: value(1),
                table: value(2),
                access: value(3),
                key: value(4),
                rows: value(5).parse().ok(),
                extra: value(6),
            }
        });
        Self {
            rows: rows.collect(),
        }
    }

    /// Output from lines of tab-separated values, the first line the names, as in slow logs.
    pub(crate) fn of_lines(lines: &[String]) -> Option<Self> {
        let values = |line: &String| {
            line.split('\t')
                .map(|value| value.trim().to_owned())
                .collect::<Vec<_>>()
        };
        let (names, rows) = lines.split_first()?;
        let rows: Vec<Vec<Option<String>>> = rows
            .iter()
            .map(|row| values(row).into_iter().map(Some).collect())
            .collect();
        let explain = Self::of_rows(&values(names), &rows);
        (!explain.rows.is_empty()).then_some(explain)
    }

    /// Whether a row's `Extra` contains these words.
    pub fn says(&self, words: &str) -> bool {
        self.rows.iter().any(|row| row.extra.contains(words))
    }

    /// Whether a row has one of these select types.
    pub(crate) fn has_select_type(&self, kinds: &[&str]) -> bool {
        self.rows
            .iter()
            .any(|row| kinds.iter().any(|kind| row.select_type.contains(kind)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_slow_log() {
        let lines = [
            "id\tselect_type\ttable\ttype\tpossible_keys\tkey\tkey_len\tref\trows\tr_rows\tfiltered\tr_filtered\tExtra",
            "1\tSIMPLE\tg\tALL\tNULL\tNULL\tNULL\tNULL\t50000\t50000.00\t100.00\t100.00\tUsing temporary; Using filesort",
        ]
        .map(str::to_owned);
        let explain = Explain::of_lines(&lines).expect("rows");
        assert_eq!(explain.rows[0].access, "ALL");
        assert_eq!(explain.rows[0].key, "");
        assert_eq!(explain.rows[0].rows, Some(50_000));
        assert!(explain.says("Using temporary"));
        assert_eq!(Explain::of_lines(&lines[..1]), None);
    }
}
