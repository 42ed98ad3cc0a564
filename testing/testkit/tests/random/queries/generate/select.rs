//! SELECT, what it reads, and what it groups by.

use super::{Column, Generator, numbered, separated};
use crate::queries::functions::AGGREGATE;
use crate::queries::schema::VIEW;
use crate::queries::tree::{Kind, Tree};

impl Generator<'_> {
    /// A query that gives columns `c0`, `c1`, … of these kinds.
    pub(super) fn query(&mut self, kinds: &[Kind], outer: &[Column], depth: usize) -> Tree {
        self.query_with(kinds, outer, depth, true)
    }

    /// [`Self::query`], whose own query blocks have window functions only if `windows` is set.
    fn query_with(
        &mut self,
        kinds: &[Kind],
        outer: &[Column],
        depth: usize,
        windows: bool,
    ) -> Tree {
        let is_exact = kinds.iter().all(|kind| kind.is_exact());
        if depth > 0 && is_exact && self.random.one_in(6) {
            let operator = self.random.pick(&[
                "UNION",
                "UNION ALL",
                "INTERSECT",
                "EXCEPT",
                "EXCEPT ALL",
                "INTERSECT ALL",
            ]);
            let left = self.select(kinds, outer, depth - 1, windows);
            let right = self.select(kinds, outer, depth - 1, windows);
            let text = format!("{{}} {operator} {{}}");
            return Tree::of(Kind::Query, &text, vec![left, right]);
        }
        self.select(kinds, outer, depth, windows)
    }

    /// A query for IN, ANY or ALL. Window functions are in a query block that reads no outer column where only those
    /// are supported, and in none if not even they are.
    pub(super) fn quantified_query(
        &mut self,
        kinds: &[Kind],
        outer: &[Column],
        depth: usize,
        is_materialized: bool,
    ) -> Tree {
        match self.supported {
            false => self.query(kinds, outer, depth),
            true if is_materialized && self.random.one_in(4) => {
                self.select(kinds, &[], depth, true)
            }
            true => self.query_with(kinds, outer, depth, false),
        }
    }

    fn select(&mut self, kinds: &[Kind], outer: &[Column], depth: usize, windows: bool) -> Tree {
        let (from, own) = self.from(outer, depth);
        let mut seen = own.clone();
        seen.extend_from_slice(outer);
        let is_exact = kinds.iter().all(|kind| kind.is_exact());
        let condition = self.condition(&seen, depth);
        let condition = Tree::of(Kind::Fixed, " WHERE {}", vec![condition]).optional();
        if is_exact && self.random.one_in(4) {
            return self.grouped(kinds, from, &own, condition, depth);
        }
        // MariaDB has other rules for windows.
        let has_windows =
            windows && self.wild && is_exact && own.iter().any(|one| one.kind.is_exact());
        if has_windows && self.random.one_in(4) {
            return self.windowed(kinds, from, &own, condition);
        }
        let distinct = if is_exact && self.random.one_in(6) {
            Tree::leaf(Kind::Fixed, "DISTINCT ").optional()
        } else {
            Tree::leaf(Kind::Fixed, "")
        };
        let mut text = "SELECT {}".to_owned();
        let mut parts = vec![distinct];
        for (at, kind) in kinds.iter().enumerate() {
            parts.push(self.value(*kind, &seen, depth));
            text += &separated(at, &format!("{{}} AS c{at}"));
        }
        text += " FROM {}{}";
        parts.extend([from, condition]);
        Tree::of(Kind::Query, &text, parts)
    }

    fn grouped(
        &mut self,
        kinds: &[Kind],
        from: Tree,
        own: &[Column],
        condition: Tree,
        depth: usize,
    ) -> Tree {
        let exact: Vec<&Column> = own.iter().filter(|column| column.kind.is_exact()).collect();
        let mut keys = Vec::new();
        for _ in 0..self.random.below(3).min(exact.len()) {
            let key: &Column = exact[self.random.below(exact.len())];
            if keys.iter().all(|other: &Column| other.name != key.name) {
                keys.push(key.clone());
            }
        }
        let mut text = "SELECT ".to_owned();
        let mut parts = Vec::new();
        for (at, kind) in kinds.iter().enumerate() {
            parts.push(self.aggregated(*kind, &keys, own, depth));
            text += &separated(at, &format!("{{}} AS c{at}"));
        }
        text += " FROM {}{}{}{}";
        parts.extend([from, condition]);
        let names: Vec<&str> = keys.iter().map(|key| key.name.as_str()).collect();
        parts.push(match names.as_slice() {
            [] => Tree::leaf(Kind::Fixed, ""),
            names => {
                let rollup = if self.random.one_in(5) {
                    Tree::leaf(Kind::Fixed, " WITH ROLLUP").optional()
                } else {
                    Tree::leaf(Kind::Fixed, "")
                };
                let text = format!(" GROUP BY {}{{}}", names.join(", "));
                Tree::of(Kind::Fixed, &text, vec![rollup])
            }
        });
        let having = if self.random.one_in(3) {
            let number = self.aggregated(Kind::Number, &keys, own, 1);
            let operator = self.random.pick(&["> 1", "= 0", "<= 2", "IS NULL", "<> 1"]);
            let text = format!("{{}} {operator}");
            let condition = Tree::of(Kind::Condition, &text, vec![number]);
            Tree::of(Kind::Fixed, " HAVING {}", vec![condition]).optional()
        } else {
            Tree::leaf(Kind::Fixed, "")
        };
        parts.push(having);
        Tree::of(Kind::Query, &text, parts)
    }

    /// Tables, and their columns.
    pub(super) fn from(&mut self, outer: &[Column], depth: usize) -> (Tree, Vec<Column>) {
        let (mut from, mut columns) = self.factor(depth);
        let joins = match self.random.below(6) {
            0..3 => 0,
            3..5 => 1,
            _ => 2,
        };
        for _ in 0..joins {
            let nests = self.random.one_in(6);
            let (right, more) = match nests {
                true => self.nested(),
                false if self.wild && depth > 0 && self.random.one_in(8) => {
                    self.lateral(&columns, depth)
                }
                false => self.factor(depth),
            };
            columns.extend(more);
            if right.text().starts_with("LATERAL") {
                from = Tree::of(Kind::Fixed, "{} JOIN {} ON TRUE", vec![from, right]);
                continue;
            }
            let join =
                self.random
                    .pick(&["JOIN", "LEFT JOIN", "RIGHT JOIN", "LEFT JOIN", "CROSS JOIN"]);
            if join == "CROSS JOIN" {
                from = Tree::of(Kind::Fixed, "{} CROSS JOIN {}", vec![from, right]);
                continue;
            }
            // Only MySQL allows outer columns in ON.
            let mut seen = columns.clone();
            if self.wild && self.random.one_in(4) {
                seen.extend_from_slice(outer);
            }
            let condition = if self.random.one_in(4) {
                self.condition(&seen, 1)
            } else {
                self.comparison(&seen, 0)
            };
            let text = format!("{{}} {join} {{}} ON {{}}");
            from = Tree::of(Kind::Fixed, &text, vec![from, right, condition]);
        }
        (from, columns)
    }

    /// A join in parentheses.
    fn nested(&mut self) -> (Tree, Vec<Column>) {
        let (left, mut columns) = self.factor(0);
        let (right, more) = self.factor(0);
        columns.extend(more);
        let condition = self.comparison(&columns, 0);
        let join = self.random.pick(&["JOIN", "LEFT JOIN"]);
        let text = format!("({{}} {join} {{}} ON {{}})");
        (
            Tree::of(Kind::Fixed, &text, vec![left, right, condition]),
            columns,
        )
    }

    /// A derived table that reads the tables before it.
    fn lateral(&mut self, before: &[Column], depth: usize) -> (Tree, Vec<Column>) {
        let alias = self.alias();
        let kinds: Vec<Kind> = (0..1 + self.random.below(2)).map(|_| self.kind()).collect();
        let query = self.query(&kinds, before, depth - 1);
        let text = format!("LATERAL ({{}}) AS {alias}");
        (
            Tree::of(Kind::Fixed, &text, vec![query]),
            of_alias(&alias, &numbered(&kinds)),
        )
    }

    pub(super) fn factor(&mut self, depth: usize) -> (Tree, Vec<Column>) {
        let alias = self.alias();
        if depth > 0 && self.random.one_in(6) {
            let kinds: Vec<Kind> = (0..1 + self.random.below(3)).map(|_| self.kind()).collect();
            let query = self.query(&kinds, &[], depth - 1);
            let text = format!("({{}}) AS {alias}");
            let columns = of_alias(&alias, &numbered(&kinds));
            return (Tree::of(Kind::Fixed, &text, vec![query]), columns);
        }
        if let Some((name, columns)) = self.common.last().cloned()
            && self.random.one_in(2)
        {
            let tree = Tree::leaf(Kind::Fixed, format!("{name} AS {alias}"));
            return (tree, of_alias(&alias, &columns));
        }
        let at = self.random.below(self.schema.tables.len());
        let table = &self.schema.tables[at];
        let is_view = at == 0 && self.random.one_in(4);
        let name = if is_view { VIEW } else { table.name.as_str() };
        let columns = table.columns.iter().map(|column| Column {
            name: column.name.clone(),
            kind: column.kind,
        });
        let mut columns: Vec<Column> = columns.collect();
        if !is_view {
            columns.push(Column {
                name: "id".to_owned(),
                kind: Kind::Number,
            });
        }
        let tree = Tree::leaf(Kind::Fixed, format!("{name} AS {alias}"));
        (tree, of_alias(&alias, &columns))
    }

    /// A value that is the same for all rows of a group.
    pub(super) fn aggregated(
        &mut self,
        kind: Kind,
        keys: &[Column],
        own: &[Column],
        depth: usize,
    ) -> Tree {
        let of_kind: Vec<&Column> = keys.iter().filter(|key| key.kind == kind).collect();
        if !of_kind.is_empty() && self.random.one_in(2) {
            let at = self.random.below(of_kind.len());
            return Tree::leaf(kind, of_kind[at].name.clone());
        }
        if self.wild && self.random.one_in(2) {
            let fitting: Vec<_> = AGGREGATE
                .iter()
                .filter(|call| call.result == kind)
                .collect();
            if !fitting.is_empty() {
                let call = fitting[self.random.below(fitting.len())];
                return self.call(call, own, depth.min(1));
            }
        }
        if kind != Kind::Number {
            let function = self.random.pick(&["MIN", "MAX"]);
            let value = self.value(kind, own, depth.min(1));
            return Tree::of(kind, &format!("{function}({{}})"), vec![value]);
        }
        let function = self.random.pick(&[
            "COUNT(*)",
            "COUNT({})",
            "SUM({})",
            "MIN({})",
            "MAX({})",
            "COUNT(DISTINCT {})",
            "SUM(DISTINCT {})",
            "BIT_OR(ABS({}))",
        ]);
        let value = self.value(Kind::Number, own, depth.min(1));
        Tree::of(kind, function, vec![value])
    }
}

fn of_alias(alias: &str, columns: &[Column]) -> Vec<Column> {
    let columns = columns.iter().map(|column| Column {
        name: format!("{alias}.{}", column.name),
        kind: column.kind,
    });
    columns.collect()
}
