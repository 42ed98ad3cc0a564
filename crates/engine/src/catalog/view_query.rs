//! The stored form of a view's query: every table with its database, every column with its table, and `*` expanded to
//! the columns at creation.

use mayfly_plan::Catalog;
use mayfly_syntax::ast::{
    Expr, Flow, GroupBy, Ident, ObjectName, OrderByExpr, Query, Select, SelectItem, SetExpr,
    TableAlias, TableFactor, TableName, TableWithJoins, VisitMut, VisitorMut,
};
use mayfly_syntax::encodings::item_name;
use mayfly_types::{Error, Result};

use crate::names::same_name;

/// Makes a query independent of the current database and of columns added to its tables later. Returns the names of
/// its result columns.
pub(crate) fn fix_names(
    query: &mut Query,
    catalog: &dyn Catalog,
    database: Option<&str>,
) -> Result<Vec<String>> {
    let mut fixing = Fixing {
        catalog,
        database,
        scopes: Vec::new(),
        queries: Vec::new(),
        common_tables: Vec::new(),
        clause: Clause::Other,
        error: None,
    };
    let _ = query.visit_mut(&mut fixing);
    match fixing.error {
        Some(error) => Err(error),
        None => Ok(output_names(query)),
    }
}

/// The names of the columns of a query without `*`.
fn output_names(query: &Query) -> Vec<String> {
    match first_body(&query.body) {
        SetExpr::Select(select) => {
            let names = select.projection.iter();
            let names = names.map(|item| item_name(item).unwrap_or_default());
            names.map(str::to_owned).collect()
        }
        SetExpr::Values(rows) => {
            let width = rows.first().map_or(0, Vec::len);
            let columns = (0..width).map(|column| format!("column_{column}"));
            columns.collect()
        }
        _ => Vec::new(),
    }
}

/// The first operand of set operations, which names their columns.
fn first_body(mut body: &SetExpr) -> &SetExpr {
    loop {
        body = match body {
            SetExpr::SetOperation { left, .. } => left,
            SetExpr::Query(query) => &query.body,
            other => return other,
        };
    }
}

/// A table of FROM with the names of its columns.
struct NamedTable {
    database: Option<String>,
    alias: String,
    columns: Vec<String>,
}

/// The meaning of names in a query block.
#[derive(Default)]
struct Scope {
    tables: Vec<NamedTable>,
    /// The columns that `*` and unqualified names may mean.
    visible: Vec<Visible>,
    aliases: Vec<String>,
}

/// (table, name): a column of a query block, with the index of its table.
type Visible = (usize, String);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Clause {
    /// Names are column names.
    Other,
    /// Aliases of the select list come first.
    ByAlias,
}

/// A query whose names are being resolved.
struct OpenQuery {
    /// Number of scopes outside of it.
    scopes: usize,
    /// Number of common table expressions outside of it.
    common_tables: usize,
    /// The clause that it stands in.
    clause: Clause,
    /// Whether the query is a single SELECT, to whose tables its ORDER BY may refer.
    is_select: bool,
}

struct Fixing<'c> {
    catalog: &'c dyn Catalog,
    database: Option<&'c str>,
    scopes: Vec<Scope>,
    /// The enclosing queries, the innermost last.
    queries: Vec<OpenQuery>,
    common_tables: Vec<(String, Vec<String>)>,
    clause: Clause,
    /// The error that ended the walk.
    error: Option<Error>,
}

impl Fixing<'_> {
    fn fail(&mut self, error: Error) -> Flow {
        self.error = Some(error);
        Flow::Break(())
    }

    fn common_table(&self, name: &str) -> Option<&Vec<String>> {
        let mut tables = self.common_tables.iter().rev();
        let found = tables.find(|(known, _)| known == name);
        found.map(|(_, columns)| columns)
    }

    /// The names of a table's or view's visible columns.
    fn table_columns(&self, database: Option<&str>, name: &str) -> Result<Vec<String>> {
        if database.is_none()
            && let Some(columns) = self.common_table(name)
        {
            return Ok(columns.clone());
        }
        let database = database.or(self.database);
        if let Some(view) = self.catalog.view(database, name)? {
            return Ok(view.columns.clone());
        }
        let table = self.catalog.table(database, name)?;
        let visible = table.columns.iter().filter(|column| !column.invisible);
        Ok(visible.map(|column| column.name.clone()).collect())
    }

    fn scope_of(&self, from: &[TableWithJoins]) -> Result<Scope> {
        let mut scope = Scope::default();
        for item in from {
            let visible = self.add_joined(item, &mut scope)?;
            scope.visible.extend(visible);
        }
        Ok(scope)
    }

    /// Adds the tables of a join; returns the columns that names may mean.
    fn add_joined(&self, item: &TableWithJoins, scope: &mut Scope) -> Result<Vec<Visible>> {
        use mayfly_syntax::ast::{JoinConstraint, JoinOperator};
        let mut left = self.add_factor(&item.relation, scope)?;
        for join in &item.joins {
            let mut right = self.add_factor(&join.relation, scope)?;
            let (constraint, swapped) = match &join.join_operator {
                JoinOperator::Inner(constraint)
                | JoinOperator::StraightJoin(constraint)
                | JoinOperator::Left(constraint) => (constraint, false),
                JoinOperator::Right(constraint) => (constraint, true),
            };
            let names: Vec<String> = match constraint {
                JoinConstraint::Using(names) => {
                    names.iter().map(|name| name.value.clone()).collect()
                }
                JoinConstraint::Natural => {
                    let has = |name: &String| right.iter().any(|(_, other)| same_name(other, name));
                    let names = left.iter().map(|(_, name)| name);
                    names.filter(|name| has(name)).cloned().collect()
                }
                _ => {
                    left.append(&mut right);
                    continue;
                }
            };
            // A RIGHT JOIN is a LEFT JOIN with its tables exchanged.
            if swapped {
                std::mem::swap(&mut left, &mut right);
            }
            let is_common =
                |(_, name): &Visible| names.iter().any(|common| same_name(common, name));
            let (mut all, rest): (Vec<_>, Vec<_>) = left.into_iter().partition(is_common);
            all.extend(rest);
            all.extend(right.into_iter().filter(|column| !is_common(column)));
            left = all;
        }
        Ok(left)
    }

    fn add_factor(&self, factor: &TableFactor, scope: &mut Scope) -> Result<Vec<Visible>> {
        let before = scope.tables.len();
        match factor {
            TableFactor::Table { name, alias, .. } => {
                let Some(table) = TableName::from_object_name(name) else {
                    return Ok(Vec::new());
                };
                if table.database.is_none() && table.name.eq_ignore_ascii_case("dual") {
                    return Ok(Vec::new());
                }
                let columns = self.table_columns(table.database.as_deref(), &table.name)?;
                let alias = alias.as_ref().map(|alias| alias.name.value.clone());
                // A common table expression belongs to no database.
                let is_common =
                    table.database.is_none() && self.common_table(&table.name).is_some();
                let database = table.database.or_else(|| self.database.map(str::to_owned));
                scope.tables.push(NamedTable {
                    database: database.filter(|_| alias.is_none() && !is_common),
                    alias: alias.unwrap_or(table.name),
                    columns,
                });
            }
            TableFactor::Derived {
                subquery, alias, ..
            } => {
                let Some(alias) = alias else {
                    return Ok(Vec::new());
                };
                scope.tables.push(NamedTable {
                    database: None,
                    alias: alias.name.value.clone(),
                    columns: self.columns_under(alias, subquery)?,
                });
            }
            TableFactor::NestedJoin { table_with_joins } => {
                return self.add_joined(table_with_joins, scope);
            }
            TableFactor::Function { call, alias } => {
                let table = self.catalog.table_function(call)?;
                let names = table.columns.iter().map(|column| column.name.clone());
                let (name, columns) = match alias {
                    None => (table.name.clone(), names.collect()),
                    Some(alias) if alias.columns.is_empty() => {
                        (alias.name.value.clone(), names.collect())
                    }
                    Some(alias) => {
                        let columns = alias.columns.iter().map(|column| column.value.clone());
                        (alias.name.value.clone(), columns.collect())
                    }
                };
                scope.tables.push(NamedTable {
                    database: None,
                    alias: name,
                    columns,
                });
            }
            TableFactor::JsonTable { .. } => {}
        }
        let own = scope.tables.iter().enumerate().skip(before);
        let columns = own.flat_map(|(at, table)| {
            let names = table.columns.iter();
            names.map(move |name| (at, name.clone()))
        });
        Ok(columns.collect())
    }

    /// The column names of a query under an alias, which may rename them.
    fn columns_under(&self, alias: &TableAlias, query: &Query) -> Result<Vec<String>> {
        if alias.columns.is_empty() {
            return self.columns_of(query);
        }
        let columns = alias.columns.iter().map(|column| &column.value);
        Ok(columns.cloned().collect())
    }

    /// The names of a query's result columns, before its names are resolved.
    fn columns_of(&self, query: &Query) -> Result<Vec<String>> {
        let SetExpr::Select(select) = first_body(&query.body) else {
            return Ok(output_names(query));
        };
        let mut names = Vec::new();
        for item in &select.projection {
            match item_name(item) {
                Some(name) => names.push(name.to_owned()),
                None => {
                    let scope = self.scope_of(&select.from)?;
                    let expanded = expand(item, &scope);
                    names.extend(expanded.iter().filter_map(item_name).map(str::to_owned));
                }
            }
        }
        Ok(names)
    }

    /// The qualified form of a column's name; `None` if the name is no column.
    fn qualified(&self, name: &str) -> Option<Expr> {
        for (depth, scope) in self.scopes.iter().rev().enumerate() {
            let is_alias = || scope.aliases.iter().any(|alias| same_name(alias, name));
            if depth == 0 && self.clause == Clause::ByAlias && is_alias() {
                return None;
            }
            let has = |(_, column): &&Visible| same_name(column, name);
            let mut found = scope.visible.iter().filter(has);
            if let Some((table, _)) = found.next() {
                let one = found.next().is_none();
                return one.then(|| column(&scope.tables[*table], name));
            }
        }
        None
    }
}

fn quoted(name: &str) -> Ident {
    Ident::with_quote('`', name)
}

fn column(table: &NamedTable, name: &str) -> Expr {
    let own = table.columns.iter().find(|column| same_name(column, name));
    let name = own.map_or(name, String::as_str);
    let mut parts = Vec::with_capacity(3);
    parts.extend(table.database.as_deref().map(quoted));
    parts.push(quoted(&table.alias));
    parts.push(quoted(name));
    Expr::CompoundIdentifier(parts)
}

/// `*` and `t.*` expanded to columns; any other item unchanged.
fn expand(item: &SelectItem, scope: &Scope) -> Vec<SelectItem> {
    let item_of = |table: &NamedTable, name: &String| SelectItem::ExprWithAlias {
        expr: column(table, name),
        alias: quoted(name),
        implicit: true,
    };
    match item {
        SelectItem::Wildcard => {
            let columns = scope.visible.iter();
            let items = columns.map(|(table, name)| item_of(&scope.tables[*table], name));
            items.collect()
        }
        SelectItem::QualifiedWildcard(name) => {
            let last = name.0.last();
            let is_it = |table: &&NamedTable| last.is_some_and(|last| last.value == table.alias);
            let Some(table) = scope.tables.iter().find(is_it) else {
                return Vec::new();
            };
            let items = table.columns.iter().map(|name| item_of(table, name));
            items.collect()
        }
        item => vec![item.clone()],
    }
}

impl VisitorMut for Fixing<'_> {
    fn pre_visit_query(&mut self, query: &mut Query) -> Flow {
        self.queries.push(OpenQuery {
            scopes: self.scopes.len(),
            common_tables: self.common_tables.len(),
            clause: self.clause,
            is_select: matches!(&*query.body, SetExpr::Select(_)),
        });
        self.clause = Clause::Other;
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            match self.columns_under(&cte.alias, &cte.query) {
                Ok(columns) => {
                    let name = cte.alias.name.value.clone();
                    self.common_tables.push((name, columns));
                }
                Err(error) => return self.fail(error),
            }
        }
        Flow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> Flow {
        if let Some(query) = self.queries.pop() {
            self.scopes.truncate(query.scopes);
            self.common_tables.truncate(query.common_tables);
            self.clause = query.clause;
        }
        Flow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> Flow {
        let outside = self.queries.last().map_or(0, |query| query.scopes);
        self.scopes.truncate(outside);
        self.clause = Clause::Other;
        let mut scope = match self.scope_of(&select.from) {
            Ok(scope) => scope,
            Err(error) => return self.fail(error),
        };
        let items = select.projection.iter();
        select.projection = items.flat_map(|item| expand(item, &scope)).collect();
        let aliases = select.projection.iter().filter_map(item_name);
        scope.aliases = aliases.map(str::to_owned).collect();
        self.scopes.push(scope);
        // WINDOW is visited before HAVING: its names mean columns, not aliases.
        select.named_window.visit_mut(self)
    }

    fn pre_visit_relation(&mut self, name: &mut ObjectName) -> Flow {
        if let Some(table) = TableName::from_object_name(name)
            && table.database.is_none()
            && self.common_table(&table.name).is_none()
            && !table.name.eq_ignore_ascii_case("dual")
            && let Some(database) = self.database
        {
            let full = TableName {
                database: Some(database.to_owned()),
                name: table.name,
            };
            *name = full.to_object_name();
        }
        Flow::Continue(())
    }

    fn pre_visit_group_by(&mut self, _: &mut GroupBy) -> Flow {
        self.clause = Clause::Other;
        Flow::Continue(())
    }

    fn post_visit_group_by(&mut self, _: &mut GroupBy) -> Flow {
        // HAVING comes next.
        self.clause = Clause::ByAlias;
        Flow::Continue(())
    }

    fn pre_visit_order_by(&mut self, _: &mut [OrderByExpr]) -> Flow {
        self.clause = Clause::ByAlias;
        if let Some(query) = self.queries.last()
            && !query.is_select
        {
            // The columns of a union have no tables.
            self.scopes.truncate(query.scopes);
        }
        Flow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> Flow {
        if let Expr::Function(call) = expr
            && let Some(window) = &mut call.over
        {
            // A window function cannot refer to aliases of the select list.
            let clause = std::mem::replace(&mut self.clause, Clause::Other);
            call.args.visit_mut(self)?;
            window.visit_mut(self)?;
            self.clause = clause;
        }
        if let Expr::Identifier(ident) = expr
            && !ident.value.starts_with('@')
            && let Some(column) = self.qualified(&ident.value)
        {
            *expr = column;
        }
        Flow::Continue(())
    }
}
