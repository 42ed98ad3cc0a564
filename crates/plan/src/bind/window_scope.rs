//! Windows of a query block that is being bound, and their function calls.

use mayfly_syntax::ast::WindowSpec;
use mayfly_types::Result;

use crate::tree::expression::Expression;
use crate::tree::logical::ColumnId;
use crate::tree::physical::{ClientType, SortKey};
use crate::window::{Frame, Over, WindowCall};

/// Name of an unnamed window in errors.
pub(super) const UNNAMED: &str = "<unnamed window>";

/// Windows of a query block.
#[derive(Debug, Default)]
pub(crate) struct Windows {
    /// Whether windows are allowed in the query block.
    pub(super) allowed: bool,
    /// Whether the names are those of a set operation's result, which has no windows.
    pub(super) is_of_set_operation: bool,
    /// Windows of the WINDOW clause.
    pub(super) named: Vec<Named>,
    /// All windows, named or not.
    pub(super) specifications: Vec<Specification>,
    /// Window function calls.
    pub(super) calls: Vec<BoundCall>,
    /// Number of calls that enclose the expression being bound.
    pub(super) open: usize,
    /// Name of the window whose keys are being bound.
    pub(super) being_bound: Option<String>,
}

/// A window of the WINDOW clause.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) state: NamedState,
}

#[derive(Debug)]
pub(super) enum NamedState {
    Written(Box<WindowSpec>),
    /// The window is being bound: a reference back to it is a cycle.
    Open,
    /// Index of its specification.
    Bound(usize),
}

/// Specification of a window.
#[derive(Debug, Clone)]
pub(super) struct Specification {
    pub(super) name: Option<String>,
    /// Named window that it extends.
    pub(super) base: Option<String>,
    pub(super) partition: Vec<Expression>,
    pub(super) order: Vec<SortKey>,
    pub(super) has_own_order: bool,
    pub(super) frame: Option<(Frame, String)>,
}

/// A window function call: a column of the query block.
#[derive(Debug)]
pub(super) struct BoundCall {
    pub(super) id: ColumnId,
    pub(super) specification: usize,
    pub(super) call: WindowCall,
    /// Client type of its value where no rows are kept.
    pub(super) client_type: ClientType,
}

impl Windows {
    /// Client type of a column, if it is the result of one of the calls.
    pub(super) fn client_type(&self, id: ColumnId) -> Option<ClientType> {
        let known = self.calls.iter().find(|known| known.id == id)?;
        Some(known.client_type)
    }

    /// Whether a column is the result of one of the calls.
    pub(super) fn makes(&self, id: ColumnId) -> bool {
        self.calls.iter().any(|known| known.id == id)
    }

    /// Whether there are no calls.
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Calls `visit` on each expression of the calls whose columns `is_read` names.
    pub(super) fn for_each_expression_of(
        &mut self,
        is_read: &dyn Fn(ColumnId) -> bool,
        visit: &mut dyn FnMut(&mut Expression),
    ) {
        for known in self.calls.iter_mut().filter(|known| is_read(known.id)) {
            known.call.for_each_expression_mut(visit);
        }
    }

    /// Calls `visit` on the keys of each window, with the window's name and the key's number, from 1 on.
    pub(super) fn for_each_key(
        &mut self,
        visit: &mut dyn FnMut(&mut Expression, &str, usize) -> Result<()>,
    ) -> Result<()> {
        for specification in &mut self.specifications {
            let name = specification.name.as_deref().unwrap_or(UNNAMED);
            let order = specification.order.iter_mut();
            let order = order.map(|key| &mut key.expression);
            let keys = specification.partition.iter_mut().chain(order);
            for (at, key) in keys.enumerate() {
                visit(key, name, at + 1)?;
            }
        }
        Ok(())
    }
}

impl Specification {
    pub(super) fn over(&self, is_named: bool) -> Over {
        Over {
            name: self.name.clone().filter(|_| is_named),
            base: self.base.clone(),
            has_own_order: self.has_own_order,
            frame: self.frame.as_ref().map(|(_, text)| text.clone()),
        }
    }

    pub(super) fn frame(&self) -> Frame {
        match &self.frame {
            Some((frame, _)) => frame.clone(),
            None => Frame::usual(!self.order.is_empty()),
        }
    }
}
