//! Values as the model holds them: how SQL writes them, how a result shows them, and which are equal
//! and in which order, by weights written by hand for a few characters.

use mayfly_testkit::random::Random;

/// A value of a column.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Value {
    Null,
    /// A number without its point.
    Number(i128),
    Text(String),
}

/// What a value is compared by; NULL is before all.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Key {
    Null,
    Number(i128),
    Weights(Vec<u32>),
}

/// How characters compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Collation {
    /// `utf8mb4_0900_ai_ci`: ß is ss, a zero byte is nothing.
    Insensitive,
    /// `utf8mb4_general_ci`: ß is s; spaces at the end do not count.
    General,
    /// `utf8mb4_bin`: by code; spaces at the end do not count.
    Padded,
    /// `utf8mb4_0900_bin` and bytes: by code.
    Code,
}

/// A family of types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    /// So many digits are behind the point.
    Number(u32),
    /// In an order that is that of its text.
    Moment,
    Text(Collation),
}

/// A type of columns.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) sql: &'static str,
    pub(crate) family: Family,
    /// Whether a key may have a prefix of it.
    pub(crate) prefixes: bool,
    /// Numbers between these; of texts the longest.
    least: i128,
    pub(crate) greatest: i128,
}

const fn number(sql: &'static str, scale: u32, least: i128, greatest: i128) -> Kind {
    Kind {
        sql,
        family: Family::Number(scale),
        prefixes: false,
        least,
        greatest,
    }
}

const fn text(sql: &'static str, collation: Collation, longest: i128) -> Kind {
    Kind {
        sql,
        family: Family::Text(collation),
        prefixes: true,
        least: 0,
        greatest: longest,
    }
}

pub(crate) const INT: Kind = number("INT", 0, i32::MIN as i128, i32::MAX as i128);

pub(crate) const KINDS: &[Kind] = &[
    INT,
    number("BIGINT", 0, i64::MIN as i128, i64::MAX as i128),
    number("BIGINT UNSIGNED", 0, 0, u64::MAX as i128),
    number("DECIMAL(13,3)", 3, -9_999_999_999_999, 9_999_999_999_999),
    number(
        "DECIMAL(38,0)",
        0,
        -(10_i128.pow(38) - 1),
        10_i128.pow(38) - 1,
    ),
    number("BIT(64)", 0, 0, u64::MAX as i128),
    Kind {
        sql: "DATETIME(3)",
        family: Family::Moment,
        prefixes: false,
        least: 0,
        greatest: 0,
    },
    text("VARCHAR(700)", Collation::Insensitive, 700),
    text("VARCHAR(40)", Collation::Insensitive, 40),
    text(
        "VARCHAR(700) COLLATE utf8mb4_general_ci",
        Collation::General,
        700,
    ),
    text("VARCHAR(40) COLLATE utf8mb4_bin", Collation::Padded, 40),
    text(
        "VARCHAR(700) COLLATE utf8mb4_0900_bin",
        Collation::Code,
        700,
    ),
    text("VARBINARY(2000)", Collation::Code, 1900),
];

const MOMENTS: &[&str] = &[
    "1000-01-01 00:00:00.000",
    "2024-02-29 23:59:59.999",
    "2024-03-01 00:00:00.000",
    "2024-03-01 00:00:00.001",
    "9999-12-31 23:59:59.999",
];

impl Kind {
    /// A value; now and then a great one, seldom NULL.
    pub(crate) fn value(&self, nullable: bool, random: &mut Random) -> Value {
        if nullable && random.one_in(6) {
            return Value::Null;
        }
        match self.family {
            Family::Number(_) => Value::Number(match random.below(8) {
                0 => self.least,
                1 => self.greatest,
                2 => self.least + 1,
                _ => random.below(12) as i128,
            }),
            Family::Moment => Value::Text(random.pick(MOMENTS).to_owned()),
            Family::Text(collation) => {
                let pieces: &[&str] = match (collation, self.sql.starts_with("VARB")) {
                    (Collation::Insensitive, _) => {
                        &["a", "A", "á", "ß", "s", "S", "ss", "\0", "b", "7"]
                    }
                    (_, true) => &["a", "b", "\0", "\x01", "A", " "],
                    (Collation::General, _) => &["a", "A", "á", "ß", "s", "b", "7"],
                    _ => &["a", "A", "á", "ß", "b", "7", " a"],
                };
                let mut text = String::new();
                if random.one_in(3) && self.greatest > 300 {
                    let lengths = [200, 261, 507, 690, 1890];
                    let length = lengths[random.below(lengths.len())];
                    text = "a".repeat(length.min(self.greatest as usize - 10));
                }
                for _ in 0..random.below(4) {
                    text.push_str(random.pick(pieces));
                }
                if collation != Collation::Insensitive && random.one_in(8) {
                    text.push(' ');
                }
                Value::Text(text)
            }
        }
    }

    /// As SQL writes it.
    pub(crate) fn literal(&self, value: &Value) -> String {
        match (value, self.family) {
            (Value::Null, _) => "NULL".to_owned(),
            (Value::Number(number), Family::Number(scale)) => pointed(*number, scale),
            (Value::Number(number), _) => number.to_string(),
            (Value::Text(text), _) => {
                let run = text.bytes().take_while(|byte| *byte == b'a').count();
                let quoted = |text: &str| format!("'{}'", text.replace('\0', "\\0"));
                match run > 60 {
                    true => format!("CONCAT(REPEAT('a', {run}), {})", quoted(&text[run..])),
                    false => quoted(text),
                }
            }
        }
    }

    /// What a statement selects to show a column.
    pub(crate) fn shown_by(&self, column: &str) -> String {
        match (self.family, self.sql.starts_with("BIT")) {
            (Family::Text(_), _) => format!("HEX({column})"),
            (_, true) => format!("{column} + 0"),
            _ => column.to_owned(),
        }
    }

    /// What that shows.
    pub(crate) fn shown(&self, value: &Value) -> String {
        match (value, self.family) {
            (Value::Null, _) => "NULL".to_owned(),
            (Value::Number(number), Family::Number(scale)) => pointed(*number, scale),
            (Value::Number(number), _) => number.to_string(),
            (Value::Text(text), Family::Text(_)) => match text.is_empty() {
                true => "(empty)".to_owned(),
                false => text.bytes().map(|byte| format!("{byte:02X}")).collect(),
            },
            (Value::Text(text), _) => text.clone(),
        }
    }

    /// What a value, or its first so many characters, are compared by.
    pub(crate) fn key(&self, value: &Value, prefix: Option<usize>) -> Key {
        match (value, self.family) {
            (Value::Null, _) => Key::Null,
            (Value::Number(number), _) => Key::Number(*number),
            (Value::Text(text), Family::Text(collation)) => {
                let characters = text.chars().take(prefix.unwrap_or(usize::MAX));
                let mut weights = Vec::new();
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
