//! One `SELECT` block.

use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    Distinct, Expr, GroupByExpr, GroupByWithModifier, Ident, ObjectName, OptimizerHint,
    OptimizerHintStyle, Select, SelectFlavor, SelectItem, SelectItemQualifiedWildcardKind,
    SelectModifiers, UnaryOperator, Value, WildcardAdditionalOptions,
};

use super::cursor::{Parser, Result};
use crate::encodings;
use crate::keywords::Kw;
use crate::lexer::token::Kind;

/// The longest name a column gets from its source text, in characters.
const IMPLICIT_NAME_LENGTH: usize = 256;

impl Parser<'_> {
    pub(crate) fn select(&mut self) -> Result<Select> {
        self.expect(Kw::SELECT)?;
        let optimizer_hints = self.hints();
        let (distinct, select_modifiers) = self.select_options()?;
        let projection = self.select_items()?;
        if self.at(Kw::INTO) {
            self.into_clause()?;
        }
        let from = self.from_clause()?;
        let selection = match self.eat(Kw::WHERE) {
            true => Some(self.expr()?),
            false => None,
        };
        let group_by = self.group_by()?;
        let having = match self.eat(Kw::HAVING) {
            true => Some(self.expr()?),
            false => None,
        };
        let named_window = match self.eat(Kw::WINDOW) {
            true => self.named_windows()?,
            false => Vec::new(),
        };
        Ok(Select {
            select_token: AttachedToken::empty(),
            optimizer_hints,
            distinct,
            select_modifiers,
            top: None,
            top_before_distinct: false,
            projection,
            exclude: None,
            into: None,
            from,
            lateral_views: Vec::new(),
            prewhere: None,
            selection,
            connect_by: Vec::new(),
            group_by,
            cluster_by: Vec::new(),
            distribute_by: Vec::new(),
            sort_by: Vec::new(),
            having,
            named_window,
            qualify: None,
            window_before_qualify: false,
            value_table_mode: None,
            flavor: SelectFlavor::Standard,
        })
    }

    /// The hint comment behind a verb, as text.
    pub(crate) fn hints(&mut self) -> Vec<OptimizerHint> {
        let mut hints = Vec::new();
        while self.at_kind(Kind::Hint) {
            let token = self.take();
            let text = self.text(token);
            let text = text
                .strip_prefix("/*+")
                .and_then(|text| text.strip_suffix("*/"));
            hints.push(OptimizerHint {
                prefix: String::new(),
                text: text.unwrap_or("").to_owned(),
                style: OptimizerHintStyle::MultiLine,
            });
        }
        hints
    }

    /// The words between `SELECT` and its items, in any order.
    fn select_options(&mut self) -> Result<(Option<Distinct>, Option<SelectModifiers>)> {
        let mut distinct = None;
        let mut modifiers = SelectModifiers::default();
        let mut modified = false;
        loop {
            let flag = match self.keyword() {
                // Both at once are error 1221 in MySQL; here the second word is unexpected.
                Kw::ALL if !matches!(distinct, Some(Distinct::Distinct)) => {
                    self.take();
                    distinct = Some(Distinct::All);
                    continue;
                }
                Kw::DISTINCT | Kw::DISTINCTROW if !matches!(distinct, Some(Distinct::All)) => {
                    self.take();
                    distinct = Some(Distinct::Distinct);
                    continue;
                }
                Kw::HIGH_PRIORITY => &mut modifiers.high_priority,
                Kw::STRAIGHT_JOIN => &mut modifiers.straight_join,
                Kw::SQL_SMALL_RESULT => &mut modifiers.sql_small_result,
                Kw::SQL_BIG_RESULT => &mut modifiers.sql_big_result,
                Kw::SQL_BUFFER_RESULT => &mut modifiers.sql_buffer_result,
                Kw::SQL_NO_CACHE => &mut modifiers.sql_no_cache,
                Kw::SQL_CALC_FOUND_ROWS => &mut modifiers.sql_calc_found_rows,
                _ => break,
            };
            *flag = true;
            modified = true;
            self.take();
        }
        if matches!(distinct, Some(Distinct::All)) {
            distinct = None;
        }
        Ok((distinct, modified.then_some(modifiers)))
    }

    /// The items of a select list; a bare `*` only comes first.
    pub(crate) fn select_items(&mut self) -> Result<Vec<SelectItem>> {
        let mut items = Vec::new();
        if self.eat_kind(Kind::Star) {
            items.push(SelectItem::Wildcard(WildcardAdditionalOptions::default()));
        } else {
            items.push(self.select_item()?);
        }
        while self.eat_kind(Kind::Comma) {
            items.push(self.select_item()?);
        }
        Ok(items)
    }

    fn select_item(&mut self) -> Result<SelectItem> {
        if let Some(wildcard) = self.qualified_wildcard()? {
            return Ok(wildcard);
        }
        let first = self.position;
        let expr = self.expr()?;
        if let Some(alias) = self.select_alias()? {
            return Ok(SelectItem::ExprWithAlias { expr, alias });
        }
        Ok(self.named_by_text(expr, first))
    }

    /// `t.*` or `db.t.*`.
    fn qualified_wildcard(&mut self) -> Result<Option<SelectItem>> {
        let dotted = |ahead| self.ahead(ahead).kind == Kind::Dot;
        let parts = match (dotted(1), dotted(3)) {
            (true, _) if self.ahead(2).kind == Kind::Star => 1,
            (true, true) if self.ahead(4).kind == Kind::Star => 2,
            _ => return Ok(None),
        };
        let mut name = Vec::with_capacity(parts);
        for _ in 0..parts {
            name.push(self.ident()?);
            self.expect_kind(Kind::Dot)?;
        }
        self.expect_kind(Kind::Star)?;
        Ok(Some(SelectItem::QualifiedWildcard(
            SelectItemQualifiedWildcardKind::ObjectName(ObjectName::from(name)),
            WildcardAdditionalOptions::default(),
        )))
    }

    /// `[AS] alias`; the alias may be a string.
    fn select_alias(&mut self) -> Result<Option<Ident>> {
        let explicit = self.eat(Kw::AS);
        if self.at_kind(Kind::String) {
            return Ok(Some(Ident::with_quote('`', self.string()?)));
        }
        match explicit || self.at_identifier() {
            true => self.ident().map(Some),
            false => Ok(None),
        }
    }

    /// An item without an alias: a column keeps its own name, everything else is named by its
    /// source text, a string by its (first) value.
    fn named_by_text(&self, expr: Expr, first: usize) -> SelectItem {
        let mut core = &expr;
        while let Expr::Nested(inner)
        | Expr::UnaryOp {
            op: UnaryOperator::Plus,
            expr: inner,
        } = core
        {
            core = inner;
        }
        let literal = match core {
            Expr::Prefixed { value, .. } => value.as_ref(),
            other => other,
        };
        let text = match core {
            Expr::Identifier(_) if encodings::variable(core).is_none() => {
                return SelectItem::UnnamedExpr(core.clone());
            }
            Expr::CompoundIdentifier(_) => return SelectItem::UnnamedExpr(core.clone()),
            Expr::Value(value) => match &value.value {
                Value::Null => "NULL".to_owned(),
                Value::SingleQuotedString(_) | Value::NationalStringLiteral(_) => {
                    self.first_string(first)
                }
                Value::Number(digits, _) => digits.clone(),
                _ => self.text_from(first).to_owned(),
            },
            // A constant of a stored program is shown by its name.
            Expr::Function(call) if call.name.to_string().eq_ignore_ascii_case("name_const") => {
                self.first_string(first)
            }
            Expr::Prefixed { .. }
                if matches!(literal, Expr::Value(value)
                    if matches!(value.value, Value::SingleQuotedString(_))) =>
            {
                self.first_string(first)
            }
            _ => self.text_from(first).to_owned(),
        };
        let visible = text.trim_start_matches(|c: char| c.is_whitespace() || c.is_control());
        let name = match visible.char_indices().nth(IMPLICIT_NAME_LENGTH) {
            Some((end, _)) => visible.get(..end).unwrap_or(visible),
            None => visible,
        };
        SelectItem::ExprWithAlias {
            alias: encodings::implicit_alias(name),
            expr,
        }
    }

    /// The value of the first string token from a token on.
    fn first_string(&self, first: usize) -> String {
        let taken = self.tokens.get(first..self.position).unwrap_or_default();
        match taken
            .iter()
            .find(|t| matches!(t.kind, Kind::String | Kind::NationalString))
        {
            Some(token) if token.kind == Kind::NationalString => {
                let text = self.text(*token).get(1..).unwrap_or("");
                let no_escapes = self.options.no_backslash_escapes;
                crate::lexer::literal::unquote_string(text, no_escapes).into_owned()
            }
            Some(token) => self.string_of(*token),
            None => String::new(),
        }
    }

    fn group_by(&mut self) -> Result<GroupByExpr> {
        if !self.eat(Kw::GROUP) {
            return Ok(GroupByExpr::Expressions(Vec::new(), Vec::new()));
        }
        self.expect(Kw::BY)?;
        let rollup = || vec![GroupByWithModifier::Rollup];
        if self.at(Kw::ROLLUP) && self.ahead(1).kind == Kind::LeftParen {
            self.take();
            let keys = self.paren_list(Self::expr)?;
            return Ok(GroupByExpr::Expressions(keys, rollup()));
        }
        let keys = self.comma_list(Self::expr)?;
        if self.eat(Kw::WITH) {
            self.expect(Kw::ROLLUP)?;
            return Ok(GroupByExpr::Expressions(keys, rollup()));
        }
        Ok(GroupByExpr::Expressions(keys, Vec::new()))
    }
}
