//! Calls of scalar functions at evaluation.

use mayfly_types::{CollationId, Result, SqlType};

use crate::input::{self, AnyInts, Bools, Counts, Decimals, Floats, Ints, Texts, UInts};
use crate::scalar::strings::chars;
use crate::{Column, EvaluationContext, Signature};

/// A call for all rows of a batch.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The function's canonical name, for errors.
    pub name: &'static str,
    /// The arguments, of the types that the signature requires.
    pub arguments: &'a [Column],
    /// Number of rows to compute.
    pub rows: usize,
    /// The types of the call.
    pub signature: &'a Signature,
    /// The evaluation context of the statement.
    pub context: &'a EvaluationContext,
}

impl<'a> Call<'a> {
    /// The type of an argument.
    pub fn ty(&self, index: usize) -> &'a SqlType {
        &self.signature.arguments[index]
    }

    /// The collation of an argument.
    pub(crate) fn collation(&self, index: usize) -> CollationId {
        self.ty(index).collation
    }

    /// Reads an Int64 argument.
    pub(crate) fn ints(&self, index: usize) -> Result<Ints<'a>> {
        input::ints(&self.arguments[index])
    }

    /// Reads a UInt64 argument.
    pub(crate) fn uints(&self, index: usize) -> Result<UInts<'a>> {
        input::uints(&self.arguments[index])
    }

    /// Reads an argument of any integer type.
    pub(crate) fn any_ints(&self, index: usize) -> Result<AnyInts<'a>> {
        input::any_ints(&self.arguments[index])
    }

    /// Reads a position or length.
    pub(crate) fn counts(&self, index: usize) -> Result<Counts<'a>> {
        input::counts(&self.arguments[index])
    }

    /// Reads a Float64 argument.
    pub(crate) fn floats(&self, index: usize) -> Result<Floats<'a>> {
        input::floats(&self.arguments[index])
    }

    /// Reads a Bool argument.
    pub(crate) fn bools(&self, index: usize) -> Result<Bools<'a>> {
        input::bools(&self.arguments[index])
    }

    /// Reads a DECIMAL argument.
    pub(crate) fn decimals(&self, index: usize) -> Result<Decimals<'a>> {
        input::decimals(&self.arguments[index], self.ty(index).decimals)
    }

    /// Reads a Bytes argument.
    pub(crate) fn texts(&self, index: usize) -> Result<Texts<'a>> {
        input::texts(&self.arguments[index])
    }

    /// Reads an optional argument.
    pub(crate) fn optional<T>(
        &self,
        index: usize,
        read: impl FnOnce(&'a Column) -> Result<T>,
    ) -> Result<Option<T>> {
        self.arguments.get(index).map(read).transpose()
    }

    /// Reads all arguments from `first` on with one function.
    pub(crate) fn all<T>(
        &self,
        first: usize,
        read: impl FnMut(&'a Column) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.arguments[first..].iter().map(read).collect()
    }

    /// Whether a result of `bytes` bytes may be made; NULL with warning 1301 when it may not, and an error when there
    /// is no memory for it.
    pub(crate) fn within_packet(&self, bytes: usize) -> Result<bool> {
        chars::within_packet(bytes, self.name, self.context)
    }
}
