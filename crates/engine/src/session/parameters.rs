//! The parameters of a running statement.

use std::sync::Arc;

use mayfly_types::{SqlType, Value};

/// The types and values of a statement's `?`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parameters {
    pub(crate) types: Arc<[SqlType]>,
    pub(crate) values: Arc<[Value]>,
}

impl Parameters {
    /// The value of a `?`, and its type.
    pub(crate) fn get(&self, index: usize) -> Option<(Value, SqlType)> {
        let value = self.values.get(index)?.clone();
        Some((value, self.types.get(index)?.clone()))
    }
}
