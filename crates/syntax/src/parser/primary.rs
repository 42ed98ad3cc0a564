//! Operands: literals, columns, variables, parentheses, and unary operators.

use crate::ast::{
    BinaryOperator, CaseWhen, CastType, CastTypeKind, Expr, Ident, TemporalLiteral, TypedString,
    UnaryOperator, Value,
};

use super::build;
use super::cursor::{Parser, Result};
use super::interval::Form;
use super::precedence;
use crate::keywords::Kw;
use crate::lexer::token::{Kind, Token};

impl Parser<'_> {
    /// An operand with the unary operators before it.
    pub(crate) fn prefix(&mut self) -> Result<Expr> {
        let next = self.next();
        match next.kind {
            Kind::Word => self.word_operand(next),
            Kind::PlainWord | Kind::QuotedIdent => self.column_or_call(),
            Kind::Integer | Kind::Decimal => {
                self.take();
                Ok(build::number(self.text(next)))
            }
            Kind::String => self.strings().map(build::string),
            Kind::NationalString => {
                let text = self.strings()?;
                Ok(build::value(Value::NationalStringLiteral(text)))
            }
            Kind::Hex | Kind::Bits => {
                self.take();
                Ok(build::value(self.digits(next)))
            }
            Kind::Introducer => self.introduced(),
            Kind::Parameter => {
                self.take();
                self.parameters += 1;
                // Parameters are numbered in the text: clauses are bound in another order than they
                // are written.
                let name = format!("?{}", self.parameters);
                Ok(build::value(Value::Placeholder(name)))
            }
            Kind::UserVariable => self.user_variable(),
            Kind::AtAt => self.system_variable(),
            Kind::LeftParen => self.paren(),
            Kind::LeftBrace => self.odbc(),
            Kind::Minus => self.unary(UnaryOperator::Minus),
            Kind::Plus => self.unary(UnaryOperator::Plus),
            Kind::Tilde => self.unary(UnaryOperator::BitwiseNot),
            Kind::Bang => self.unary(UnaryOperator::Not),
            _ => self.fail(),
        }
    }

    fn unary(&mut self, op: UnaryOperator) -> Result<Expr> {
        self.take();
        let expr = Box::new(self.expr_above(precedence::CONCAT)?);
        Ok(Expr::UnaryOp { op, expr })
    }

    /// An operand that begins with a word: a keyword with a syntax of its own, or a name.
    fn word_operand(&mut self, next: Token) -> Result<Expr> {
        match next.keyword {
            Kw::OTHER => self.column_or_call(),
            Kw::NULL => {
                self.take();
                Ok(build::null())
            }
            Kw::TRUE | Kw::FALSE => {
                self.take();
                Ok(build::value(Value::Boolean(next.keyword == Kw::TRUE)))
            }
            Kw::CASE => self.case(),
            Kw::IF if self.ahead(1).kind == Kind::LeftParen => self.if_chain(),
            Kw::NOT if self.options.high_not_precedence => self.unary(UnaryOperator::Not),
            Kw::EXISTS => {
                self.take();
                self.expect_kind(Kind::LeftParen)?;
                Ok(Expr::Exists {
                    subquery: self.query_in_parens()?,
                    negated: false,
                })
            }
            Kw::BINARY => {
                self.take();
                let operand = self.expr_above(precedence::CONCAT)?;
                Ok(build::cast(operand, CastType::new(CastTypeKind::Binary)))
            }
            Kw::INTERVAL => self.leading_interval(),
            Kw::DATE | Kw::TIME | Kw::TIMESTAMP if self.ahead(1).kind == Kind::String => {
                self.take();
                let value = self.string()?;
                Ok(typed_string(next.keyword, value, false))
            }
            Kw::ROW if self.ahead(1).kind == Kind::LeftParen => {
                self.take();
                self.paren_list(Self::expr).map(Expr::Tuple)
            }
            keyword if keyword.is_reserved() || keyword.is_call_only() => {
                self.keyword_call(keyword)
            }
            keyword if self.ahead(1).kind == Kind::LeftParen => self.keyword_call(keyword),
            _ => self.column_or_call(),
        }
    }

    /// An interval before a `+`, or the function.
    fn leading_interval(&mut self) -> Result<Expr> {
        match self.interval()? {
            Form::Function(call) => Ok(call),
            Form::Interval(interval) => self.behind_interval(interval),
        }
    }

    /// The `+` behind a leading interval, and its date: everything up to `AND`, `XOR` or `OR`.
    pub(crate) fn behind_interval(&mut self, interval: Expr) -> Result<Expr> {
        self.expect_kind(Kind::Plus)?;
        let date = self.expr_above(precedence::AND)?;
        Ok(build::binary(date, BinaryOperator::Plus, interval))
    }

    /// A column, perhaps qualified and with a JSON path, or a call of a function by its name.
    fn column_or_call(&mut self) -> Result<Expr> {
        let first = self.ident()?;
        if self.at_kind(Kind::LeftParen) {
            return self.named_call(vec![first]);
        }
        if !self.at_kind(Kind::Dot) {
            return self.json_path(Expr::Identifier(first));
        }
        let mut parts = vec![first];
        while self.at_kind(Kind::Dot) && parts.len() < 3 {
            self.take();
            parts.push(self.ident()?);
        }
        if parts.len() == 2 && self.at_kind(Kind::LeftParen) {
            return self.named_call(parts);
        }
        self.json_path(Expr::CompoundIdentifier(parts))
    }

    /// `-> 'path'` and `->> 'path'` behind a column.
    fn json_path(&mut self, column: Expr) -> Result<Expr> {
        let op = match self.kind() {
            Kind::Arrow => BinaryOperator::Arrow,
            Kind::LongArrow => BinaryOperator::LongArrow,
            _ => return Ok(column),
        };
        self.take();
        let path = self.string()?;
        Ok(build::binary(column, op, build::string(path)))
    }

    /// The string that is next, with the ones that directly follow it: they are one.
    fn strings(&mut self) -> Result<String> {
        let first = self.take();
        let mut value = self.string_of(first);
        while self.at_kind(Kind::String) {
            value.push_str(&self.string()?);
        }
        Ok(value)
    }

    /// The value of a hexadecimal or binary literal in either notation.
    pub(crate) fn digits(&self, token: Token) -> Value {
        let digits = self.text(token).get(2..).unwrap_or("");
        let digits = digits.trim_end_matches('\'').to_owned();
        match token.kind {
            Kind::Hex => Value::HexStringLiteral(digits),
            _ => Value::BitStringLiteral(digits),
        }
    }

    /// `_charset` before a literal, or a column that is called like a character set.
    fn introduced(&mut self) -> Result<Expr> {
        let literal = self.ahead(1);
        if !matches!(literal.kind, Kind::String | Kind::Hex | Kind::Bits) {
            return self.column_or_call();
        }
        let prefix = Ident::new(self.text(self.next()));
        self.take();
        let value = match literal.kind {
            Kind::String => build::string(self.strings()?),
            _ => {
                self.take();
                build::value(self.digits(literal))
            }
        };
        Ok(Expr::Prefixed {
            prefix,
            value: Box::new(value),
        })
    }

    /// `@a` or `@a := value`.
    fn user_variable(&mut self) -> Result<Expr> {
        let name = self.user_variable_name()?;
        let variable = Expr::Identifier(Ident::new(format!("@{name}")));
        self.variables_in_conditions |= self.conditions > 0;
        if !self.eat_kind(Kind::Assign) {
            return Ok(variable);
        }
        self.sets_variables = true;
        let value = self.expr()?;
        Ok(build::binary(variable, BinaryOperator::Assignment, value))
    }

    /// The name of `@a`, `` @`a` `` or `@'a'`, without its `@`.
    pub(crate) fn user_variable_name(&mut self) -> Result<String> {
        let token = self.expect_kind(Kind::UserVariable)?;
        let name = self.text(token).get(1..).unwrap_or("");
        match name.chars().next() {
            Some('`' | '"' | '\'') => Ok(crate::lexer::literal::unquote_identifier(name)),
            Some(_) => Ok(name.to_owned()),
            None => self.fail(),
        }
    }

    /// `@@name`, `@@scope.name`, `@@component.name`.
    fn system_variable(&mut self) -> Result<Expr> {
        self.take();
        let mut name = String::from("@@");
        // Scopes are words like any other.
        name.push_str(&self.name()?);
        while self.eat_kind(Kind::Dot) {
            name.push('.');
            name.push_str(&self.name()?);
        }
        Ok(Expr::Identifier(Ident::new(name)))
    }

    /// Something in parentheses: an expression, a row or a subquery.
    pub(crate) fn paren(&mut self) -> Result<Expr> {
        self.expect_kind(Kind::LeftParen)?;
        if self.at_query() {
            return Ok(Expr::Subquery(self.query_in_parens()?));
        }
        let first = self.expr()?;
        if self.at_kind(Kind::Comma) {
            let mut row = vec![first];
            while self.eat_kind(Kind::Comma) {
                row.push(self.expr()?);
            }
            self.expect_kind(Kind::RightParen)?;
            return Ok(Expr::Tuple(row));
        }
        if let Expr::Subquery(query) = first {
            return Ok(Expr::Subquery(self.continue_query_in_parens(query)?));
        }
        self.expect_kind(Kind::RightParen)?;
        Ok(Expr::Nested(Box::new(first)))
    }

    /// `{d '...'}`, `{t '...'}`, `{ts '...'}`, `{fn call}`; any other `{word value}` is the value.
    fn odbc(&mut self) -> Result<Expr> {
        self.take();
        let word = self.name()?;
        let literal = match word.to_ascii_lowercase().as_str() {
            "d" => Some(Kw::DATE),
            "t" => Some(Kw::TIME),
            "ts" => Some(Kw::TIMESTAMP),
            _ => None,
        };
        let value = match literal {
            Some(keyword) if self.at_kind(Kind::String) => {
                typed_string(keyword, self.string()?, true)
            }
            _ => self.expr()?,
        };
        self.expect_kind(Kind::RightBrace)?;
        Ok(value)
    }

    fn case(&mut self) -> Result<Expr> {
        self.expect(Kw::CASE)?;
        let has_operand = !self.at(Kw::WHEN);
        let operand = has_operand.then(|| self.expr()).transpose()?;
        let mut conditions = Vec::new();
        while conditions.is_empty() || self.at(Kw::WHEN) {
            self.expect(Kw::WHEN)?;
            let condition = self.expr()?;
            self.expect(Kw::THEN)?;
            let result = self.expr()?;
            conditions.push(CaseWhen { condition, result });
        }
        let otherwise = self.after(Kw::ELSE, Self::expr)?;
        self.expect(Kw::END)?;
        Ok(build::case(operand, conditions, otherwise))
    }

    /// `IF(a, b, IF(c, d, …))`, in a loop: programs write long chains of it.
    fn if_chain(&mut self) -> Result<Expr> {
        let mut open = Vec::new();
        while self.at(Kw::IF) && self.ahead(1).kind == Kind::LeftParen {
            let name = self.take();
            self.take();
            let condition = self.expr()?;
            self.expect_kind(Kind::Comma)?;
            let result = self.expr()?;
            self.expect_kind(Kind::Comma)?;
            open.push((name, condition, result));
        }
        let mut otherwise = self.expr()?;
        // The closed branches, the innermost first.
        let mut closed = Vec::new();
        while let Some(branch) = open.pop() {
            self.expect_kind(Kind::RightParen)?;
            closed.push(branch);
            if !open.is_empty() && !self.at_kind(Kind::RightParen) {
                let inner = self.close_ifs(&mut closed, otherwise)?;
                otherwise = self.infix(inner, precedence::LOWEST, precedence::HIGHEST)?;
            }
        }
        self.close_ifs(&mut closed, otherwise)
    }

    /// Builds a call of IF for each branch, or one CASE for many, whose tree is lower.
    fn close_ifs(
        &mut self,
        branches: &mut Vec<(Token, Expr, Expr)>,
        otherwise: Expr,
    ) -> Result<Expr> {
        if branches.len() <= crate::chain::LEANING_MAX {
            self.raise(branches.len() as u32)?;
            let branches = branches.drain(..);
            let call = |otherwise, (name, condition, result)| {
                build::call(self.text(name), vec![condition, result, otherwise])
            };
            return Ok(branches.fold(otherwise, call));
        }
        self.raise(1)?;
        let branches = branches.drain(..).rev();
        let conditions = branches.map(|(_, condition, result)| CaseWhen { condition, result });
        Ok(build::case(None, conditions.collect(), Some(otherwise)))
    }
}

/// A temporal literal.
fn typed_string(keyword: Kw, value: String, is_escape: bool) -> Expr {
    let kind = match keyword {
        Kw::DATE => TemporalLiteral::Date,
        Kw::TIME => TemporalLiteral::Time,
        _ => TemporalLiteral::Timestamp,
    };
    Expr::TypedString(TypedString {
        kind,
        value,
        is_escape,
    })
}
