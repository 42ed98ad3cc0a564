select 1
select 1;
insert into t() values ()
insert t value (1),(2)
insert ignore into t (a,b) values (1,2) as new on duplicate key update a=new.a
insert into t values (1,2) as new(m,n) on duplicate key update a=m
insert into t set a=1, b=default
insert into t select * from s on duplicate key update a=1
insert into t (a) select 1 union select 2
insert into t (a) (select 1)
insert into t table s
insert into t values row(1,2), row(3,4)
insert into t (t.a, db.t.b) values (1,2)
replace into t values (1)
replace delayed into t set a=1
insert high_priority ignore t partition (p0) values (1)
insert into t with c as (select 1) select * from c
create table t (a int)
create table t
create temporary table if not exists db.t (a int unsigned zerofill not null auto_increment primary key, b varchar(10) character set latin1 collate latin1_bin default 'x' comment 'c')
create table t (a int generated always as (1+1) virtual, b int as (a) stored not null, c int check (c > 1) not enforced, constraint x check (a<b))
create table t (a timestamp default current_timestamp on update current_timestamp, b datetime(6) default now(6) on update now(6))
create table t (a enum('x','y') charset utf8mb4, b set('a','b'), c bit(3), d year(4), e json, f geometry, g point srid 0)
create table t (a int, key (a), unique key u (a desc), fulltext key f (b), spatial index s (c), primary key using btree (a), index i ((a+1)), foreign key (a) references u(b) on delete cascade on update set null)
create table t (a int references u(x) match full on delete restrict)
create table t (a int) engine=innodb auto_increment 5 default charset utf8mb4 collate utf8mb4_bin comment='x' row_format=dynamic key_block_size=8
create table t like s
create table t (like s)
create table t select 1
create table t as select 1 as a
create table t (a int) ignore select 1
create table t (a int) replace as select 1
create table t (a int) engine=memory select 1
create table t (a int) partition by hash(a) partitions 4
create table t (a int) partition by range (a) (partition p0 values less than (10), partition p1 values less than maxvalue)
create table t (a int) partition by list columns (a,b) (partition p0 values in ((1,2),(3,4)))
create table t (a int) partition by key () partitions 2
create or replace table t (a int)
create table t (a national varchar(10), b long varchar, c long, d double precision, e fixed(3,1), f nchar varchar(3), g serial, h bool, i char byte, j text(10) ascii, k varchar(3) unicode, l char(3) binary)
create table t (a int invisible, b int visible, c int storage disk, d int column_format fixed, e int default (uuid()), f int unique key, g int key, h int unique)
create table t (status int, date date, time time, value int, name int, type int, text text, timestamp timestamp, year year, end int, begin int, enum int, bit bit, comment int)
create table t (a int default (1+1))
create table `a b`.`c``d` (`e f` int)
drop table t
drop table if exists a, db.b restrict
drop temporary table a cascade
drop tables a
truncate t
truncate table db.t
load data infile 'x' into table t
load data low_priority local infile 'x' replace into table db.t partition (p0) character set utf8mb4 fields terminated by ',' optionally enclosed by '"' escaped by '\\' lines starting by 'x' terminated by '\n' ignore 1 lines (a, @b, c) set d=@b+1, e=default
load data concurrent infile 'x' ignore into table t columns terminated by x'09' ignore 3 rows (@a)
load data infile 'x' into table t ()
select 1 into @a
select 1,2 into @a,@b from t
select * into outfile 'x' from t
select * from t into outfile 'x' character set utf8mb4 fields terminated by ',' enclosed by '"' lines terminated by '\n'
select * from t into dumpfile 'x'
select * from t for update into @a
select * from t into @a for update
select 1 into @a union select 2
select 1 union select 2 into @a
(select 1) into @a
create database d
create schema if not exists d default character set = utf8mb4 collate utf8mb4_bin encryption='N'
alter database d charset latin1
drop database if exists d
drop schema d
use d
use `a b`
show tables
show full tables from d like 'x'
show extended full columns from t in d where 1
show fields in t
show index from t from d
show keys from db.t where key_name='x'
show extended indexes from t
show create table t
show create database if not exists d
show create view v
show create trigger t
show create function f
show create user u
show variables
show global variables like 'x%'
show session status where variable_name='x'
show local variables
show warnings
show warnings limit 5
show errors limit 1,2
show count(*) warnings
show count(*) errors
show engines
show storage engines
show engine innodb status
show engine all status
show collation like 'x'
show character set
show charset
show full processlist
show table status from d like 'x'
show grants
show grants for current_user
show grants for 'a'@'b' using r
show plugins
show privileges
show profiles
show profile
show profile cpu, block io for query 2 limit 1
show profile all
show open tables in d
show triggers
show events
show function status like 'x'
show procedure status
show procedure code p
show binary logs
show binlog events
show binary log status
show replicas
show replica status
show temporary tables
show databases like 'x'
show schemas
describe t
desc t a
explain t 'a%'
explain select 1
explain format=json select 1
explain format=tree select 1
explain format=traditional update t set a=1
explain format="json" select 1
explain analyze select 1
explain analyze format=tree select 1
explain for connection 5
explain format=json for connection 5
explain format=json into @a select 1
explain for schema d select 1
desc select 1
explain insert into t values (1)
explain delete from t
explain table t
explain (select 1)
explain with c as (select 1) select * from c
help 'x'
set @a=1
set @a:=1, @b=@a+1, sql_mode='x'
set session sql_mode=default, global max_connections=5
set @@session.sql_mode='x', @@global.a=1, @@local.b=2, @@x=3
set persist a=1, persist_only b=2
set @@persist.a=1
set local a=1
set names utf8mb4
set names 'utf8mb4' collate 'utf8mb4_bin'
set names default
set character set utf8mb4
set charset default
set transaction isolation level read committed
set session transaction read only, isolation level serializable
set global transaction read write
set autocommit=on, a=off, b=binary, c=all, d=row, e=system
set a=1+1, b=(select 1)
set password='x'
set role none
set d.b=1
set time_zone = '+00:00', @@x := 5
flush tables
flush local tables
flush tables a, b with read lock
flush tables with read lock
flush status
flush no_write_to_binlog engine logs
flush optimizer_costs
begin
begin work
start transaction
start transaction with consistent snapshot, read only
start transaction read write
commit
commit work and chain no release
commit and no chain release
rollback
rollback to a
rollback work to savepoint a
rollback and chain
savepoint a
release savepoint a
do 1
do sleep(1), 2
do 1 as x
kill 5
kill query 5
kill connection @a
prepare s from 'select ?'
prepare s from @a
execute s
execute s using @a, @b
deallocate prepare s
drop prepare s
update t set a=1
update low_priority ignore t as x set x.a=1, b=default where a=1 order by b limit 5
update a, b set a.x=b.y where a.i=b.i
update a join b using (i) set x=1
update (select 1) d, t set a=1
with c as (select 1) update t set a=1
delete from t
delete low_priority quick ignore from t where a=1 order by b limit 5
delete from t as x where x.a=1
delete a, b from a join b using (i) where 1
delete from a, b.* using a join b where 1
delete a.*, db.b.* from a, db.b
with c as (select 1) delete from t
delete from t partition (p0)
alter table t add column a int first, drop b, modify c int after d, change e f int, rename column g to h, rename to x, add index (a), drop primary key, drop index i, drop foreign key f, alter column a set default 1, alter a drop default, convert to character set utf8mb4, engine=memory, order by a, b
alter table t add (a int, b int), add constraint c primary key (a), add unique (a), add fulltext (b), disable keys, enable keys, force, algorithm=inplace, lock=none
alter table t rename as x, rename index a to b, alter index i invisible, alter check c not enforced, drop check c, drop constraint c, add check (a>1)
alter table t add partition partitions 2
alter table t drop partition p0
alter table t comment 'x' auto_increment=5
alter table t
create index i on t (a)
create unique index i using btree on t (a(10) desc, (b+1)) comment 'x' invisible algorithm=inplace lock=none
create fulltext index i on t (a) with parser ngram
drop index i on t
drop index `primary` on t algorithm=copy
create view v as select 1
create or replace algorithm=merge definer=current_user sql security invoker view v (a,b) as select 1,2 with cascaded check option
create definer='a'@'b' view v as table t
alter view v as select 1
drop view if exists a, b cascade
rename table a to b, c.d to e.f
rename tables a to b
lock table a read
unlock tables
analyze table t, s
analyze local table t update histogram on a,b with 10 buckets
analyze table t drop histogram on a
check table t extended quick
check table t for upgrade
checksum table t quick
optimize no_write_to_binlog table t
repair table t quick extended use_frm
table t
table t order by a limit 5
table db.t union table s
values row(1,2), row(3,4)
values row(1) order by column_0 limit 1
values row()
handler t open
handler t open as x
handler t read first
handler t read i >= (1,2) where a limit 5
handler t read i next
handler t close
select a, b c, d as e, f 'g', h as 'i', 1 "j" from t
select *, a from t
select all a from t
select distinct a from t
select distinctrow sql_calc_found_rows high_priority sql_small_result sql_big_result sql_buffer_result sql_no_cache straight_join a from t
select sql_no_cache distinct a from t
select a div b, a mod b, a % b, a xor b, a ^ b, ~a, !a, a <=> b, @a := 1, a && b, a || b, a rlike b, a not regexp b, a sounds like b
select a like b escape '|', a not like b, a between 1 and 2, a not between 1 and 2, a in (1), a not in (select 1), (a,b) in ((1,2)), row(1,2) = (3,4)
select a->'$.x', t.a->>'$.y', 'x' member of ('[1]'), 1 member of (a)
select a collate utf8mb4_bin, binary a, 'a' collate utf8mb4_bin
select interval 1 day + a, a + interval 1 day, a - interval '1:2' minute_second, interval(1,2,3), interval (1) day + a
select interval(1,2) + 1, a + interval (b) day, interval 1 + 1 day + a
select a - interval 1 day * 1, 1 | a + interval 1 day * 2 + 1, a + interval 1 day div 2 + interval 1 day, interval 1 day + a = b and c, adddate(a, interval 1 day + b), subdate(a, interval(1,2) + 1)
select case a when 1 then 2 end, case when a then b else c end
select cast(a as signed), cast(a as unsigned integer), cast(a as char), cast(a as char(10) character set utf8mb4), cast(a as char charset latin1), cast(a as binary(5)), cast(a as decimal(10,2)), cast(a as dec), cast(a as json), cast(a as year), cast(a as float(10)), cast(a as double), cast(a as real), cast(a as date), cast(a as datetime(3)), cast(a as time(2)), cast(a as nchar(3)), cast(a as signed int)
select convert(a, signed), convert(a using utf8mb4), convert(a, char(5)), convert(a using binary)
select _utf8mb4'x', _latin1 'y', _binary x'4d', N'x', n'y', x'4D', X'4d', 0x4D, b'01', B'1', 0b01, _utf8mb4 0x41
select 0xZZ, 0b2
select 'a' 'b' "c", 'it''s', "a""b", 'a\'b', 'a\%b'
select date'2020-01-01', time '10:00', timestamp'2020-01-01 00:00:00', {d '2020-01-01'}, {t'10:00'}, {ts '2020-01-01'}, {fn now()}, {x 1}
select trim(a), trim(both from a), trim(leading 'x' from a), trim('x' from a), trim(trailing from a)
select substring(a,1), substring(a from 1 for 2), substring(a from 1), substr(a,1,2), mid(a,1,2), position('a' in b), extract(year from a), extract(day_hour from b)
select group_concat(a), group_concat(distinct a, b order by c desc, d separator '|')
select match(a,b) against('x'), match a against ('x' in boolean mode), match (a) against ('x' in natural language mode with query expansion), match(a) against ('x' with query expansion)
select @a, @`a b`, @'a b', @@a, @@global.a, @@session.a, @@local.a, @@persist.a, @@a.b
select @@global.a.b
select current_timestamp, current_timestamp(), current_timestamp(6), current_date, current_time(3), localtime, localtimestamp(1), utc_date, utc_time(), utc_timestamp(3), now(), now(6), sysdate(), curdate(), curtime(2), current_user, current_user()
select values(a), default(a), default(t.a)
select row(1,2), (1,2), exists(select 1), not exists (select 1), a = any (select 1), a > some(select 1), a <> all (select 1), (select 1)
select not a, not not a, ! ! a, not a = b, not a is null, not a between b and c
select a is true, a is not false, a is unknown, a is not null, a is not unknown
select * from json_table('[1]', '$[*]' columns (a int path '$.x', b for ordinality, c int exists path '$.y', d varchar(5) path '$' default '1' on empty error on error, nested path '$.z' columns (e int path '$'))) as jt
select * from t, lateral (select 1) as x
select * from t join lateral (select t.a) x on true
select rank() over (partition by a order by b rows between unbounded preceding and current row) from t
select sum(a) over w, row_number() over (), lag(a,1,0) respect nulls over (order by a), nth_value(a,2) from first over w, first_value(a) over (w order by b) from t window w as (partition by c), x as (w)
select sum(a) over (rows 5 preceding), sum(a) over (range between interval 1 day preceding and 5 following), sum(a) over (order by a range unbounded preceding) from t
select lag(a) ignore nulls over () from t
select a from t group by a with rollup having count(*) > 1 order by a desc limit 5 offset 2
select a from t group by rollup(a,b)
select grouping(a,b) from t group by a, b with rollup
select a from t order by null
select a from t limit 1,2
select a from t for update of t nowait
select a from t for share skip locked for update of x
select a from t lock in share mode
select /*+ no_merge(t) set_var(a=1) */ a from t
select a from a join b on 1 left join c using (x,y) right outer join d on 1 inner join e cross join f natural join g natural left join h straight_join i on 1
select * from a join b join c on 1 on 2
select * from (a join b), (c, d) join e
select * from ((a))
select * from (select 1) x, (select 2) as y(z), (values row(1)) as v
select * from (select 1)
select * from ((select 1)) x
select * from (table t) x
select * from { oj a left join b on 1 }
select * from t use index (a) ignore index for order by (b,c) force index for group by (`primary`)
select * from t use index ()
select * from t partition (p0, p1) as x
with recursive c(n) as (select 1 union all select n+1 from c where n < 5), d as (select 1) select * from c, d
with c as (with d as (select 1) select * from d) select * from c
select 1 union all select 2 union distinct select 3 order by 1 limit 1
select 1 intersect select 2 except all select 3
(select 1 order by 1 limit 1) union (select 2) order by 1
((select 1) union select 2) limit 1
(((select 1)))
(select 1) union (select 2) union select 3
(with c as (select 1) select * from c)
(select 1 limit 2) limit 1
select (select 1 union select 2), ((select 1)), (((select 1)) union select 2)
select * from t where (select 1) = 1 and (((a)))
select .5, 1., 1e3, 1.5e-3, 1e, 1.e2, 0x, 5a, 5.a from t
select a.select, a.from from t
select `a`.`b`, `a` . b, a .b from t
select $a, a$b, _x, é, 名 from t
select sum (a) from t
select now () from t
select f (1), db.f(1), db.f (2)
select timestampadd(day,1,a), timestampdiff(sql_tsi_hour,a,b), date_add(a, interval 1 day), date_sub(a, interval 1 month), adddate(a, 5), adddate(a, interval 1 day), subdate(a,1)
select json_value(a, '$.x' returning signed null on empty error on error), json_arrayagg(a), json_objectagg(a,b), std(a), variance(a), bit_and(a), any_value(a)
select a as `key`, b as 'select'
select status, date, time, value, name, type, text, year, user, session, global, offset, end, begin, count, sum, password, comment, level, first, last, next, no, of1, only from t
select a /* x */ , /*! b */ /*!80000 , c */ /*!99999 , d */ /*M! , e */ from t -- foo
select 1 # x
select 1 --1
select 1 -- 1
select ~~1, - - 1, -+-1, !~1, - 5 div 2
select 1 = 2 = 3, 1 < 2 < 3, 1 between 0 and 2 between 0 and 1
grant select on *.* to u
revoke all on t from u
create user u identified by 'x'
create role r
select distinct count(*) from t
select 1 where 1
select 1 having 1
select 1 from dual where 1 group by 1
select 1 limit 1
select * from dual
select straight_join * from t
select 1 as `1`
select -9223372036854775808, 18446744073709551616
select a not in (1), a not like 'b' escape '', a not rlike 'x'
select 1 + interval 1 day
create table 5t (a int)
create table t.5t (a int)
copy t to 'x'
copy t from 'x'
copy db.t (a, b) from 'x.parquet' with (format parquet, header)
copy db.t (a, b) to 'x.parquet' (format parquet, compression zstd, row_group_size 1000, overwrite)
copy (select 1 as a union select 2 order by a limit 1) to 'x' with (header false, delimiter ';', partition_by (a, b))
copy (with c as (select 1 as a) select * from c) to 'x' (format 'csv', header on, partition_by a)
select * into outfile 'x' format parquet from t
select * from t into outfile 'x' format csv compression 'gzip' header off
