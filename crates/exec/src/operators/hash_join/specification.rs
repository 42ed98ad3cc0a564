//! Specification of a hash join, as the plan gives it.
//!
//! It borrows from the plan. The operator that is chosen for it, a hash join or a nested loop, keeps what it needs.

use mayfly_plan::Expression;
use mayfly_plan::physical::{JoinKey, JoinKind, TemporaryTable};
use mayfly_types::SqlType;

use crate::operators::wanted::Wanted;

/// Specification of a hash join in the plan.
pub(in crate::operators) struct Specification<'a> {
    pub(in crate::operators) kind: JoinKind,
    pub(in crate::operators) left: &'a [SqlType],
    pub(in crate::operators) right: &'a [SqlType],
    pub(in crate::operators) keys: &'a [JoinKey],
    pub(in crate::operators) residual: Option<&'a Expression>,
    pub(in crate::operators) build_left: bool,
    pub(in crate::operators) partnered: bool,
    pub(in crate::operators) temporary: &'a TemporaryTable,
    pub(in crate::operators) wanted: Wanted<'a>,
}
