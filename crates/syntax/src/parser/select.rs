//! One `SELECT` block.

use crate::ast::{
    Expr, GroupBy, Ident, ObjectName, Select, SelectItem, SelectModifiers, UnaryOperator, Value,
};

use super::cursor::{Parser, Result};
use crate::encodings;
use crate::keywords::{Kw, kw};
use crate::lexer::literal::inside_hint;
use crate::lexer::token::Kind;

/// Greatest length in characters of a column's name made from its source text.
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
        let selection = self.after(Kw::WHERE, Self::condition)?;
        let group_by = self.group_by()?;
        let having = self.after(Kw::HAVING, Self::condition)?;
        let named_window = self.list_after(Kw::WINDOW, Self::named_window)?;
        Ok(Select {
            optimizer_hints,
            distinct,
            select_modifiers,
            projection,
            from,
            selection,
            group_by,
            having,
            named_window,
        })
    }

    /// The hint comment behind a verb, as text.
    pub(crate) fn hints(&mut self) -> Vec<String> {
        let mut hints = Vec::new();
        while self.at_kind(Kind::Hint) {
            let token = self.take();
            hints.push(inside_hint(self.text(token)).to_owned());
        }
        hints
    }

    /// The words between `SELECT` and its items, in any order.
    fn select_options(&mut self) -> Result<(bool, SelectModifiers)> {
        let (mut all, mut distinct) = (false, false);
        let mut modifiers = SelectModifiers::default();
        loop {
            let flag = match self.keyword() {
                // Both at once are error 1221 in MySQL; here the second word is unexpected.
                Kw::ALL if !distinct => &mut all,
                Kw::DISTINCT | Kw::DISTINCTROW if !all => &mut distinct,
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
            self.take();
        }
        Ok((distinct, modifiers))
    }

    /// The items of a select list; a bare `*` only comes first.
    pub(crate) fn select_items(&mut self) -> Result<Vec<SelectItem>> {
        let mut is_first = true;
        self.comma_list(|parser| {
            if std::mem::take(&mut is_first) && parser.eat_kind(Kind::Star) {
                return Ok(SelectItem::Wildcard);
            }
            parser.select_item()
        })
    }

    fn select_item(&mut self) -> Result<SelectItem> {
        if let Some(wildcard) = self.qualified_wildcard()? {
            return Ok(wildcard);
        }
        let first = self.position;
        let expr = self.expr()?;
        if let Some(alias) = self.select_alias()? {
            return Ok(SelectItem::ExprWithAlias {
                expr,
                alias,
                implicit: false,
            });
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
        Ok(Some(SelectItem::QualifiedWildcard(ObjectName(name))))
    }

    /// `[AS] alias`; the alias may be a string.
    fn select_alias(&mut self) -> Result<Option<Ident>> {
        let explicit = self.eat(Kw::AS);
        if self.at_kind(Kind::String) {
            return Ok(Some(Ident::with_quote('`', self.string()?)));
        }
        let has_alias = explicit || self.at_identifier() && !self.begins_returning();
        has_alias.then(|| self.ident()).transpose()
    }

    /// An item without an alias: a column keeps its own name, any other expression is named by its
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
        let text = match (core, literal) {
            (Expr::Identifier(_), _) if encodings::variable(core).is_none() => {
                return SelectItem::UnnamedExpr(core.clone());
            }
            (Expr::CompoundIdentifier(_), _) => return SelectItem::UnnamedExpr(core.clone()),
            // A constant of a stored program is shown by its name.
            (Expr::Function(call), _)
                if call.name.to_string().eq_ignore_ascii_case("name_const") =>
            {
                self.first_string(first)
            }
            (_, Expr::Value(value)) => match value {
                Value::Null => "NULL".to_owned(),
                Value::SingleQuotedString(_) | Value::NationalStringLiteral(_) => {
                    self.first_string(first)
                }
                Value::Number(digits) => digits.clone(),
                _ => self.text_from(first).to_owned(),
            },
            _ => self.text_from(first).to_owned(),
        };
        let visible = text.trim_start_matches(|c: char| c.is_whitespace() || c.is_control());
        let name = match visible.char_indices().nth(IMPLICIT_NAME_LENGTH) {
            Some((end, _)) => visible.get(..end).unwrap_or(visible),
            None => visible,
        };
        SelectItem::ExprWithAlias {
            alias: Ident::with_quote('`', name),
            expr,
            implicit: true,
        }
    }

    /// The value of the first string token from a token on.
    fn first_string(&self, first: usize) -> String {
        let mut taken = self.tokens.iter().take(self.position).skip(first);
        let token = taken.find(|t| matches!(t.kind, Kind::String | Kind::NationalString));
        token.map_or_else(String::new, |token| self.string_of(*token))
    }

    fn group_by(&mut self) -> Result<GroupBy> {
        if !self.eat_phrase(&kw![GROUP BY])? {
            return Ok(GroupBy::default());
        }
        if let Some(keys) = self.several_sets()? {
            return Ok(GroupBy {
                keys,
                several_sets: true,
                with_rollup: false,
            });
        }
        let (keys, with_rollup) = if self.at(Kw::ROLLUP) && self.ahead(1).kind == Kind::LeftParen {
            self.take();
            (self.paren_list(Self::condition)?, true)
        } else {
            let keys = self.comma_list(Self::condition)?;
            (
                keys,
                self.at_all(&kw![WITH ROLLUP]) && self.eat_phrase(&kw![WITH ROLLUP])?,
            )
        };
        Ok(GroupBy {
            keys,
            with_rollup,
            several_sets: false,
        })
    }

    /// The keys of `CUBE (a, b)` or `GROUPING SETS ((a, b), (a), ())`, if one of them is next.
    fn several_sets(&mut self) -> Result<Option<Vec<Expr>>> {
        if self.at(Kw::CUBE) {
            self.take();
            return self.paren_list(Self::condition).map(Some);
        }
        if !self.at(Kw::GROUPING) || !self.is_word(1, "SETS") {
            return Ok(None);
        }
        self.take();
        self.take();
        let sets = self.paren_list(|parser| parser.paren_list_or_empty(Self::condition))?;
        Ok(Some(sets.concat()))
    }
}
