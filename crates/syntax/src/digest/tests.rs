//! Digest texts, as MySQL prints them.

use super::*;

fn check(sql: &str, expected: &str) {
    assert_eq!(digest(sql).0, expected, "{sql}");
}

#[test]
fn texts() {
    check("select 1", "SELECT ?");
    check("select -1", "SELECT ?");
    check("select 1-1", "SELECT ? - ?");
    check("select - -1", "SELECT ?");
    check("select a-1, (-1), +5", "SELECT `a` - ? , (?) , ?");
    check("select NULL, TRUE, false", "SELECT ? , TRUE , FALSE");
    check(
        "select a is null, a is true",
        "SELECT `a` IS NULL , `a` IS TRUE",
    );
    check("select 1,2,3", "SELECT ?, ...");
    check("select (1),(2)", "SELECT (?) /* , ... */");
    check("select (1,2)", "SELECT (...)");
    check(
        "insert into t values (1),(2)",
        "INSERT INTO `t` VALUES (?) /* , ... */",
    );
    check(
        "insert into t values (1,2),(3,4)",
        "INSERT INTO `t` VALUES (...) /* , ... */",
    );
    check("insert into t values (1,2)", "INSERT INTO `t` VALUES (...)");
    check(
        "insert into t values (-1,null)",
        "INSERT INTO `t` VALUES (...)",
    );
    check(
        "insert into t values (default, 1, 2), (default, 3, 4)",
        "INSERT INTO `t` VALUES ( DEFAULT , ?, ... ) , ( DEFAULT , ?, ... )",
    );
    check(
        "select * from t where a in (1,2,3)",
        "SELECT * FROM `t` WHERE `a` IN (...)",
    );
    check(
        "select * from t where a in (1)",
        "SELECT * FROM `t` WHERE `a` IN (...)",
    );
    check(
        "select * from t where a in (b,1,2)",
        "SELECT * FROM `t` WHERE `a` IN ( `b` , ?, ... )",
    );
    check(
        "select * from t where (a,b) in ((1,2),(3,4))",
        "SELECT * FROM `t` WHERE ( `a` , `b` ) IN ( (...) /* , ... */ )",
    );
    check(
        "select * from t where a not in (1,2)",
        "SELECT * FROM `t` WHERE `a` NOT IN (...)",
    );
    check(
        "select t.a, db.t.b, t.* from db.t",
        "SELECT `t` . `a` , `db` . `t` . `b` , `t` . * FROM `db` . `t`",
    );
    check(
        "select @a, @`b c`, @@sql_mode, @@session.sql_mode, @@global.sql_mode",
        "SELECT @? , @`b c` , @@`sql_mode` , @@SESSION . `sql_mode` , @@GLOBAL . `sql_mode`",
    );
    check("set @a := 1, @b = 2", "SET @? := ? , @? = ?");
    check(
        "select f(1), count(*), now(), current_timestamp, curdate(), substr(a,1,2)",
        "SELECT `f` (?) , COUNT ( * ) , NOW ( ) , NOW , CURDATE ( ) , SUBSTRING ( `a` , ?, ... )",
    );
    check(
        "select a<>1, a!=1, a<=>1, a<=1, a>=2",
        "SELECT `a` != ? , `a` != ? , `a` <=> ? , `a` <= ? , `a` >= ?",
    );
    check(
        "select a||b, a&&b, a or b, a and b, !a, not a",
        "SELECT `a` || `b` , `a` && `b` , `a` OR `b` , `a` AND `b` , ! `a` , NOT `a`",
    );
    check(
        "select a << 1, a >> 1, a->'$.x', a->>'$.y'",
        "SELECT `a` << ? , `a` >> ? , `a` -> ? , `a` ->> ?",
    );
    check(
        "select 'a' 'b', _utf8mb4'x', n'x', x'4D', 0x4D, b'01'",
        "SELECT ? ? , (_charset) ?, ...",
    );
    check(
        "select date'2020-01-01', {d '2020-01-01'}",
        "SELECT DATE ? , { `d` ? }",
    );
    check(
        "select * from t limit 1, 2",
        "SELECT * FROM `t` LIMIT ?, ...",
    );
    check(
        "select /*+ no_merge(t) */ a /* c */ from t -- x",
        "SELECT /*+ NO_MERGE ( `t` ) */ `a` FROM `t`",
    );
    check(r#"select "a", `a`, `a``b`"#, "SELECT ? , `a` , `a`b`");
    check("select a.`select` from a", "SELECT `a` . `select` FROM `a`");
    check(
        "select std(a), mid(a,1), user(), schema(), database()",
        "SELECT STDDEV_POP ( `a` ) , SUBSTRING ( `a` , ? ) , SYSTEM_USER ( ) , SCHEMA ( ) , SCHEMA ( )",
    );
    check(
        "select 1 as x, 2 y, 'z' z",
        "SELECT ? AS `x` , ? `y` , ? `z`",
    );
    check(
        "create table t (a int(11) default 1, b varchar(10) comment 'x', c decimal(10,2), e enum('a','b'))",
        "CREATE TABLE `t` ( `a` INTEGER (?) DEFAULT ? , `b` VARCHARACTER (?) COMMENT ? , `c` DECIMAL (...) , `e` ENUM (...) )",
    );
    check(
        "select a from t where b like 'x%' escape '|' and c between 1 and 2",
        "SELECT `a` FROM `t` WHERE `b` LIKE ? ESCAPE ? AND `c` BETWEEN ? AND ?",
    );
    check(
        "select interval 1 day + a, a + interval -1 day",
        "SELECT INTERVAL ? SQL_TSI_DAY + `a` , `a` + INTERVAL ? SQL_TSI_DAY",
    );
    check(
        "load data infile 'x' into table t fields terminated by ',' ignore 1 lines",
        "LOAD DATA INFILE ? INTO TABLE `t` FIELDS TERMINATED BY ? IGNORE ? LINES",
    );
    check(
        "select distinctrow a from t",
        "SELECT DISTINCTROW `a` FROM `t`",
    );
    check("show full columns from t", "SHOW FULL FIELDS FROM `t`");
    check(
        "select case when 1 then 2 else 3 end",
        "SELECT CASE WHEN ? THEN ? ELSE ? END",
    );
    check(
        "select cast(a as signed), convert(a, char(10))",
        "SELECT CAST ( `a` AS SIGNED ) , CONVERT ( `a` , CHARACTER (?) )",
    );
    check("set names utf8mb4", "SET NAMES `utf8mb4`");
    check("select a;", "SELECT `a`");
    check("call p(1)", "CALL `p` (?)");
    check("values row(1,2), row(3,4)", "VALUES ROW (...) , ROW (...)");
    check("select 1e3, 1.5, .5", "SELECT ?, ...");
    check("kill 5", "KILL ?");
    check(
        "update t set a=1,b=2 where c=3",
        "UPDATE `t` SET `a` = ? , `b` = ? WHERE `c` = ?",
    );
    check(
        "select f(a,1,2), f(1,2,a), f(1,a,2)",
        "SELECT `f` ( `a` , ?, ... ) , `f` ( ?, ... , `a` ) , `f` ( ? , `a` , ? )",
    );
    check(
        "select a in (1,2) and b in (3)",
        "SELECT `a` IN (...) AND `b` IN (...)",
    );
    check(
        "select (select 1), (((1)))",
        "SELECT ( SELECT ? ) , ( ( (?) ) )",
    );
    check("select 1 union select 2", "SELECT ? UNION SELECT ?");
    check(
        "select -(1), a*-1, a=-1, a<-1, a in (-1,-2), - a",
        "SELECT - (?) , `a` * ? , `a` = ? , `a` < ? , `a` IN (...) , - `a`",
    );
    check(
        "select null, null, f(null), a in (null), (null,1)",
        "SELECT ?, ... , `f` (?) , `a` IN (...) , (...)",
    );
    check(
        "select * from t where a = any (select 1)",
        "SELECT * FROM `t` WHERE `a` = SOME ( SELECT ? )",
    );
    check(
        "select straight_join sql_no_cache a from t",
        "SELECT STRAIGHT_JOIN SQL_NO_CACHE `a` FROM `t`",
    );
    check("explain select 1", "EXPLAIN SELECT ?");
    check("select 名 from 表", "SELECT `名` FROM `表`");
    check(
        "select a rlike b, a regexp b, a mod 2, a div 2, a%2",
        "SELECT `a` RLIKE `b` , `a` RLIKE `b` , `a` MOD ? , `a` DIV ? , `a` % ?",
    );
    check(
        "select some_func (a), count (a)",
        "SELECT `some_func` ( `a` ) , `count` ( `a` )",
    );
    check(
        "select a from t where b in (select 1)",
        "SELECT `a` FROM `t` WHERE `b` IN ( SELECT ? )",
    );
    check(
        "create table `t` (a integer, b int4, c dec(1), d numeric(2), e character(3), f float8, g varcharacter(3), h middleint)",
        "CREATE TABLE `t` ( `a` INTEGER , `b` INTEGER , `c` DECIMAL (?) , `d` NUMERIC (?) , `e` CHARACTER (?) , `f` FLOAT8 , `g` VARCHARACTER (?) , `h` MIDDLEINT )",
    );
    check("show schemas", "SHOW SCHEMAS");
    check("show fields from t", "SHOW FIELDS FROM `t`");
    check("show indexes from t", "SHOW INDEXES FROM `t`");
    check(
        "select rank() over (order by a) from t",
        "SELECT RANK ( ) OVER ( ORDER BY `a` ) FROM `t`",
    );
    check(
        "select current_user(), current_user, localtime, session_user(), utc_date()",
        "SELECT CURRENT_USER ( ) , CURRENT_USER , NOW , SYSTEM_USER ( ) , UTC_DATE ( )",
    );
    check(
        "select a from t partition (p0,p1) as b",
        "SELECT `a` FROM `t` PARTITION ( `p0` , `p1` ) AS `b`",
    );
    check(
        "select 1 from dual where true and null",
        "SELECT ? FROM DUAL WHERE TRUE AND ?",
    );
    check(
        "create index i on t (a(10) desc, b)",
        "CREATE INDEX `i` ON `t` ( `a` (?) DESC , `b` )",
    );
    check(
        "select  'abc'   collate utf8mb4_bin",
        "SELECT ? COLLATE `utf8mb4_bin`",
    );
    check("select @@`sql_mode`, @'x y'", "SELECT @@`sql_mode` , @?");
    check(
        "select a.b.c from a.b",
        "SELECT `a` . `b` . `c` FROM `a` . `b`",
    );
    check("select 1 /*!80000 , 2 */ /*!99999 , 3 */", "SELECT ?, ...");
    check(
        "select n.a from t n where (n.a, 2) = (1, 2)",
        "SELECT `n` . `a` FROM `t` `n` WHERE ( `n` . `a` , ? ) = (...)",
    );
    check(
        "grant select on *.* to 'a'@'localhost'",
        "GRANT SELECT ON * . * TO ? @?",
    );
    check("show columns from t", "SHOW FIELDS FROM `t`");
    check("show index from t", "SHOW INDEX FROM `t`");
    check("show keys from t", "SHOW KEYS FROM `t`");
    check(
        "select a from t use key (b), c use index (d)",
        "SELECT `a` FROM `t` USE KEY ( `b` ) , `c` USE INDEX ( `d` )",
    );
    check(
        "select subdate(a, interval 1 year), date_sub(a, interval 1 quarter), adddate(a, 1), date_add(a, interval 1 microsecond)",
        "SELECT SUBDATE ( `a` , INTERVAL ? YEAR ) , DATE_SUB ( `a` , INTERVAL ? SQL_TSI_QUARTER ) , ADDDATE ( `a` , ? ) , DATE_ADD ( `a` , INTERVAL ? MICROSECOND )",
    );
    check(
        "select var_pop(a), variance(a), stddev(a), std(a), curtime(), current_date, current_time, localtimestamp, now(), sysdate(), utc_time, position('a' in b), substring(a,1)",
        "SELECT VAR_POP ( `a` ) , VAR_POP ( `a` ) , STDDEV_POP ( `a` ) , STDDEV_POP ( `a` ) , CURTIME ( ) , CURDATE , CURTIME , NOW , NOW ( ) , SYSDATE ( ) , UTC_TIME , POSITION ( ? IN `b` ) , SUBSTRING ( `a` , ? )",
    );
    check("select 1 = any(select 2)", "SELECT ? = SOME ( SELECT ? )");
    check(
        "create user u identified by 'x'",
        "CREATE SYSTEM_USER `u` IDENTIFIED BY ?",
    );
    check(
        "select timestampdiff(sql_tsi_day, a, b), timestampdiff(month, a, b), extract(hour from a), second(a), week(a), year(a)",
        "SELECT TIMESTAMPDIFF ( SQL_TSI_DAY , `a` , `b` ) , TIMESTAMPDIFF ( SQL_TSI_MONTH , `a` , `b` ) , EXTRACT ( SQL_TSI_HOUR FROM `a` ) , SQL_TSI_SECOND ( `a` ) , WEEK ( `a` ) , YEAR ( `a` )",
    );
    check(
        "select char(65 using utf8mb4), a || b",
        "SELECT CHARACTER ( ? USING `utf8mb4` ) , `a` || `b`",
    );
    check(
        r#"select 1 as `a` from t as `b` where `a`.`b` = "x""#,
        "SELECT ? AS `a` FROM `t` AS `b` WHERE `a` . `b` = ?",
    );
    check(
        "select a from t where a <> 1 xor b",
        "SELECT `a` FROM `t` WHERE `a` != ? XOR `b`",
    );
    check(
        "select a.*, b.1a from t",
        "SELECT `a` . * , `b` . `1a` FROM `t`",
    );
    check(
        "select -1.5, - 2, 3 + -4, (-5), f(-6), 3 - 4, a - -1, - - 1, -a, +a, !1, ~1",
        "SELECT ?, ... + ? , (?) , `f` (?) , ? - ? , `a` - ?, ... , - `a` , + `a` , ! ? , ~ ?",
    );
    check(
        "select 1 in (2) , (3, 4) in ((5,6)), (3) in (4)",
        "SELECT ? IN (...) , (...) IN ( (...) ) , (?) IN (...)",
    );
    check(
        "insert into t (a,b) values (1,'x'),(2,'y') on duplicate key update a=1, b=values(b)",
        "INSERT INTO `t` ( `a` , `b` ) VALUES (...) /* , ... */ ON DUPLICATE KEY UPDATE `a` = ? , `b` = VALUES ( `b` )",
    );
    check("select (1),(1,2),(1)", "SELECT (?) , (...) , (?)");
    check("select (1,2),(1,2),(1)", "SELECT (...) /* , ... */ , (?)");
    check("values row(1), row(2)", "VALUES ROW (?) , ROW (?)");
    check(
        "select 1 where a and -1 or -2",
        "SELECT ? WHERE `a` AND ? OR ?",
    );
    check("select 1 limit 5 offset 6", "SELECT ? LIMIT ? OFFSET ?");
    check("select * from t limit 1", "SELECT * FROM `t` LIMIT ?");
    check(
        "select * from a join b using (c) left outer join d on d.x=1",
        "SELECT * FROM `a` JOIN `b` USING ( `c` ) LEFT OUTER JOIN `d` ON `d` . `x` = ?",
    );
    check(
        "create table t (a int) engine=InnoDB default charset=utf8mb4 row_format=compact",
        "CREATE TABLE `t` ( `a` INTEGER ) ENGINE = `InnoDB` DEFAULT CHARSET = `utf8mb4` ROW_FORMAT = COMPACT",
    );
    check(
        "select _binary 'a', _latin1'abc' ",
        "SELECT (_charset) ? , (_charset) ?",
    );
    check(
        "select group_concat(distinct a order by b separator ',')",
        "SELECT GROUP_CONCAT ( DISTINCTROW `a` ORDER BY `b` SEPARATOR ? )",
    );
    check(
        "select json_extract(a, '$.x') member of ('[1]')",
        "SELECT `json_extract` ( `a` , ? ) MEMBER OF (?)",
    );
    check(
        r#"select "x" from t where a like 'b' -- comment"#,
        "SELECT ? FROM `t` WHERE `a` LIKE ?",
    );
    check(
        "select * from (select 1 union all select 2) as dt",
        "SELECT * FROM ( SELECT ? UNION ALL SELECT ? ) AS `dt`",
    );
    check(
        "with recursive c (n) as (select 1 union all select n+1 from c) select * from c",
        "WITH RECURSIVE `c` ( `n` ) AS ( SELECT ? UNION ALL SELECT `n` + ? FROM `c` ) SELECT * FROM `c`",
    );
    check("select @a:=1", "SELECT @? := ?");
    check(
        "select 1 from t where a = 0x12 and b = x'12' and c = 1e5",
        "SELECT ? FROM `t` WHERE `a` = ? AND `b` = ? AND `c` = ?",
    );
    check(
        "select database(), schema()",
        "SELECT SCHEMA ( ) , SCHEMA ( )",
    );
    check("create database d", "CREATE SCHEMA `d`");
    check("drop database d", "DROP SCHEMA `d`");
    check("create schema d", "CREATE SCHEMA `d`");
    check("show databases", "SHOW SCHEMAS");
    check(
        "show tables from d like 'x%'",
        "SHOW TABLES FROM `d` LIKE ?",
    );
    check(
        "show variables where variable_name = 'a'",
        "SHOW VARIABLES WHERE `variable_name` = ?",
    );
    check("use d", "USE `d`");
    check("describe t", "EXPLAIN `t`");
    check("desc t", "DESC `t`");
    check("explain t", "EXPLAIN `t`");
    check("do sleep(1)", "DO `sleep` (?)");
    check(
        "select a from t for update skip locked",
        "SELECT `a` FROM `t` FOR UPDATE SKIP LOCKED",
    );
    check(
        "delete from t where a=1 order by b limit 1",
        "DELETE FROM `t` WHERE `a` = ? ORDER BY `b` LIMIT ?",
    );
    check("truncate table t", "TRUNCATE TABLE `t`");
    check(
        "alter table t add column c int default -1",
        "ALTER TABLE `t` ADD COLUMN `c` INTEGER DEFAULT ?",
    );
    check(
        "select cast(1 as char character set utf8mb4), cast('a' as decimal(10,2)), convert('a' using latin1), binary 'a'",
        "SELECT CAST ( ? AS CHARACTER CHARACTER SET `utf8mb4` ) , CAST ( ? AS DECIMAL (...) ) , CONVERT ( ? USING `latin1` ) , BINARY ?",
    );
    check(
        "select trim(both 'x' from a), trim(a)",
        "SELECT TRIM ( BOTH ? FROM `a` ) , TRIM ( `a` )",
    );
    check("select 1; ", "SELECT ?");
    check("select ''", "SELECT ?");
    check("select f(''), f()", "SELECT `f` (?) , `f` ( )");
    check("lock tables t read", "LOCK TABLES `t` READ");
    check("prepare s from 'select 1'", "PREPARE `s` FROM ?");
    check("execute s using @a, @b", "EXECUTE `s` USING @? , @?");
}

#[test]
fn hashes() {
    // SHA-256 of "SELECT ?".
    let (_, one) = digest("select 1");
    assert_eq!(one, digest(" SELECT  -2 -- same").1);
    assert_ne!(one, digest("select 1, 2").1);
    assert_eq!(one.len(), 64);
}

#[test]
fn any_text_has_a_digest() {
    check("", "");
    check(";;", "");
    check(" ; select 1; select a", "SELECT ?");
    check("select 'abc", "SELECT 'abc");
    check("select a from t /*+ x", "SELECT `a` FROM `t` /*+ x");
    check("select \u{1}", "SELECT \u{1}");
    check("-1", "- ?");
}
