//! A session of the engine as a connection of the shell.

use std::sync::Arc;

use mayfly_engine::{
    Condition, ProgressHandle, ResultColumn, Session, StatementResult, TemporaryTableRecord,
    TimeZone,
};

use super::{
    Connection, Failure, Interrupter, Receiver, ResultEnd, StatementError, Warning, begins_with,
};
use crate::output::Part;
use crate::units;

/// The error of a text without a statement.
const EMPTY_QUERY: u16 = 1065;

/// The statement of `\s`.
const STATUS: &str = "SELECT VERSION() AS `server version`, CONNECTION_ID() AS `connection id`, \
    DATABASE() AS `current database`, CURRENT_USER() AS `current user`, @@datadir AS `data directory`, \
    @@tmp_table_size AS tmp_table_size, @@temptable_max_ram AS temptable_max_ram, \
    @@character_set_client AS `character set`, @@sql_mode AS `SQL mode`, @@time_zone AS `time zone`\\G";

impl Connection for Session {
    fn run(&mut self, text: &[u8], receiver: &mut dyn Receiver) -> Result<(), Failure> {
        let mut stream = match self.query_bytes(text) {
            // A conditional comment for another server.
            Err(error) if error.errno() == EMPTY_QUERY => return Ok(()),
            stream => stream?,
        };
        for mut set in stream.take_sets() {
            let columns = Arc::clone(set.columns());
            receiver.columns(&columns)?;
            while let Some(batch) = set.next_rows(usize::MAX)? {
                pass(&columns, batch, receiver)?;
            }
            receiver.end(&ResultEnd {
                has_rows: true,
                ..ResultEnd::default()
            })?;
        }
        let columns: Arc<[ResultColumn]> = Arc::from(stream.columns());
        let has_rows = !columns.is_empty();
        if has_rows {
            receiver.columns(&columns)?;
        }
        while let Some(batch) = stream.next_batch()? {
            pass(&columns, batch, receiver)?;
        }
        let result = stream.into_result()?;
        receiver.end(&ResultEnd {
            has_rows,
            affected_rows: result.affected_rows,
            warning_count: result.warning_count,
            info: result.info.into_owned(),
            is_last: true,
        })?;
        Ok(())
    }

    fn warnings(&mut self) -> Vec<Warning> {
        of_session(self)
    }

    fn note(&mut self) -> Option<String> {
        temporary_tables_line(&self.finished_temporary_tables())
    }

    fn progress(&self) -> Option<ProgressHandle> {
        Some(self.progress_handle())
    }

    fn time_zone(&self) -> TimeZone {
        Session::time_zone(self)
    }

    fn object_names(&mut self) -> Vec<String> {
        self.visible_names()
    }

    fn variable_names(&mut self) -> Vec<String> {
        Session::variable_names(self)
    }

    fn changes_names(&self, text: &[u8]) -> bool {
        const WITHOUT_NAMES: [&str; 6] = ["select", "insert", "update", "delete", "replace", "set"];
        !begins_with(text, &WITHOUT_NAMES)
    }

    fn status(&self) -> String {
        STATUS.to_owned()
    }

    fn interrupter(&self) -> Interrupter {
        let kill = self.kill_handle();
        Box::new(move || {
            kill.kill();
            true
        })
    }
}

fn pass(
    columns: &Arc<[ResultColumn]>,
    batch: mayfly_engine::Batch,
    receiver: &mut dyn Receiver,
) -> Result<(), Failure> {
    let part = StatementResult {
        columns: Arc::clone(columns),
        batches: vec![batch],
        ..StatementResult::default()
    };
    Ok(receiver.rows(Part::Engine(&part))?)
}

/// The warnings of a session's last statement.
pub(crate) fn of_session(session: &Session) -> Vec<Warning> {
    session.warnings().iter().map(Warning::from).collect()
}

impl From<&Condition> for Warning {
    fn from(condition: &Condition) -> Self {
        Self {
            level: condition.level,
            error: StatementError::from(&condition.error),
        }
    }
}

/// One line about the temporary tables of a statement; none when it had none.
fn temporary_tables_line(tables: &[TemporaryTableRecord]) -> Option<String> {
    let purposes: Vec<&str> = tables.iter().map(|table| table.purpose.name()).collect();
    let largest = tables.iter().map(|table| table.memory_peak).max()?;
    let on_disk: u64 = tables.iter().map(|table| table.disk_peak).sum();
    let overflowed = tables.iter().filter(|table| table.disk_peak > 0).count();
    let mut line = format!(
        "Temporary tables: {} ({}), the largest {}",
        tables.len(),
        purposes.join(", "),
        units::bytes(largest)
    );
    if overflowed > 0 {
        line.push_str(&format!(
            "; {overflowed} overflowed, {} on disk",
            units::bytes(on_disk)
        ));
    }
    Some(line)
}
