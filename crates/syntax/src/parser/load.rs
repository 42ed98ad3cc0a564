//! `LOAD DATA` and `INTO OUTFILE`, which share their description of a file.

use super::copy::insert_into;
use super::cursor::{Parser, Result};
use crate::ast::{
    FieldsOptions, InsertStatement, IntoTarget, LinesOptions, LoadConcurrency, LoadData,
    LoadDuplicate, LoadTarget, Statement,
};
use crate::encodings;
use crate::keywords::{Kw, kw};
use crate::lexer::token::Kind;

impl Parser<'_> {
    pub(crate) fn load_data(&mut self) -> Result<Statement> {
        self.expect_all(&kw![LOAD DATA])?;
        let concurrency = match self.eat_any(&kw![LOW_PRIORITY CONCURRENT]) {
            Some(Kw::LOW_PRIORITY) => Some(LoadConcurrency::LowPriority),
            Some(_) => Some(LoadConcurrency::Concurrent),
            None => None,
        };
        let local = self.eat(Kw::LOCAL);
        self.expect(Kw::INFILE)?;
        let path = self.string()?;
        let duplicates = match self.eat_any(&kw![REPLACE IGNORE]) {
            Some(Kw::REPLACE) => LoadDuplicate::Replace,
            Some(_) => LoadDuplicate::Ignore,
            None => LoadDuplicate::Unspecified,
        };
        self.expect_all(&kw![INTO TABLE])?;
        let table = self.table_name()?;
        let partitions = self.partition_names()?;
        if self.at(Kw::FORMAT) && !local {
            let insert = InsertStatement {
                replace: duplicates == LoadDuplicate::Replace,
                ignore: duplicates == LoadDuplicate::Ignore,
                partitions,
                ..insert_into(table)
            };
            return self.load_format(path, insert);
        }
        let mut load = LoadData {
            concurrency,
            local,
            path,
            duplicates,
            table,
            partitions,
            charset: self.charset_clause()?,
            fields: self.fields_options()?,
            lines: self.lines_options()?,
            ignore_lines: 0,
            targets: Vec::new(),
            assignments: Vec::new(),
        };
        if self.eat(Kw::IGNORE) {
            load.ignore_lines = self.unsigned()?;
            self.expect_any(&kw![LINES ROWS])?;
        }
        if self.at_kind(Kind::LeftParen) {
            load.targets = self.paren_list_or_empty(Self::load_target)?;
        }
        if self.eat(Kw::SET) {
            load.assignments = self.assignments()?;
        }
        Ok(Statement::LoadData(Box::new(load)))
    }

    fn load_target(&mut self) -> Result<LoadTarget> {
        if self.at_kind(Kind::UserVariable) {
            return self.user_variable_name().map(LoadTarget::Variable);
        }
        self.column_name().map(LoadTarget::Column)
    }

    /// `CHARACTER SET | CHARSET name`, if it is next.
    pub(crate) fn charset_clause(&mut self) -> Result<Option<String>> {
        if self.eat_any(&kw![CHARACTER CHAR]).is_some() {
            self.expect(Kw::SET)?;
        } else if !self.eat(Kw::CHARSET) {
            return Ok(None);
        }
        self.charset_name().map(Some)
    }

    fn fields_options(&mut self) -> Result<FieldsOptions> {
        let mut options = FieldsOptions::default();
        if self.eat_any(&kw![FIELDS COLUMNS]).is_none() {
            return Ok(options);
        }
        let mut some = false;
        while let Some(word) = self.eat_any(&kw![TERMINATED OPTIONALLY ENCLOSED ESCAPED]) {
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
        while let Some(word) = self.eat_any(&kw![STARTING TERMINATED]) {
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
            let names = self.comma_list(|parser| match parser.in_program {
                true if parser.at_identifier() => parser.name(),
                _ => parser.user_variable_name(),
            })?;
            return Ok(IntoTarget::Variables(names));
        }
        let path = self.string()?;
        if self.at(Kw::FORMAT) {
            return self.data_file_clauses(path).map(IntoTarget::DataFile);
        }
        Ok(IntoTarget::OutFile {
            path,
            charset: self.charset_clause()?,
            fields: self.fields_options()?,
            lines: self.lines_options()?,
        })
    }
}
