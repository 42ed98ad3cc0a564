//! Types: of columns in definitions, and of values in casts.

use super::cursor::{Parser, Result};
use crate::ast::{CastType, CastTypeKind, ColumnType, TypeKind};
use crate::keywords::{Kw, kw};
use crate::lexer::token::Kind;

/// Numbers in parentheses that a type's name takes.
#[derive(Clone, Copy)]
enum Numbers {
    None,
    /// `[(n)]`.
    One,
    /// `(n)`.
    OneRequired,
    /// `[(n[, m])]`.
    UpToTwo,
    /// `[(n, m)]`.
    Both,
}

/// Attributes that may follow a type.
#[derive(Clone, Copy, PartialEq)]
enum Attributes {
    None,
    /// `UNSIGNED`, `SIGNED`, `ZEROFILL`.
    Number,
    /// `CHARACTER SET`, `ASCII`, `UNICODE`, `BYTE`, `BINARY`.
    Text,
}

/// The types named by one keyword.
#[rustfmt::skip]
static TYPES: &[(Kw, TypeKind, Numbers, Attributes)] = &[
    (Kw::TINYINT,    TypeKind::TinyInt,   Numbers::One,         Attributes::Number),
    (Kw::INT1,       TypeKind::TinyInt,   Numbers::One,         Attributes::Number),
    (Kw::SMALLINT,   TypeKind::SmallInt,  Numbers::One,         Attributes::Number),
    (Kw::INT2,       TypeKind::SmallInt,  Numbers::One,         Attributes::Number),
    (Kw::MEDIUMINT,  TypeKind::MediumInt, Numbers::One,         Attributes::Number),
    (Kw::INT3,       TypeKind::MediumInt, Numbers::One,         Attributes::Number),
    (Kw::MIDDLEINT,  TypeKind::MediumInt, Numbers::One,         Attributes::Number),
    (Kw::INT,        TypeKind::Int,       Numbers::One,         Attributes::Number),
    (Kw::INT4,       TypeKind::Int,       Numbers::One,         Attributes::Number),
    (Kw::INTEGER,    TypeKind::Int,       Numbers::One,         Attributes::Number),
    (Kw::BIGINT,     TypeKind::BigInt,    Numbers::One,         Attributes::Number),
    (Kw::INT8,       TypeKind::BigInt,    Numbers::One,         Attributes::Number),
    (Kw::DECIMAL,    TypeKind::Decimal,   Numbers::UpToTwo,     Attributes::Number),
    (Kw::NUMERIC,    TypeKind::Decimal,   Numbers::UpToTwo,     Attributes::Number),
    (Kw::DEC,        TypeKind::Decimal,   Numbers::UpToTwo,     Attributes::Number),
    (Kw::FIXED,      TypeKind::Decimal,   Numbers::UpToTwo,     Attributes::Number),
    (Kw::FLOAT,      TypeKind::Float,     Numbers::UpToTwo,     Attributes::Number),
    (Kw::FLOAT4,     TypeKind::Float,     Numbers::UpToTwo,     Attributes::Number),
    (Kw::DOUBLE,     TypeKind::Double,    Numbers::Both,        Attributes::Number),
    (Kw::FLOAT8,     TypeKind::Double,    Numbers::Both,        Attributes::Number),
    (Kw::REAL,       TypeKind::Double,    Numbers::Both,        Attributes::Number),
    (Kw::BIT,        TypeKind::Bit,       Numbers::One,         Attributes::None),
    (Kw::CHAR,       TypeKind::Char,      Numbers::One,         Attributes::Text),
    (Kw::CHARACTER,  TypeKind::Char,      Numbers::One,         Attributes::Text),
    (Kw::VARCHAR,    TypeKind::Varchar,   Numbers::OneRequired, Attributes::Text),
    (Kw::VARCHARACTER, TypeKind::Varchar, Numbers::OneRequired, Attributes::Text),
    (Kw::NVARCHAR,   TypeKind::Varchar,   Numbers::OneRequired, Attributes::Text),
    (Kw::NCHAR,      TypeKind::Char,      Numbers::One,         Attributes::Text),
    (Kw::BINARY,     TypeKind::Binary,    Numbers::One,         Attributes::None),
    (Kw::VARBINARY,  TypeKind::Varbinary, Numbers::OneRequired, Attributes::None),
    (Kw::TINYTEXT,   TypeKind::TinyText,  Numbers::None,        Attributes::Text),
    (Kw::TEXT,       TypeKind::Text,      Numbers::One,         Attributes::Text),
    (Kw::MEDIUMTEXT, TypeKind::MediumText, Numbers::None,       Attributes::Text),
    (Kw::LONGTEXT,   TypeKind::LongText,  Numbers::None,        Attributes::Text),
    (Kw::TINYBLOB,   TypeKind::TinyBlob,  Numbers::None,        Attributes::None),
    (Kw::BLOB,       TypeKind::Blob,      Numbers::One,         Attributes::None),
    (Kw::MEDIUMBLOB, TypeKind::MediumBlob, Numbers::None,       Attributes::None),
    (Kw::LONGBLOB,   TypeKind::LongBlob,  Numbers::None,        Attributes::None),
    (Kw::DATE,       TypeKind::Date,      Numbers::None,        Attributes::None),
    (Kw::TIME,       TypeKind::Time,      Numbers::One,         Attributes::None),
    (Kw::DATETIME,   TypeKind::DateTime,  Numbers::One,         Attributes::None),
    (Kw::TIMESTAMP,  TypeKind::Timestamp, Numbers::One,         Attributes::None),
    (Kw::YEAR,       TypeKind::Year,      Numbers::One,         Attributes::Number),
    (Kw::JSON,       TypeKind::Json,      Numbers::None,        Attributes::None),
    (Kw::SERIAL,     TypeKind::Serial,    Numbers::None,        Attributes::None),
    (Kw::VECTOR,     TypeKind::Vector,    Numbers::One,         Attributes::None),
    (Kw::GEOMETRY,   TypeKind::Geometry,  Numbers::None,        Attributes::None),
    (Kw::POINT,      TypeKind::Point,     Numbers::None,        Attributes::None),
    (Kw::LINESTRING, TypeKind::LineString, Numbers::None,       Attributes::None),
    (Kw::POLYGON,    TypeKind::Polygon,   Numbers::None,        Attributes::None),
    (Kw::MULTIPOINT, TypeKind::MultiPoint, Numbers::None,       Attributes::None),
    (Kw::MULTILINESTRING, TypeKind::MultiLineString, Numbers::None, Attributes::None),
    (Kw::MULTIPOLYGON, TypeKind::MultiPolygon, Numbers::None,   Attributes::None),
    (Kw::GEOMETRYCOLLECTION, TypeKind::GeometryCollection, Numbers::None, Attributes::None),
    (Kw::GEOMCOLLECTION, TypeKind::GeometryCollection, Numbers::None, Attributes::None),
];

/// Types of MariaDB only, with the length and character set of their values' texts.
static MARIADB_TYPES: &[(&str, TypeKind, u64, &str)] = &[
    ("UUID", TypeKind::Char, 36, "ascii"),
    ("INET4", TypeKind::Varchar, 15, "ascii"),
    ("INET6", TypeKind::Varchar, 39, "ascii"),
];

impl Parser<'_> {
    /// A type of MariaDB: its values are stored as text.
    fn mariadb_type(&mut self) -> Result<ColumnType> {
        let mut types = MARIADB_TYPES.iter();
        let Some((_, kind, length, charset)) = types.find(|(name, ..)| self.is_word(0, name))
        else {
            return self.fail();
        };
        self.take();
        Ok(ColumnType {
            length: Some(*length),
            charset: Some((*charset).to_owned()),
            ..ColumnType::new(*kind)
        })
    }

    /// A column's type with the attributes that belong to the type.
    pub(crate) fn column_type(&mut self) -> Result<ColumnType> {
        let keyword = self.keyword();
        match keyword {
            Kw::BOOL | Kw::BOOLEAN => {
                self.take();
                return Ok(ColumnType {
                    length: Some(1),
                    ..ColumnType::new(TypeKind::TinyInt)
                });
            }
            Kw::ENUM => return self.enumeration(TypeKind::Enum),
            Kw::SET => return self.enumeration(TypeKind::Set),
            Kw::LONG => return self.long_type(),
            Kw::NATIONAL => return self.national_type(),
            _ => {}
        }
        let Some((_, kind, numbers, attributes)) =
            TYPES.iter().find(|(name, ..)| *name == keyword).copied()
        else {
            return self.mariadb_type();
        };
        self.take();
        let mut column_type = ColumnType::new(kind);
        if matches!(keyword, Kw::NCHAR | Kw::NVARCHAR) {
            column_type.charset = Some("utf8mb3".to_owned());
        }
        let (kind, numbers) = match (kind, keyword) {
            (TypeKind::Char, _) if self.eat(Kw::VARYING) => {
                (TypeKind::Varchar, Numbers::OneRequired)
            }
            (TypeKind::Char, Kw::CHAR) if self.eat(Kw::BYTE) => (TypeKind::Binary, Numbers::One),
            (TypeKind::Char, Kw::NCHAR) if self.eat(Kw::VARCHAR) => {
                (TypeKind::Varchar, Numbers::OneRequired)
            }
            (TypeKind::Double, Kw::DOUBLE) => {
                self.eat(Kw::PRECISION);
                (kind, numbers)
            }
            _ => (kind, numbers),
        };
        column_type.kind = kind;
        self.type_numbers(&mut column_type, numbers)?;
        match attributes {
            Attributes::None => {}
            Attributes::Number => self.number_attributes(&mut column_type),
            Attributes::Text => self.text_attributes(&mut column_type)?,
        }
        if kind == TypeKind::Serial {
            column_type.unsigned = true;
        }
        Ok(column_type)
    }

    fn type_numbers(&mut self, column_type: &mut ColumnType, numbers: Numbers) -> Result<()> {
        let required = matches!(numbers, Numbers::OneRequired);
        if matches!(numbers, Numbers::None) || (!required && !self.at_kind(Kind::LeftParen)) {
            return Ok(());
        }
        self.parens(|parser| {
            column_type.length = Some(parser.unsigned()?);
            let has_second = match numbers {
                Numbers::UpToTwo => parser.eat_kind(Kind::Comma),
                Numbers::Both => parser.expect_kind(Kind::Comma).map(|_| true)?,
                _ => false,
            };
            if has_second {
                column_type.scale = Some(parser.unsigned()?);
            }
            Ok(())
        })
    }

    fn number_attributes(&mut self, column_type: &mut ColumnType) {
        while let Some(word) = self.eat_any(&kw![UNSIGNED SIGNED ZEROFILL]) {
            column_type.unsigned |= word != Kw::SIGNED;
            column_type.zerofill |= word == Kw::ZEROFILL;
        }
    }

    /// Parses attributes of a character type, before any other attribute of a column.
    fn text_attributes(&mut self, column_type: &mut ColumnType) -> Result<()> {
        loop {
            if self.at(Kw::CHARSET) || self.at_charset(0) {
                column_type.charset = self.charset_clause()?;
                continue;
            }
            match self.eat_any(&kw![ASCII UNICODE BYTE BINARY]) {
                Some(Kw::ASCII) => column_type.charset = Some("latin1".to_owned()),
                Some(Kw::UNICODE) => column_type.charset = Some("ucs2".to_owned()),
                Some(Kw::BYTE) => column_type.charset = Some("binary".to_owned()),
                Some(_) => column_type.binary = true,
                None => return Ok(()),
            }
        }
    }

    fn enumeration(&mut self, kind: TypeKind) -> Result<ColumnType> {
        self.take();
        let mut column_type = ColumnType::new(kind);
        column_type.members = self.paren_list(Self::text_string)?;
        self.text_attributes(&mut column_type)?;
        Ok(column_type)
    }

    /// `LONG`, `LONG VARCHAR` and `LONG VARBINARY`.
    fn long_type(&mut self) -> Result<ColumnType> {
        self.take();
        if self.eat(Kw::VARBINARY) {
            return Ok(ColumnType::new(TypeKind::MediumBlob));
        }
        if self.eat_any(&kw![CHAR CHARACTER]).is_some() {
            self.expect(Kw::VARYING)?;
        } else {
            self.eat_any(&kw![VARCHAR VARCHARACTER]);
        }
        let mut column_type = ColumnType::new(TypeKind::MediumText);
        self.text_attributes(&mut column_type)?;
        Ok(column_type)
    }

    /// `NATIONAL CHAR`, `NATIONAL VARCHAR`, `NATIONAL CHARACTER VARYING`.
    fn national_type(&mut self) -> Result<ColumnType> {
        self.take();
        let (kind, numbers) = match self.expect_any(&kw![CHAR CHARACTER VARCHAR VARCHARACTER])? {
            Kw::CHAR | Kw::CHARACTER if !self.eat(Kw::VARYING) => (TypeKind::Char, Numbers::One),
            _ => (TypeKind::Varchar, Numbers::OneRequired),
        };
        let mut column_type = ColumnType::new(kind);
        column_type.charset = Some("utf8mb3".to_owned());
        self.type_numbers(&mut column_type, numbers)?;
        column_type.binary = self.eat(Kw::BINARY);
        Ok(column_type)
    }

    /// The target of `CAST` and `CONVERT`.
    pub(crate) fn cast_type(&mut self) -> Result<CastType> {
        let keyword = self.keyword();
        let (kind, numbers) = match keyword {
            Kw::SIGNED | Kw::UNSIGNED => {
                self.take();
                self.eat_any(&kw![INT INTEGER]);
                return Ok(CastType::new(match keyword {
                    Kw::SIGNED => CastTypeKind::Signed,
                    _ => CastTypeKind::Unsigned,
                }));
            }
            Kw::NATIONAL => {
                self.expect_all(&kw![NATIONAL CHAR])?;
                return self.cast_char(true);
            }
            Kw::CHAR | Kw::CHARACTER | Kw::NCHAR => {
                self.take();
                return self.cast_char(keyword == Kw::NCHAR);
            }
            Kw::BINARY => (CastTypeKind::Binary, Numbers::One),
            Kw::TIME => (CastTypeKind::Time, Numbers::One),
            Kw::DATETIME => (CastTypeKind::DateTime, Numbers::One),
            Kw::FLOAT => (CastTypeKind::Float, Numbers::One),
            Kw::DECIMAL | Kw::DEC | Kw::NUMERIC | Kw::FIXED => {
                (CastTypeKind::Decimal, Numbers::UpToTwo)
            }
            Kw::DATE => (CastTypeKind::Date, Numbers::None),
            Kw::DOUBLE | Kw::REAL => (CastTypeKind::Double, Numbers::None),
            Kw::JSON => (CastTypeKind::Json, Numbers::None),
            Kw::YEAR => (CastTypeKind::Year, Numbers::None),
            Kw::POINT
            | Kw::LINESTRING
            | Kw::POLYGON
            | Kw::MULTIPOINT
            | Kw::MULTILINESTRING
            | Kw::MULTIPOLYGON
            | Kw::GEOMETRYCOLLECTION
            | Kw::GEOMCOLLECTION => {
                let mut types = TYPES.iter();
                let Some((_, kind, ..)) = types.find(|(name, ..)| *name == keyword) else {
                    return self.fail();
                };
                (CastTypeKind::Geometry(*kind), Numbers::None)
            }
            _ => return self.fail(),
        };
        self.take();
        if keyword == Kw::DOUBLE {
            self.eat(Kw::PRECISION);
        }
        let mut written = ColumnType::new(TypeKind::Char);
        self.type_numbers(&mut written, numbers)?;
        Ok(CastType {
            length: written.length,
            scale: written.scale,
            ..CastType::new(kind)
        })
    }

    /// `CHAR[(n)] [CHARACTER SET charset]` in a cast; with the character set `binary` it is BINARY.
    fn cast_char(&mut self, national: bool) -> Result<CastType> {
        let mut written = ColumnType::new(TypeKind::Char);
        if national {
            written.charset = Some("utf8mb3".to_owned());
        }
        self.type_numbers(&mut written, Numbers::One)?;
        self.text_attributes(&mut written)?;
        let is_binary = |name: &String| name.eq_ignore_ascii_case("binary");
        let is_bytes = written.charset.as_ref().is_some_and(is_binary);
        Ok(CastType {
            length: written.length,
            charset: written.charset.filter(|_| !is_bytes),
            ..CastType::new(if is_bytes {
                CastTypeKind::Binary
            } else {
                CastTypeKind::Char
            })
        })
    }
}
