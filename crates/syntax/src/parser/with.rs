//! Common table expressions that nothing reads (the manual, "WITH (Common Table Expressions)").
//!
//! MySQL does not even look up the names in them. They are left out of the tree, and so of a view's text, of the locks
//! and privileges of a statement, and of EXPLAIN.

use std::collections::HashSet;

use crate::ast::walk::{Flow, Visit, Visitor};
use crate::ast::{ObjectName, Query, SetExpr, With};

/// Unqualified names of tables in parts of a statement.
#[derive(Default)]
pub(super) struct TablesRead(HashSet<String>);

impl TablesRead {
    /// Adds the names in a part of the statement.
    pub(super) fn of(mut self, part: &dyn Visit) -> Self {
        let _ = part.visit(&mut self);
        self
    }

    /// The WITH clause without the tables that neither these parts nor other tables of the clause read; `None` if none
    /// remains. One with wrong names is left to the binder, which refuses it.
    pub(super) fn without_others(mut self, with: With) -> Option<With> {
        let names = with.cte_tables.iter().map(|table| &table.alias.name.value);
        let distinct: HashSet<&String> = names.clone().collect();
        let is_wrong = |name: &String| name.is_empty() || name.ends_with(' ');
        if distinct.len() < with.cte_tables.len() || names.clone().any(is_wrong) {
            return Some(with);
        }
        let mut read = Vec::with_capacity(with.cte_tables.len());
        // A table can be read by those behind it.
        for table in with.cte_tables.into_iter().rev() {
            if self.0.contains(&table.alias.name.value) {
                let _ = table.query.visit(&mut self);
                read.push(table);
            }
        }
        read.reverse();
        let with = With {
            cte_tables: read,
            ..with
        };
        (!with.cte_tables.is_empty()).then_some(with)
    }

    /// Adds the tables of `TABLE t`, which have no FROM.
    fn add_table_statements(&mut self, body: &SetExpr) {
        match body {
            SetExpr::Table(table) if table.database.is_none() => {
                self.0.insert(table.name.clone());
            }
            SetExpr::SetOperation { left, right, .. } => {
                self.add_table_statements(left);
                self.add_table_statements(right);
            }
            _ => {}
        }
    }
}

impl Visitor for TablesRead {
    fn pre_visit_query(&mut self, query: &Query) -> Flow {
        self.add_table_statements(&query.body);
        Flow::Continue(())
    }

    fn pre_visit_relation(&mut self, name: &ObjectName) -> Flow {
        if let [name] = name.0.as_slice() {
            self.0.insert(name.value.clone());
        }
        Flow::Continue(())
    }
}
