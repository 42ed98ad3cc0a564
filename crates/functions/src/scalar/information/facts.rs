//! Texts that a session knows: VERSION(), DATABASE(), USER(), CURRENT_USER(), CURRENT_ROLE(),
//! ICU_VERSION().

use arrow_array::ArrayRef;
use mayfly_types::{CollationId, Result, Value};

use crate::scalar::ScalarKernel;
use crate::{
    Argument, Coercibility, Column, EvaluationContext, SessionFacts, Signature, SignatureContext,
    derive, output,
};

/// One of them.
#[derive(Debug)]
pub(crate) struct Fact {
    characters: u32,
    nullable: bool,
    text: fn(&SessionFacts) -> Option<&str>,
}

/// The version of Unicode's library whose regular expressions the REGEXP functions follow.
const ICU: &str = "77.1";

/// VERSION()
pub(crate) static VERSION: Fact = Fact {
    characters: 60,
    nullable: false,
    text: |facts| Some(facts.version),
};
/// DATABASE()
pub(crate) static DATABASE: Fact = Fact {
    characters: 64,
    nullable: true,
    text: |facts| facts.database.as_deref(),
};
/// USER()
pub(crate) static USER: Fact = Fact {
    characters: 288,
    nullable: true,
    text: |facts| Some(&facts.user),
};
/// CURRENT_USER()
pub(crate) static CURRENT_USER: Fact = Fact {
    characters: 288,
    nullable: true,
    text: |facts| Some(&facts.current_user),
};
/// CURRENT_ROLE()
pub(crate) static CURRENT_ROLE: Fact = Fact {
    characters: derive::FORESEEN_MAX as u32,
    nullable: true,
    text: |facts| Some(&facts.current_role),
};
/// ICU_VERSION()
pub(crate) static ICU_VERSION: Fact = Fact {
    characters: ICU.len() as u32,
    nullable: false,
    text: |_| Some(ICU),
};

impl ScalarKernel for Fact {
    fn signature(
        &self,
        _arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let characters = u64::from(self.characters);
        let result = derive::string_type(characters, CollationId::UTF8MB3_GENERAL_CI);
        Ok(Signature::new(Vec::new(), result, self.nullable)
            .with_coercibility(Coercibility::SystemConstant))
    }

    fn evaluate(
        &self,
        _arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let value = (self.text)(&context.facts).map_or(Value::Null, Value::from);
        Ok(output::repeat(&value, &signature.result, row_count))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check;

    #[test]
    fn values() {
        check(&[
            ("version", &[], "8.4.0-Mayfly"),
            ("database", &[], "NULL"),
            ("session_user", &[], "root@localhost"),
        ]);
    }
}
