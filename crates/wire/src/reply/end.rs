//! Ends of replies: OK, an error, or the end of rows.

use mayfly_engine::{Error, StateChanges};
use mysql_common::constants::{CapabilityFlags, StatusFlags};

use super::{append_bytes, append_measured, append_number};

/// The first bytes of these payloads.
const OK: u8 = 0x00;
const EOF: u8 = 0xFE;
const ERROR: u8 = 0xFF;

/// The content of an OK.
#[derive(Debug, Default)]
pub(crate) struct End<'e> {
    pub(crate) affected_rows: u64,
    pub(crate) last_insert_id: u64,
    pub(crate) status: StatusFlags,
    pub(crate) warnings: u64,
    pub(crate) info: &'e str,
    pub(crate) changes: Option<&'e StateChanges>,
}

impl End<'_> {
    /// The end of a command that is not a statement.
    pub(crate) fn with(status: StatusFlags) -> Self {
        Self {
            status,
            ..Self::default()
        }
    }

    fn warnings(&self) -> u16 {
        u16::try_from(self.warnings).unwrap_or(u16::MAX)
    }
}

/// The OK of a statement without rows.
pub(crate) fn append_ok(out: &mut Vec<u8>, end: &End<'_>, capabilities: CapabilityFlags) {
    append_ok_as(OK, out, end, capabilities);
}

/// Appends the end of a result's rows or, for older clients, of its columns.
pub(crate) fn append_row_end(out: &mut Vec<u8>, end: &End<'_>, capabilities: CapabilityFlags) {
    if capabilities.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF) {
        return append_ok_as(EOF, out, end, capabilities);
    }
    out.push(EOF);
    out.extend_from_slice(&end.warnings().to_le_bytes());
    out.extend_from_slice(&end.status.bits().to_le_bytes());
}

fn append_ok_as(first: u8, out: &mut Vec<u8>, end: &End<'_>, capabilities: CapabilityFlags) {
    let tracks = capabilities.contains(CapabilityFlags::CLIENT_SESSION_TRACK);
    let changes = end.changes.filter(|_| tracks);
    let mut status = end.status;
    status.set(StatusFlags::SERVER_SESSION_STATE_CHANGED, changes.is_some());
    out.push(first);
    append_number(out, end.affected_rows);
    append_number(out, end.last_insert_id);
    out.extend_from_slice(&status.bits().to_le_bytes());
    out.extend_from_slice(&end.warnings().to_le_bytes());
    if changes.is_some() || !end.info.is_empty() {
        append_bytes(out, end.info.as_bytes());
    }
    if let Some(changes) = changes {
        append_measured(out, |out| append_changes(out, changes));
    }
}

/// The kinds of changes. See the protocol documentation, "Session State Information".
const SYSTEM_VARIABLES: u8 = 0;
const SCHEMA: u8 = 1;
const STATE_CHANGE: u8 = 2;
const TRANSACTION_CHARACTERISTICS: u8 = 4;
const TRANSACTION_STATE: u8 = 5;

fn append_changes(out: &mut Vec<u8>, changes: &StateChanges) {
    let mut append = |kind: u8, parts: &[&str]| {
        out.push(kind);
        append_measured(out, |out| {
            for part in parts {
                append_bytes(out, part.as_bytes());
            }
        });
    };
    for (name, value) in &changes.variables {
        append(SYSTEM_VARIABLES, &[name, value]);
    }
    if let Some(schema) = &changes.schema {
        append(SCHEMA, &[schema]);
    }
    if changes.state {
        append(STATE_CHANGE, &["1"]);
    }
    if let Some(characteristics) = &changes.transaction_characteristics {
        append(TRANSACTION_CHARACTERISTICS, &[characteristics]);
    }
    if let Some(state) = &changes.transaction_state {
        append(TRANSACTION_STATE, &[state]);
    }
}

/// An error.
pub(crate) fn append_error(out: &mut Vec<u8>, error: &Error) {
    out.push(ERROR);
    out.extend_from_slice(&error.errno().to_le_bytes());
    out.push(b'#');
    out.extend_from_slice(error.sqlstate().as_bytes());
    out.extend_from_slice(error.message().as_bytes());
}

/// The payload of an error without SQLSTATE: before the client's capabilities are known.
pub(crate) fn error_payload(error: &Error) -> Vec<u8> {
    let mut out = vec![ERROR];
    out.extend_from_slice(&error.errno().to_le_bytes());
    out.extend_from_slice(error.message().as_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use mayfly_engine::codes;
    use mysql_common::io::ParseBuf;
    use mysql_common::packets::session_state_change::SessionStateChange;
    use mysql_common::packets::{
        CommonOkPacket, ErrPacket, OkPacketDeserializer, ResultSetTerminator,
    };

    fn capabilities() -> CapabilityFlags {
        CapabilityFlags::CLIENT_PROTOCOL_41
            | CapabilityFlags::CLIENT_SESSION_TRACK
            | CapabilityFlags::CLIENT_DEPRECATE_EOF
    }

    #[test]
    fn a_client_reads_what_an_ok_says() {
        let changes = StateChanges {
            schema: Some("shop".into()),
            variables: vec![("autocommit".into(), "OFF".into())],
            ..StateChanges::default()
        };
        let end = End {
            affected_rows: 300,
            last_insert_id: 70_000,
            status: StatusFlags::SERVER_STATUS_IN_TRANS,
            warnings: 1 << 20,
            info: "Records: 4",
            changes: Some(&changes),
        };
        let mut payload = Vec::new();
        append_ok(&mut payload, &end, capabilities());
        let ok: OkPacketDeserializer<'_, CommonOkPacket> =
            ParseBuf(&payload).parse(capabilities()).expect("an OK");
        let ok = ok.into_inner();
        assert_eq!(ok.affected_rows(), 300);
        assert_eq!(ok.last_insert_id(), Some(70_000));
        assert_eq!(ok.warnings(), u16::MAX);
        assert_eq!(ok.info_str().as_deref(), Some("Records: 4"));
        let read: Vec<SessionStateChange<'_>> = ok
            .session_state_info()
            .expect("well formed")
            .iter()
            .map(|info| info.decode().expect("well formed").into_owned())
            .collect();
        assert!(matches!(&read[0], SessionStateChange::SystemVariables(_)));
        assert!(matches!(&read[1], SessionStateChange::Schema(name) if name.as_str() == "shop"));
        let flags = StatusFlags::SERVER_STATUS_IN_TRANS | StatusFlags::SERVER_SESSION_STATE_CHANGED;
        assert_eq!(ok.status_flags(), flags);
    }

    #[test]
    fn rows_end_as_the_client_knows_it() {
        let end = End {
            warnings: 2,
            ..End::default()
        };
        let mut payload = Vec::new();
        append_row_end(&mut payload, &end, CapabilityFlags::CLIENT_PROTOCOL_41);
        assert_eq!(payload, [EOF, 2, 0, 0, 0]);
        payload.clear();
        append_row_end(&mut payload, &end, capabilities());
        let ok: OkPacketDeserializer<'_, ResultSetTerminator> =
            ParseBuf(&payload).parse(capabilities()).expect("an end");
        assert_eq!(ok.into_inner().warnings(), 2);
    }

    #[test]
    fn an_error_has_number_state_and_text() {
        let mut payload = Vec::new();
        append_error(&mut payload, &codes::ER_NO_DB_ERROR.error());
        let read: ErrPacket<'_> = ParseBuf(&payload).parse(capabilities()).expect("an error");
        let text = "ERROR 1046 (3D000): No database selected";
        assert_eq!(read.to_string(), text);
    }
}
