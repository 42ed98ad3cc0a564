//! Options of tables, keys and databases: a name and a value, kept as text.

use super::cursor::{Parser, Result};
use crate::ast::{DatabaseOption, TableOption};
use crate::keywords::Kw;
use crate::lexer::token::Kind;

/// Options of a table that are one keyword and a value.
const TABLE_OPTIONS: &[Kw] = &[
    Kw::AUTOEXTEND_SIZE,
    Kw::AUTO_INCREMENT,
    Kw::AVG_ROW_LENGTH,
    Kw::CHECKSUM,
    Kw::COMMENT,
    Kw::COMPRESSION,
    Kw::CONNECTION,
    Kw::DELAY_KEY_WRITE,
    Kw::ENCRYPTION,
    Kw::ENGINE,
    Kw::ENGINE_ATTRIBUTE,
    Kw::INSERT_METHOD,
    Kw::KEY_BLOCK_SIZE,
    Kw::MAX_ROWS,
    Kw::MIN_ROWS,
    Kw::PACK_KEYS,
    Kw::PASSWORD,
    Kw::ROW_FORMAT,
    Kw::SECONDARY_ENGINE,
    Kw::SECONDARY_ENGINE_ATTRIBUTE,
    Kw::STATS_AUTO_RECALC,
    Kw::STATS_PERSISTENT,
    Kw::STATS_SAMPLE_PAGES,
    Kw::STORAGE,
    Kw::TABLESPACE,
    Kw::TABLE_CHECKSUM,
];

/// Options that only MariaDB's tables have, as its dumps write them; none of them changes what a
/// table holds.
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
            if self.at_kind(Kind::Comma) {
                self.take();
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
        let option = |name: &str, value: String| {
            Ok(Some(TableOption {
                name: name.to_owned(),
                value,
                quoted: false,
            }))
        };
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
                self.take();
                self.eat_equal();
                option("COLLATE", self.charset_or_default()?)
            }
            Kw::UNION => {
                self.take();
                self.eat_equal();
                let first = self.position;
                self.paren_list(Self::table_name)?;
                option("UNION", self.text_from(first).to_owned())
            }
            Kw::DATA | Kw::INDEX if self.ahead(1).keyword == Kw::DIRECTORY => {
                let data = self.take().keyword == Kw::DATA;
                self.take();
                self.eat_equal();
                let value = self.string()?;
                option(
                    if data {
                        "DATA DIRECTORY"
                    } else {
                        "INDEX DIRECTORY"
                    },
                    value,
                )
            }
            keyword if TABLE_OPTIONS.contains(&keyword) => self.named_option().map(Some),
            _ if self.is_identifier(self.next()) => {
                let name = self.name_of(self.next()).to_ascii_uppercase();
                if !MARIADB_OPTIONS.contains(&name.as_str()) {
                    return Ok(None);
                }
                self.take();
                self.eat_equal();
                let value = self.take();
                option(&name, self.text(value).to_owned())
            }
            _ => Ok(None),
        }
    }

    /// Whether `[DEFAULT] CHARACTER SET | CHARSET | COLLATE` stands some tokens ahead.
    fn at_charset_option(&self, ahead: usize) -> bool {
        match self.ahead(ahead).keyword {
            Kw::CHARSET | Kw::COLLATE => true,
            Kw::CHARACTER | Kw::CHAR => self.ahead(ahead + 1).keyword == Kw::SET,
            _ => false,
        }
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
        match self.eat(Kw::DEFAULT) {
            true => Ok("DEFAULT".to_owned()),
            false => self.charset_name(),
        }
    }

    /// `NAME [=] value`, where the value is one token.
    pub(crate) fn named_option(&mut self) -> Result<TableOption> {
        let name = self.take().keyword.spelling().to_owned();
        self.eat_equal();
        let quoted = self.at_kind(Kind::String);
        let value = match self.kind() {
            Kind::String => self.string()?,
            Kind::Integer | Kind::Hex => self.unsigned()?.to_string(),
            Kind::Word if self.at(Kw::DEFAULT) => {
                self.take();
                "DEFAULT".to_owned()
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
                    self.take();
                    self.eat_equal();
                    options.push(DatabaseOption::Collation(self.charset_or_default()?));
                }
                Kw::ENCRYPTION => {
                    self.take();
                    self.eat_equal();
                    options.push(DatabaseOption::Encryption(self.string()?));
                }
                Kw::READ if self.position == start => {
                    self.take();
                    self.expect(Kw::ONLY)?;
                    self.eat_equal();
                    let value = match self.eat(Kw::DEFAULT) {
                        true => "DEFAULT".to_owned(),
                        false => self.unsigned()?.to_string(),
                    };
                    options.push(DatabaseOption::ReadOnly(value));
                }
                _ if self.position == start => return Ok(options),
                _ => return self.fail(),
            }
        }
    }
}
