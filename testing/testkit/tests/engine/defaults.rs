//! Defaults that depend on the machine and on the purpose of an engine, and the division of the common memory among
//! temporary tables without a limit of their own.

use std::thread;

use mayfly_engine::{DatabaseOptions, Defaults, Session};
use mayfly_testkit::fixture::{Fixture, SessionExt};

const SHOWN: &str = "SELECT @@GLOBAL.tmp_table_size, @@temptable_max_ram, @@cte_max_recursion_depth, @@group_concat_max_len, \
                     @@local_infile";

fn shown(change: impl FnOnce(&mut DatabaseOptions)) -> String {
    let fixture = Fixture::open(change);
    let mut session = fixture.session();
    let shown = session.must(SHOWN).concat();
    // DEFAULT restores the default of this engine, not another one's.
    for name in [
        "tmp_table_size",
        "temptable_max_ram",
        "cte_max_recursion_depth",
        "group_concat_max_len",
    ] {
        session.must(&format!("SET GLOBAL {name} = 5000000"));
        session.must(&format!("SET GLOBAL {name} = DEFAULT"));
    }
    session.must("SET GLOBAL local_infile = DEFAULT");
    assert_eq!(fixture.session().must(SHOWN).concat(), shown);
    shown
}

#[test]
fn defaults_are_for_whom_the_engine_is() {
    let limited = |defaults| {
        move |options: &mut DatabaseOptions| {
            options.defaults = defaults;
            options.memory_limit = Some(64 << 20);
            options.local_infile = defaults == Defaults::Embedded;
        }
    };
    let embedded = shown(limited(Defaults::Embedded));
    assert_eq!(
        embedded,
        "18446744073709551615\t67108864\t4294967295\t1048576\t1"
    );
    let server = shown(limited(Defaults::Server));
    assert_eq!(server, "18446744073709551615\t67108864\t1000\t1024\t0");
    let mysql = shown(limited(Defaults::MySql));
    let ram: u64 = mysql
        .split('\t')
        .nth(1)
        .and_then(|text| text.parse().ok())
        .expect("a number");
    assert!((1 << 30..=4 << 30).contains(&ram), "{ram}");
    assert_eq!(mysql, format!("16777216\t{ram}\t1000\t1024\t0"));
    // Without a memory limit: half of what the machine or a control group allows.
    let usable = mayfly_memory::usable_memory().expect("the system says so");
    let alone = shown(|options| options.defaults = Defaults::Server);
    assert_eq!(
        alone,
        format!("18446744073709551615\t{}\t1000\t1024\t1", usable / 2)
    );
}

const ALL: u64 = 64 << 20;

fn sharing(options: &mut DatabaseOptions) {
    options.defaults = Defaults::Embedded;
    options.threads = 1;
    options
        .variables
        .push(("temptable_max_ram".to_owned(), ALL.to_string()));
}

fn on_disk(session: &mut Session, sql: &str) -> u64 {
    session.must("FLUSH STATUS");
    session.must(sql);
    let counted = session
        .must("SHOW SESSION STATUS LIKE 'Created_tmp_disk_tables'")
        .concat();
    counted
        .rsplit('\t')
        .next()
        .and_then(|text| text.parse().ok())
        .expect("a number")
}

/// A table that has grown up to its threshold leaves room to 64 later sessions; one with its own limit grows up to
/// that.
#[test]
fn one_table_leaves_room_to_others() {
    let fixture = Fixture::open(sharing);
    let mut greedy = fixture.session();
    greedy.must("CREATE TABLE t (a INT, b CHAR(40))");
    greedy.must("INSERT INTO t WITH RECURSIVE n AS (SELECT 1 n UNION ALL SELECT n + 1 FROM n WHERE n < 300000) SELECT n, SHA1(n) FROM n");
    let fill = "CREATE TEMPORARY TABLE kept SELECT a, b, REPEAT('x', 200) c FROM t";
    greedy.must(fill);
    let held = "SELECT MEMORY_BYTES, DISK_BYTES > 0 FROM information_schema.TEMP_TABLES WHERE NAME LIKE '%.kept'";
    let row = greedy.must(held).concat();
    let bytes: u64 = row
        .split('\t')
        .next()
        .and_then(|text| text.parse().ok())
        .expect("bytes");
    // Growth has three quarters of the limit; the table has half of that and leaves the rest to others.
    assert!(row.ends_with("\t1"), "{row}");
    assert!((ALL / 4..=ALL * 3 / 8).contains(&bytes), "{row}");
    let small =
        "SELECT COUNT(*) FROM (SELECT a % 2000 k, MAX(b) FROM t WHERE a < 6000 GROUP BY k) x";
    let run = |sessions: usize| -> u64 {
        let workers: Vec<_> = (0..sessions)
            .map(|_| {
                let mut session = fixture.session();
                thread::spawn(move || (0..4).map(|_| on_disk(&mut session, small)).sum::<u64>())
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().expect("a count"))
            .sum()
    };
    assert_eq!(run(64), 0);
    // With its own limit it takes all of it, as MySQL's would.
    greedy.must("DROP TEMPORARY TABLE kept");
    greedy.must("SET tmp_table_size = 1073741824");
    greedy.must(fill);
    let row = greedy.must(held).concat();
    let bytes: u64 = row
        .split('\t')
        .next()
        .and_then(|text| text.parse().ok())
        .expect("bytes");
    assert!(bytes > ALL * 5 / 8, "{row}");
}

/// The error of a shared limit names the setting that it is a part of.
#[test]
fn a_shared_limit_is_named() {
    let fixture = Fixture::open(sharing);
    let mut session = fixture.session();
    session.must("SET GLOBAL temptable_max_ram = 4194304, tmp_overflow_policy = 'ERROR'");
    session.must("SET tmp_overflow_policy = 'ERROR'");
    let numbers = "WITH RECURSIVE n AS (SELECT 1 n UNION ALL SELECT n + 1 FROM n WHERE n < 200000)";
    let error = session
        .execute(&format!(
            "{numbers} SELECT COUNT(*) FROM (SELECT DISTINCT SHA1(n) FROM n) x"
        ))
        .expect_err("it does not fit");
    assert_eq!(error.errno(), 1114);
    let text = error.message();
    assert!(
        text.contains(
            "temptable_max_ram = 4194304 bytes of memory, of which one table beside others may have"
        ),
        "{text}"
    );
    session.must("SET tmp_overflow_policy = 'DISK'");
    let counted = on_disk(
        &mut session,
        &format!("{numbers} SELECT COUNT(*) FROM (SELECT DISTINCT SHA1(n) FROM n) x"),
    );
    assert!(counted > 0);
    let hits = session
        .must("SHOW SESSION STATUS LIKE 'TempTable_count_hit_max_ram'")
        .concat();
    assert_ne!(hits, "TempTable_count_hit_max_ram\t0");
    let lines = session.must("EXPLAIN FORMAT=TREE SELECT DISTINCT LEFT(SHA1(1), 3) FROM information_schema.CHARACTER_SETS");
    assert!(
        lines.iter().any(|line| line.contains("temptable_max_ram")),
        "{lines:?}"
    );
}
