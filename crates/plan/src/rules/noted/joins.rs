//! Joins in the optimizer trace: the orders that were compared, and the access to each right side.

use super::tables::{first_scan, tables_of};
use super::words::{block_of, table_list};
use crate::access::lookup::LookupPath;
use crate::document::{Document, Members};
use crate::explain::names::quoted;
use crate::trace::{Step, Trace};
use crate::tree::access::Access;
use crate::tree::logical::{Join, Relation, Scan};
use crate::tree::physical::JoinKind;

/// Maximum number of inputs of a chain of joins that are recorded: as many as MySQL joins.
pub(in crate::rules) const INPUTS_MAX: usize = 61;

/// The two join algorithms for the right side of a join, and their costs.
pub(in crate::rules) struct Ways {
    /// Whether the index lookup join is chosen.
    pub(in crate::rules) follows: bool,
    /// Whether a hint decides.
    pub(in crate::rules) forced: bool,
    pub(in crate::rules) lookup: f64,
    /// Cost of the hash join; `None`: there is no key to hash by but the index's.
    pub(in crate::rules) hash: Option<f64>,
    pub(in crate::rules) left_rows: f64,
    pub(in crate::rules) right_rows: f64,
}

fn kind_name(kind: JoinKind) -> &'static str {
    match kind {
        JoinKind::Inner => "inner",
        JoinKind::Left => "left",
        JoinKind::Semi => "semi",
        JoinKind::Anti => "anti",
        JoinKind::NullAwareAnti => "null-aware anti",
    }
}

fn noted(join: &Join, scan: &Scan, paths: Vec<Document>, trace: &Trace) {
    let considered: Members = vec![("considered_access_paths", Document::List(paths))];
    let members: Members = vec![
        ("join_type", Document::from(kind_name(join.kind))),
        ("plan_prefix", table_list(&join.left)),
        ("table", Document::from(quoted(&scan.alias))),
        ("best_access_path", considered.into()),
    ];
    let select_id = first_scan(&join.left).map_or(1, |first| trace.block_of(first.first));
    trace.note(select_id, Step::JoinAccess, members.into());
}

fn verdict(members: &mut Members, cause: Option<&'static str>) {
    members.push(("chosen", Document::from(cause.is_none())));
    if let Some(cause) = cause {
        members.push(("cause", Document::from(cause)));
    }
}

/// Records that no index leads from the left rows into the table.
pub(in crate::rules) fn without_index(join: &Join, scan: &Scan, trace: &Trace) {
    let path: Members = vec![
        ("access_type", Document::from("scan")),
        (
            "cause",
            Document::from("no index leads from plan_prefix to the table"),
        ),
        ("chosen", Document::from(true)),
    ];
    noted(join, scan, vec![path.into()], trace);
}

/// Records the comparison of an index lookup join with a hash join.
pub(in crate::rules) fn compared(
    join: &Join,
    scan: &Scan,
    best: &LookupPath,
    ways: &Ways,
    trace: &Trace,
) {
    let index = scan.table.indexes.get(best.lookup.index);
    let mut lookup: Members = vec![
        ("access_type", Document::from(lookup_type(scan, best))),
        (
            "index",
            Document::from(index.map_or("", |index| index.name.as_str())),
        ),
        ("rows", Document::from(best.rows_per_row)),
        ("prefix_rows", Document::from(ways.left_rows)),
        ("cost", Document::from(ways.lookup)),
    ];
    verdict(&mut lookup, (!ways.follows).then_some("cost"));
    let mut paths = vec![Document::from(lookup)];
    if let Some(hash) = ways.hash {
        let mut scan: Members = vec![
            ("access_type", Document::from("scan")),
            ("hash_join", Document::from(true)),
            ("resulting_rows", Document::from(ways.right_rows)),
            ("cost", Document::from(hash)),
        ];
        let cause = if ways.forced { "index_hint" } else { "cost" };
        verdict(&mut scan, ways.follows.then_some(cause));
        paths.push(scan.into());
    }
    noted(join, scan, paths, trace);
}

/// `eq_ref` finds at most one row, `ref` several.
fn lookup_type(scan: &Scan, path: &LookupPath) -> &'static str {
    let index = scan.table.indexes.get(path.lookup.index);
    let is_one =
        index.is_some_and(|index| index.unique && path.lookup.keys.len() == index.parts.len());
    if is_one { "eq_ref" } else { "ref" }
}

/// A candidate for the next input of a join.
pub(in crate::rules) struct Candidate {
    table: String,
    paths: Vec<Document>,
    rows: f64,
    cost: f64,
    /// Why it is not chosen.
    cause: Option<&'static str>,
}

impl Candidate {
    /// A candidate for the first input.
    pub(in crate::rules) fn first(
        relation: &Relation,
        access: Option<&Access>,
        (rows, cost): (f64, f64),
        cause: Option<&'static str>,
    ) -> Self {
        let access_type = match access {
            None => "derived",
            Some(Access::Table | Access::InOrder(_)) => "scan",
            Some(Access::Index(_) | Access::Merge(_)) => "range",
        };
        let path: Members = vec![
            ("access_type", Document::from(access_type)),
            ("resulting_rows", Document::from(rows)),
            ("cost", Document::from(cost)),
            ("chosen", Document::from(true)),
        ];
        Self {
            table: tables_of(relation).join(","),
            paths: vec![path.into()],
            rows,
            cost,
            cause,
        }
    }

    /// A candidate for the next input: by a hash join with it or with the joined rows, or by an index lookup. `total`:
    /// the rows and the cost after it.
    pub(in crate::rules) fn next(
        relation: &Relation,
        hash: f64,
        lookup: Option<(&LookupPath, f64)>,
        (rows, cost): (f64, f64),
        cause: Option<&'static str>,
    ) -> Self {
        let mut paths = Vec::new();
        if let (Some((path, lookup)), Relation::Scan(scan)) = (lookup, relation) {
            let index = scan.table.indexes.get(path.lookup.index);
            let mut members: Members = vec![
                ("access_type", Document::from(lookup_type(scan, path))),
                (
                    "index",
                    Document::from(index.map_or("", |index| index.name.as_str())),
                ),
                ("rows", Document::from(path.rows_per_row)),
                ("cost", Document::from(lookup)),
            ];
            verdict(&mut members, (hash < lookup).then_some("cost"));
            paths.push(members.into());
        }
        let mut members: Members = vec![
            ("access_type", Document::from("scan")),
            ("hash_join", Document::from(true)),
            ("cost", Document::from(hash)),
        ];
        let is_worse = lookup.is_some_and(|(_, lookup)| lookup <= hash);
        verdict(&mut members, is_worse.then_some("cost"));
        paths.push(members.into());
        Self {
            table: tables_of(relation).join(","),
            paths,
            rows,
            cost,
            cause,
        }
    }

    /// A candidate of several inputs, which are joined with each other before.
    pub(in crate::rules) fn several<'r>(
        relations: impl Iterator<Item = &'r Relation>,
        hash: f64,
        (rows, cost): (f64, f64),
    ) -> Self {
        let members: Members = vec![
            ("access_type", Document::from("derived")),
            ("hash_join", Document::from(true)),
            ("cost", Document::from(hash)),
            ("chosen", Document::from(true)),
        ];
        let tables: Vec<String> = relations.flat_map(tables_of).collect();
        Self {
            table: tables.join(","),
            paths: vec![members.into()],
            rows,
            cost,
            cause: None,
        }
    }

    fn is_chosen(&self) -> bool {
        self.cause.is_none()
    }

    fn document(self, prefix: &[String], rest: Vec<Document>) -> Document {
        let considered: Members = vec![("considered_access_paths", Document::List(self.paths))];
        let mut members: Members = vec![
            ("plan_prefix", prefix.iter().map(String::as_str).collect()),
            ("table", Document::from(self.table)),
            ("best_access_path", considered.into()),
            ("rows_for_plan", Document::from(self.rows)),
            ("cost_for_plan", Document::from(self.cost)),
        ];
        verdict(&mut members, self.cause);
        if !rest.is_empty() {
            members.push(("rest_of_plan", Document::List(rest)));
        }
        members.into()
    }
}

/// Records a join order that was chosen input by input, with the candidates at each.
pub(in crate::rules) fn ordered(relation: &Relation, levels: Vec<Vec<Candidate>>, trace: &Trace) {
    let select_id = block_of(relation, trace);
    let mut levels = levels.into_iter();
    for document in documents(&mut levels, &[]) {
        trace.note(select_id, Step::ExecutionPlans, document);
    }
}

/// Records the search for the order.
pub(in crate::rules) fn searched(
    relation: &Relation,
    pairs: usize,
    is_greedy: bool,
    trace: &Trace,
) {
    let algorithm = if is_greedy {
        "greedy: there are too many orders"
    } else {
        "all trees without cross products"
    };
    let members: Members = vec![
        ("search", Document::from(algorithm)),
        ("pairs_compared", crate::trace::number(pairs)),
    ];
    let select_id = block_of(relation, trace);
    trace.note(select_id, Step::ExecutionPlans, members.into());
}

fn documents(levels: &mut dyn Iterator<Item = Vec<Candidate>>, prefix: &[String]) -> Vec<Document> {
    let Some(level) = levels.next() else {
        return Vec::new();
    };
    let chosen = level.iter().find(|candidate| candidate.is_chosen());
    let mut longer = prefix.to_vec();
    longer.extend(chosen.map(|candidate| candidate.table.clone()));
    let mut rest = crate::stack::with_stack(|| documents(levels, &longer));
    let document = |candidate: Candidate| {
        let rest = if candidate.is_chosen() {
            std::mem::take(&mut rest)
        } else {
            Vec::new()
        };
        candidate.document(prefix, rest)
    };
    level.into_iter().map(document).collect()
}

/// Records the comparison of both orders of two inputs, first and second.
pub(in crate::rules) fn compared_pair(
    relation: &Relation,
    orders: [(Candidate, Candidate); 2],
    trace: &Trace,
) {
    let select_id = block_of(relation, trace);
    for (first, second) in orders {
        let prefix = [first.table.clone()];
        let rest = vec![second.document(&prefix, Vec::new())];
        trace.note(select_id, Step::ExecutionPlans, first.document(&[], rest));
    }
}

/// Records the comparison of a semijoin with a join that begins with the distinct rows of its inner side.
pub(in crate::rules) fn semijoin(join: &Join, from_outer: f64, from_inner: f64, trace: &Trace) {
    let is_inner = from_inner < from_outer;
    let strategy = |name: &str, cost: f64, chosen: bool| {
        let mut members: Members = vec![
            ("strategy", Document::from(name)),
            ("tables", table_list(&join.right)),
        ];
        if cost.is_finite() {
            members.push(("cost", Document::from(cost)));
        }
        let cause = if cost.is_finite() {
            "cost"
        } else {
            "no index leads to the outer tables"
        };
        verdict(&mut members, (!chosen).then_some(cause));
        Document::from(members)
    };
    let select_id = first_scan(&join.left).map_or(1, |scan| trace.block_of(scan.first));
    let outer = strategy("outer tables first", from_outer, !is_inner);
    let inner = strategy("different inner rows first", from_inner, is_inner);
    for document in [outer, inner] {
        trace.note(select_id, Step::SemijoinChoice, document);
    }
}
