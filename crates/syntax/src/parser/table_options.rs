//! Options of tables, keys and databases: a name and a value, kept as text.

use super::cursor::{Parser, Result};
use crate::ast::{DatabaseOption, TableOption};
use crate::keywords::{Kw, kw};
use crate::lexer::token::Kind;

/// Options of a table that are one keyword and a value.
const TABLE_OPTIONS: &[Kw] = &kw![
    AUTOEXTEND_SIZE AUTO_INCREMENT AVG_ROW_LENGTH CHECKSUM COMMENT COMPRESSION CONNECTION
    DELAY_KEY_WRITE ENCRYPTION ENGINE ENGINE_ATTRIBUTE INSERT_METHOD KEY_BLOCK_SIZE MAX_ROWS
    MIN_ROWS PACK_KEYS PASSWORD ROW_FORMAT SECONDARY_ENGINE SECONDARY_ENGINE_ATTRIBUTE
    STATS_AUTO_RECALC STATS_PERSISTENT STATS_SAMPLE_PAGES STORAGE TABLESPACE TABLE_CHECKSUM
];

/// Options that only MariaDB's tables have, as its dumps write them; none of them changes a table's
/// contents.
const MARIADB_OPTIONS: &[&str] = &[
    "ENCRYPTED",
    "ENCRYPTION_KEY_ID",
    "IETF_QUOTES",
    "PAGE_CHECKSUM",
    "PAGE_COMPRESSED",
    "PAGE_COMPRESSION_LEVEL",
    "TRANSACTIONAL",
];

impl Parser<'_> {
    /// All options of a table; commas between them are optional.
    pub(crate) fn table_options(&mut self) -> Result<Vec<TableOption>> {
        let mut options = Vec::new();
        while let Some(option) = self.table_option()? {
            options.push(option);
            if self.eat_kind(Kind::Comma) {
                match self.table_option()? {
                    Some(option) => options.push(option),
                    None => return self.fail(),
                }
            }
        }
        Ok(options)
    }

    /// One option of a table, if there is one.
    pub(crate) fn table_option(&mut self) -> Result<Option<TableOption>> {
        let option = |name: &str, value: String| Ok(Some(TableOption::unquoted(name, value)));
        match self.keyword() {
            Kw::DEFAULT if self.at_charset_option(1) => {
                self.take();
                self.table_option()
            }
            Kw::CHARACTER | Kw::CHARSET | Kw::CHAR if self.at_charset_option(0) => {
                self.charset_words()?;
                option("CHARACTER SET", self.charset_or_default()?)
            }
            Kw::COLLATE => {
                self.open_option();
                option("COLLATE", self.charset_or_default()?)
            }
            Kw::UNION => {
                self.open_option();
                let first = self.position;
                self.paren_list(Self::table_name)?;
                option("UNION", self.text_from(first).to_owned())
            }
            Kw::DATA | Kw::INDEX if self.ahead(1).keyword == Kw::DIRECTORY => {
                let name = match self.take().keyword {
                    Kw::DATA => "DATA DIRECTORY",
                    _ => "INDEX DIRECTORY",
                };
                self.open_option();
                option(name, self.string()?)
            }
            keyword if TABLE_OPTIONS.contains(&keyword) => self.named_option().map(Some),
            _ if self.is_identifier(self.next()) => {
                let name = self.name_of(self.next()).to_ascii_uppercase();
                if !MARIADB_OPTIONS.contains(&name.as_str()) {
                    return Ok(None);
                }
                self.open_option();
                let value = self.take();
                option(&name, self.text(value).to_owned())
            }
            _ => Ok(None),
        }
    }

    /// Takes the word that names an option, and the equals sign if there is one.
    fn open_option(&mut self) -> Kw {
        let name = self.take().keyword;
        self.eat_equal();
        name
    }

    /// Whether `CHARACTER SET | CHARSET | COLLATE` stands some tokens ahead.
    fn at_charset_option(&self, ahead: usize) -> bool {
        matches!(self.ahead(ahead).keyword, Kw::CHARSET | Kw::COLLATE) || self.at_charset(ahead)
    }

    /// Whether `CHARACTER SET` stands some tokens ahead.
    pub(crate) fn at_charset(&self, ahead: usize) -> bool {
        matches!(self.ahead(ahead).keyword, Kw::CHARACTER | Kw::CHAR)
            && self.ahead(ahead + 1).keyword == Kw::SET
    }

    /// `CHARACTER SET` or `CHARSET`, and the equals sign.
    pub(crate) fn charset_words(&mut self) -> Result<()> {
        if self.take().keyword != Kw::CHARSET {
            self.expect(Kw::SET)?;
        }
        self.eat_equal();
        Ok(())
    }

    /// A character set or collation; `DEFAULT` stands for itself.
    pub(crate) fn charset_or_default(&mut self) -> Result<String> {
        let name = self.unless(Kw::DEFAULT, Self::charset_name)?;
        Ok(name.unwrap_or_else(|| "DEFAULT".to_owned()))
    }

    /// `NAME [=] value`, where the value is one token.
    pub(crate) fn named_option(&mut self) -> Result<TableOption> {
        let name = self.open_option().spelling().to_owned();
        let quoted = self.at_kind(Kind::String);
        let value = match self.kind() {
            Kind::String => self.string()?,
            Kind::Integer | Kind::Hex => self.unsigned()?.to_string(),
            Kind::Word if self.at(Kw::DEFAULT) => {
                self.take();
                "DEFAULT".to_owned()
            }
            Kind::Word if self.at(Kw::NULL) && name == Kw::SECONDARY_ENGINE.spelling() => {
                self.take();
                String::new()
            }
            _ => self.name()?,
        };
        Ok(TableOption {
            name,
            value,
            quoted,
        })
    }

    /// The options of a database.
    pub(crate) fn database_options(&mut self) -> Result<Vec<DatabaseOption>> {
        let mut options = Vec::new();
        loop {
            let start = self.position;
            self.eat(Kw::DEFAULT);
            match self.keyword() {
                Kw::CHARACTER | Kw::CHARSET | Kw::CHAR => {
                    self.charset_words()?;
                    options.push(DatabaseOption::Charset(self.charset_or_default()?));
                }
                Kw::COLLATE => {
                    self.open_option();
                    options.push(DatabaseOption::Collation(self.charset_or_default()?));
                }
                Kw::ENCRYPTION => {
                    self.open_option();
                    options.push(DatabaseOption::Encryption(self.string()?));
                }
                Kw::READ if self.position == start => {
                    self.expect_all(&kw![READ ONLY])?;
                    self.eat_equal();
                    let value = self.unless(Kw::DEFAULT, Self::unsigned)?;
                    let value = value.map_or("DEFAULT".to_owned(), |value| value.to_string());
                    options.push(DatabaseOption::ReadOnly(value));
                }
                _ if self.position == start => return Ok(options),
                _ => return self.fail(),
            }
        }
    }
}
