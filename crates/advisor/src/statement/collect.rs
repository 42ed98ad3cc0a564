//! Collects the query blocks of a statement, in the order of their SELECTs in its text.

use std::ops::ControlFlow;
use std::sync::Arc;

use mayfly_syntax::ast::{
    self, BinaryOperator, Cte, Expr, GroupBy, JoinConstraint, OrderByExpr, Query, Select,
    SelectItem, SelectModifiers, SetExpr, SetOperator, SetQuantifier, TableFactor, TableName,
    TableWithJoins, Visit, Visitor,
};

use super::{
    Aggregate, Block, Origin, Role, SetOperation, Statement, StatementKind, SubqueryKind,
    TableReference, query_of,
};
use crate::schema::Schema;

/// Databases whose tables the server generates.
const SYSTEM_DATABASES: [&str; 3] = ["information_schema", "performance_schema", "sys"];
/// Greatest nesting depth of views.
const VIEWS_MAX: usize = 32;

struct Collector<'s> {
    schema: &'s Schema,
    database: &'s str,
    statement: Statement,
    /// Views that remain to be analyzed.
    views: Vec<Arc<crate::schema::View>>,
}

pub(super) fn statement(tree: &ast::Statement, schema: &Schema, database: &str) -> Statement {
    let mut collector = Collector {
        schema,
        database,
        statement: Statement {
            kind: StatementKind::Other,
            blocks: Vec::new(),
            set_operations: Vec::new(),
            recursive: Vec::new(),
        },
        views: Vec::new(),
    };
    if let Some(query) = query_of(tree) {
        collector.query(query, Role::Top, &[]);
    }
    match tree {
        ast::Statement::Update(update) => {
            collector.change(
                update.with.as_ref(),
                &update.tables,
                update.selection.as_ref(),
            );
        }
        ast::Statement::Delete(delete) => {
            collector.change(
                delete.with.as_ref(),
                &delete.from,
                delete.selection.as_ref(),
            );
        }
        _ => {}
    }
    collector.statement.kind = collector.kind(tree);
    let mut seen = 0;
    while let Some(view) = collector.views.pop() {
        seen += 1;
        if seen > VIEWS_MAX {
            break;
        }
        let role = Role::View {
            name: (view.source.database.clone(), view.source.name.clone()),
            materialized: view.source.materialized,
        };
        collector.query(&view.source.query, role, &[]);
    }
    collector.statement
}

impl Collector<'_> {
    fn kind(&self, tree: &ast::Statement) -> StatementKind {
        let insert = |target: &TableName| {
            let is_target = |name: &str| name.eq_ignore_ascii_case(&target.name);
            let reads_target = self
                .statement
                .blocks
                .iter()
                .flat_map(|block| &block.tables)
                .any(|table| match &table.origin {
                    Origin::Base(table) => is_target(&table.name),
                    Origin::Unknown(name) => is_target(name),
                    _ => false,
                });
            StatementKind::InsertSelect {
                target: target.clone(),
                reads_target,
            }
        };
        match tree {
            ast::Statement::Query(_) | ast::Statement::SelectInto(_) => StatementKind::Select,
            ast::Statement::Insert(statement) if query_of(tree).is_some() => {
                insert(&statement.table)
            }
            ast::Statement::CreateTable(create) if create.select.is_some() => insert(&create.name),
            ast::Statement::Update(update) => {
                let several = update.tables.len() > 1
                    || update.tables.iter().any(|table| !table.joins.is_empty());
                if several {
                    StatementKind::MultiTableUpdate
                } else {
                    StatementKind::Other
                }
            }
            ast::Statement::Show(show) => {
                let kind = format!("{:?}", show.kind);
                let name = kind
                    .split(|c: char| !c.is_alphanumeric())
                    .next()
                    .unwrap_or_default();
                StatementKind::Show(name.to_owned())
            }
            ast::Statement::Describe(_) => StatementKind::Show("Columns".to_owned()),
            _ => StatementKind::Other,
        }
    }

    /// The tables of UPDATE and DELETE as a block without a select list.
    fn change(
        &mut self,
        with: Option<&ast::With>,
        from: &[TableWithJoins],
        selection: Option<&Expr>,
    ) {
        let mut visible = Vec::new();
        self.common_tables(with, &mut visible);
        let mut block = Block {
            number: 0,
            role: Role::Top,
            with: visible,
            select: empty_select(from.to_vec(), selection.cloned()),
            tables: Vec::new(),
            conditions: Vec::new(),
            group_by: Vec::new(),
            rollup: false,
            order_by: Vec::new(),
            has_limit: false,
            aggregates: Vec::new(),
            has_windows: false,
        };
        self.from(from, &mut block);
        split_conditions(selection, &mut block.conditions);
        if let Some(selection) = selection {
            self.subqueries(&[selection], &block.with.clone());
        }
        // Without a SELECT in the text, its number is after all that have one.
        block.number = self.statement.blocks.len();
        self.statement.blocks.push(block);
    }

    fn common_tables(&mut self, with: Option<&ast::With>, visible: &mut Vec<Cte>) {
        let Some(with) = with else { return };
        visible.extend(with.cte_tables.iter().cloned());
        for table in &with.cte_tables {
            let name = table.alias.name.value.clone();
            if with.recursive && names_table(&table.query, &name) {
                self.statement.recursive.push(name.clone());
            }
            self.query(&table.query, Role::CommonTable(name, 0), visible);
        }
    }

    fn query(&mut self, query: &Query, role: Role, outer: &[Cte]) {
        let mut visible = outer.to_vec();
        self.common_tables(query.with.as_ref(), &mut visible);
        if let Role::Top = role {
            self.body(&query.body, query, &role, &visible);
            // The number of references to each is known at the end.
            let counts: Vec<usize> = self
                .statement
                .blocks
                .iter()
                .map(|block| match &block.role {
                    Role::CommonTable(name, _) => count_names(query, name),
                    _ => 0,
                })
                .collect();
            for (block, count) in self.statement.blocks.iter_mut().zip(counts) {
                if let Role::CommonTable(_, uses) = &mut block.role {
                    *uses = count;
                }
            }
        } else {
            self.body(&query.body, query, &role, &visible);
        }
    }

    /// The blocks of a query's body; returns their numbers.
    fn body(&mut self, body: &SetExpr, query: &Query, role: &Role, with: &[Cte]) -> Vec<usize> {
        match body {
            SetExpr::Select(select) => vec![self.select(select, query, role, with)],
            SetExpr::Query(inner) => {
                let mut visible = with.to_vec();
                self.common_tables(inner.with.as_ref(), &mut visible);
                self.body(&inner.body, inner, role, &visible)
            }
            SetExpr::SetOperation {
                op,
                set_quantifier,
                left,
                right,
            } => {
                let bare = Query {
                    order_by: Vec::new(),
                    limit_clause: None,
                    with: None,
                    ..query.clone()
                };
                let mut blocks = self.body(left, &bare, role, with);
                blocks.extend(self.body(right, &bare, role, with));
                let name = match op {
                    SetOperator::Union => "UNION",
                    SetOperator::Intersect => "INTERSECT",
                    SetOperator::Except => "EXCEPT",
                };
                self.statement.set_operations.push(SetOperation {
                    name,
                    all: *set_quantifier == SetQuantifier::All,
                    blocks: blocks.clone(),
                    ordered: !order_keys(query).is_empty(),
                    role: role.clone(),
                });
                blocks
            }
            _ => Vec::new(),
        }
    }

    fn select(&mut self, select: &Select, query: &Query, role: &Role, with: &[Cte]) -> usize {
        let number = self.statement.blocks.len();
        let group_by = select.group_by.keys.clone();
        let rollup = select.group_by.with_rollup;
        let order_by = order_keys(query);
        self.statement.blocks.push(Block {
            number,
            role: role.clone(),
            with: with.to_vec(),
            select: select.clone(),
            tables: Vec::new(),
            conditions: Vec::new(),
            group_by: Vec::new(),
            rollup,
            order_by: Vec::new(),
            has_limit: query.limit_clause.is_some(),
            aggregates: Vec::new(),
            has_windows: false,
        });
        // Subqueries of the select list precede those of FROM and of WHERE.
        let projection: Vec<&Expr> = select
            .projection
            .iter()
            .filter_map(item_expression)
            .collect();
        self.subqueries(&projection, with);
        let mut tables = Block {
            select: empty_select(Vec::new(), None),
            ..self.block_like(number)
        };
        self.from(&select.from, &mut tables);
        split_conditions(select.selection.as_ref(), &mut tables.conditions);
        let rest: Vec<&Expr> = select
            .selection
            .iter()
            .chain(&group_by)
            .chain(&select.having)
            .collect();
        self.subqueries(&rest, with);
        let order: Vec<&Expr> = order_by.iter().map(|key| &key.expr).collect();
        self.subqueries(&order, with);

        let mut calls = Calls::default();
        for expr in projection
            .iter()
            .chain(&order)
            .copied()
            .chain(&select.having)
        {
            let _ = expr.visit(&mut calls);
        }
        let resolve =
            |expr: &Expr, prefer_alias: bool| resolved(expr, select, &tables.tables, prefer_alias);
        let group_by = group_by
            .iter()
            .map(|key| resolve(key, false))
            .filter(|key| !is_null(key))
            .collect();
        let order_by = order_by
            .into_iter()
            .filter(|key| !is_null(&key.expr))
            .map(|key| OrderByExpr {
                expr: resolve(&key.expr, true),
                ..key
            })
            .collect();
        let block = &mut self.statement.blocks[number];
        block.tables = tables.tables;
        block.conditions = tables.conditions;
        block.group_by = group_by;
        block.order_by = order_by;
        block.aggregates = calls.aggregates;
        block.has_windows = calls.windows;
        number
    }

    fn block_like(&self, number: usize) -> Block {
        let block = &self.statement.blocks[number];
        Block {
            number,
            role: block.role.clone(),
            with: block.with.clone(),
            select: empty_select(Vec::new(), None),
            tables: Vec::new(),
            conditions: Vec::new(),
            group_by: Vec::new(),
            rollup: false,
            order_by: Vec::new(),
            has_limit: false,
            aggregates: Vec::new(),
            has_windows: false,
        }
    }

    fn from(&mut self, from: &[TableWithJoins], block: &mut Block) {
        for table in from {
            self.factor(&table.relation, block);
            for join in &table.joins {
                self.factor(&join.relation, block);
                if let JoinConstraint::On(condition) = join.join_operator.constraint() {
                    split_conditions(Some(condition), &mut block.conditions);
                    self.subqueries(&[condition], &block.with.clone());
                }
            }
        }
    }

    fn factor(&mut self, factor: &TableFactor, block: &mut Block) {
        match factor {
            TableFactor::Table { name, alias, .. } => {
                let Some(name) = TableName::from_object_name(name) else {
                    return;
                };
                let alias = alias
                    .as_ref()
                    .map_or(&name.name, |alias| &alias.name.value)
                    .clone();
                let origin = self.origin(&name, &block.with);
                block.tables.push(TableReference { alias, origin });
            }
            TableFactor::Derived {
                subquery, alias, ..
            } => {
                let alias = alias
                    .as_ref()
                    .map_or(String::new(), |alias| alias.name.value.clone());
                self.query(subquery, Role::Derived(alias.clone()), &block.with.clone());
                block.tables.push(TableReference {
                    alias,
                    origin: Origin::Query,
                });
            }
            TableFactor::NestedJoin {
                table_with_joins, ..
            } => {
                self.from(std::slice::from_ref(table_with_joins), block);
            }
            _ => block.tables.push(TableReference {
                alias: String::new(),
                origin: Origin::Unknown(String::new()),
            }),
        }
    }

    fn origin(&mut self, name: &TableName, with: &[Cte]) -> Origin {
        let is_common = |table: &Cte| table.alias.name.value.eq_ignore_ascii_case(&name.name);
        if name.database.is_none() && with.iter().any(is_common) {
            return Origin::Query;
        }
        let database = name.database.as_deref().unwrap_or(self.database);
        if SYSTEM_DATABASES
            .iter()
            .any(|system| database.eq_ignore_ascii_case(system))
        {
            return Origin::System(format!("{database}.{}", name.name));
        }
        if let Some(view) = self.schema.view(database, &name.name) {
            self.views.push(Arc::clone(view));
            return Origin::View;
        }
        match self.schema.table(database, &name.name) {
            Some(table) => Origin::Base(Arc::clone(table)),
            None => Origin::Unknown(name.name.clone()),
        }
    }

    /// The subqueries of expressions, in their order, without nested ones.
    fn subqueries(&mut self, expressions: &[&Expr], with: &[Cte]) {
        let mut found = Subqueries::default();
        for expression in expressions {
            let _ = expression.visit(&mut found);
        }
        for (query, kind) in found.queries {
            self.query(&query, Role::Subquery(kind), with);
        }
    }
}

fn item_expression(item: &SelectItem) -> Option<&Expr> {
    match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
        _ => None,
    }
}

fn order_keys(query: &Query) -> Vec<OrderByExpr> {
    query.order_by.clone()
}

fn is_null(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(ast::Value::Null))
}

/// A key, with an alias or position replaced by its select item. GROUP BY prefers columns to aliases.
fn resolved(key: &Expr, select: &Select, tables: &[TableReference], prefer_alias: bool) -> Expr {
    match key {
        Expr::Value(ast::Value::Number(number)) => {
            let position = number.parse::<usize>().unwrap_or(0);
            let item = position
                .checked_sub(1)
                .and_then(|position| select.projection.get(position));
            item.and_then(item_expression).unwrap_or(key).clone()
        }
        Expr::Identifier(name) => {
            let is_column = tables
                .iter()
                .filter_map(TableReference::base)
                .any(|table| table.column(&name.value).is_some());
            if is_column && !prefer_alias {
                return key.clone();
            }
            let item = select.projection.iter().find_map(|item| match item {
                SelectItem::ExprWithAlias { expr, alias, .. }
                    if alias.value.eq_ignore_ascii_case(&name.value) =>
                {
                    Some(expr)
                }
                _ => None,
            });
            item.unwrap_or(key).clone()
        }
        _ => key.clone(),
    }
}

/// Splits a condition into its conjuncts.
fn split_conditions(condition: Option<&Expr>, into: &mut Vec<Expr>) {
    match condition {
        Some(Expr::BinaryOp {
            left,
            op: BinaryOperator::And,
            right,
        }) => {
            split_conditions(Some(left), into);
            split_conditions(Some(right), into);
        }
        Some(Expr::Nested(inner)) => split_conditions(Some(inner), into),
        Some(other) => into.push(other.clone()),
        None => {}
    }
}

fn names_table(query: &Query, name: &str) -> bool {
    count_names(query, name) > 0
}

fn count_names(query: &Query, name: &str) -> usize {
    let mut count = 0;
    let _: ControlFlow<()> = ast::visit_relations(query, |relation| {
        if TableName::from_object_name(relation)
            .is_some_and(|table| table.database.is_none() && table.name.eq_ignore_ascii_case(name))
        {
            count += 1;
        }
        ControlFlow::Continue(())
    });
    count
}

/// A SELECT of nothing.
fn empty_select(from: Vec<TableWithJoins>, selection: Option<Expr>) -> Select {
    Select {
        optimizer_hints: Vec::new(),
        distinct: false,
        select_modifiers: SelectModifiers::default(),
        projection: Vec::new(),
        from,
        selection,
        group_by: GroupBy::default(),
        having: None,
        named_window: Vec::new(),
    }
}

/// Visitor that collects subqueries without descending into them.
#[derive(Default)]
struct Subqueries {
    queries: Vec<(Query, SubqueryKind)>,
    depth: usize,
    next: Vec<SubqueryKind>,
}

impl Visitor for Subqueries {
    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if self.depth == 0 {
            match expr {
                Expr::InSubquery { .. } | Expr::AnyOp { .. } | Expr::AllOp { .. } => {
                    self.next.push(SubqueryKind::In)
                }
                Expr::Exists { .. } => self.next.push(SubqueryKind::Exists),
                // `= ANY (…)` holds its subquery as an expression.
                Expr::Subquery(_) if self.next.is_empty() => self.next.push(SubqueryKind::Scalar),
                _ => {}
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if self.depth == 0 {
            let kind = self.next.pop().unwrap_or(SubqueryKind::Scalar);
            self.queries.push((query.clone(), kind));
        }
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }
}

/// Visitor that collects calls of aggregate and window functions outside of subqueries.
#[derive(Default)]
struct Calls {
    aggregates: Vec<Aggregate>,
    windows: bool,
    depth: usize,
}

impl Visitor for Calls {
    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if self.depth == 0
            && let Expr::Function(call) = expr
        {
            if call.over.is_some() {
                self.windows = true;
            } else if let Some(aggregate) = aggregate_of(call) {
                self.aggregates.push(aggregate);
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, _query: &Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }
}

/// The aggregate of a call, if it is one.
pub(super) fn aggregate_of(call: &ast::Function) -> Option<Aggregate> {
    let name = call.name.to_string().trim_matches('`').to_ascii_uppercase();
    if mayfly_functions::aggregate::by_name(&name).is_none() || call.over.is_some() {
        return None;
    }
    let ast::FunctionArguments::List(list) = &call.args else {
        return Some(Aggregate {
            name,
            distinct: false,
            arguments: Vec::new(),
        });
    };
    let arguments = list.args.iter().filter_map(|argument| match argument {
        ast::FunctionArg::Expr(expr) => Some(expr.clone()),
        _ => None,
    });
    Some(Aggregate {
        name,
        distinct: list.distinct,
        arguments: arguments.collect(),
    })
}
