//! A statement as a tree of its parts, so that one that shows a difference can be made smaller.

/// What a part is: one may stand for another of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An integer or DECIMAL.
    Number,
    /// A string that is compared by its bytes.
    Text,
    /// A string whose case does not matter.
    Loose,
    /// A DATE.
    Date,
    Condition,
    Query,
    /// Stands for nothing else.
    Fixed,
}

impl Kind {
    /// The kinds of values.
    pub(crate) const VALUES: [Self; 4] = [Self::Number, Self::Text, Self::Loose, Self::Date];

    /// A value of the kind.
    fn constant(self) -> Option<&'static str> {
        Some(match self {
            Self::Number => "1",
            Self::Text => "'a'",
            Self::Condition => "1 = 1",
            Self::Date => "DATE'2024-01-31'",
            Self::Loose | Self::Query | Self::Fixed => return None,
        })
    }
}

/// A piece of a part's text.
#[derive(Debug, Clone)]
pub(crate) enum Piece {
    Word(String),
    Part(Tree),
}

/// A part of a statement.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    pub(crate) kind: Kind,
    /// The statement is one without it too.
    pub(crate) optional: bool,
    pub(crate) pieces: Vec<Piece>,
}

impl Tree {
    /// A part that is nothing but text.
    pub(crate) fn leaf(kind: Kind, text: impl Into<String>) -> Self {
        Self {
            kind,
            optional: false,
            pieces: vec![Piece::Word(text.into())],
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

    /// The same, which may be left out.
    pub(crate) fn optional(self) -> Self {
        Self {
            optional: true,
            ..self
        }
    }

    /// The statement's text.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    fn write(&self, out: &mut String) {
        for piece in &self.pieces {
            match piece {
                Piece::Word(word) => out.push_str(word),
                Piece::Part(part) => part.write(out),
            }
        }
    }

    /// Statements that are this one with one part less, or a smaller one.
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
                match part.kind == kind {
                    true => into.push(part),
                    false => part.of_kind(kind, into),
                }
            }
        }
    }
}
