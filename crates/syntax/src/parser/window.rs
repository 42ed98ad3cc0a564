//! Windows: `OVER`, the `WINDOW` clause and frames.

use sqlparser::ast::{
    Expr, Function, NamedWindowDefinition, NamedWindowExpr, NullTreatment, WindowFrame,
    WindowFrameBound, WindowFrameUnits, WindowSpec, WindowType,
};

use super::cursor::{Parser, Result};
use crate::keywords::Kw;
use crate::lexer::token::Kind;

impl Parser<'_> {
    /// `[RESPECT | IGNORE] NULLS`.
    pub(crate) fn null_treatment(&mut self) -> Result<Option<NullTreatment>> {
        let treatment = match self.eat_any(&[Kw::RESPECT, Kw::IGNORE]) {
            Some(Kw::RESPECT) => NullTreatment::RespectNulls,
            Some(_) => NullTreatment::IgnoreNulls,
            None => return Ok(None),
        };
        self.expect(Kw::NULLS)?;
        Ok(Some(treatment))
    }

    /// `OVER name` or `OVER (...)`, if it is next.
    pub(crate) fn over(&mut self, call: &mut Function) -> Result<()> {
        if self.eat(Kw::OVER) {
            call.over = Some(match self.at_kind(Kind::LeftParen) {
                true => WindowType::WindowSpec(self.window_spec()?),
                false => WindowType::NamedWindow(self.ident()?),
            });
        }
        Ok(())
    }

    /// `WINDOW name AS (...), ...`, behind its keyword.
    pub(crate) fn named_windows(&mut self) -> Result<Vec<NamedWindowDefinition>> {
        self.comma_list(|parser| {
            let name = parser.ident()?;
            parser.expect(Kw::AS)?;
            let spec = parser.window_spec()?;
            Ok(NamedWindowDefinition(
                name,
                NamedWindowExpr::WindowSpec(spec),
            ))
        })
    }

    fn window_spec(&mut self) -> Result<WindowSpec> {
        self.expect_kind(Kind::LeftParen)?;
        let window_name = match self.at_identifier() {
            true => Some(self.ident()?),
            false => None,
        };
        let mut partition_by = Vec::new();
        if self.eat(Kw::PARTITION) {
            self.expect(Kw::BY)?;
            partition_by = self.comma_list(Self::expr)?;
        }
        let order_by = match self.at(Kw::ORDER) {
            true => self.order_by_list()?,
            false => Vec::new(),
        };
        let window_frame = self.window_frame()?;
        self.expect_kind(Kind::RightParen)?;
        Ok(WindowSpec {
            window_name,
            partition_by,
            order_by,
            window_frame,
        })
    }

    fn window_frame(&mut self) -> Result<Option<WindowFrame>> {
        let units = match self.eat_any(&[Kw::ROWS, Kw::RANGE, Kw::GROUPS]) {
            Some(Kw::ROWS) => WindowFrameUnits::Rows,
            Some(Kw::RANGE) => WindowFrameUnits::Range,
            Some(_) => WindowFrameUnits::Groups,
            None => return Ok(None),
        };
        if self.eat(Kw::BETWEEN) {
            let start_bound = self.frame_bound(true)?;
            self.expect(Kw::AND)?;
            let end_bound = Some(self.frame_bound(true)?);
            return Ok(Some(WindowFrame {
                units,
                start_bound,
                end_bound,
            }));
        }
        let start_bound = self.frame_bound(false)?;
        Ok(Some(WindowFrame {
            units,
            start_bound,
            end_bound: None,
        }))
    }

    fn frame_bound(&mut self, may_follow: bool) -> Result<WindowFrameBound> {
        if self.eat(Kw::CURRENT) {
            self.expect(Kw::ROW)?;
            return Ok(WindowFrameBound::CurrentRow);
        }
        let distance: Option<Box<Expr>> = match self.keyword() {
            Kw::UNBOUNDED => {
                self.take();
                None
            }
            Kw::INTERVAL => Some(Box::new(self.interval_only()?)),
            _ if matches!(self.kind(), Kind::Integer | Kind::Decimal | Kind::Parameter) => {
                Some(Box::new(self.prefix()?))
            }
            _ if self.at_kind(Kind::UserVariable) => Some(Box::new(self.prefix()?)),
            _ => return self.fail(),
        };
        if may_follow && self.eat(Kw::FOLLOWING) {
            return Ok(WindowFrameBound::Following(distance));
        }
        self.expect(Kw::PRECEDING)?;
        Ok(WindowFrameBound::Preceding(distance))
    }
}
