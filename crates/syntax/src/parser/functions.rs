//! Calls of functions: ordinary ones, and those whose arguments have a syntax of their own.
//!
//! Special syntax becomes an ordinary call wherever it means nothing else, so that the binder sees
//! one form: `SUBSTRING(s FROM a FOR b)` is `SUBSTRING(s, a, b)` and `POSITION(a IN b)` is
//! `LOCATE(a, b)`. Units and type words among arguments become strings. See [`crate::encodings`].

use crate::ast::{
    CastType, CastTypeKind, Expr, Function, FunctionArg, FunctionArgumentList, FunctionArguments,
    Ident, ObjectName, TrimWhereField, Value,
};

use super::build;
use super::cursor::{Parser, Result, Unsupported};
use super::interval::Form;
use super::precedence;
use crate::encodings;
use crate::keywords::{Kw, kw};
use crate::lexer::token::Kind;

/// Functions that may be called without parentheses.
const BARE: &[Kw] = &kw![
    CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER LOCALTIME LOCALTIMESTAMP UTC_DATE
    UTC_TIME UTC_TIMESTAMP
];

/// Aggregates, which take `DISTINCT` or `ALL` and may have a window.
const AGGREGATES: &[Kw] = &kw![
    AVG BIT_AND BIT_OR BIT_XOR COUNT GROUP_CONCAT JSON_ARRAYAGG JSON_OBJECTAGG MAX MIN STD STDDEV
    STDDEV_POP STDDEV_SAMP SUM VARIANCE VAR_POP VAR_SAMP
];

/// Functions that must have a window.
const WINDOW_FUNCTIONS: &[Kw] = &kw![
    CUME_DIST DENSE_RANK FIRST_VALUE LAG LAST_VALUE LEAD NTH_VALUE NTILE PERCENT_RANK RANK
    ROW_NUMBER
];

/// Functions of the current time, with at most a number of fractional digits.
const CLOCKS: &[Kw] = &kw![
    CURRENT_TIME CURRENT_TIMESTAMP CURTIME LOCALTIME LOCALTIMESTAMP NOW SYSDATE UTC_TIME
    UTC_TIMESTAMP
];

/// Functions with a rule of their own in MySQL's grammar, with the minimum and maximum number of arguments. Any other
/// number is a syntax error; for an ordinary function it is error 1582.
const COUNTED: &[(Kw, usize, usize)] = &[
    (Kw::ASCII, 1, 1),
    (Kw::CHARSET, 1, 1),
    (Kw::COALESCE, 1, usize::MAX),
    (Kw::COLLATION, 1, 1),
    (Kw::CURDATE, 0, 0),
    (Kw::CURRENT_DATE, 0, 0),
    (Kw::CURRENT_USER, 0, 0),
    (Kw::DATABASE, 0, 0),
    (Kw::DATE, 1, 1),
    (Kw::DAY, 1, 1),
    (Kw::FORMAT, 2, 3),
    (Kw::GROUPING, 1, usize::MAX),
    (Kw::HOUR, 1, 1),
    (Kw::IF, 3, 3),
    (Kw::INSERT, 4, 4),
    (Kw::LEFT, 2, 2),
    (Kw::LINESTRING, 1, usize::MAX),
    (Kw::MICROSECOND, 1, 1),
    (Kw::MINUTE, 1, 1),
    (Kw::MOD, 2, 2),
    (Kw::MONTH, 1, 1),
    (Kw::MULTILINESTRING, 1, usize::MAX),
    (Kw::MULTIPOINT, 1, usize::MAX),
    (Kw::MULTIPOLYGON, 1, usize::MAX),
    (Kw::POINT, 2, 2),
    (Kw::POLYGON, 1, usize::MAX),
    (Kw::QUARTER, 1, 1),
    (Kw::REPEAT, 2, 2),
    (Kw::REPLACE, 3, 3),
    (Kw::REVERSE, 1, 1),
    (Kw::RIGHT, 2, 2),
    (Kw::ROW_COUNT, 0, 0),
    (Kw::SCHEMA, 0, 0),
    (Kw::SECOND, 1, 1),
    (Kw::SESSION_USER, 0, 0),
    (Kw::SYSTEM_USER, 0, 0),
    (Kw::TIME, 1, 1),
    (Kw::TIMESTAMP, 1, 2),
    (Kw::TRUNCATE, 2, 2),
    (Kw::USER, 0, 0),
    (Kw::UTC_DATE, 0, 0),
    (Kw::WEEK, 1, 2),
    (Kw::YEAR, 1, 1),
];

fn counted(keyword: Kw) -> Option<(usize, usize)> {
    let found = COUNTED.iter().find(|(known, _, _)| *known == keyword)?;
    Some((found.1, found.2))
}

impl Parser<'_> {
    /// A call whose function is named by a keyword, which is next.
    pub(crate) fn keyword_call(&mut self, keyword: Kw) -> Result<Expr> {
        if BARE.contains(&keyword) && self.ahead(1).kind != Kind::LeftParen {
            let token = self.take();
            return Ok(build::bare_call(self.text(token).to_owned()));
        }
        match keyword {
            Kw::CAST => self.cast(),
            Kw::CONVERT => self.convert(),
            Kw::EXTRACT => self.extract(),
            Kw::TRIM => self.trim(),
            Kw::SUBSTRING | Kw::SUBSTR | Kw::MID => self.substring(),
            Kw::POSITION => self.position(),
            Kw::DATE_ADD | Kw::DATE_SUB | Kw::ADDDATE | Kw::SUBDATE => self.date_add(keyword),
            Kw::TIMESTAMPADD | Kw::TIMESTAMPDIFF => self.timestamp_add(),
            Kw::GET_FORMAT => self.get_format(),
            Kw::CHAR => self.char(),
            Kw::WEIGHT_STRING => self.weight_string(),
            Kw::JSON_VALUE => self.json_value(),
            Kw::VALUES | Kw::DEFAULT => self.column_function(),
            Kw::MATCH => self.match_against(),
            keyword if CLOCKS.contains(&keyword) => self.clock(),
            keyword if AGGREGATES.contains(&keyword) => self.aggregate(keyword),
            keyword if WINDOW_FUNCTIONS.contains(&keyword) => self.window_function(keyword),
            keyword if let Some(count) = counted(keyword) => self.counted_call(count),
            _ if !keyword.is_reserved() => {
                let token = self.take();
                let name = Ident::new(self.text(token));
                if !self.at_kind(Kind::LeftParen) {
                    return self.fail();
                }
                self.named_call(vec![name])
            }
            _ => self.fail(),
        }
    }

    /// A call by a name that is no keyword: `f(...)`, `db.f(...)`.
    pub(crate) fn named_call(&mut self, name: Vec<Ident>) -> Result<Expr> {
        let last = name.last().map_or("", |part| &part.value);
        let only_stored = Kw::lookup(last.as_bytes()).is_call_only();
        let args = build::arguments(self.paren_list_or_empty(Self::expr)?);
        Ok(Expr::Function(Function {
            only_stored,
            ..build::function(ObjectName::from(name), args)
        }))
    }

    /// The name of the function that is next, as written, and its opening parenthesis.
    fn open_call(&mut self) -> Result<String> {
        let token = self.take();
        self.expect_kind(Kind::LeftParen)?;
        Ok(self.text(token).to_owned())
    }

    fn close<T>(&mut self, value: T) -> Result<T> {
        self.expect_kind(Kind::RightParen)?;
        Ok(value)
    }

    /// A call of a function of [`COUNTED`].
    fn counted_call(&mut self, (fewest, most): (usize, usize)) -> Result<Expr> {
        let name = self.open_call()?;
        let mut args = Vec::new();
        while args.len() < most {
            if args.len() >= fewest && self.at_kind(Kind::RightParen) {
                break;
            }
            if !args.is_empty() {
                self.expect_kind(Kind::Comma)?;
            }
            args.push(self.expr()?);
        }
        self.close(build::call(name, args))
    }

    /// A call of a function of [`CLOCKS`].
    fn clock(&mut self) -> Result<Expr> {
        let name = self.open_call()?;
        let mut args = Vec::new();
        if self.at_kind(Kind::Integer) {
            args.push(self.prefix()?);
        }
        self.close(build::call(name, args))
    }

    fn cast(&mut self) -> Result<Expr> {
        self.open_call()?;
        let expr = self.expr()?;
        self.expect(Kw::AS)?;
        let mut data_type = self.cast_type()?;
        data_type.is_array = self.eat(Kw::ARRAY);
        self.close(build::cast(expr, data_type))
    }

    /// `CONVERT(x, type)`, which is a cast, and `CONVERT(x USING charset)`.
    fn convert(&mut self) -> Result<Expr> {
        self.open_call()?;
        let expr = self.expr()?;
        if self.eat(Kw::USING) {
            return self.using(expr);
        }
        self.expect_kind(Kind::Comma)?;
        let data_type = self.cast_type()?;
        self.close(build::cast(expr, data_type))
    }

    /// The character set behind `USING`, and the closing parenthesis.
    fn using(&mut self, expr: Expr) -> Result<Expr> {
        let charset = self.unless(Kw::DEFAULT, Self::charset_name)?;
        let charset = charset.unwrap_or_else(|| "default".to_owned());
        self.close(Expr::Convert {
            expr: Box::new(expr),
            charset,
        })
    }

    fn extract(&mut self) -> Result<Expr> {
        self.open_call()?;
        let field = self.interval_unit()?;
        self.expect(Kw::FROM)?;
        let expr = Box::new(self.expr()?);
        self.close(Expr::Extract { field, expr })
    }

    fn trim(&mut self) -> Result<Expr> {
        self.open_call()?;
        let trim_where = match self.eat_any(&[Kw::LEADING, Kw::TRAILING, Kw::BOTH]) {
            Some(Kw::LEADING) => Some(TrimWhereField::Leading),
            Some(Kw::TRAILING) => Some(TrimWhereField::Trailing),
            Some(_) => Some(TrimWhereField::Both),
            None => None,
        };
        let trimmed = |trim_what, expr| Expr::Trim {
            trim_where,
            trim_what,
            expr: Box::new(expr),
        };
        if trim_where.is_some() && self.eat(Kw::FROM) {
            let expr = self.expr()?;
            return self.close(trimmed(None, expr));
        }
        let first = self.expr()?;
        if trim_where.is_some() && !self.at(Kw::FROM) {
            return self.fail();
        }
        if self.eat(Kw::FROM) {
            let expr = self.expr()?;
            return self.close(trimmed(Some(Box::new(first)), expr));
        }
        self.close(trimmed(None, first))
    }

    fn substring(&mut self) -> Result<Expr> {
        let name = self.open_call()?;
        let mut args = vec![self.expr()?];
        let has_commas = self.eat_kind(Kind::Comma);
        if !has_commas {
            self.expect(Kw::FROM)?;
        }
        args.push(self.expr()?);
        if (has_commas && self.eat_kind(Kind::Comma)) || (!has_commas && self.eat(Kw::FOR)) {
            args.push(self.expr()?);
        }
        self.close(build::call(name, args))
    }

    fn position(&mut self) -> Result<Expr> {
        self.open_call()?;
        let needle = self.bit_expr()?;
        self.expect(Kw::IN)?;
        let haystack = self.expr()?;
        self.close(build::call("LOCATE", vec![needle, haystack]))
    }

    /// `DATE_ADD(d, INTERVAL ...)`; `ADDDATE` and `SUBDATE` also take a number of days.
    fn date_add(&mut self, keyword: Kw) -> Result<Expr> {
        let name = self.open_call()?;
        let date = self.expr()?;
        self.expect_kind(Kind::Comma)?;
        let takes_days = matches!(keyword, Kw::ADDDATE | Kw::SUBDATE);
        let amount = if !takes_days {
            self.interval_only()?
        } else if self.at(Kw::INTERVAL) {
            self.interval_or_days()?
        } else {
            self.expr()?
        };
        self.close(build::call(name, vec![date, amount]))
    }

    /// An interval, or an expression that begins with the same word.
    fn interval_or_days(&mut self) -> Result<Expr> {
        let days = match self.interval()? {
            Form::Interval(interval) if !self.at_kind(Kind::Plus) => return Ok(interval),
            Form::Interval(interval) => self.behind_interval(interval)?,
            Form::Function(call) => call,
        };
        self.infix(days, precedence::LOWEST, precedence::HIGHEST)
    }

    /// `TIMESTAMPADD(unit, a, b)` and `TIMESTAMPDIFF(unit, a, b)`; the unit becomes a string.
    fn timestamp_add(&mut self) -> Result<Expr> {
        let name = self.open_call()?;
        let unit = self.interval_unit()?.name();
        self.expect_kind(Kind::Comma)?;
        let first = self.expr()?;
        self.expect_kind(Kind::Comma)?;
        let second = self.expr()?;
        self.close(build::call(name, vec![build::string(unit), first, second]))
    }

    fn get_format(&mut self) -> Result<Expr> {
        let name = self.open_call()?;
        let word = self.expect_any(&kw![DATE TIME DATETIME TIMESTAMP])?;
        self.expect_kind(Kind::Comma)?;
        let args = vec![build::string(word.spelling()), self.expr()?];
        self.close(build::call(name, args))
    }

    /// `CHAR(n, ... [USING charset])`.
    fn char(&mut self) -> Result<Expr> {
        let name = self.open_call()?;
        let args = self.comma_list(Self::expr)?;
        let call = build::call(name, args);
        if self.eat(Kw::USING) {
            return self.using(call);
        }
        self.close(call)
    }

    /// `WEIGHT_STRING(x [AS CHAR(n) | BINARY(n)])`: the length becomes a second argument, and BINARY a cast of the
    /// first.
    fn weight_string(&mut self) -> Result<Expr> {
        let name = self.open_call()?;
        let argument = self.expr()?;
        if !self.eat(Kw::AS) {
            return self.close(build::call(name, vec![argument]));
        }
        let is_binary = self.eat(Kw::BINARY);
        if !is_binary {
            self.expect(Kw::CHAR)?;
        }
        let length = self.parens(|parser| match parser.unsigned()? {
            0 => parser.fail_at_previous(),
            length => Ok(length),
        })?;
        let arguments = if is_binary {
            let target = CastType {
                length: Some(length),
                ..CastType::new(CastTypeKind::Binary)
            };
            vec![build::cast(argument, target)]
        } else {
            vec![argument, build::number(length)]
        };
        self.close(build::call(name, arguments))
    }

    /// `JSON_VALUE(document, path [RETURNING type] [... ON EMPTY] [... ON ERROR])`.
    fn json_value(&mut self) -> Result<Expr> {
        let name = self.open_call()?;
        let document = self.simple_expr()?;
        self.expect_kind(Kind::Comma)?;
        let path = match self.kind() {
            Kind::Introducer => self.simple_expr()?,
            _ => build::string(self.string()?),
        };
        let mut args = vec![document, path];
        if self.eat(Kw::RETURNING) {
            args.push(build::cast(build::null(), self.cast_type()?));
        }
        while let Some(word) = self.eat_any(&kw![NULL ERROR DEFAULT]) {
            let default = match word {
                Kw::DEFAULT => self.prefix()?,
                _ => build::null(),
            };
            self.expect(Kw::ON)?;
            let event = self.expect_any(&kw![EMPTY ERROR])?;
            let response = format!("#{}_ON_{}", word.spelling(), event.spelling());
            args.push(build::call(response, vec![default]));
        }
        self.close(build::call(name, args))
    }

    /// `VALUES(column)` and `DEFAULT(column)`.
    fn column_function(&mut self) -> Result<Expr> {
        let name = self.open_call()?;
        let column = self.column()?;
        self.close(build::call(name, vec![column]))
    }

    fn column(&mut self) -> Result<Expr> {
        let mut parts = vec![self.ident()?];
        while self.eat_kind(Kind::Dot) {
            parts.push(self.ident()?);
        }
        Ok(encodings::column(parts))
    }

    /// `MATCH (a, b) AGAINST (text [mode])`, encoded as [`encodings::MATCH_FUNCTION`].
    fn match_against(&mut self) -> Result<Expr> {
        self.take();
        let parenthesised = self.eat_kind(Kind::LeftParen);
        let columns = self.comma_list(Self::column)?;
        if parenthesised {
            self.expect_kind(Kind::RightParen)?;
        }
        self.expect(Kw::AGAINST)?;
        self.expect_kind(Kind::LeftParen)?;
        let text = self.bit_expr()?;
        let first = self.position;
        if self.eat(Kw::IN) {
            if !self.eat(Kw::BOOLEAN) {
                self.expect_all(&kw![NATURAL LANGUAGE])?;
            }
            self.expect(Kw::MODE)?;
        }
        self.eat_phrase(&kw![WITH QUERY EXPANSION])?;
        let mode = self.text_from(first).to_ascii_uppercase();
        self.expect_kind(Kind::RightParen)?;
        let args = vec![Expr::Tuple(columns), text, build::string(mode)];
        Ok(build::call(encodings::MATCH_FUNCTION, args))
    }

    fn aggregate(&mut self, keyword: Kw) -> Result<Expr> {
        let name = self.open_call()?;
        let mut list = FunctionArgumentList {
            distinct: false,
            args: Vec::new(),
            order_by: Vec::new(),
            separator: None,
            limit: None,
        };
        if self.eat(Kw::DISTINCT) {
            list.distinct = true;
        } else {
            self.eat(Kw::ALL);
        }
        let counts_rows = keyword == Kw::COUNT && !list.distinct;
        if counts_rows && self.eat_kind(Kind::Star) {
            list.args.push(FunctionArg::Wildcard);
        } else {
            let several = match keyword {
                Kw::GROUP_CONCAT | Kw::JSON_OBJECTAGG => true,
                Kw::COUNT => !counts_rows,
                _ => false,
            };
            list.args.push(FunctionArg::Expr(self.expr()?));
            while several && self.eat_kind(Kind::Comma) {
                list.args.push(FunctionArg::Expr(self.expr()?));
            }
        }
        if keyword == Kw::GROUP_CONCAT {
            self.group_concat_clauses(&mut list)?;
        }
        self.expect_kind(Kind::RightParen)?;
        let arguments = FunctionArguments::List(list);
        let mut call = build::function(build::object_name(name), arguments);
        self.over(&mut call)?;
        Ok(Expr::Function(call))
    }

    fn group_concat_clauses(&mut self, list: &mut FunctionArgumentList) -> Result<()> {
        if self.at(Kw::ORDER) {
            list.order_by = self.order_by_list()?;
        }
        if self.eat(Kw::SEPARATOR) {
            list.separator = Some(match self.kind() {
                Kind::Hex | Kind::Bits => {
                    let token = self.take();
                    self.digits(token)
                }
                _ => Value::SingleQuotedString(self.string()?),
            });
        }
        // MariaDB's clause.
        if self.eat(Kw::LIMIT) {
            let first = self.unsigned()?;
            list.limit = Some(if self.eat_kind(Kind::Comma) {
                (first, self.unsigned()?)
            } else {
                (self.after(Kw::OFFSET, Self::unsigned)?.unwrap_or(0), first)
            });
        }
        Ok(())
    }

    /// Parses a function that needs a window, with its number of arguments; an argument that counts rows, buckets or
    /// positions is a whole number.
    fn window_function(&mut self, keyword: Kw) -> Result<Expr> {
        let token = self.take();
        let name = build::object_name(self.text(token));
        let args = self.parens(|parser| parser.window_arguments(keyword))?;
        let mut call = build::function(name, build::arguments(args));
        if keyword == Kw::NTH_VALUE {
            if self.at_all(&kw![FROM LAST]) {
                return self.unsupported(Unsupported::FromLast);
            }
            self.eat_phrase(&kw![FROM FIRST])?;
        }
        call.null_treatment = self.null_treatment()?;
        if !self.at(Kw::OVER) {
            return self.fail();
        }
        self.over(&mut call)?;
        Ok(Expr::Function(call))
    }

    fn window_arguments(&mut self, keyword: Kw) -> Result<Vec<Expr>> {
        let mut args = Vec::new();
        match keyword {
            Kw::FIRST_VALUE | Kw::LAST_VALUE => args.push(self.expr()?),
            Kw::NTILE => args.push(self.whole_number()?),
            Kw::NTH_VALUE => {
                args.push(self.expr()?);
                self.expect_kind(Kind::Comma)?;
                args.push(self.expr()?);
            }
            Kw::LAG | Kw::LEAD => {
                args.push(self.expr()?);
                if self.eat_kind(Kind::Comma) {
                    args.push(self.whole_number()?);
                    if self.eat_kind(Kind::Comma) {
                        args.push(self.expr()?);
                    }
                }
            }
            _ => {}
        }
        Ok(args)
    }

    /// A whole number of 64 bits, or a parameter or variable in its place.
    fn whole_number(&mut self) -> Result<Expr> {
        match self.kind() {
            Kind::Integer if self.text(self.ahead(0)).parse::<u64>().is_ok() => self.prefix(),
            Kind::Parameter | Kind::UserVariable => self.prefix(),
            _ if self.at_identifier() => self.prefix(),
            _ => self.fail(),
        }
    }
}
