//! Orders in the optimizer trace: whether an index gives the order of ORDER BY, GROUP BY or DISTINCT.

use super::words::{block_of, table_list};
use crate::access::path::Path;
use crate::document::{Document, Members};
use crate::explain::names::quoted;
use crate::trace::{Step, Trace};
use crate::tree::access::Access;
use crate::tree::logical::{Relation, Scan};

/// Clause that needs an order.
#[derive(Debug, Clone, Copy)]
pub(in crate::rules) struct Clause<'n> {
    /// `ORDER BY`, `GROUP BY` or `DISTINCT`.
    pub(in crate::rules) name: &'static str,
    /// Access path that would be used otherwise.
    pub(in crate::rules) instead: &'static str,
    pub(in crate::rules) trace: &'n Trace,
}

/// Records that no index has the order; `select_id` is that of the query block.
pub(in crate::rules) fn without_index(clause: Clause<'_>, select_id: usize, cause: &str) {
    let summary: Members = vec![
        ("index_provides_order", Document::from(false)),
        ("order_direction", Document::from("undefined")),
        ("index", Document::from("unknown")),
        ("plan_changed", Document::from(false)),
        ("cause", Document::from(cause)),
    ];
    note(clause, select_id, summary, Vec::new());
}

/// Records that groups already come in the wanted order.
pub(in crate::rules) fn in_order(clause: Clause<'_>, select_id: usize) {
    let summary: Members = vec![
        ("index_provides_order", Document::from(true)),
        ("plan_changed", Document::from(false)),
        ("cause", Document::from("the groups come in this order")),
    ];
    note(clause, select_id, summary, Vec::new());
}

/// Records that MIN() and MAX() are read at the ends of an index.
pub(in crate::rules) fn ends_of_index(aggregate: &Relation, trace: &Trace) {
    let members: Members = vec![
        ("tables", table_list(aggregate)),
        ("message", Document::from("Select tables optimized away")),
        (
            "cause",
            Document::from("MIN() and MAX() are at the ends of an index"),
        ),
    ];
    trace.note(block_of(aggregate, trace), Step::IndexEnds, members.into());
}

fn note(clause: Clause<'_>, select_id: usize, summary: Members, steps: Vec<Document>) {
    let members: Members = vec![
        ("clause", Document::from(clause.name)),
        ("steps", Document::List(steps)),
        ("index_order_summary", summary.into()),
    ];
    clause
        .trace
        .note(select_id, Step::IndexOrder, members.into());
}

/// Records the comparison of index paths that give an order with a sort or a table. `costs`: of the cheapest path, and
/// of the alternative.
pub(in crate::rules) fn compared(
    clause: Clause<'_>,
    scan: &Scan,
    (ways, best): (&[Path], usize),
    (ordered, made): (f64, f64),
    taken: Result<(), &'static str>,
) {
    let index_name = |path: &Path| match &path.access {
        Access::Index(access) => scan.table.indexes.get(access.index),
        Access::Table | Access::InOrder(_) | Access::Merge(_) => None,
    };
    let step = |path: &Path| {
        let index = index_name(path).map_or("", |index| index.name.as_str());
        let members: Members = vec![
            ("index", Document::from(index)),
            ("rows", Document::from(path.rows)),
            ("cost", Document::from(path.cost)),
        ];
        Document::from(members)
    };
    let steps = ways.iter().map(step).collect();
    let chosen = ways.get(best).filter(|_| taken.is_ok());
    let access = chosen.and_then(|path| match &path.access {
        Access::Index(access) => Some(access),
        Access::Table | Access::InOrder(_) | Access::Merge(_) => None,
    });
    let direction = match access {
        None => "undefined",
        Some(access) if access.reverse => "desc",
        Some(_) => "asc",
    };
    let index = chosen.and_then(index_name);
    let before = match &scan.access {
        Access::Index(access) => Some(access.index),
        Access::Table | Access::InOrder(_) | Access::Merge(_) => None,
    };
    let changed = access.is_some_and(|access| Some(access.index) != before);
    let mut summary: Members = vec![
        ("table", Document::from(quoted(&scan.alias))),
        ("index_provides_order", Document::from(chosen.is_some())),
        ("order_direction", Document::from(direction)),
        (
            "index",
            Document::from(index.map_or("unknown", |index| index.name.as_str())),
        ),
        ("plan_changed", Document::from(changed)),
    ];
    if let Some(access) = access {
        let access_type = match access.ranges {
            Some(_) => "range",
            None => "index",
        };
        summary.push(("access_type", Document::from(access_type)));
    }
    if !ways.is_empty() {
        summary.push(("cost_by_index", Document::from(ordered)));
    }
    if made.is_finite() {
        summary.push(("cost_otherwise", Document::from(made)));
    }
    let cause = match taken {
        Err(cause) => cause,
        Ok(()) if ordered > made => "index_hint",
        Ok(()) => "cost",
    };
    summary.push(("cause", Document::from(cause)));
    if taken.is_err() {
        summary.push(("instead", Document::from(clause.instead)));
    }
    let select_id = clause.trace.block_of(scan.first);
    note(clause, select_id, summary, steps);
}
