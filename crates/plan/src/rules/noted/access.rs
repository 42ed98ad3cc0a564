//! Access paths of a table in the optimizer trace: `rows_estimation`.

use super::words::text;
use crate::access::path::{self, Alternative, Path};
use crate::document::{Document, Members};
use crate::explain::access::{column_name, range_texts};
use crate::explain::names::quoted;
use crate::options::PlanOptions;
use crate::trace::{Step, Trace};
use crate::tree::access::{Access, HintPurpose, IndexAccess};
use crate::tree::expression::Expression;
use crate::tree::logical::{ColumnSet, Scan};
use crate::tree::physical::MergeKind;

/// Chooses the access path of a table, and records the comparison.
pub(in crate::rules) fn best(
    scan: &Scan,
    needed: &ColumnSet,
    options: &PlanOptions,
    trace: &Trace,
) -> (Path, Vec<usize>) {
    let mut considered = Considered {
        scan,
        needed,
        options,
        trace,
        potential: Vec::new(),
        ranges: Vec::new(),
        merges: Vec::new(),
    };
    let found = path::best_of(scan, needed, options, &mut |way| considered.take(way));
    let document = considered.document(&found.0);
    trace.note(
        trace.block_of(scan.first),
        Step::RowsEstimation,
        document.into(),
    );
    found
}

/// Alternatives that were compared.
struct Considered<'a> {
    scan: &'a Scan,
    needed: &'a ColumnSet,
    options: &'a PlanOptions,
    trace: &'a Trace,
    potential: Vec<Document>,
    ranges: Vec<(Access, f64, Members)>,
    merges: Vec<(Access, f64, Members)>,
}

impl Considered<'_> {
    fn take(&mut self, way: Alternative<'_>) {
        match way {
            Alternative::NotUsable(position) => {
                let index = self.scan.table.indexes.get(position);
                let cause = match index {
                    Some(index) if index.id.is_none() => "not_kept",
                    Some(index)
                        if !index.visible && !self.options.switches.use_invisible_indexes =>
                    {
                        "invisible"
                    }
                    _ => "index_hint",
                };
                self.add_potential(position, Some(cause));
            }
            Alternative::NotApplicable(position) => {
                self.add_potential(position, Some("not_applicable"));
            }
            Alternative::Range(position, path) => {
                self.add_potential(position, None);
                let members = self.range_members(path);
                self.ranges.push((path.access.clone(), path.cost, members));
            }
            Alternative::Merge(path) => {
                let members = self.merge_members(path);
                self.merges.push((path.access.clone(), path.cost, members));
            }
        }
    }

    fn add_potential(&mut self, position: usize, cause: Option<&'static str>) {
        let Some(index) = self.scan.table.indexes.get(position) else {
            return;
        };
        let mut members: Members = vec![
            ("index", Document::from(index.name.as_str())),
            ("usable", Document::from(cause.is_none())),
        ];
        match cause {
            Some(cause) => members.push(("cause", Document::from(cause))),
            None => {
                let parts = index.parts.iter();
                let parts = parts.map(|part| column_name(&self.scan.table, part.column));
                members.push(("key_parts", parts.collect()));
            }
        }
        self.potential.push(members.into());
    }

    fn index_members(&self, access: &IndexAccess) -> Members {
        let table = &self.scan.table;
        let Some(index) = table.indexes.get(access.index) else {
            return Vec::new();
        };
        let ranges = access.ranges.as_ref();
        let names = |column: usize| self.trace.column_name(column);
        let texts =
            ranges.map_or_else(Vec::new, |ranges| range_texts(ranges, table, index, &names));
        vec![
            ("index", Document::from(index.name.as_str())),
            ("ranges", texts.into_iter().collect()),
        ]
    }

    fn range_members(&self, path: &Path) -> Members {
        let [access] = path.access.indexes() else {
            return Vec::new();
        };
        let mut members = self.index_members(access);
        if let Some(index) = self.scan.table.indexes.get(access.index) {
            let covers = path::is_covering(self.scan, index, self.needed);
            members.push(("index_only", Document::from(covers)));
        }
        members.push(("rows", Document::from(access.rows)));
        members.push(("cost", Document::from(path.cost)));
        members
    }

    fn merge_members(&self, path: &Path) -> Members {
        let Access::Merge(merge) = &path.access else {
            return Vec::new();
        };
        let kind = match merge.kind {
            MergeKind::Union => "index_roworder_union",
            MergeKind::SortUnion => "index_sort_union",
            MergeKind::Intersection => "index_roworder_intersect",
            MergeKind::Elements => "range_scan",
        };
        let parts = merge.parts.iter();
        vec![
            ("type", Document::from(kind)),
            (
                "indexes",
                parts
                    .map(|part| Document::from(self.index_members(part)))
                    .collect(),
            ),
            ("rows", Document::from(merge.rows)),
            ("cost", Document::from(path.cost)),
        ]
    }

    fn document(self, best: &Path) -> Members {
        let scan = self.scan;
        let whole = path::table_path(scan, self.needed, self.options.locks_rows);
        let table_scan: Members = vec![
            ("rows", Document::from(scan.table.row_count)),
            ("cost", Document::from(whole.cost)),
        ];
        let mut members: Members = vec![("table", Document::from(quoted(&scan.alias)))];
        if self.potential.is_empty() {
            members.push(("table_scan", table_scan.into()));
            members.push(("rows_for_plan", Document::from(best.rows)));
            return members;
        }
        if !self.trace.features().range_optimizer {
            members.push(("range_analysis", Document::from("...")));
            return members;
        }
        let forced = scan.hints.force(HintPurpose::Join);
        let verdict = |(access, cost, mut members): (Access, f64, Members)| {
            let chosen = is_same(&access, &best.access);
            members.push(("chosen", Document::from(chosen)));
            if !chosen {
                let cause = if cost >= best.cost {
                    "cost"
                } else {
                    "index_hint"
                };
                members.push(("cause", Document::from(cause)));
            }
            Document::from(members)
        };
        let mut analysis: Members = vec![
            ("table_scan", table_scan.into()),
            ("potential_range_indexes", Document::List(self.potential)),
        ];
        let mut summary: Option<Members> = None;
        if !self.ranges.is_empty() || !self.merges.is_empty() {
            let mut all = self.ranges.iter().chain(&self.merges);
            let chosen = all.find(|(access, ..)| is_same(access, &best.access));
            summary = chosen.map(|(access, _, members)| {
                let mut plan = members.clone();
                if let Access::Index(_) = access {
                    plan.insert(0, ("type", Document::from("range_scan")));
                }
                vec![
                    ("range_access_plan", Document::from(plan)),
                    ("rows_for_plan", Document::from(best.rows)),
                    ("cost_for_plan", Document::from(best.cost)),
                    ("chosen", Document::from(true)),
                ]
            });
            let alternatives: Members = vec![
                (
                    "range_scan_alternatives",
                    Document::List(self.ranges.into_iter().map(verdict).collect()),
                ),
                (
                    "analyzing_index_merge",
                    Document::List(self.merges.into_iter().map(verdict).collect()),
                ),
            ];
            analysis.push(("analyzing_range_alternatives", alternatives.into()));
        }
        if let Some(summary) = summary {
            analysis.push(("chosen_range_access_summary", summary.into()));
        } else if forced {
            analysis.push(("cause", Document::from("index_hint")));
        }
        members.push(("range_analysis", analysis.into()));
        members.push(("rows_for_plan", Document::from(best.rows)));
        let conditions: Vec<Document> = condition_texts(&scan.predicates, self.trace);
        if !conditions.is_empty() {
            members.push(("conditions", Document::List(conditions)));
        }
        members
    }
}

fn condition_texts(predicates: &[Expression], trace: &Trace) -> Vec<Document> {
    let texts = predicates.iter().map(|one| text(one, trace));
    texts.map(Document::Text).collect()
}

/// Whether two access paths read the same indexes.
fn is_same(a: &Access, b: &Access) -> bool {
    let indexes = |access: &Access| -> Vec<usize> {
        let read = access.indexes().iter();
        read.map(|access| access.index).collect()
    };
    std::mem::discriminant(a) == std::mem::discriminant(b) && indexes(a) == indexes(b)
}

/// Plan of a query block that reads one table.
pub(super) fn only_plan(scan: &Scan, cost: f64) -> Document {
    let rows = scan.rows.unwrap_or(0.0);
    let (access_type, index, read) = match &scan.access {
        Access::Table | Access::InOrder(_) => ("scan", None, scan.table.row_count as f64),
        Access::Merge(merge) => ("range", None, merge.rows),
        Access::Index(access) => {
            let kind = match access.ranges {
                Some(_) => "range",
                None => "index_scan",
            };
            (kind, scan.table.indexes.get(access.index), access.rows)
        }
    };
    let mut path: Members = vec![
        ("rows_to_scan", Document::from(read)),
        ("access_type", Document::from(access_type)),
    ];
    if let Some(index) = index {
        path.push(("index", Document::from(index.name.as_str())));
    }
    path.push(("resulting_rows", Document::from(rows)));
    path.push(("cost", Document::from(cost)));
    path.push(("chosen", Document::from(true)));
    plan(
        Vec::new(),
        &scan.alias,
        vec![path.into()],
        (rows, cost),
        None,
    )
}

/// An entry of `considered_execution_plans`; `cause`: why it was not chosen.
pub(super) fn plan(
    prefix: Vec<String>,
    alias: &str,
    paths: Vec<Document>,
    (rows, cost): (f64, f64),
    cause: Option<&'static str>,
) -> Document {
    let considered: Members = vec![("considered_access_paths", Document::List(paths))];
    let mut members: Members = vec![
        ("plan_prefix", prefix.into_iter().collect()),
        ("table", Document::from(quoted(alias))),
        ("best_access_path", considered.into()),
        ("rows_for_plan", Document::from(rows)),
        ("cost_for_plan", Document::from(cost)),
        ("chosen", Document::from(cause.is_none())),
    ];
    if let Some(cause) = cause {
        members.push(("cause", Document::from(cause)));
    }
    members.into()
}
