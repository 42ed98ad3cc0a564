//! Which collation an operation on several strings uses (the manual, "Collation Coercibility in
//! Expressions").

use super::CollationId;
use crate::charset::Charset;
use crate::convert::shown_bytes;
use crate::error::{Error, codes};

/// How weakly an operand's collation binds, strongest first; the numbers are those of
/// COERCIBILITY().
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Coercibility {
    /// A COLLATE clause.
    Explicit = 0,
    /// The result of operands that disagreed.
    None = 1,
    /// A column.
    Implicit = 2,
    /// USER(), VERSION() and the like; user variables too.
    SystemConstant = 3,
    /// A literal.
    Coercible = 4,
    /// A number or temporal value as text.
    Numeric = 5,
    /// NULL.
    Ignorable = 6,
}

impl Coercibility {
    /// The word that error 1267 uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Explicit => "EXPLICIT",
            Self::None => "NONE",
            Self::Implicit => "IMPLICIT",
            Self::SystemConstant => "SYSCONST",
            Self::Coercible => "COERCIBLE",
            Self::Numeric => "NUMERIC",
            Self::Ignorable => "IGNORABLE",
        }
    }
}

/// A string operand's collation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollationMix<'a> {
    /// Its collation.
    pub collation: CollationId,
    /// How weakly it binds.
    pub coercibility: Coercibility,
    /// Whether it is a constant of ASCII characters only, which every character set holds.
    pub is_ascii: bool,
    /// The text of a constant, which must not lose characters when it is converted.
    pub constant: Option<&'a [u8]>,
}

impl<'a> CollationMix<'a> {
    /// An operand that may hold any character.
    pub fn new(collation: CollationId, coercibility: Coercibility) -> Self {
        Self {
            collation,
            coercibility,
            is_ascii: collation.charset() == Charset::Ascii
                || coercibility == Coercibility::Numeric,
            constant: None,
        }
    }

    /// An operand of a constant text.
    pub fn with_constant(self, text: &'a [u8]) -> Self {
        Self {
            is_ascii: self.is_ascii || text.is_ascii(),
            constant: Some(text),
            ..self
        }
    }

    /// Error 3854 when a constant has characters that its target character set lacks.
    pub fn check_converted(self, charset: Charset) -> Result<(), Error> {
        let own = self.collation.charset();
        match self.constant {
            Some(text) if own != charset && own != Charset::Binary => {
                check_converted(text, own, charset)
            }
            _ => Ok(()),
        }
    }

    /// Error 3854 when a binary constant is not valid text in the character set that it is converted to.
    pub fn check_text(self, charset: Charset) -> Result<(), Error> {
        match self.constant {
            Some(bytes) if self.collation == CollationId::BINARY => match charset.decode(bytes) {
                Ok(_) => Ok(()),
                Err(_) => Err(codes::ER_CANNOT_CONVERT_STRING.with(&[
                    &shown_bytes(bytes),
                    &Charset::Binary.name(),
                    &charset.name(),
                ])),
            },
            _ => Ok(()),
        }
    }

    /// Whether this operand's character set can hold the other and outranks it.
    fn holds(self, other: Self) -> bool {
        let (charset, others) = (self.collation.charset(), other.collation.charset());
        if charset.is_unicode() {
            // If each holds the other, the first one wins.
            let wider =
                !others.is_unicode() || matches!(charset, Charset::Utf8mb4 | Charset::Utf32);
            if self.coercibility < other.coercibility
                || (self.coercibility == other.coercibility && wider)
            {
                return true;
            }
        }
        other.is_ascii
            && (self.coercibility < other.coercibility
                || (self.coercibility == other.coercibility && !self.is_ascii))
    }
}

/// Error 3854 when a text has characters that another character set lacks.
pub fn check_converted(text: &[u8], own: Charset, charset: Charset) -> Result<(), Error> {
    match charset.encode(text) {
        Ok(_) => Ok(()),
        Err(_) => {
            let shown = shown_bytes(&own.encode_lossy(text));
            Err(codes::ER_CANNOT_CONVERT_STRING.with(&[&shown, &own.name(), &charset.name()]))
        }
    }
}

/// The collation that two operands are converted to; `None` when neither outranks the other.
fn merge<'a>(a: CollationMix<'a>, b: CollationMix<'a>) -> Option<CollationMix<'a>> {
    let is_ascii = a.is_ascii && b.is_ascii;
    let winner = |mix: CollationMix<'a>| Some(CollationMix { is_ascii, ..mix });
    if a.collation.charset() != b.collation.charset() {
        if a.collation == CollationId::BINARY {
            let a_wins = a.coercibility <= b.coercibility;
            return winner(if a_wins { a } else { b });
        }
        if b.collation == CollationId::BINARY {
            let b_wins = b.coercibility <= a.coercibility;
            return winner(if b_wins { b } else { a });
        }
        if a.holds(b) {
            return winner(a);
        }
        if b.holds(a) {
            return winner(b);
        }
        if a.coercibility < b.coercibility && b.coercibility >= Coercibility::SystemConstant {
            return winner(a);
        }
        if b.coercibility < a.coercibility && a.coercibility >= Coercibility::SystemConstant {
            return winner(b);
        }
        return None;
    }
    if a.coercibility != b.coercibility {
        let a_wins = a.coercibility < b.coercibility;
        return winner(if a_wins { a } else { b });
    }
    if a.collation == b.collation {
        return winner(a);
    }
    if a.coercibility == Coercibility::Explicit {
        return None;
    }
    let by_code = |mix: CollationMix<'_>| mix.collation.is_binary_order();
    match (by_code(a), by_code(b)) {
        // utf8mb4_bin and utf8mb4_0900_bin.
        (true, true) => None,
        (true, false) => winner(a),
        (false, true) => winner(b),
        (false, false) => winner(CollationMix {
            collation: a.collation.charset().row().binary_collation,
            coercibility: Coercibility::None,
            is_ascii,
            constant: None,
        }),
    }
}

/// The collation of an operation on `operands`; error 1267 (or 1270, 1271 for three and more) when
/// they cannot be mixed, 3854 when one of them has no meaning in the others' character set. A comparison
/// also needs one that is not [`Coercibility::None`].
pub fn aggregate_collations<'a>(
    operands: &[CollationMix<'a>],
    operation: &str,
    is_comparison: bool,
) -> Result<CollationMix<'a>, Error> {
    let Some((first, rest)) = operands.split_first() else {
        return Ok(CollationMix {
            collation: CollationId::BINARY,
            coercibility: Coercibility::Ignorable,
            is_ascii: true,
            constant: None,
        });
    };
    let (mut mixed, mut is_known) = (*first, true);
    for operand in rest {
        match merge(mixed, *operand) {
            Some(merged) => {
                is_known |= merged.coercibility < mixed.coercibility;
                mixed = merged;
            }
            // A later operand that binds more strongly decides.
            None => is_known = false,
        }
    }
    let is_disputed = is_comparison && mixed.coercibility == Coercibility::None;
    if !is_known || is_disputed {
        return Err(illegal_mix(operands, operation));
    }
    for operand in operands {
        operand.check_converted(mixed.collation.charset())?;
    }
    Ok(mixed)
}

fn illegal_mix(operands: &[CollationMix<'_>], operation: &str) -> Error {
    let name = |mix: &CollationMix<'_>| mix.collation.name();
    let level = |mix: &CollationMix<'_>| mix.coercibility.name();
    match operands {
        [a, b] => codes::ER_CANT_AGGREGATE_2COLLATIONS.with(&[
            &name(a),
            &level(a),
            &name(b),
            &level(b),
            &operation,
        ]),
        [a, b, c] => codes::ER_CANT_AGGREGATE_3COLLATIONS.with(&[
            &name(a),
            &level(a),
            &name(b),
            &level(b),
            &name(c),
            &level(c),
            &operation,
        ]),
        _ => codes::ER_CANT_AGGREGATE_NCOLLATIONS.with(&[&operation]),
    }
}

/// Error 1253 when a COLLATE clause names a collation of another character set.
pub fn check_collation_of_charset(collation: CollationId, charset: Charset) -> Result<(), Error> {
    if collation.charset() == charset {
        return Ok(());
    }
    Err(codes::ER_COLLATION_CHARSET_MISMATCH.with(&[&collation.name(), &charset.name()]))
}
