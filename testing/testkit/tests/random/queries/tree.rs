//! A statement as a tree of its parts, so that one that shows a difference can be reduced.

/// Kind of a part: a part can be replaced by another of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An exact number.
    Number,
    /// A FLOAT or DOUBLE.
    Float,
    /// A string that compares by its bytes.
    Text,
    /// A string under a collation in which different strings may be equal.
    Loose,
    /// A string of bytes.
    Binary,
    Date,
    Time,
    /// A DATETIME or TIMESTAMP.
    Moment,
    Json,
    Condition,
    Query,
    /// A part that cannot be replaced.
    Fixed,
}

impl Kind {
    /// The kinds of values.
    pub(crate) const VALUES: [Self; 9] = [
        Self::Number,
        Self::Float,
        Self::Text,
        Self::Loose,
        Self::Binary,
        Self::Date,
        Self::Time,
        Self::Moment,
        Self::Json,
    ];

    /// Whether equal values look alike, so that it does not matter which one a group shows.
    pub(crate) fn is_exact(self) -> bool {
        !matches!(self, Self::Loose | Self::Float | Self::Json)
    }

    /// A value of the kind.
    fn constant(self) -> Option<&'static str> {
        Some(match self {
            Self::Number => "1",
            Self::Float => "1e0",
            Self::Text => "'a'",
            Self::Binary => "x'61'",
            Self::Condition => "1 = 1",
            Self::Date => "DATE'2024-01-31'",
            Self::Time => "TIME'10:11:12'",
            Self::Moment => "TIMESTAMP'2024-01-31 10:11:12'",
            Self::Json => "JSON_ARRAY()",
            Self::Loose | Self::Query | Self::Fixed => return None,
        })
    }
}

/// A piece of a part's text.
#[derive(Debug, Clone)]
pub(crate) enum Piece {
    Word(String),
    /// A constant, which a parameter can replace.
    Constant(String),
    Part(Tree),
}

/// A part of a statement.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    pub(crate) kind: Kind,
    /// Whether the statement is valid without it.
    pub(crate) optional: bool,
    pub(crate) pieces: Vec<Piece>,
}

impl Tree {
    /// A part that is only text.
    pub(crate) fn leaf(kind: Kind, text: impl Into<String>) -> Self {
        Self {
            kind,
            optional: false,
            pieces: vec![Piece::Word(text.into())],
        }
    }

    /// A constant.
    pub(crate) fn constant(kind: Kind, text: impl Into<String>) -> Self {
        Self {
            kind,
            optional: false,
            pieces: vec![Piece::Constant(text.into())],
        }
    }

    /// A part of text with other parts in the place of `{}`.
    pub(crate) fn of(kind: Kind, text: &str, parts: Vec<Self>) -> Self {
        let mut parts = parts.into_iter();
        let mut pieces = Vec::new();
        for (number, word) in text.split("{}").enumerate() {
            if number > 0 {
                pieces.extend(parts.next().map(Piece::Part));
            }
            if !word.is_empty() {
                pieces.push(Piece::Word(word.to_owned()));
            }
        }
        Self {
            kind,
            optional: false,
            pieces,
        }
    }

    /// The part, marked as optional.
    pub(crate) fn optional(self) -> Self {
        Self {
            optional: true,
            ..self
        }
    }

    /// The statement's text.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, &mut |constant, out| out.push_str(constant));
        text
    }

    /// The statement's text with `?` for integers, and the integers. Each `?` gets the type of its integer by a CAST:
    /// one that takes its type from its context, as a string does, may give a result of another type.
    pub(crate) fn parameterized(&self) -> (String, Vec<String>) {
        let (mut text, mut values) = (String::new(), Vec::new());
        self.write(&mut text, &mut |constant, out| {
            if constant.parse::<i64>().is_ok() {
                values.push(constant.to_owned());
                out.push_str("CAST(? AS SIGNED)");
            } else {
                out.push_str(constant)
            }
        });
        (text, values)
    }

    fn write(&self, out: &mut String, constant: &mut impl FnMut(&str, &mut String)) {
        for piece in &self.pieces {
            match piece {
                Piece::Word(word) => out.push_str(word),
                Piece::Constant(value) => constant(value, out),
                Piece::Part(part) => part.write(out, constant),
            }
        }
    }

    /// The texts of the direct parts.
    pub(crate) fn parts(&self) -> Vec<String> {
        let parts = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Part(part) => Some(part.text()),
            Piece::Word(_) | Piece::Constant(_) => None,
        });
        parts.collect()
    }

    /// Statements that are this one without one part, or with a smaller one.
    pub(crate) fn smaller(&self) -> Vec<Self> {
        let mut all = Vec::new();
        for (at, piece) in self.pieces.iter().enumerate() {
            let Piece::Part(part) = piece else { continue };
            let with = |piece: Piece| {
                let mut smaller = self.clone();
                smaller.pieces[at] = piece;
                smaller
            };
            if part.optional {
                all.push(with(Piece::Word(String::new())));
            }
            let mut below = Vec::new();
            part.of_kind(part.kind, &mut below);
            for inner in below {
                let optional = part.optional;
                all.push(with(Piece::Part(Self {
                    optional,
                    ..inner.clone()
                })));
            }
            if let Some(constant) = part.kind.constant()
                && part.text() != constant
            {
                all.push(with(Piece::Part(Self::leaf(part.kind, constant))));
            }
            let smaller = part.smaller().into_iter();
            all.extend(smaller.map(|part| with(Piece::Part(part))));
        }
        all
    }

    /// The nearest parts below that are of a kind.
    fn of_kind<'t>(&'t self, kind: Kind, into: &mut Vec<&'t Self>) {
        if kind == Kind::Fixed {
            return;
        }
        for piece in &self.pieces {
            if let Piece::Part(part) = piece {
                if part.kind == kind {
                    into.push(part)
                } else {
                    part.of_kind(kind, into)
                }
            }
        }
    }
}
