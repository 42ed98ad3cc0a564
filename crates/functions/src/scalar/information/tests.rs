//! Results of this family's functions for constants and, by `check`, for columns.

use crate::testing::*;

#[test]
fn values() {
    check(&[
        ("any_value", &[t("x")], "x"),
        ("any_value", &[NULL], "NULL"),
        ("name_const", &[t("answer"), i(42)], "42"),
        ("benchmark", &[i(5), i(1)], "0"),
        ("benchmark", &[NULL, i(1)], "NULL"),
        ("benchmark", &[i(-1), i(1)], "NULL +1411"),
        ("version", &[], "8.4.0-Mayfly"),
        ("database", &[], "NULL"),
        ("session_user", &[], "root@localhost"),
        ("format_bytes", &[i(512)], " 512 bytes"),
        ("format_bytes", &[i(1025)], "1.00 KiB"),
        ("format_bytes", &[u(18446644073709551615)], "16.00 EiB"),
        ("format_bytes", &[NULL], "NULL"),
        ("format_pico_time", &[i(50)], " 50 ps"),
        ("format_pico_time", &[i(3501)], "3.50 ns"),
        ("format_pico_time", &[i(188_732_396_662_000)], "3.15 min"),
        ("last_insert_id", &[], "0"),
        ("last_insert_id", &[i(7)], "7"),
        ("last_insert_id", &[NULL], "NULL"),
        ("load_file", &[t("/etc/hostname")], "NULL"),
        ("load_file", &[NULL], "NULL"),
        ("connection_id", &[], "1"),
        ("ps_current_thread_id", &[], "1"),
        ("row_count", &[], "-1"),
        ("found_rows", &[], "0"),
        ("validate_password_strength", &[t("N0Tweak$_@123!")], "0"),
        ("validate_password_strength", &[NULL], "NULL"),
        ("source_pos_wait", &[t("binlog.1"), i(4), i(1)], "NULL"),
    ]);
}
