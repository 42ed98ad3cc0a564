//! The tables that a statement names, and the access to each: one walk over its tree.

use mayfly_syntax::ast::{
    ExplainTarget, Flow, InsertSource, LockMode, LockType, ObjectName, Query, SetExpr, SetItem,
    SetValue, Statement, TableFactor, TableName, TableVerb, UpdateStatement, Visit, Visitor, With,
};

use crate::names::same_name;
use crate::session::Session;

/// Kind of access to a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// The statement reads rows.
    Read,
    /// The statement changes rows, or locks them to be changed.
    Write,
    /// The statement changes or drops the definition.
    Define,
}

/// A table as a statement names it.
#[derive(Debug)]
pub(super) struct TableReference {
    pub(super) table: TableName,
    pub(super) access: Access,
    /// Number of queries around it.
    pub(super) depth: usize,
}

/// The tables that a statement names.
pub(super) fn of_statement(session: &Session, statement: &Statement) -> Vec<TableReference> {
    use Access::{Define, Read, Write};
    if let Statement::Explain(explain) = statement {
        return match &explain.target {
            ExplainTarget::Statement { statement, .. } => of_statement(session, statement),
            _ => Vec::new(),
        };
    }
    let is_target = |table: &TableName, alias: &str| match statement {
        Statement::Update(update) => match update.tables.as_slice() {
            [only] if only.joins.is_empty() => true,
            _ => is_assigned(session, update, table, alias),
        },
        Statement::Delete(delete) => {
            let mut targets = delete.targets.iter();
            delete.targets.is_empty() || targets.any(|target| same_name(&target.name, alias))
        }
        _ => false,
    };
    let mut walk = Walk::new(&is_target);
    match statement {
        Statement::Update(update) => walk.add_common_tables(update.with.as_ref()),
        Statement::Delete(delete) => walk.add_common_tables(delete.with.as_ref()),
        Statement::Insert(insert) => walk.add(&insert.table, Write),
        Statement::LoadData(load) => walk.add(&load.table, Write),
        Statement::LockTables(tables) => {
            for lock in tables {
                let writes = lock.mode == LockMode::Write;
                walk.add(&lock.table, if writes { Write } else { Read });
            }
        }
        Statement::TableMaintenance(maintenance) if maintenance.verb == TableVerb::Checksum => {
            walk.add_all(&maintenance.tables, Read);
        }
        Statement::DropTable(drop) => walk.add_all(&drop.tables, Define),
        Statement::TruncateTable(table) => walk.add(table, Define),
        Statement::AlterTable(alter) => walk.add(&alter.table, Define),
        Statement::CreateIndex(create) => walk.add(&create.table, Define),
        Statement::DropIndex(drop) => walk.add(&drop.table, Define),
        Statement::RenameTable(rename) => {
            walk.add_all(rename.renames.iter().map(|(old, _)| old), Define);
        }
        _ => {}
    }
    let _ = visit(statement, &mut walk);
    walk.references
}

/// The tables that a query names.
pub(super) fn of_query(query: &Query) -> Vec<TableReference> {
    let mut walk = Walk::new(&|_, _| false);
    let _ = query.visit(&mut walk);
    walk.references
}

/// The tables that a view's query names, for a statement with this access to the view.
pub(super) fn below_view(query: &Query, access: Access) -> Vec<TableReference> {
    let mut walk = Walk::new(&|_, _| false);
    walk.locked.push(match access {
        Access::Write => Locked::All,
        _ => Locked::Nothing,
    });
    walk.table_statements(&query.body);
    let _ = query.body.visit(&mut walk);
    walk.references
}

/// Visits every query and expression of a statement that reads or changes rows.
pub(super) fn visit(statement: &Statement, visitor: &mut dyn Visitor) -> Flow {
    match statement {
        Statement::Query(query) => query.visit(visitor),
        Statement::SelectInto(into) => into.query.visit(visitor),
        Statement::Insert(insert) => {
            match &insert.source {
                InsertSource::Values(rows) => rows.visit(visitor)?,
                InsertSource::Query(query) => query.visit(visitor)?,
            }
            let mut assignments = insert.on_duplicate_key_update.iter();
            assignments.try_for_each(|assignment| assignment.value.visit(visitor))
        }
        Statement::Update(update) => {
            update.with.visit(visitor)?;
            update.tables.visit(visitor)?;
            let mut assignments = update.assignments.iter();
            assignments.try_for_each(|assignment| assignment.value.visit(visitor))?;
            update.selection.visit(visitor)?;
            update.order_by.visit(visitor)
        }
        Statement::Delete(delete) => {
            delete.with.visit(visitor)?;
            delete.from.visit(visitor)?;
            delete.selection.visit(visitor)?;
            delete.order_by.visit(visitor)
        }
        Statement::LoadData(load) => {
            let mut assignments = load.assignments.iter();
            assignments.try_for_each(|assignment| assignment.value.visit(visitor))
        }
        Statement::Set(items) => items.iter().try_for_each(|item| match item {
            SetItem::Assign {
                value: SetValue::Expr(value),
                ..
            } => value.visit(visitor),
            _ => Flow::Continue(()),
        }),
        Statement::SetStatement(_, inner) => visit(inner, visitor),
        Statement::Do(expressions) => expressions.visit(visitor),
        Statement::Explain(explain) => match &explain.target {
            ExplainTarget::Statement { statement, .. } => visit(statement, visitor),
            _ => Flow::Continue(()),
        },
        _ => Flow::Continue(()),
    }
}

/// Whether an UPDATE assigns to a column of one of its tables.
fn is_assigned(
    session: &Session,
    update: &UpdateStatement,
    table: &TableName,
    alias: &str,
) -> bool {
    let mut columns = update.assignments.iter().map(|it| &it.column);
    columns.any(|column| match column.as_slice() {
        [.., qualifier, _] => same_name(&qualifier.value, alias),
        [column] => has_column(session, table, &column.value),
        [] => false,
    })
}

fn has_column(session: &Session, table: &TableName, name: &str) -> bool {
    let database = table.database.as_deref().or(session.current_database());
    let found = database.and_then(|database| session.find_table(database, &table.name));
    found.is_some_and(|found| {
        let mut columns = found.definition.columns.iter();
        columns.any(|column| same_name(&column.name, name))
    })
}

/// Which of its tables a query locks for changes.
#[derive(Debug)]
enum Locked {
    Nothing,
    All,
    /// FOR UPDATE OF these tables.
    Only(Vec<String>),
}

impl Locked {
    fn of(query: &Query) -> Self {
        let mut names = Vec::new();
        for lock in &query.locks {
            match (&lock.lock_type, &lock.of) {
                (LockType::Update, None) => return Self::All,
                (LockType::Update, Some(name)) => names.extend(last_name(name)),
                (LockType::Share, _) => {}
            }
        }
        if names.is_empty() {
            Self::Nothing
        } else {
            Self::Only(names)
        }
    }

    fn has(&self, alias: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::All => true,
            Self::Only(names) => names.iter().any(|name| same_name(name, alias)),
        }
    }
}

fn last_name(name: &ObjectName) -> Option<String> {
    Some(name.0.last()?.value.clone())
}

struct Walk<'w> {
    references: Vec<TableReference>,
    /// Whether a table of an UPDATE or DELETE is changed: called with its name and its alias.
    is_target: &'w dyn Fn(&TableName, &str) -> bool,
    /// For each query around, which of its tables are locked for changes, the innermost last.
    locked: Vec<Locked>,
    /// Names of the common table expressions met so far.
    common_tables: Vec<String>,
}

impl<'w> Walk<'w> {
    fn new(is_target: &'w dyn Fn(&TableName, &str) -> bool) -> Self {
        Self {
            references: Vec::new(),
            is_target,
            locked: Vec::new(),
            common_tables: Vec::new(),
        }
    }

    fn add(&mut self, table: &TableName, access: Access) {
        self.references.push(TableReference {
            table: table.clone(),
            access,
            depth: self.locked.len(),
        });
    }

    fn add_all<'t>(&mut self, tables: impl IntoIterator<Item = &'t TableName>, access: Access) {
        tables.into_iter().for_each(|table| self.add(table, access));
    }

    fn add_common_tables(&mut self, with: Option<&With>) {
        let tables = with.iter().flat_map(|with| &with.cte_tables);
        let names = tables.map(|table| table.alias.name.value.clone());
        self.common_tables.extend(names);
    }

    /// The tables of `TABLE t` in a query, which have no FROM.
    fn table_statements(&mut self, body: &SetExpr) {
        match body {
            SetExpr::Table(table) => self.add(table, Access::Read),
            SetExpr::SetOperation { left, right, .. } => {
                self.table_statements(left);
                self.table_statements(right);
            }
            _ => {}
        }
    }
}

/// A table of FROM and its alias, or else its name.
fn table_and_alias(factor: &TableFactor) -> Option<(TableName, &str)> {
    let TableFactor::Table { name, alias, .. } = factor else {
        return None;
    };
    let table = TableName::from_object_name(name)?;
    let alias = alias.as_ref().map(|alias| &alias.name);
    let alias = alias.or_else(|| name.0.last())?;
    Some((table, &alias.value))
}

impl Visitor for Walk<'_> {
    fn pre_visit_query(&mut self, query: &Query) -> Flow {
        self.add_common_tables(query.with.as_ref());
        self.locked.push(Locked::of(query));
        self.table_statements(&query.body);
        Flow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> Flow {
        self.locked.pop();
        Flow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> Flow {
        if let Some((table, alias)) = table_and_alias(factor) {
            let is_common = |name: &String| same_name(name, &table.name);
            if table.database.is_some() || !self.common_tables.iter().any(is_common) {
                let is_written = match self.locked.last() {
                    Some(locked) => locked.has(alias),
                    None => (self.is_target)(&table, alias),
                };
                let access = if is_written {
                    Access::Write
                } else {
                    Access::Read
                };
                self.add(&table, access);
            }
        }
        Flow::Continue(())
    }
}
