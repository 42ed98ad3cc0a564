//! Calls of scalar functions at binding, and the type rules that many functions share.

use std::slice::SliceIndex;

use mayfly_types::collation::Coercibility;
use mayfly_types::{CollationId, Result, SessionParameters, SqlType, TypeKind};

use crate::{Argument, Signature, derive};

/// A call whose types are being derived.
#[derive(Debug, Clone, Copy)]
pub struct Binding<'a> {
    /// The function's canonical name, for errors.
    pub name: &'static str,
    /// The unconverted arguments.
    pub arguments: &'a [Argument<'a>],
    /// The settings that types depend on.
    pub session: &'a SessionParameters,
}

impl<'a> Binding<'a> {
    /// This call with only the arguments in `range`.
    pub(crate) fn part<R>(&self, range: R) -> Self
    where
        R: SliceIndex<[Argument<'a>], Output = [Argument<'a>]>,
    {
        Self {
            arguments: &self.arguments[range],
            ..*self
        }
    }

    /// This call under another name.
    pub(crate) fn named(&self, name: &'static str) -> Self {
        Self { name, ..*self }
    }

    /// The type of an argument where text is expected.
    pub(crate) fn text(&self, index: usize) -> SqlType {
        derive::text_of(&self.arguments[index], self.session)
    }

    /// The types of all arguments where text is expected.
    pub(crate) fn texts(&self) -> Vec<SqlType> {
        self.each(|argument| derive::text_of(argument, self.session))
    }

    /// A type for each argument.
    pub(crate) fn each(&self, ty: impl FnMut(&Argument<'a>) -> SqlType) -> Vec<SqlType> {
        self.arguments.iter().map(ty).collect()
    }

    /// The type of a string result of at most `characters`, in the connection's collation.
    pub(crate) fn string(&self, characters: u64) -> SqlType {
        derive::string_type(characters, self.session.collation_connection)
    }

    /// Length in characters of an argument as text.
    pub(crate) fn characters(&self, index: usize) -> u64 {
        derive::character_length(self.arguments[index].ty)
    }

    /// Whether any argument may be NULL.
    pub(crate) fn any_nullable(&self) -> bool {
        self.arguments.iter().any(|argument| argument.nullable)
    }

    /// The signature of a function that reads all of its arguments as texts, each in its own collation, and is NULL
    /// when an argument is.
    pub(crate) fn of_texts(&self, result: SqlType) -> Result<Signature> {
        Ok(Signature::new(self.texts(), result, self.any_nullable()))
    }

    /// [`Self::of_texts`] for a function that may also be NULL for other reasons.
    pub(crate) fn of_texts_or_null(&self, result: SqlType) -> Result<Signature> {
        Ok(Signature::new(self.texts(), result, true))
    }

    /// The signature of a function that combines the texts of its arguments into one string of at most `characters`.
    pub(crate) fn collated_text(&self, characters: u64, nullable: bool) -> Result<Signature> {
        let claim = derive::aggregate_collation(self.arguments, self.session, self.name)?;
        Ok(self.in_collation(claim, characters, nullable))
    }

    /// Types of texts that are looked for in each other. Texts of one character set that have no common collation are
    /// compared in the first one's.
    pub(crate) fn searched_texts(&self) -> Result<Vec<SqlType>> {
        let claim = derive::aggregate_collation(self.arguments, self.session, self.name);
        let collation = |argument: &Argument<'_>| derive::text_of(argument, self.session).collation;
        let first = self.arguments.first().map(collation).unwrap_or_default();
        let is_like_first = |argument: &Argument<'_>| {
            collation(argument).charset() == first.charset()
                && argument.coercibility != Coercibility::Explicit
        };
        let claim = match claim {
            Err(_) if self.arguments.iter().all(is_like_first) => (first, Coercibility::None),
            claim => claim?,
        };
        Ok(self.in_collation(claim, 0, false).arguments)
    }

    /// The signature of a function that compares its arguments as texts of one collation, and is NULL when an
    /// argument is.
    pub(crate) fn compared_texts(&self, result: SqlType) -> Result<Signature> {
        let texts = self.collated_text(0, false)?.arguments;
        Ok(Signature::new(texts, result, self.any_nullable()))
    }

    /// The signature of a function that changes its first argument, a text, by the others: the result has the first
    /// argument's collation and coercibility. A binary argument makes the result binary. Error 3854 where a constant
    /// has characters outside of the first argument's character set.
    pub(crate) fn changed_text(&self, characters: u64, nullable: bool) -> Result<Signature> {
        let mixes: Vec<_> = self
            .arguments
            .iter()
            .map(|argument| derive::collation_mix(argument, self.session))
            .collect();
        let is_null = self.arguments[0].ty.kind == TypeKind::Null;
        let has_bytes = mixes.iter().any(|mix| mix.collation == CollationId::BINARY);
        if is_null {
            let claim = (CollationId::BINARY, Coercibility::Ignorable);
            return Ok(self.in_collation(claim, characters, nullable));
        }
        if has_bytes {
            return self.collated_text(characters, nullable);
        }
        let collation = mixes[0].collation;
        for mix in &mixes {
            mix.check_converted(collation.charset())?;
        }
        let coercibility = mixes[0].coercibility.min(Coercibility::Coercible);
        Ok(self.in_collation((collation, coercibility), characters, nullable))
    }

    fn in_collation(
        &self,
        (collation, coercibility): (CollationId, Coercibility),
        characters: u64,
        nullable: bool,
    ) -> Signature {
        let ty = |argument: &Argument<'_>| {
            derive::with_collation(&derive::text_of(argument, self.session), collation)
        };
        let result = derive::string_type(characters, collation);
        Signature::new(self.each(ty), result, nullable).with_coercibility(coercibility)
    }
}
