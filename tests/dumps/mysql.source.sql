DROP DATABASE IF EXISTS dump_world;
CREATE DATABASE dump_world DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci;
USE dump_world;
SET time_zone = '+03:00';
CREATE TABLE numbers (
  id bigint unsigned NOT NULL AUTO_INCREMENT,
  tiny tinyint DEFAULT '-5', tiny_u tinyint unsigned, small smallint, small_u smallint unsigned,
  medium mediumint, medium_u mediumint unsigned, i int NOT NULL DEFAULT 7, i_u int unsigned,
  big bigint, big_u bigint unsigned, yes bool DEFAULT true,
  d decimal(12,3) DEFAULT 1.500, d_u decimal(65,30) unsigned, f float, g double, g_u double unsigned,
  b1 bit(1) DEFAULT b'1', b20 bit(20), b64 bit(64), y year DEFAULT 2001, zf int(8) unsigned zerofill,
  PRIMARY KEY (id), KEY small_big (small, big DESC), UNIQUE KEY u (i_u)
) ENGINE=InnoDB COMMENT='every number; it''s all';
INSERT INTO numbers VALUES
 (1,-128,0,-32768,0,-8388608,0,-2147483648,0,-9223372036854775808,0,0,-999999999.999,0,-1.5e10,-1.7976931348623157e308,0,b'0',b'0',b'0',1901,1),
 (2,127,255,32767,65535,8388607,16777215,2147483647,4294967295,9223372036854775807,18446744073709551615,1,999999999.999,99999999999999999999999999999999999.999999999999999999999999999999,3.14159,2.2250738585072014e-308,1e-5,b'1',b'11111111111111111111',b'1111111111111111111111111111111111111111111111111111111111111111',2155,99999999),
 (10,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO numbers (i) VALUES (42);
CREATE TABLE moments (
  k char(3) NOT NULL, d date DEFAULT '1999-12-31', t time, t6 time(6), dt datetime DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, dt6 datetime(6),
  ts timestamp NULL DEFAULT NULL, ts3 timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), y year,
  PRIMARY KEY (k), KEY (dt6, t)
);
SET sql_mode='';
INSERT INTO moments VALUES
 ('a','2024-02-29','-838:59:59','12:34:56.789012','2024-02-29 12:00:00','9999-12-31 23:59:59.999999','2024-02-29 12:00:00','1970-01-02 00:00:00.123',1999),
 ('b','0000-00-00','00:00:00','-00:00:00.000001','0000-00-00 00:00:00','1000-01-01 00:00:00.000000','0000-00-00 00:00:00','2038-01-19 06:14:07.999',0),
 ('c','2024-00-00','838:59:59','838:59:59','2024-01-00 01:02:03',NULL,NULL,'2000-06-15 12:13:14.5',2155),
 ('d',NULL,NULL,NULL,NULL,NULL,NULL,'2000-06-15 12:13:14.5',NULL);
SET sql_mode=default;
CREATE TABLE texts (
  id int NOT NULL, c char(10), v varchar(100) COLLATE utf8mb4_bin, tt tinytext, t text, mt mediumtext, lt longtext,
  l1 varchar(50) CHARACTER SET latin1, u3 varchar(50) CHARACTER SET utf8mb3, a varchar(20) CHARACTER SET ascii COLLATE ascii_bin,
  e enum('one','two','it''s','a,b','') DEFAULT 'two', s set('x','y','z z') DEFAULT 'x,z z', n varchar(5) NOT NULL DEFAULT '',
  `odd name``s` varchar(10) COMMENT 'a comment with ''quotes'' and \\ back',
  PRIMARY KEY (id), KEY pre (t(7), v(3)), FULLTEXT KEY ft (mt)
);
INSERT INTO texts VALUES
 (1,'a','A','','line\nbreak\ttab\0nul\\back\'quote"dq%_\Z\r',REPEAT('m',300),REPEAT('é',500),'äöü ÿ€','ä€','ascii','one','x','n1','odd'),
 (2,'','', '👍🏽','日本語 текст','',NULL,'','','','it''s','','','-- no'),
 (3,NULL,NULL,NULL,'; DELIMITER // /* no */ # -- ',NULL,NULL,NULL,NULL,NULL,'a,b','x,y,z z','/*!',';'),
 (4,'trail  ','trail  ','NULL','NULL','`','''',' ','\\N','\\','',NULL,'x','\r\n');
CREATE TABLE bytes_ (
  id int NOT NULL PRIMARY KEY, b binary(4), vb varbinary(300), tb tinyblob, bl blob, mb mediumblob, lb longblob, KEY (vb(10), bl(5))
);
INSERT INTO bytes_ VALUES (1,x'00ff',x'00', x'', x'deadbeef00275c220a0d1a', x'c3a9', x'ff'),(2,NULL,NULL,NULL,NULL,NULL,NULL),(3,'abcd','it''s','\\','"','`','NULL');
INSERT INTO bytes_ SELECT 4, 'zz', (WITH RECURSIVE r AS (SELECT 0 n, CAST('' AS BINARY(600)) s UNION ALL SELECT n+1, x'00' FROM r WHERE n<2) SELECT x'000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f40'), x'80818283848586878889', x'c0c1c2c3e28228f09f', x'fefffeff', REPEAT(x'9f00',2000);
CREATE TABLE documents (id int NOT NULL AUTO_INCREMENT, j json, jn json NOT NULL DEFAULT (json_array()), PRIMARY KEY (id));
INSERT INTO documents (j) VALUES ('{"b": 1, "a": [1, 2.5, null, true, "x\\"y\\\\z\\u00e9"]}'),('"text"'),('null'),(NULL),('[]'),('1.0'),('{"k": "line\\nbreak"}');
INSERT INTO documents (j) VALUES (CAST(123456789012345678 AS JSON)),(JSON_OBJECT('d', CAST('2020-01-01' AS DATE)));
CREATE TABLE computed (
  a int NOT NULL, b int, c int GENERATED ALWAYS AS (a + IFNULL(b, 0)) VIRTUAL, d varchar(20) GENERATED ALWAYS AS (concat('<', a, '>')) STORED NOT NULL,
  e int DEFAULT (a * 2), u varchar(36) DEFAULT (uuid()), h int INVISIBLE DEFAULT 5,
  PRIMARY KEY (a), KEY cc (c), KEY ex ((a * b)), KEY lo ((lower(d))), KEY inv (b) INVISIBLE,
  CONSTRAINT positive CHECK (a > 0), CONSTRAINT loose CHECK (b < 1000) NOT ENFORCED
);
INSERT INTO computed (a, b, u) VALUES (1,2,'u1'),(2,NULL,'u2'),(3,4,'u3');
INSERT INTO computed (a, b, u, h) VALUES (4,2,'u4',NULL);
CREATE TABLE parent (id int NOT NULL, code varchar(10) NOT NULL, PRIMARY KEY (id), UNIQUE KEY code (code)) ENGINE=InnoDB;
CREATE TABLE child (id int NOT NULL AUTO_INCREMENT PRIMARY KEY, parent_id int, pcode varchar(10), KEY p (parent_id),
  CONSTRAINT child_parent FOREIGN KEY (parent_id) REFERENCES parent (id) ON DELETE CASCADE ON UPDATE SET NULL,
  CONSTRAINT child_code FOREIGN KEY (pcode) REFERENCES parent (code));
CREATE TABLE a_child (id int NOT NULL PRIMARY KEY, parent_id int, CONSTRAINT a_child_fk FOREIGN KEY (parent_id) REFERENCES parent (id));
INSERT INTO parent VALUES (1,'one'),(2,'two');
INSERT INTO child (parent_id, pcode) VALUES (1,'two'),(NULL,NULL),(2,'one');
INSERT INTO a_child VALUES (1,2),(2,NULL);
CREATE TABLE no_key (x int, y varchar(5)) ENGINE=MyISAM DEFAULT CHARSET=latin1 ROW_FORMAT=DYNAMIC;
INSERT INTO no_key VALUES (1,'a'),(1,'a'),(NULL,NULL);
CREATE TABLE in_memory (x int NOT NULL, y varchar(5), PRIMARY KEY (x) USING BTREE, KEY h (y) USING HASH) ENGINE=MEMORY MAX_ROWS=1000;
INSERT INTO in_memory VALUES (1,'m');
CREATE TABLE empty_one (x int PRIMARY KEY);
CREATE TABLE `weird table` (`select` int, `from` int, `a.b` int, `ü` int, KEY `group` (`select`), KEY `k``q` (`a.b`));
INSERT INTO `weird table` VALUES (1,2,3,4);
CREATE TABLE parted (id int NOT NULL, v varchar(10), PRIMARY KEY (id)) PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN MAXVALUE);
INSERT INTO parted VALUES (1,'a'),(20,'b');
CREATE VIEW v_numbers AS SELECT id, i, d FROM numbers WHERE i IS NOT NULL;
CREATE VIEW a_view AS SELECT n.id, t.c, t.v FROM v_numbers n JOIN texts t ON t.id = n.id WHERE t.t <> 'x;y' WITH CASCADED CHECK OPTION;
CREATE VIEW v_bin AS SELECT id, hex(vb) AS h, concat('a', 'b') AS `con cat` FROM bytes_;
CREATE ALGORITHM=TEMPTABLE SQL SECURITY INVOKER VIEW v_sum (total, cnt) AS SELECT sum(d), count(*) FROM numbers GROUP BY yes ORDER BY 1;
