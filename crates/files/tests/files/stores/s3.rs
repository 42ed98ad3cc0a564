//! Objects of a store that speaks S3's protocol: the server of `MAYFLY_S3_ENDPOINT`, whose bucket is `MAYFLY_S3_BUCKET`.

use crate::support::Files;

/// A directory of the bucket for one test, and the option of the calls.
struct Bucket {
    files: Files,
    root: String,
    endpoint: String,
}

impl Bucket {
    fn new(test: &str) -> Self {
        let variable = |name: &str| {
            std::env::var(name)
                .unwrap_or_else(|_| panic!("{name} is not set: run testing/stores/test"))
        };
        Self {
            files: Files::new(),
            root: format!("s3://{}/{test}", variable("MAYFLY_S3_BUCKET")),
            endpoint: variable("MAYFLY_S3_ENDPOINT"),
        }
    }

    /// A statement in which `$` is the directory and `@E` the option of a call.
    fn sql(&self, sql: &str) -> String {
        let sql = sql.replace("@E", &format!("endpoint => '{}'", self.endpoint));
        let sql = sql.replace("@C", &format!("ENDPOINT '{}'", self.endpoint));
        sql.replace('$', &self.root)
    }

    fn rows(&self, sql: &str) -> Vec<String> {
        self.files.rows(&self.sql(sql))
    }

    fn error(&self, sql: &str) -> String {
        self.files.error(&self.sql(sql)).replace(&self.root, "$")
    }

    /// The objects below the directory.
    fn names(&self) -> Vec<String> {
        let found = "SELECT DISTINCT filename FROM read_csv('$', @E, filename => true, union_by_name => true) t ORDER BY 1";
        let names = self.rows(found).into_iter();
        names.map(|name| name.replace(&self.root, "$")).collect()
    }
}

#[test]
fn objects_are_written_and_read() {
    let bucket = Bucket::new("formats");
    bucket.files.write("f.csv", "a,b\n1,x\n2,y\n");
    for name in [
        "f.parquet",
        "f.arrow",
        "f.arrows",
        "f.json",
        "f.ndjson.zst",
        "f.csv.gz",
        "f.tsv",
    ] {
        bucket.rows(&format!(
            "COPY (SELECT * FROM '@/f.csv') TO '$/{name}' (@C)"
        ));
        let read = bucket.rows(&format!(
            "SELECT * FROM read_file('$/{name}', @E) t ORDER BY a"
        ));
        assert_eq!(read, ["1|x", "2|y"], "{name}");
        let error = bucket.error(&format!("COPY (SELECT 3 AS a) TO '$/{name}' (@C)"));
        assert_eq!(error, format!("1086 File '$/{name}' already exists"));
        bucket.rows(&format!(
            "COPY (SELECT 3 AS a) TO '$/{name}' (@C, OVERWRITE)"
        ));
        let read = bucket.rows(&format!("SELECT * FROM read_file('$/{name}', @E) t"));
        assert_eq!(read, ["3"], "{name}");
    }
    assert_eq!(
        bucket.error("SELECT * FROM read_csv('$/none.csv', @E) t"),
        "1017 Can't find file: '$/none.csv' (errno: 2 - No file matches)"
    );
}

/// An upload of several parts; one whose statement fails leaves nothing.
#[test]
fn large_objects_are_uploaded_in_parts() {
    const ROWS: &str = "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 300000) \
                        SELECT n, SHA2(n, 256) AS h, EXP(n - @LATE) AS e FROM r";
    let bucket = Bucket::new("parts");
    let select = ROWS.replace("@LATE", "300000");
    bucket.rows(&format!("COPY ({select}) TO '$/f.csv' (@C)"));
    let read =
        bucket.rows("SELECT COUNT(*), SUM(n), COUNT(DISTINCT h) FROM read_csv('$/f.csv', @E) t");
    assert_eq!(read, ["300000|45000150000|300000"]);
    let failing = ROWS.replace("@LATE", "299000");
    for name in ["g.csv", "f.csv"] {
        let error = bucket.error(&format!("COPY ({failing}) TO '$/{name}' (@C, OVERWRITE)"));
        assert!(error.starts_with("1690 "), "{error}");
    }
    assert_eq!(bucket.names(), ["$/f.csv"]);
    let read = bucket.rows("SELECT COUNT(*) FROM read_csv('$/f.csv', @E) t");
    assert_eq!(read, ["300000"]);
}

#[test]
fn patterns_and_directories_are_listed() {
    let bucket = Bucket::new("lists");
    for (path, value) in [
        ("year=2025/part-0.csv", 1),
        ("year=2026/part-0.csv", 2),
        ("year=2026/part-1.csv", 3),
        ("year=2026/other.csv", 4),
        ("year=2026/deep/part-2.csv", 5),
        ("year=2026/_hidden.csv", 6),
        ("note.txt", 7),
    ] {
        bucket.rows(&format!(
            "COPY (SELECT {value} AS a) TO '$/{path}' (@C, FORMAT csv)"
        ));
    }
    let read = |path: &str| {
        bucket.rows(&format!(
            "SELECT a FROM read_csv('{path}', @E, hive_partitioning => false) t ORDER BY a"
        ))
    };
    assert_eq!(read("$/year=*/part-*.csv"), ["1", "2", "3"]);
    assert_eq!(read("$/year=2026/*.csv"), ["2", "3", "4", "6"]);
    assert_eq!(read("$/year=202[6-9]/part-?.csv"), ["2", "3"]);
    assert_eq!(read("$/**/part-*.csv"), ["1", "2", "3", "5"]);
    assert_eq!(read("$/year=2026"), ["2", "3", "4", "5"]);
    assert_eq!(read("$/"), ["1", "2", "3", "4", "5"]);
    assert_eq!(
        bucket.rows("SELECT year, SUM(a) FROM read_csv('$/year=*/part-*.csv', @E) t GROUP BY year ORDER BY year"),
        ["2025|1", "2026|5"]
    );
    // Files whose key does not meet WHERE are not read, as the one that is no CSV.
    bucket.rows("COPY (SELECT 1 AS a) TO '$/year=2027/part-0.csv' (@C, FORMAT parquet)");
    assert_eq!(
        bucket.error("SELECT a FROM read_csv('$/year=2028/*.csv', @E) t"),
        "1017 Can't find file: '$/year=2028/*.csv' (errno: 2 - No file matches)"
    );
}

/// The objects of a directory appear together, in place of those that are replaced, and not at all where the statement fails.
#[test]
fn partitions_are_objects_of_directories() {
    let bucket = Bucket::new("partitions");
    let copy = |values: &str, options: &str| {
        format!(
            "COPY (SELECT * FROM (VALUES {values}) v (n, k)) TO '$/d' (@C, FORMAT csv, PARTITION_BY k{options})"
        )
    };
    let read = || bucket.rows("SELECT n, k FROM read_csv('$/d', @E) t ORDER BY n");
    bucket.rows(&copy(
        "ROW(1, 'a'), ROW(2, 'b'), ROW(3, NULL), ROW(4, 'a')",
        "",
    ));
    assert_eq!(read(), ["1|a", "2|b", "3|NULL", "4|a"]);
    let names = [
        "$/d/k=__HIVE_DEFAULT_PARTITION__/part-0.csv",
        "$/d/k=a/part-0.csv",
        "$/d/k=b/part-0.csv",
    ];
    assert_eq!(bucket.names(), names);
    let error = bucket.error(&copy("ROW(1, 'c')", ""));
    assert_eq!(error, "1086 File '$/d' already exists");
    let failing = copy("ROW(1, 'c'), ROW(EXP(710), 'd')", ", OVERWRITE");
    assert!(bucket.error(&failing).starts_with("1690 "));
    assert_eq!(bucket.names(), names);
    bucket.rows(&copy("ROW(9, 'a'), ROW(8, 'e')", ", OVERWRITE"));
    assert_eq!(read(), ["8|e", "9|a"]);
    // What is no partition is not removed.
    bucket.rows("COPY (SELECT 1 AS n) TO '$/d/other.csv' (@C)");
    let error = bucket.error(&copy("ROW(1, 'c')", ", OVERWRITE"));
    assert_eq!(error, "1086 File '$/d' already exists");
}

#[test]
fn errors_of_the_store() {
    let bucket = Bucket::new("errors");
    let error = bucket.error("SELECT * FROM read_csv('s3://no-such-bucket-here/f*.csv', @E) t");
    assert!(
        error.starts_with("1105 file 's3://no-such-bucket-here/f"),
        "{error}"
    );
    let error = bucket.error("SELECT * FROM read_csv('s3:///f.csv', @E) t");
    assert_eq!(
        error,
        "1105 file 's3:///f.csv': it names no bucket or server"
    );
    let error = bucket.error("SELECT * FROM read_csv('s3://b*/f.csv', @E) t");
    assert_eq!(
        error,
        "1105 file 's3://b*/f.csv': the name of a bucket is no pattern"
    );
    let error =
        bucket.error("SELECT * FROM read_csv('$/f.csv', endpoint => 'http://127.0.0.1:1') t");
    assert!(error.starts_with("1105 file '$/f.csv': "), "{error}");
    let error = bucket.error("SELECT * FROM read_csv('$/f.csv', endpiont => 'x') t");
    assert!(
        error.contains("did you mean 'endpoint'?") || error.starts_with("1"),
        "{error}"
    );
}
