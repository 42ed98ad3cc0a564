//! View definitions.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use itertools::Itertools;
use mayfly_plan::{ViewSource, calls_aggregates, has_outer_join, has_window_functions};
use mayfly_syntax::ast::{
    AccountReference, CreateView, Expr, Query, SelectItem, SetExpr, TableFactor, TableWithJoins,
    ViewAlgorithm, visit_relations,
};
use mayfly_syntax::printer::quoted_identifier;

use super::expression_text::query_text;

/// A view's definition. Immutable; a replaced view has a new one.
#[derive(Debug, Clone)]
pub(crate) struct ViewDefinition {
    /// Its query and names, as the planner reads them.
    pub(crate) source: Arc<ViewSource>,
    /// Whether the statement named the columns.
    pub(crate) columns_named: bool,
    /// ALGORITHM
    pub(crate) algorithm: ViewAlgorithm,
    /// DEFINER: the account's name and host.
    pub(crate) definer: (String, String),
    /// SQL SECURITY INVOKER
    pub(crate) invoker_security: bool,
    /// Whether its query has aggregates or window functions, not counting subqueries.
    pub(crate) aggregates: bool,
    /// Time of creation: microseconds since 1970 UTC.
    pub(crate) created: i64,
    /// `character_set_client` of the session that created it.
    pub(crate) character_set: String,
    /// `collation_connection` of the session that created it.
    pub(crate) collation: String,
}

impl ViewDefinition {
    /// The database.
    pub(crate) fn database(&self) -> &str {
        &self.source.database
    }

    /// The name.
    pub(crate) fn name(&self) -> &str {
        &self.source.name
    }

    /// This view under another name.
    pub(crate) fn renamed(&self, name: &str) -> Self {
        let mut source = ViewSource::clone(&self.source);
        name.clone_into(&mut source.name);
        Self {
            source: Arc::new(source),
            ..self.clone()
        }
    }

    /// The query as `information_schema.VIEWS` shows it.
    pub(crate) fn query_text(&self) -> String {
        query_text(&self.source.query, None)
    }

    /// The CREATE VIEW statement with fully qualified names, which can be run anywhere.
    pub(crate) fn full_text(&self) -> String {
        self.statement(None, true)
    }

    /// The view of a full text, without properties that the text does not have.
    pub(crate) fn of_full_text(statement: &CreateView, database: &str) -> Self {
        let definer = match &statement.definer {
            Some(AccountReference::Named { user, host }) => {
                (user.clone(), host.clone().unwrap_or_else(|| "%".to_owned()))
            }
            Some(AccountReference::Current) | None => (String::new(), String::new()),
        };
        let invoker_security = statement.invoker_security == Some(true);
        Self {
            source: Arc::new(ViewSource {
                database: database.to_owned(),
                name: statement.name.name.clone(),
                columns: statement.columns.clone(),
                query: statement.query.clone(),
                materialized: statement.algorithm == ViewAlgorithm::TempTable,
                check_option: statement.check_option,
                definer: (!invoker_security).then(|| definer.clone()),
            }),
            columns_named: false,
            algorithm: statement.algorithm,
            definer,
            invoker_security,
            aggregates: calls_aggregates(&*statement.query.body)
                || has_window_functions(&statement.query),
            created: 0,
            character_set: String::new(),
            collation: String::new(),
        }
    }

    /// The CREATE VIEW statement, as SHOW CREATE VIEW prints it in a session whose database is `current`.
    pub(crate) fn create_text(&self, current: Option<&str>) -> String {
        self.statement(current, self.columns_named)
    }

    fn statement(&self, current: Option<&str>, names_columns: bool) -> String {
        let algorithm = match self.algorithm {
            ViewAlgorithm::Undefined => "UNDEFINED",
            ViewAlgorithm::Merge => "MERGE",
            ViewAlgorithm::TempTable => "TEMPTABLE",
        };
        let security = self.security();
        let hides = current == Some(self.database());
        let mut name = quoted_identifier(self.name());
        if !hides {
            name = format!("{}.{name}", quoted_identifier(self.database()));
        }
        if names_columns {
            let columns = self.source.columns.iter();
            let columns = columns.map(|name| quoted_identifier(name));
            name += &format!(" ({})", columns.format(","));
        }
        let mut query = query_text(&self.source.query, hides.then(|| self.database()));
        if self.source.check_option.is_some() {
            query += &format!(" WITH {} CHECK OPTION", self.check_option_name());
        }
        let (user, host) = &self.definer;
        let (user, host) = (quoted_identifier(user), quoted_identifier(host));
        format!(
            "CREATE ALGORITHM={algorithm} DEFINER={user}@{host} SQL SECURITY {security} VIEW {name} AS {query}"
        )
    }

    /// SQL SECURITY by its name.
    pub(crate) fn security(&self) -> &'static str {
        if self.invoker_security {
            "INVOKER"
        } else {
            "DEFINER"
        }
    }

    /// Whether each of its rows is a row of its tables: no grouping, no DISTINCT, no LIMIT, no union.
    pub(crate) fn is_mergeable(&self) -> bool {
        let query = &self.source.query;
        let SetExpr::Select(select) = &*query.body else {
            return false;
        };
        query.limit_clause.is_none()
            && !select.distinct
            && select.having.is_none()
            && select.group_by.keys.is_empty()
            && !select.from.is_empty()
            && !self.aggregates
    }

    /// Whether it is updatable, given the views that `view_of` finds: its rows are rows of inner joins, one of its
    /// tables is no view that is not updatable, and one of its columns is a table's column.
    pub(crate) fn is_updatable(&self, view_of: ViewOf<'_>) -> bool {
        let query = &*self.source.query;
        let SetExpr::Select(select) = &*query.body else {
            return false;
        };
        if !self.is_mergeable() || self.source.materialized || has_outer_join(query) {
            return false;
        }
        let is_column = |item: &SelectItem| {
            let (SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) = item
            else {
                return true;
            };
            matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_))
        };
        if !select.projection.iter().any(is_column) {
            return false;
        }
        let mut tables = Vec::new();
        for item in &select.from {
            add_tables(item, &mut tables);
        }
        // The only table must not be read by a subquery, too.
        if let [TableFactor::Table { name, .. }] = tables.as_slice() {
            let mut count = 0;
            let _ = visit_relations(query, |other| {
                count += usize::from(other == name);
                ControlFlow::<()>::Continue(())
            });
            if count > 1 {
                return false;
            }
        }
        tables.iter().any(|table| match table {
            TableFactor::Table { name, .. } => match name.0.as_slice() {
                [database, name] => view_of(&database.value, &name.value)
                    .is_none_or(|view| view.is_updatable(view_of)),
                _ => true,
            },
            _ => true,
        })
    }

    /// WITH CHECK OPTION by its name.
    pub(crate) fn check_option_name(&self) -> &'static str {
        match self.source.check_option {
            None => "NONE",
            Some(true) => "CASCADED",
            Some(false) => "LOCAL",
        }
    }
}

/// Function that finds the view of a database and a name.
pub(crate) type ViewOf<'f> = &'f dyn Fn(&str, &str) -> Option<Arc<ViewDefinition>>;

/// Whether a query reads a table or view of a name, also through views, of which `seen` are done. Its names are fully
/// qualified.
pub(crate) fn reads(
    query: &Query,
    wanted: (&str, &str),
    view_of: ViewOf<'_>,
    seen: &mut BTreeSet<(String, String)>,
) -> bool {
    let flow = visit_relations(query, |name| {
        let [database, table] = name.0.as_slice() else {
            return ControlFlow::Continue(());
        };
        let (database, table) = (database.value.as_str(), table.value.as_str());
        let is_read = (database, table) == wanted
            || view_of(database, table).is_some_and(|view| {
                seen.insert((database.to_owned(), table.to_owned()))
                    && reads(&view.source.query, wanted, view_of, seen)
            });
        match is_read {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    flow.is_break()
}

/// The tables of an item of FROM.
fn add_tables<'q>(item: &'q TableWithJoins, tables: &mut Vec<&'q TableFactor>) {
    let joined = item.joins.iter().map(|join| &join.relation);
    for factor in std::iter::once(&item.relation).chain(joined) {
        match factor {
            TableFactor::NestedJoin { table_with_joins } => add_tables(table_with_joins, tables),
            factor => tables.push(factor),
        }
    }
}
