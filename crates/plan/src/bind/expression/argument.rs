//! Arguments of calls.

use mayfly_syntax::ast::{Expr, FunctionArg, FunctionArgExpr};
use mayfly_types::Result;

use crate::not_supported::not_supported;

/// The expression of an ordinary argument.
pub(crate) fn plain(argument: &FunctionArg) -> Result<&Expr> {
    match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Ok(expr),
        other => Err(not_supported(&other.to_string())),
    }
}
