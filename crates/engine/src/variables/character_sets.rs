//! Character sets, collations, languages and time.

use mayfly_functions::BlockEncryption;

use super::definition::{
    Kind, SystemVariable, both, choice, global, number, session, switch, text,
};

const UTF8MB4: Kind = Kind::CharacterSet {
    default: "utf8mb4",
    nullable: false,
};

pub(super) const VARIABLES: &[SystemVariable] = variables! {
    both("character_set_client", UTF8MB4, "The character set of statements as the client sends them.").logged();
    both("character_set_connection", UTF8MB4, "The character set of literals and of numbers made text.").logged();
    both("character_set_database", UTF8MB4, "The character set of the current database.").restricted().logged();
    both("character_set_filesystem", Kind::CharacterSet { default: "binary", nullable: false }, "Accepted for compatibility.").without_effect().restricted();
    both("character_set_results", Kind::CharacterSet { default: "utf8mb4", nullable: true }, "The character set of results.");
    both("character_set_server", UTF8MB4, "The character set of a database that is made without one.").logged();
    global("character_set_system", Kind::CharacterSet { default: "utf8mb3", nullable: false }, "The character set of identifiers.").read_only();
    both("collation_connection", Kind::Collation("utf8mb4_0900_ai_ci"), "The collation of literals.").logged();
    both("collation_database", Kind::Collation("utf8mb4_0900_ai_ci"), "The collation of the current database.").restricted().logged();
    both("collation_server", Kind::Collation("utf8mb4_0900_ai_ci"), "The collation of a database that is made without one.").logged();
    both("default_collation_for_utf8mb4", Kind::Collation("utf8mb4_0900_ai_ci"), "The collation that CHARACTER SET utf8mb4, SET NAMES utf8mb4 and _utf8mb4 mean.");
    both("default_week_format", number(0, 0, 7), "The mode of WEEK() when it is called without one.");
    both("lc_messages", Kind::Locale("en_US"), "Accepted for compatibility.").without_effect();
    both("lc_time_names", Kind::Locale("en_US"), "The language of the names of days and months.").logged();
    global("system_time_zone", text("UTC"), "The time zone of the machine.").read_only();
    both("time_zone", Kind::TimeZone, "The time zone of the session.").hintable().logged();
    session("timestamp", Kind::Double { default: 0.0, min: 0.0, max: f64::MAX }, "The moment that NOW() gives, in seconds since 1970; 0 is the real time.").hintable().logged();
    both("explicit_defaults_for_timestamp", switch(true), "Accepted for compatibility.").without_effect();
    both("block_encryption_mode", choice(0, BlockEncryption::NAMES), "The mode of AES_ENCRYPT().");
    global("lower_case_table_names", number(0, 0, 2), "Accepted for compatibility.").without_effect().read_only();
    global("lower_case_file_system", switch(false), "Whether the file system ignores the case of names.").read_only();
};
