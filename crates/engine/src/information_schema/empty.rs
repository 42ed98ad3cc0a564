//! Relations that drivers and tools read and that have no rows here: Mayfly has no routines,
//! triggers, events or plugins yet.

use super::relation::{Kind, Relation, Row};
use crate::session::Session;

const fn none(name: &'static str, columns: &'static [(&'static str, Kind)]) -> Relation {
    Relation {
        schema: "information_schema",
        name,
        columns,
        rows,
    }
}

fn rows(_: &Session) -> Vec<Row> {
    Vec::new()
}

pub(super) const RELATIONS: &[Relation] = &[
    none(
        "ROUTINES",
        &[
            ("SPECIFIC_NAME", Kind::Text(64)),
            ("ROUTINE_CATALOG", Kind::Text(64)),
            ("ROUTINE_SCHEMA", Kind::Text(64)),
            ("ROUTINE_NAME", Kind::Text(64)),
            ("ROUTINE_TYPE", Kind::Text(9)),
            ("DATA_TYPE", Kind::Long),
            ("DTD_IDENTIFIER", Kind::Long),
            ("ROUTINE_DEFINITION", Kind::Long),
            ("DEFINER", Kind::Text(288)),
            ("CREATED", Kind::Moment),
            ("LAST_ALTERED", Kind::Moment),
            ("SECURITY_TYPE", Kind::Text(7)),
            ("ROUTINE_COMMENT", Kind::Long),
            ("CHARACTER_SET_CLIENT", Kind::Text(64)),
            ("COLLATION_CONNECTION", Kind::Text(64)),
            ("DATABASE_COLLATION", Kind::Text(64)),
        ],
    ),
    none(
        "PARAMETERS",
        &[
            ("SPECIFIC_CATALOG", Kind::Text(64)),
            ("SPECIFIC_SCHEMA", Kind::Text(64)),
            ("SPECIFIC_NAME", Kind::Text(64)),
            ("ORDINAL_POSITION", Kind::UInt),
            ("PARAMETER_MODE", Kind::Text(5)),
            ("PARAMETER_NAME", Kind::Text(64)),
            ("DATA_TYPE", Kind::Long),
            ("DTD_IDENTIFIER", Kind::Long),
            ("ROUTINE_TYPE", Kind::Text(9)),
        ],
    ),
    none(
        "TRIGGERS",
        &[
            ("TRIGGER_CATALOG", Kind::Text(64)),
            ("TRIGGER_SCHEMA", Kind::Text(64)),
            ("TRIGGER_NAME", Kind::Text(64)),
            ("EVENT_MANIPULATION", Kind::Text(6)),
            ("EVENT_OBJECT_SCHEMA", Kind::Text(64)),
            ("EVENT_OBJECT_TABLE", Kind::Text(64)),
            ("ACTION_STATEMENT", Kind::Long),
            ("ACTION_TIMING", Kind::Text(6)),
            ("CREATED", Kind::Moment),
            ("SQL_MODE", Kind::Text(512)),
            ("DEFINER", Kind::Text(288)),
            ("CHARACTER_SET_CLIENT", Kind::Text(64)),
            ("COLLATION_CONNECTION", Kind::Text(64)),
            ("DATABASE_COLLATION", Kind::Text(64)),
        ],
    ),
    none(
        "EVENTS",
        &[
            ("EVENT_CATALOG", Kind::Text(64)),
            ("EVENT_SCHEMA", Kind::Text(64)),
            ("EVENT_NAME", Kind::Text(64)),
            ("DEFINER", Kind::Text(288)),
            ("TIME_ZONE", Kind::Text(64)),
            ("EVENT_TYPE", Kind::Text(9)),
            ("EXECUTE_AT", Kind::Moment),
            ("INTERVAL_VALUE", Kind::Text(256)),
            ("INTERVAL_FIELD", Kind::Text(18)),
            ("STARTS", Kind::Moment),
            ("ENDS", Kind::Moment),
            ("STATUS", Kind::Text(21)),
            ("ORIGINATOR", Kind::UInt),
            ("CHARACTER_SET_CLIENT", Kind::Text(64)),
            ("COLLATION_CONNECTION", Kind::Text(64)),
            ("DATABASE_COLLATION", Kind::Text(64)),
        ],
    ),
    none(
        "PARTITIONS",
        &[
            ("TABLE_CATALOG", Kind::Text(64)),
            ("TABLE_SCHEMA", Kind::Text(64)),
            ("TABLE_NAME", Kind::Text(64)),
            ("PARTITION_NAME", Kind::Text(64)),
            ("PARTITION_METHOD", Kind::Text(13)),
            ("TABLE_ROWS", Kind::UInt),
        ],
    ),
    none(
        "PLUGINS",
        &[
            ("PLUGIN_NAME", Kind::Text(64)),
            ("PLUGIN_VERSION", Kind::Text(20)),
            ("PLUGIN_STATUS", Kind::Text(10)),
            ("PLUGIN_TYPE", Kind::Text(80)),
            ("PLUGIN_LIBRARY", Kind::Text(64)),
            ("PLUGIN_LICENSE", Kind::Text(80)),
        ],
    ),
    none(
        "INNODB_SESSION_TEMP_TABLESPACES",
        &[
            ("ID", Kind::UInt),
            ("SPACE", Kind::UInt),
            ("PATH", Kind::Text(4001)),
            ("SIZE", Kind::UInt),
            ("STATE", Kind::Text(192)),
            ("PURPOSE", Kind::Text(192)),
        ],
    ),
];
