//! Query expressions: WITH, set operations, their ORDER BY and LIMIT, VALUES, TABLE.

use std::sync::Arc;

use mayfly_functions::Coercibility;
use mayfly_syntax::ast::{
    Expr, OrderByExpr, Query, Select, SetExpr, SetOperator, SetQuantifier, TableName,
    Value as AstValue,
};
use mayfly_syntax::chain::set_chain;
use mayfly_types::common_type::{Alternatives, aggregate_types};
use mayfly_types::error::codes;
use mayfly_types::sql_type::DECIMALS_NOT_FIXED;
use mayfly_types::{CollationId, Result, SqlType, TypeKind, Value};

use super::buffered::{Buffered, string_column};
use super::collation::{coercibility, has_collation, unclaimed};
use super::expression::{bare, is_descending, position_of};
use super::scope::{Clause, Item, Scope, ScopeTable};
use super::types::{as_value, cast, cast_exactly, choice_type, client_type, fixed_string};
use crate::bind::binder::Binder;
use crate::bind::block::{Block, BlockColumn, same_name};
use crate::catalog::ParameterPlace;
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{Buffering, Relation, has_subquery, is_constant, with_stack};
use crate::tree::physical::{ClientType, ColumnOrigin, SetOperationKind, SortKey, StatementLimit};

/// ORDER BY and LIMIT of a query expression.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tail<'q> {
    pub(super) order_by: &'q [OrderByExpr],
    pub(super) limit: Option<(u64, u64)>,
}

/// Whether the first SELECT of a query expression has SQL_CALC_FOUND_ROWS.
fn calculates_found_rows(body: &SetExpr) -> bool {
    match body {
        SetExpr::Select(select) => has_calc_found_rows(select),
        SetExpr::SetOperation { left, .. } => calculates_found_rows(left),
        SetExpr::Query(query) => calculates_found_rows(&query.body),
        _ => false,
    }
}

/// Whether a SELECT has SQL_CALC_FOUND_ROWS.
pub(super) fn has_calc_found_rows(select: &Select) -> bool {
    select.select_modifiers.sql_calc_found_rows
}

impl Binder<'_> {
    /// Binds a query expression. `outermost`: `sql_select_limit` applies to it.
    pub(crate) fn bind_query_expression(
        &mut self,
        query: &Query,
        outermost: bool,
    ) -> Result<Block> {
        with_stack(|| {
            // Numbers follow the order of the text's SELECTs, but WITH comes after its query.
            let own = query.with.is_some().then(|| self.new_select());
            let mark = self.enter_with(query.with.as_ref())?;
            self.reserved_select = own;
            let order_by = query.order_by.as_slice();
            let mut limit = self.bind_limit(query)?;
            if outermost && limit.is_none() && self.options.sql_select_limit != u64::MAX {
                limit = Some((0, self.options.sql_select_limit));
            }
            if outermost {
                let counts_all = calculates_found_rows(&query.body);
                let (offset, count) = limit.unwrap_or((0, u64::MAX));
                self.limit = Some(StatementLimit {
                    offset,
                    count,
                    counts_all,
                });
                limit = limit.filter(|_| !counts_all);
            }
            let readers = self.readers();
            let bound = self.bind_body(&query.body, Tail { order_by, limit });
            let bound = bound.map(|mut block| {
                match self.kept_result(query, &block) {
                    Some(kept) if outermost => self.kept = Some(kept),
                    Some(kept) => self.keep(&mut block, kept, &readers),
                    None => {}
                }
                block
            });
            self.leave_with(mark);
            bound
        })
    }

    fn bind_body(&mut self, body: &SetExpr, tail: Tail<'_>) -> Result<Block> {
        match body {
            SetExpr::Select(select) => self.bind_select(select, tail),
            SetExpr::Query(query) => {
                let plain = query.with.is_none()
                    && query.order_by.is_empty()
                    && query.limit_clause.is_none();
                if plain {
                    return self.bind_body(&query.body, tail);
                }
                if tail.order_by.is_empty() && tail.limit.is_none() {
                    return self.bind_query_expression(query, false);
                }
                let block = self.bind_query_expression(query, false)?;
                self.order_and_limit(block, tail)
            }
            SetExpr::SetOperation { .. } => {
                let block = self.bind_set_operation(body)?;
                self.order_and_limit(block, tail)
            }
            SetExpr::Values(rows) => {
                let rows: Vec<&[Expr]> = rows.iter().map(Vec::as_slice).collect();
                let block = self.bind_values(&rows)?;
                self.order_and_limit(block, tail)
            }
            SetExpr::Table(table) => {
                let block = self.bind_table_statement(table)?;
                self.order_and_limit(block, tail)
            }
        }
    }

    /// LIMIT as (offset, count).
    pub(super) fn bind_limit(&mut self, query: &Query) -> Result<Option<(u64, u64)>> {
        let Some(clause) = &query.limit_clause else {
            return Ok(None);
        };
        let offset = match &clause.offset {
            Some(offset) => self.limit_number(offset)?,
            None => 0,
        };
        Ok(Some((offset, self.limit_number(&clause.limit)?)))
    }

    pub(super) fn limit_number(&mut self, expr: &Expr) -> Result<u64> {
        let bound = self.bind_limit_expression(expr)?;
        match bound {
            Value::Int(number) => Ok(u64::try_from(number).unwrap_or(0)),
            Value::UInt(number) => Ok(number),
            _ => Err(codes::ER_WRONG_ARGUMENTS.with(&[&"LIMIT"])),
        }
    }

    fn bind_limit_expression(&mut self, expr: &Expr) -> Result<Value> {
        if let Expr::Value(AstValue::Placeholder(_)) = expr {
            let parameter = self.bind_expression(expr)?;
            let ExpressionKind::Parameter(index) = parameter.kind else {
                return Err(codes::ER_WRONG_ARGUMENTS.with(&[&"LIMIT"]));
            };
            let ty = SqlType::bigint_unsigned();
            self.catalog
                .parameter_meets(index, &ty, ParameterPlace::Count);
            // Unknown until the statement is executed, when it is planned again.
            return match self.catalog.parameter_value(index) {
                None => Ok(Value::UInt(u64::MAX)),
                Some(Value::Null) => Ok(Value::UInt(0)),
                Some(Value::Int(number)) if number < 0 => {
                    Err(codes::ER_DATA_OUT_OF_RANGE.with(&[&"unsigned integer", &"EXECUTE"]))
                }
                Some(value @ (Value::Int(_) | Value::UInt(_))) => Ok(value),
                Some(_) => Err(codes::ER_WRONG_ARGUMENTS.with(&[&"EXECUTE"])),
            };
        }
        let bound = self.bind_expression(expr)?;
        match bound.kind {
            ExpressionKind::Literal(value) => Ok(value),
            _ => Err(codes::ER_WRONG_ARGUMENTS.with(&[&"LIMIT"])),
        }
    }

    fn bind_set_operation(&mut self, body: &SetExpr) -> Result<Block> {
        let (first, steps) = set_chain(body);
        let mut operation: Option<(SetOperationKind, bool)> = None;
        let mut arms = vec![self.bind_arm(first)?];
        for (op, quantifier, right) in steps {
            let all = matches!(quantifier, SetQuantifier::All);
            let kind = match op {
                SetOperator::Union => SetOperationKind::Union,
                SetOperator::Intersect => SetOperationKind::Intersect,
                SetOperator::Except => SetOperationKind::Except,
            };
            let right = self.bind_arm(right)?;
            match operation {
                // `a UNION ALL b UNION c` drops duplicates of all three.
                Some((SetOperationKind::Union, before)) if kind == SetOperationKind::Union => {
                    if before && !all {
                        operation = Some((kind, false));
                    } else if before != all {
                        let block = self.combine(kind, before, std::mem::take(&mut arms))?;
                        arms.push(block);
                        operation = Some((kind, all));
                    }
                }
                Some((known, before)) if known == kind && before == all => {}
                Some((known, before)) => {
                    let block = self.combine(known, before, std::mem::take(&mut arms))?;
                    arms.push(block);
                    operation = Some((kind, all));
                }
                None => operation = Some((kind, all)),
            }
            arms.push(right);
        }
        let (kind, all) = operation.unwrap_or((SetOperationKind::Union, true));
        self.combine(kind, all, arms)
    }

    fn bind_arm(&mut self, body: &SetExpr) -> Result<Block> {
        let tail = Tail {
            order_by: &[],
            limit: None,
        };
        self.bind_body(body, tail)
    }

    /// Union of the arms of the recursive or the non-recursive part of a common table expression.
    pub(super) fn bind_union_of(&mut self, arms: &[&SetExpr], distinct: bool) -> Result<Block> {
        let mut blocks = arms
            .iter()
            .map(|arm| self.bind_arm(arm))
            .collect::<Result<Vec<_>>>()?;
        if blocks.len() == 1
            && let Some(only) = blocks.pop()
        {
            return Ok(only);
        }
        self.combine(SetOperationKind::Union, !distinct, blocks)
    }

    /// Converts the arms of a set operation to common types.
    fn combine(
        &mut self,
        kind: SetOperationKind,
        all: bool,
        mut arms: Vec<Block>,
    ) -> Result<Block> {
        let width = arms[0].columns.len();
        if arms.iter().any(|arm| arm.columns.len() != width) {
            return Err(codes::ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT.error());
        }
        let select_id = arms[0].select_id;
        let mut columns = Vec::with_capacity(width);
        let mut types = Vec::with_capacity(width);
        let first = self.new_columns(width);
        for index in 0..width {
            for arm in &mut arms {
                arm.columns[index].settle_choice();
            }
            let values: Vec<Expression> =
                arms.iter().map(|arm| arm.columns[index].value()).collect();
            let of_column = |id| {
                let mut columns = arms.iter().map(|arm| &arm.columns[index]);
                let column = columns.find(|column| column.id == id);
                column.map_or(ClientType::Plain, |column| column.client_type)
            };
            let mut ty = choice_type(
                &values.iter().collect::<Vec<_>>(),
                &of_column,
                Alternatives::SetOperation,
                "UNION",
            )?;
            let is_null = ty.kind == TypeKind::Null;
            if is_null {
                ty = SqlType::varchar(0, CollationId::BINARY);
                self.has_claims = true;
            } else if ty.kind == TypeKind::VarChar {
                ty = string_column(&ty);
            }
            let nullable = match kind {
                SetOperationKind::Union => values.iter().any(|value| value.nullable),
                SetOperationKind::Intersect => values.iter().all(|value| value.nullable),
                SetOperationKind::Except => values[0].nullable,
            };
            let is_float = matches!(ty.kind, TypeKind::Float | TypeKind::Double)
                && ty.decimals == DECIMALS_NOT_FIXED;
            let name = std::mem::take(&mut arms[0].columns[index].name);
            columns.push(BlockColumn {
                id: first + index,
                ty: ty.clone(),
                nullable,
                origin: Some(ColumnOrigin::computed(&name)),
                client_type: if is_float {
                    ClientType::Computed
                } else if matches!(ty.kind, TypeKind::Enum | TypeKind::Set) {
                    // All but one are NULL.
                    ClientType::Member(ty.kind)
                } else if ty.kind == TypeKind::VarChar && is_fixed(&arms, index) {
                    ClientType::Choice(TypeKind::Char)
                } else if ty.kind == TypeKind::Year {
                    ClientType::Plain
                } else {
                    computed(arms.iter().map(|arm| arm.columns[index].client_type))
                },
                name,
                buffered: Buffered::Unchanged,
                constant: None,
                claim: match is_null {
                    true => Some(Coercibility::Ignorable),
                    false => united_claim(values.iter(), &ty),
                },
            });
            types.push(ty);
        }
        let mut inputs = Vec::with_capacity(arms.len());
        for mut arm in arms {
            arm.relation = arm.relation.block_of(arm.select_id);
            inputs.push(self.convert_arm(arm, &types));
        }
        let unique_keys = if all {
            Vec::new()
        } else {
            vec![(0..width).collect()]
        };
        Ok(Block {
            relation: Relation::SetOperation {
                kind,
                all,
                inputs,
                columns: columns.iter().map(|column| column.id).collect(),
                types,
            },
            columns,
            select_id,
            mergeable: false,
            kept: false,
            buffering: Buffering::default(),
            unique_keys,
        })
    }

    fn convert_arm(
        &mut self,
        arm: Block,
        types: &[mayfly_types::SqlType],
    ) -> (Relation, Vec<usize>) {
        let mut computed = Vec::new();
        let mut ids = Vec::with_capacity(types.len());
        for (column, ty) in arm.columns.iter().zip(types) {
            let converted = unclaimed(cast_exactly(united(column.value(), ty), ty));
            ids.push(self.column_of(converted, &mut computed));
        }
        (arm.relation.extended(computed), ids)
    }

    /// Adds ORDER BY and LIMIT to a result of which only the columns are known.
    fn order_and_limit(&mut self, mut block: Block, tail: Tail<'_>) -> Result<Block> {
        if !tail.order_by.is_empty() {
            let mut scope = Scope::new(Clause::OrderBy, block.select_id);
            scope.windows.is_of_set_operation = true;
            let result = ScopeTable::derived(String::new(), block.columns.clone());
            scope.tables.push(result);
            self.scopes.push(scope);
            let keys = self.order_of_result(&block, tail.order_by);
            let aggregates = self.scopes.pop().map(|scope| scope.aggregates);
            let keys = keys?;
            if aggregates.is_some_and(|aggregates| !aggregates.is_empty()) {
                return Err(codes::ER_AGGREGATE_ORDER_FOR_UNION.with(&[&1]));
            }
            if !keys.is_empty() {
                block.relation = block.relation.sorted(keys);
            }
        }
        if let Some((offset, count)) = tail.limit {
            block.relation = block.relation.limited(offset, count);
        }
        block.mergeable = false;
        Ok(block)
    }

    fn order_of_result(&mut self, block: &Block, keys: &[OrderByExpr]) -> Result<Vec<SortKey>> {
        let mut bound = Vec::with_capacity(keys.len());
        for key in keys {
            let expr = bare(&key.expr);
            let expression = match position_of(expr) {
                Some(position) => {
                    let column = position.checked_sub(1).and_then(|at| block.columns.get(at));
                    let column = column.ok_or_else(|| Clause::OrderBy.unknown(&position))?;
                    Expression::column(column.id, column.ty.clone(), column.nullable)
                }
                None => {
                    if let Expr::CompoundIdentifier(parts) = expr
                        && let [.., table, _] = parts.as_slice()
                    {
                        return Err(codes::ER_TABLENAME_NOT_ALLOWED_HERE
                            .with(&[&table.value, &"global ORDER clause"]));
                    }
                    if let Expr::Identifier(name) = expr {
                        let is_named = |column: &&BlockColumn| same_name(&column.name, &name.value);
                        if block.columns.iter().filter(is_named).count() > 1 {
                            let clause = Clause::OrderBy.text();
                            return Err(codes::ER_NON_UNIQ_ERROR.with(&[&name.value, &clause]));
                        }
                    }
                    self.bind_stored(expr)?
                }
            };
            if !matches!(expression.kind, ExpressionKind::Literal(_)) {
                bound.push(SortKey {
                    expression,
                    descending: is_descending(key),
                });
            }
        }
        Ok(bound)
    }

    /// Binds VALUES ROW(…), …: columns are named column_0, column_1, …
    pub(crate) fn bind_values(&mut self, rows: &[&[Expr]]) -> Result<Block> {
        let select_id = self.new_select();
        self.scopes.push(Scope::new(Clause::Values, select_id));
        let bound = rows
            .iter()
            .map(|row| row.iter().map(|value| self.bind_stored(value)).collect())
            .collect::<Result<Vec<Vec<Expression>>>>();
        self.scopes.pop();
        let mut bound = bound?;
        self.has_claims = true;
        let width = bound.first().map_or(0, Vec::len);
        if let Some(row) = bound.iter().position(|row| row.len() != width) {
            return Err(codes::ER_WRONG_VALUE_COUNT_ON_ROW.with(&[&(row + 1)]));
        }
        let first = self.new_columns(width);
        let mut columns = Vec::with_capacity(width);
        let mut types = Vec::with_capacity(width);
        for index in 0..width {
            let choices: Vec<&Expression> = bound.iter().map(|row| &row[index]).collect();
            let plain = |_: usize| ClientType::Plain;
            let ty = choice_type(&choices, &plain, Alternatives::SetOperation, "VALUES")?;
            let client_types = choices.iter().map(|choice| client_type(choice, &plain));
            let nullable = choices.iter().any(|choice| choice.nullable);
            columns.push(BlockColumn {
                client_type: computed(client_types),
                claim: united_claim(choices.iter().copied(), &ty),
                ..BlockColumn::new(
                    first + index,
                    format!("column_{index}"),
                    ty.clone(),
                    nullable,
                )
            });
            for row in &mut bound {
                if ty.kind != TypeKind::Null {
                    row[index].change(|value| cast(as_value(value), &ty));
                }
            }
            types.push(ty);
        }
        Ok(Block {
            relation: Relation::Values {
                columns: (first..first + width).collect(),
                types,
                rows: bound,
            },
            columns,
            select_id,
            mergeable: false,
            kept: false,
            buffering: Buffering::default(),
            unique_keys: Vec::new(),
        })
    }

    /// Binds TABLE t.
    fn bind_table_statement(&mut self, table: &TableName) -> Result<Block> {
        let select_id = self.new_select();
        self.scopes.push(Scope::new(Clause::FieldList, select_id));
        let relation = self.bind_named_table(table.database.as_deref(), &table.name);
        let relation = relation.and_then(|relation| {
            let slots = self.scope().wildcard();
            self.check_read_all(&slots).map(|()| relation)
        });
        let block = relation.map(|relation| {
            let scope = self.scope();
            let columns = scope
                .wildcard()
                .into_iter()
                .map(|slot| {
                    let Expression { ty, nullable, .. } = scope.column(slot);
                    let table = &scope.tables[slot.table];
                    let (id, name) = (table.id(slot.column), table.name(slot.column));
                    BlockColumn {
                        origin: scope.origin(slot),
                        claim: table.claim(slot.column),
                        ..BlockColumn::new(id, name.to_owned(), ty, nullable)
                    }
                })
                .collect();
            Block {
                relation,
                columns,
                select_id,
                mergeable: true,
                kept: false,
                buffering: Buffering::default(),
                unique_keys: Vec::new(),
            }
        });
        self.scopes.pop();
        block
    }
}

/// Output column of a select item.
pub(super) fn column_of_item(item: Item, id: usize, buffered: Buffered) -> BlockColumn {
    let is_known = is_constant(&item.expression) && !has_subquery(&item.expression);
    BlockColumn {
        id,
        name: item.name,
        ty: item.expression.ty.clone(),
        nullable: item.expression.nullable,
        origin: item.origin,
        client_type: item.client_type,
        buffered,
        claim: item.claim,
        constant: is_known.then(|| Arc::new(item.expression)),
    }
}

/// Coercibility of a column in which these values are united: the strongest of theirs. The text of a number has the
/// coercibility of a literal.
fn united_claim<'e>(
    values: impl Iterator<Item = &'e Expression>,
    ty: &SqlType,
) -> Option<Coercibility> {
    if !has_collation(ty) {
        return None;
    }
    let claims = values.map(coercibility);
    let claim = claims.map(|claim| claim.min(Coercibility::Coercible)).min();
    claim.filter(|claim| *claim != Coercibility::Implicit)
}

/// A value of an arm with its united type: BIT as a string is the text of its number.
fn united(value: Expression, ty: &SqlType) -> Expression {
    match value.ty.kind {
        TypeKind::Bit if ty.is_string() => {
            let nullable = value.nullable;
            let kind = ExpressionKind::Cast(Box::new(value), None);
            Expression::new(kind, SqlType::bigint_unsigned(), nullable)
        }
        _ => value,
    }
}

/// Whether a column of a set operation is a fixed-length string to clients, though not from a CHAR column.
fn is_fixed(arms: &[Block], index: usize) -> bool {
    let columns = || arms.iter().map(|arm| &arm.columns[index]);
    let is_fixed = |column: &BlockColumn| column.client_type == ClientType::Choice(TypeKind::Char);
    if !columns().any(is_fixed) {
        return false;
    }
    let types = columns().map(|column| match is_fixed(column) {
        true => fixed_string(&column.ty),
        false => column.ty.clone(),
    });
    let types: Vec<SqlType> = types.collect();
    aggregate_types(&types, Alternatives::SetOperation).kind == TypeKind::Char
}

/// Client type of values of which some are computed.
fn computed(mut values: impl Iterator<Item = ClientType>) -> ClientType {
    if values.any(|value| value == ClientType::Computed) {
        ClientType::Computed
    } else {
        ClientType::Plain
    }
}
