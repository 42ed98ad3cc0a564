//! Windows: `OVER`, the `WINDOW` clause and frames.

use crate::ast::{
    Function, NamedWindowDefinition, NullTreatment, WindowFrame, WindowFrameBound,
    WindowFrameUnits, WindowSpec, WindowType,
};

use super::cursor::{Parser, Result, Unsupported};
use crate::keywords::{Kw, kw};
use crate::lexer::token::Kind;

impl Parser<'_> {
    /// `[RESPECT | IGNORE] NULLS`.
    pub(crate) fn null_treatment(&mut self) -> Result<Option<NullTreatment>> {
        if self.eat_phrase(&kw![RESPECT NULLS])? {
            return Ok(Some(NullTreatment::RespectNulls));
        }
        let ignores = self.eat_phrase(&kw![IGNORE NULLS])?;
        Ok(ignores.then_some(NullTreatment::IgnoreNulls))
    }

    /// `OVER name` or `OVER (...)`, if it is next.
    pub(crate) fn over(&mut self, call: &mut Function) -> Result<()> {
        call.over = self.after(Kw::OVER, |parser| match parser.kind() {
            Kind::LeftParen => parser.window_spec().map(WindowType::WindowSpec),
            _ => parser.ident().map(WindowType::NamedWindow),
        })?;
        Ok(())
    }

    /// `name AS (...)` behind `WINDOW`.
    pub(crate) fn named_window(&mut self) -> Result<NamedWindowDefinition> {
        let name = self.ident()?;
        self.expect(Kw::AS)?;
        Ok(NamedWindowDefinition(name, self.window_spec()?))
    }

    fn window_spec(&mut self) -> Result<WindowSpec> {
        self.parens(|parser| {
            let is_named = parser.at_identifier();
            let window_name = is_named.then(|| parser.ident()).transpose()?;
            let mut partition_by = Vec::new();
            if parser.eat_phrase(&kw![PARTITION BY])? {
                partition_by = parser.comma_list(Self::expr)?;
            }
            Ok(WindowSpec {
                window_name,
                partition_by,
                order_by: parser.order_by()?,
                window_frame: parser.window_frame()?,
            })
        })
    }

    fn window_frame(&mut self) -> Result<Option<WindowFrame>> {
        let units = match self.eat_any(&kw![ROWS RANGE GROUPS]) {
            Some(Kw::ROWS) => WindowFrameUnits::Rows,
            Some(Kw::RANGE) => WindowFrameUnits::Range,
            Some(_) => WindowFrameUnits::Groups,
            None => return Ok(None),
        };
        let has_end = self.eat(Kw::BETWEEN);
        let start_bound = self.frame_bound(has_end)?;
        let mut end_bound = None;
        if has_end {
            self.expect(Kw::AND)?;
            end_bound = Some(self.frame_bound(true)?);
        }
        if self.at(Kw::EXCLUDE) {
            return self.unsupported(Unsupported::Exclude);
        }
        Ok(Some(WindowFrame {
            units,
            start_bound,
            end_bound,
        }))
    }

    fn frame_bound(&mut self, may_follow: bool) -> Result<WindowFrameBound> {
        if self.eat(Kw::CURRENT) {
            self.expect(Kw::ROW)?;
            return Ok(WindowFrameBound::CurrentRow);
        }
        let distance = self.unless(Kw::UNBOUNDED, |parser| match parser.kind() {
            Kind::Integer | Kind::Decimal | Kind::Parameter => parser.prefix().map(Box::new),
            _ if parser.at(Kw::INTERVAL) => parser.interval_only().map(Box::new),
            _ => parser.fail(),
        })?;
        if may_follow && self.eat(Kw::FOLLOWING) {
            return Ok(WindowFrameBound::Following(distance));
        }
        self.expect(Kw::PRECEDING)?;
        Ok(WindowFrameBound::Preceding(distance))
    }
}
