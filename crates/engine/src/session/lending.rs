//! Lending of a session to the stored functions that its statement's expressions call.
//!
//! Expressions are evaluated by operators, which have no access to the session, while the statement that runs them
//! holds the session for itself. Whoever lets operators work
//! ([`StatementContext::lending`](super::StatementContext::lending)) therefore moves the session into a place that the
//! operators' context knows ([`LentSession`]), and puts an idle one in its own place until the work is done, also by a
//! panic. A call takes the session from there, opens a [`Frame`](super::Frame) in it, and runs the body. A statement that
//! calls no function lends nothing.
//!
//! One thread works while a session is lent, because plans that call stored functions run on one; and it waits for a
//! call at a place where it holds no lock of a table's rows, because such expressions are not evaluated within scans.

use std::sync::Arc;

use mayfly_functions::{CallStored, EvaluationContext, Signature, StoredFunction};
use mayfly_plan::TableId;
use mayfly_types::convert::{CastContext, StoreContext, store_value};
use mayfly_types::error::codes;
use mayfly_types::{Error, Result, SqlType, Value};
use parking_lot::{Mutex, MutexGuard};

use super::Session;
use crate::catalog::stored_functions::Routine;

/// The place of a session for the operators of its statement.
#[derive(Debug)]
pub(crate) struct LentSession(Mutex<Place>);

/// What is in the place of a lent session.
#[derive(Debug)]
struct Place {
    /// The session while it is lent, an idle one otherwise.
    session: Box<Session>,
    is_lent: bool,
    /// The tables that the statement uses.
    used_tables: Vec<TableId>,
}

/// A session that is away. Dropping it takes the session back.
struct Loan<'s> {
    place: Arc<LentSession>,
    home: &'s mut Session,
}

impl Loan<'_> {
    fn exchange(&mut self, is_lent: bool) {
        let mut place = self.place.0.lock();
        std::mem::swap(self.home, &mut *place.session);
        place.is_lent = is_lent;
    }
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        self.exchange(false);
    }
}

impl LentSession {
    /// A place for a session, with another one in it.
    pub(super) fn of_idle(session: Session) -> Self {
        Self(Mutex::new(Place {
            session: Box::new(session),
            is_lent: false,
            used_tables: Vec::new(),
        }))
    }

    /// Does work with a session in the place, whose statement uses these tables.
    pub(super) fn with<T>(
        self: &Arc<Self>,
        session: &mut Session,
        used_tables: Vec<TableId>,
        work: impl FnOnce() -> T,
    ) -> T {
        self.0.lock().used_tables = used_tables;
        let mut loan = Loan {
            place: Arc::clone(self),
            home: session,
        };
        loan.exchange(true);
        work()
    }

    /// The place while the session is in it.
    fn place(&self) -> Result<MutexGuard<'_, Place>> {
        let place = self.0.try_lock().filter(|place| place.is_lent);
        place.ok_or_else(|| codes::ER_NOT_SUPPORTED_YET.with(&[&"a stored function in this place"]))
    }
}

impl CallStored for LentSession {
    fn call(
        &self,
        function: &Arc<StoredFunction>,
        arguments: &[Value],
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<Value> {
        let routine = function.body.downcast_ref::<Routine>();
        let routine = routine.ok_or_else(|| Error::internal("a function has no body"))?;
        let mut place = self.place()?;
        let Place {
            session,
            used_tables,
            ..
        } = &mut *place;
        let mut frame = session.frame(&routine.environment, used_tables.iter().copied())?;
        frame.enter(function)?;
        let sql_mode = frame.session.settings.options().session.sql_mode;
        let store = |value: &Value, from: &SqlType, to: &SqlType, name: &str| {
            if value.is_null() {
                return Ok(Value::Null);
            }
            let context = StoreContext {
                cast: CastContext {
                    sql_mode,
                    ..context.cast("")
                },
                ignore: false,
                table: "",
                column: name,
                row: 1,
            };
            store_value(value, from, to, &context)
        };
        let given = arguments.iter().zip(&signature.arguments);
        let given = given.zip(&function.parameters).map(|((value, from), to)| {
            let value = store(value, from, &to.1, &to.0)?;
            Ok((value, to.1.clone()))
        });
        let given = given.collect::<Result<Vec<_>>>()?;
        let (value, ty) = routine.run(&given, &mut frame)?;
        drop(frame);
        let name = signature.text.as_deref().unwrap_or(&function.name);
        store(&value, &ty, &function.result, name)
    }
}
