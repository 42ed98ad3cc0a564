//! Values in the model: their literals, their displayed form, and their equality and order, by weights written by hand
//! for a few characters.

use std::sync::LazyLock;

use mayfly_testkit::groups::Groups;
use mayfly_trials::Random;

/// A value of a column.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Value {
    Null,
    /// A number without its point, or the index of a value in the list of a kind.
    Number(i128),
    Text(String),
}

/// Comparison key of a value; NULL is the least.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Key {
    Null,
    Number(i128),
    Weights(Vec<u32>),
}

/// Collation of characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Collation {
    /// `utf8mb4_0900_ai_ci`: ß is ss, a zero byte is ignored.
    Insensitive,
    /// `utf8mb4_general_ci`: ß is s; spaces at the end do not count.
    General,
    /// `utf8mb4_bin`: by code; spaces at the end do not count.
    Padded,
    /// `utf8mb4_0900_bin` and bytes: by code.
    Code,
}

/// A family of types.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Family {
    /// (decimals): a number with digits behind the point.
    Number(u32),
    /// (literal, displayed form) of a few values, in order.
    Listed(&'static [(&'static str, &'static str)]),
    Text(Collation),
}

/// A type of columns.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) sql: &'static str,
    pub(crate) family: Family,
    /// Range of the numbers; for texts, of their lengths.
    least: i128,
    pub(crate) greatest: i128,
    /// A value that no row has.
    pub(crate) never: &'static str,
}

const fn number(sql: &'static str, scale: u32, least: i128, greatest: i128) -> Kind {
    Kind {
        sql,
        family: Family::Number(scale),
        least,
        greatest,
        never: "77777777.5",
    }
}

const fn text(sql: &'static str, collation: Collation, longest: i128) -> Kind {
    Kind {
        sql,
        family: Family::Text(collation),
        least: 0,
        greatest: longest,
        never: "'qqq'",
    }
}

/// A kind with the values in `listed.txt`.
fn listed(sql: &'static str, never: &'static str) -> Kind {
    let values = LISTED.items(sql).iter();
    let values: Vec<_> = values
        .filter_map(|value| value.split_once(" => "))
        .collect();
    Kind {
        sql,
        family: Family::Listed(values.leak()),
        least: 0,
        greatest: 0,
        never,
    }
}

static LISTED: LazyLock<Groups> = LazyLock::new(|| Groups::read(include_str!("listed.txt")));

pub(crate) const INT: Kind = number("INT", 0, i32::MIN as i128, i32::MAX as i128);

pub(crate) static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    use Collation::{Code, General, Insensitive, Padded};
    vec![
        INT,
        number("TINYINT", 0, -128, 127),
        number("SMALLINT UNSIGNED", 0, 0, 65_535),
        number("MEDIUMINT", 0, -8_388_608, 8_388_607),
        number("BIGINT", 0, i64::MIN as i128, i64::MAX as i128),
        number("BIGINT UNSIGNED", 0, 0, u64::MAX as i128),
        number("DECIMAL(13,3)", 3, -9_999_999_999_999, 9_999_999_999_999),
        number("DECIMAL(38,0)", 0, 1 - 10_i128.pow(38), 10_i128.pow(38) - 1),
        number("BIT(64)", 0, 0, u64::MAX as i128),
        number("BIT(1)", 0, 0, 1),
        listed("DECIMAL(65,30)", "77777777.5"),
        listed("DOUBLE", "77777777.5"),
        listed("FLOAT", "77777777.5"),
        listed("DATE", "'2000-07-07'"),
        listed("DATETIME(3)", "'2000-07-07 07:07:07'"),
        listed("TIMESTAMP(6)", "'2000-07-07 07:07:07'"),
        listed("TIME(6)", "'07:07:07'"),
        listed("YEAR", "1999"),
        listed("ENUM('z', 'a', 'm')", "'q'"),
        listed("SET('x', 'y', 'b')", "'q'"),
        text("VARCHAR(768)", Insensitive, 768),
        text("VARCHAR(700)", Insensitive, 700),
        text("VARCHAR(40)", Insensitive, 40),
        text("CHAR(10)", Insensitive, 10),
        text("VARCHAR(700) COLLATE utf8mb4_general_ci", General, 700),
        text("VARCHAR(40) COLLATE utf8mb4_general_ci", General, 40),
        text("VARCHAR(40) COLLATE utf8mb4_bin", Padded, 40),
        text("VARCHAR(700) COLLATE utf8mb4_bin", Padded, 700),
        text("VARCHAR(700) COLLATE utf8mb4_0900_bin", Code, 700),
        text("VARCHAR(40) COLLATE utf8mb4_0900_bin", Code, 40),
        text("VARBINARY(2000)", Code, 1900),
        text("VARBINARY(3072)", Code, 3072),
        text("BINARY(4)", Code, 4),
        text("TEXT", Insensitive, 9_000),
        text("MEDIUMTEXT COLLATE utf8mb4_general_ci", General, 40_000),
        text("BLOB", Code, 9_000),
    ]
});

/// The kind with this SQL type.
pub(crate) fn kind_of(sql: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.sql == sql)
}

impl Kind {
    pub(crate) fn is_binary(&self) -> bool {
        self.sql.contains("BINARY") || self.sql == "BLOB"
    }

    /// Whether a key cannot have the whole of it.
    pub(crate) fn is_blob(&self) -> bool {
        self.sql.contains("TEXT") || self.sql == "BLOB"
    }

    pub(crate) fn collation(&self) -> Option<Collation> {
        match self.family {
            Family::Text(collation) => Some(collation),
            _ => None,
        }
    }

    /// Greatest number of bytes in a key, of a prefix of `characters` characters or of a whole value.
    pub(crate) fn key_bytes(&self, characters: Option<usize>) -> usize {
        let whole = || {
            let digits = self.sql.split(['(', ')']).nth(1);
            digits
                .and_then(|digits| digits.parse().ok())
                .unwrap_or(3072)
        };
        match self.family {
            Family::Text(_) if self.is_binary() => characters.unwrap_or_else(whole),
            Family::Text(_) => 4 * characters.unwrap_or_else(whole),
            _ => 40,
        }
    }

    /// A random value; sometimes a large one, rarely NULL.
    pub(crate) fn value(&self, nullable: bool, random: &mut Random) -> Value {
        if nullable && random.one_in(6) {
            return Value::Null;
        }
        match self.family {
            Family::Number(_) => Value::Number(match random.below(8) {
                0 => self.least,
                1 => self.greatest,
                2 => self.least + 1,
                _ => (random.below(12) as i128).min(self.greatest),
            }),
            Family::Listed(list) => Value::Number(random.below(list.len()) as i128),
            Family::Text(collation) => {
                let pieces: &[&str] = match (collation, self.is_binary()) {
                    (Collation::Insensitive, _) => {
                        &["a", "A", "á", "ß", "s", "S", "ss", "\0", "b", "7"]
                    }
                    (_, true) => &["a", "b", "\0", "\x01", "A", " "],
                    (Collation::General, _) => &["a", "A", "á", "ß", "s", "b", "7"],
                    _ => &["a", "A", "á", "ß", "b", "7", " a"],
                };
                let mut text = String::new();
                if random.one_in(3) && self.greatest > 300 {
                    let lengths = [100, 200, 261, 507, 690, 758, 1890, 3062];
                    let length = if random.one_in(60) {
                        self.greatest as usize
                    } else {
                        random.pick(&lengths)
                    };
                    text = "a".repeat(length.min(self.greatest as usize - 10));
                }
                for _ in 0..random.below(4) {
                    text.push_str(random.pick(pieces));
                }
                if collation != Collation::Insensitive && random.one_in(8) {
                    text.push(' ');
                }
                if self.sql == "BINARY(4)" {
                    text.truncate(4);
                    while text.len() < 4 {
                        text.push('\0');
                    }
                }
                if self.sql.starts_with("CHAR") {
                    text.truncate(text.trim_end_matches(' ').len());
                }
                Value::Text(text)
            }
        }
    }

    /// Whether a value belongs to this kind.
    pub(crate) fn has(&self, value: &Value) -> bool {
        match (value, self.family) {
            (Value::Null, _) => true,
            (Value::Number(number), Family::Number(_)) => {
                (self.least..=self.greatest).contains(number)
            }
            (Value::Number(place), Family::Listed(list)) => {
                usize::try_from(*place).is_ok_and(|place| place < list.len())
            }
            (Value::Text(text), Family::Text(_)) => {
                text.chars().count() as i128 <= self.greatest
                    && (text.is_ascii() || !self.is_binary())
            }
            _ => false,
        }
    }

    /// Whether a column of this kind can store a value of another unchanged.
    pub(crate) fn holds(&self, of: &Kind, value: &Value) -> bool {
        match (value, self.family, of.family) {
            (Value::Null, ..) => true,
            _ if self.sql == of.sql => true,
            (Value::Number(number), Family::Number(scale), Family::Number(other)) => {
                let is_bit = |kind: &Kind| kind.sql.starts_with("BIT");
                scale == other
                    && !is_bit(self)
                    && !is_bit(of)
                    && (self.least..=self.greatest).contains(number)
            }
            (Value::Text(text), Family::Text(collation), Family::Text(_)) => {
                let has_low = text.chars().any(|character| character < ' ');
                let is_plain = text.is_ascii() || (!self.is_binary() && !of.is_binary());
                let is_fixed =
                    |kind: &Kind| kind.sql.starts_with("CHAR") || kind.sql == "BINARY(4)";
                is_plain
                    && self.is_binary() == of.is_binary()
                    && !is_fixed(self)
                    && !is_fixed(of)
                    && text.chars().count() as i128 <= self.greatest
                    && (!has_low || !matches!(collation, Collation::General | Collation::Padded))
                    && !(collation == Collation::Insensitive && (text.contains([' ', '\x01'])))
            }
            _ => false,
        }
    }

    /// The SQL literal.
    pub(crate) fn literal(&self, value: &Value) -> String {
        match (value, self.family) {
            (Value::Null, _) => "NULL".to_owned(),
            (Value::Number(place), Family::Listed(list)) => list[*place as usize].0.to_owned(),
            (Value::Number(number), Family::Number(scale)) => pointed(*number, scale),
            (Value::Number(number), Family::Text(_)) => number.to_string(),
            (Value::Text(text), _) => {
                let run = text.bytes().take_while(|byte| *byte == b'a').count();
                let quoted = |text: &str| format!("'{}'", text.replace('\0', "\\0"));
                if run > 60 {
                    format!("CONCAT(REPEAT('a', {run}), {})", quoted(&text[run..]))
                } else {
                    quoted(text)
                }
            }
        }
    }

    /// The field in a file for LOAD DATA.
    pub(crate) fn field(&self, value: &Value) -> String {
        match value {
            Value::Null => "\\N".to_owned(),
            Value::Text(text) => text.replace('\0', "\\0"),
            Value::Number(_) => match self.family {
                Family::Listed(_) => self.literal(value).replace('\'', ""),
                _ => self.literal(value),
            },
        }
    }

    /// The expression that shows a column.
    pub(crate) fn shown_by(&self, column: &str) -> String {
        match (self.family, self.sql.starts_with("BIT")) {
            (Family::Text(_), _) => format!("HEX({column})"),
            (_, true) => format!("{column} + 0"),
            _ => column.to_owned(),
        }
    }

    /// Its displayed value.
    pub(crate) fn shown(&self, value: &Value) -> String {
        match (value, self.family) {
            (Value::Null, _) => "NULL".to_owned(),
            (Value::Number(place), Family::Listed(list)) => list[*place as usize].1.to_owned(),
            (Value::Number(number), Family::Number(scale)) => pointed(*number, scale),
            (Value::Number(number), Family::Text(_)) => number.to_string(),
            (Value::Text(text), _) => {
                if text.is_empty() {
                    "(empty)".to_owned()
                } else {
                    hex(text)
                }
            }
        }
    }

    /// The comparison key of a value, or of its prefix.
    pub(crate) fn key(&self, value: &Value, prefix: Option<usize>) -> Key {
        match (value, self.family) {
            (Value::Null, _) => Key::Null,
            (Value::Number(number), _) => Key::Number(*number),
            (Value::Text(text), Family::Text(collation)) => {
                let characters = text.chars().take(prefix.unwrap_or(usize::MAX));
                let mut weights = Vec::with_capacity(text.len().min(prefix.unwrap_or(usize::MAX)));
                characters.for_each(|character| weigh(character, collation, &mut weights));
                if matches!(collation, Collation::General | Collation::Padded) {
                    while weights.last() == Some(&u32::from(' ')) {
                        weights.pop();
                    }
                }
                Key::Weights(weights)
            }
            (Value::Text(text), _) => Key::Weights(text.chars().map(u32::from).collect()),
        }
    }
}

fn hex(text: &str) -> String {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let digits = text.bytes().flat_map(|byte| [byte >> 4, byte & 15]);
    digits
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}

fn pointed(number: i128, scale: u32) -> String {
    match scale {
        0 => number.to_string(),
        _ => {
            let (power, sign) = (10_u128.pow(scale), if number < 0 { "-" } else { "" });
            let digits = number.unsigned_abs();
            let width = scale as usize;
            format!("{sign}{}.{:0width$}", digits / power, digits % power)
        }
    }
}

fn weigh(character: char, collation: Collation, weights: &mut Vec<u32>) {
    match (collation, character) {
        (Collation::Code | Collation::Padded, _) => weights.push(character.into()),
        (Collation::Insensitive, '\0') => {}
        (Collation::Insensitive, 'ß') => weights.extend([u32::from('s'); 2]),
        (_, 'ß') => weights.push('s'.into()),
        (_, 'á') => weights.push('a'.into()),
        _ => weights.push(character.to_ascii_lowercase().into()),
    }
}
