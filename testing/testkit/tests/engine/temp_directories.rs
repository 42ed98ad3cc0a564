//! `tmpdir` as a list with `tmpdir_capacity`, compression and encryption of temporary files, through SQL.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mayfly_engine::{Database, DatabaseOptions};
use mayfly_memory::io::{SmallDevice, SystemIo};
use mayfly_testkit::fixture::{Errno, Fixture, SessionExt, files_in, variables};

/// Two directories of a test, removed with it.
struct Directories(tempfile::TempDir);

impl Directories {
    fn new() -> Self {
        let scratch = Self(tempfile::tempdir().unwrap());
        for n in 0..2 {
            std::fs::create_dir(scratch.path(n)).unwrap();
        }
        scratch
    }

    fn path(&self, n: usize) -> PathBuf {
        self.0.path().join(format!("tier-{n}"))
    }

    fn list(&self) -> String {
        let list = std::env::join_paths([self.path(0), self.path(1)]).unwrap();
        list.into_string().unwrap()
    }

    /// Total size of the files in a directory.
    fn bytes(&self, n: usize) -> usize {
        contents(&self.path(n)).len()
    }
}

fn contents(directory: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            bytes.extend(contents(&path));
        } else {
            bytes.extend(std::fs::read(path).unwrap());
        }
    }
    bytes
}

/// A database whose temporary tables overflow at once.
fn open(directories: &Directories, set: &[(&str, &str)]) -> Fixture {
    Fixture::open(|options| {
        options.variables = variables(&[
            ("tmp_table_size", "65536"),
            ("temptable_max_ram", "2097152"),
            ("innodb_temp_data_file_path", "ibtmp1:64K:autoextend"),
            ("tmpdir", &directories.list()),
        ]);
        options.variables.extend(variables(set));
        // The base tables' own files are elsewhere.
        options.datadir = Some(directories.0.path().join("data"));
    })
}

/// A table of about 400 bytes a row.
const TABLE: &str = "CREATE TEMPORARY TABLE t (n INT PRIMARY KEY, v TEXT) WITH RECURSIVE r AS \
     (SELECT 1 i UNION ALL SELECT i + 1 FROM r WHERE i < 1000) SELECT a.i * 1000 + b.i n, \
     CONCAT(REPEAT('confidential ', 30), a.i, ' ', b.i) v FROM r a, r b WHERE b.i <= ";

const SUM: &str = "SELECT COUNT(*), SUM(CRC32(v)) FROM t";

#[test]
fn a_full_directory_overflows_to_the_next() {
    let directories = Directories::new();
    let fixture = open(&directories, &[("tmpdir_capacity", "1M:")]);
    let mut session = fixture.session();
    session.must("CREATE DATABASE work; USE work");
    assert_eq!(session.value("SELECT @@tmpdir"), directories.list());
    assert_eq!(session.value("SELECT @@tmpdir_capacity"), "1M:");
    assert_eq!(session.errno("SET GLOBAL tmpdir_capacity = '2M'"), 1238);
    session.must(&format!("{TABLE} 20"));
    let sums = session.must(SUM);
    assert_eq!(sums[0].split('\t').next(), Some("20000"));
    assert!(directories.bytes(0) <= 1 << 20);
    assert!(directories.bytes(0) > 900 << 10);
    assert!(directories.bytes(1) > 4 << 20);
    let files = "SELECT FILE_NAME, TOTAL_EXTENTS > 0, MAXIMUM_SIZE FROM information_schema.FILES \
         WHERE TABLESPACE_NAME = 'innodb_temporary' ORDER BY FILE_NAME";
    let files = session.must(files);
    assert_eq!(files.len(), 2, "{files:?}");
    assert!(
        files[0].contains("tier-0") && files[0].ends_with("\t1\t1048576"),
        "{files:?}"
    );
    assert!(
        files[1].contains("tier-1") && files[1].ends_with("\t1\tNULL"),
        "{files:?}"
    );
    session.must("DROP TEMPORARY TABLE t");
    assert_eq!(fixture.database.temp_space_used(), 0);
    // A small one has room in the first.
    fixture.database.trim();
    session.must(&format!("{TABLE} 1"));
    session.must(SUM);
    assert_eq!(directories.bytes(1), 0);
    session.must("DROP TEMPORARY TABLE t; DROP DATABASE work");
    drop((session, fixture));
    assert!(files_in(&directories.path(0)).is_empty());
    assert!(files_in(&directories.path(1)).is_empty());
}

#[test]
fn when_all_are_full_the_error_names_them() {
    let directories = Directories::new();
    let fixture = open(&directories, &[("tmpdir_capacity", "1M:1048576")]);
    let mut session = fixture.session();
    session.must("CREATE DATABASE work; USE work");
    let error = session.execute(&format!("{TABLE} 20")).unwrap_err();
    assert_eq!(error.errno(), 1114, "{error}");
    for n in 0..2 {
        let named = format!(
            "'{}' (tmpdir_capacity = 1048576 bytes",
            directories.path(n).display()
        );
        assert!(error.message().contains(&named), "{error}");
    }
    session.must(&format!("{TABLE} 1"));
    session.must("DROP TEMPORARY TABLE t; DROP DATABASE work");
}

#[test]
fn a_full_device_is_passed_over() {
    let directories = Directories::new();
    let device = SmallDevice::new(Arc::new(SystemIo), directories.path(0), 500 << 10);
    let device = Arc::new(device);
    let fixture = Fixture::open(|options| {
        options.variables = variables(&[
            ("tmp_table_size", "65536"),
            ("temptable_max_ram", "2097152"),
        ]);
        options.tmpdir = directories.list().into();
        options.temp_io = Arc::clone(&device) as _;
        options.datadir = Some(directories.0.path().join("data"));
    });
    let mut session = fixture.session();
    session.must("CREATE DATABASE work; USE work");
    session.must(&format!("{TABLE} 20"));
    assert_eq!(session.must(SUM)[0].split('\t').next(), Some("20000"));
    assert!(device.used() <= 500 << 10);
    assert!(directories.bytes(1) > 4 << 20);
    session.must("DROP TEMPORARY TABLE t; DROP DATABASE work");
}

#[test]
fn files_are_encrypted_and_compressed_as_the_variables_say() {
    let mut sums = Vec::new();
    for encrypted in ["OFF", "ON"] {
        for compression in ["NONE", "LZ4"] {
            let directories = Directories::new();
            let set = [
                ("encrypt_tmp_files", encrypted),
                ("tmp_files_compression", compression),
            ];
            let fixture = open(&directories, &set);
            let mut session = fixture.session();
            session.must("CREATE DATABASE work; USE work");
            session.must(&format!("{TABLE} 10"));
            sums.push(session.must(SUM));
            let files = [0, 1].map(|n| contents(&directories.path(n))).concat();
            let plain = files.windows(12).any(|bytes| bytes == b"confidential");
            assert_eq!(plain, encrypted == "OFF", "{encrypted} {compression}");
            let used = fixture.database.temp_space_used();
            // 10 000 rows of 400 bytes.
            match compression {
                "NONE" => assert!(used > 3_000_000, "{used}"),
                _ => assert!(used < 1_000_000, "{used}"),
            }
            assert_eq!(session.errno("SET GLOBAL encrypt_tmp_files = ON"), 1238);
            session.must("DROP TEMPORARY TABLE t; DROP DATABASE work");
        }
    }
    assert!(sums.windows(2).all(|pair| pair[0] == pair[1]), "{sums:?}");
}

#[test]
fn compression_is_switched_while_tables_are_there() {
    let directories = Directories::new();
    let fixture = open(&directories, &[("tmp_files_compression", "NONE")]);
    let mut session = fixture.session();
    session.must("CREATE DATABASE work; USE work");
    session.must(&format!("{TABLE} 10"));
    let (sums, plain) = (session.must(SUM), fixture.database.temp_space_used());
    session.must("SET GLOBAL tmp_files_compression = 'lz4'");
    assert_eq!(session.value("SELECT @@tmp_files_compression"), "LZ4");
    session.must("CREATE TEMPORARY TABLE u (n INT PRIMARY KEY, v TEXT) SELECT * FROM t");
    let both = fixture.database.temp_space_used();
    assert!(both < plain + plain / 4, "{plain} {both}");
    let of_copy = SUM.replace("FROM t", "FROM u");
    assert_eq!(session.must(&of_copy), sums);
    session.must("SET GLOBAL tmp_files_compression = DEFAULT");
    assert_eq!(session.must(SUM), sums);
    session.must("DROP TEMPORARY TABLE t, u; DROP DATABASE work");
}

#[test]
fn what_cannot_be_used_is_named_at_the_start() {
    let directories = Directories::new();
    let good = directories.path(0).into_os_string().into_string().unwrap();
    let missing = directories.0.path().join("missing");
    let with = |set: &[(&str, &str)]| {
        let mut options = DatabaseOptions::new();
        options.variables = variables(set);
        Database::open(options).map(drop)
    };
    let list = std::env::join_paths([good.as_ref(), missing.as_os_str()]).unwrap();
    let list = list.into_string().unwrap();
    let error = with(&[("tmpdir", &list)]).unwrap_err();
    assert_eq!(error.errno(), 1, "{error}");
    let text = error.message();
    assert!(
        text.starts_with(&format!(
            "Can't create/write to file '{}/",
            missing.display()
        )),
        "{text}"
    );
    assert!(
        text.ends_with("(OS errno 2 - No such file or directory)"),
        "{text}"
    );
    for capacity in ["1X", "1M:1M", "-5"] {
        let error = with(&[("tmpdir", &good), ("tmpdir_capacity", capacity)]).unwrap_err();
        assert_eq!(error.errno(), 1231, "{error}");
        assert!(error.message().contains("tmpdir_capacity"), "{error}");
    }
    with(&[("tmpdir", &good), ("tmpdir_capacity", "100000")]).unwrap();
    assert!(files_in(&directories.path(0)).is_empty());
}
