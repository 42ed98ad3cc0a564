//! `LOAD DATA` and `INTO OUTFILE`, which share their description of a file.

use super::cursor::{Parser, Result};
use crate::ast::{
    FieldsOptions, IntoTarget, LinesOptions, LoadConcurrency, LoadData, LoadDuplicate, LoadTarget,
    Statement,
};
use crate::encodings;
use crate::keywords::Kw;
use crate::lexer::token::Kind;

impl Parser<'_> {
    pub(crate) fn load_data(&mut self) -> Result<Statement> {
        self.expect_all(&[Kw::LOAD, Kw::DATA])?;
        let concurrency = match self.eat_any(&[Kw::LOW_PRIORITY, Kw::CONCURRENT]) {
            Some(Kw::LOW_PRIORITY) => Some(LoadConcurrency::LowPriority),
            Some(_) => Some(LoadConcurrency::Concurrent),
            None => None,
        };
        let local = self.eat(Kw::LOCAL);
        self.expect(Kw::INFILE)?;
        let path = self.string()?;
        let duplicates = match self.eat_any(&[Kw::REPLACE, Kw::IGNORE]) {
            Some(Kw::REPLACE) => LoadDuplicate::Replace,
            Some(_) => LoadDuplicate::Ignore,
            None => LoadDuplicate::Unspecified,
        };
        self.expect_all(&[Kw::INTO, Kw::TABLE])?;
        let table = self.table_name()?;
        let partitions = self.partition_names()?;
        let charset = self.file_charset()?;
        let fields = self.fields_options()?;
        let lines = self.lines_options()?;
        let mut ignore_lines = 0;
        if self.eat(Kw::IGNORE) {
            ignore_lines = self.unsigned()?;
            if self.eat_any(&[Kw::LINES, Kw::ROWS]).is_none() {
                return self.fail();
            }
        }
        let mut targets = Vec::new();
        if self.eat_kind(Kind::LeftParen) {
            if !self.at_kind(Kind::RightParen) {
                targets = self.comma_list(Self::load_target)?;
            }
            self.expect_kind(Kind::RightParen)?;
        }
        let assignments = match self.eat(Kw::SET) {
            true => self.assignments()?,
            false => Vec::new(),
        };
        Ok(Statement::LoadData(Box::new(LoadData {
            concurrency,
            local,
            path,
            duplicates,
            table,
            partitions,
            charset,
            fields,
            lines,
            ignore_lines,
            targets,
            assignments,
        })))
    }

    fn load_target(&mut self) -> Result<LoadTarget> {
        if self.at_kind(Kind::UserVariable) {
            return self.user_variable_name().map(LoadTarget::Variable);
        }
        let mut parts = self.column_name()?;
        match parts.pop() {
            Some(column) => Ok(LoadTarget::Column(column.value)),
            None => self.fail(),
        }
    }

    fn file_charset(&mut self) -> Result<Option<String>> {
        if self.eat_any(&[Kw::CHARACTER, Kw::CHAR]).is_some() {
            self.expect(Kw::SET)?;
        } else if !self.eat(Kw::CHARSET) {
            return Ok(None);
        }
        self.charset_name().map(Some)
    }

    fn fields_options(&mut self) -> Result<FieldsOptions> {
        let mut options = FieldsOptions::default();
        if self.eat_any(&[Kw::FIELDS, Kw::COLUMNS]).is_none() {
            return Ok(options);
        }
        let words = [Kw::TERMINATED, Kw::OPTIONALLY, Kw::ENCLOSED, Kw::ESCAPED];
        let mut some = false;
        while let Some(word) = self.eat_any(&words) {
            some = true;
            if word == Kw::OPTIONALLY {
                self.expect(Kw::ENCLOSED)?;
                options.optionally_enclosed = true;
            }
            self.expect(Kw::BY)?;
            let text = Some(self.text_string()?);
            match word {
                Kw::TERMINATED => options.terminated_by = text,
                Kw::ESCAPED => options.escaped_by = text,
                _ => options.enclosed_by = text,
            }
        }
        if some { Ok(options) } else { self.fail() }
    }

    fn lines_options(&mut self) -> Result<LinesOptions> {
        let mut options = LinesOptions::default();
        if !self.eat(Kw::LINES) {
            return Ok(options);
        }
        let mut some = false;
        while let Some(word) = self.eat_any(&[Kw::STARTING, Kw::TERMINATED]) {
            some = true;
            self.expect(Kw::BY)?;
            let text = Some(self.text_string()?);
            match word {
                Kw::STARTING => options.starting_by = text,
                _ => options.terminated_by = text,
            }
        }
        if some { Ok(options) } else { self.fail() }
    }

    /// A string, also as hexadecimal or binary digits.
    pub(crate) fn text_string(&mut self) -> Result<String> {
        if !matches!(self.kind(), Kind::Hex | Kind::Bits) {
            return self.string();
        }
        let token = self.take();
        let bytes = encodings::bytes_literal(&self.digits(token)).unwrap_or_default();
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// What follows `INTO`: a file, or variables.
    pub(crate) fn into_target(&mut self) -> Result<IntoTarget> {
        if self.eat(Kw::DUMPFILE) {
            return self.string().map(IntoTarget::DumpFile);
        }
        if !self.eat(Kw::OUTFILE) {
            return self
                .comma_list(Self::user_variable_name)
                .map(IntoTarget::Variables);
        }
        Ok(IntoTarget::OutFile {
            path: self.string()?,
            charset: self.file_charset()?,
            fields: self.fields_options()?,
            lines: self.lines_options()?,
        })
    }
}
