-- A database with everything that a dump has to carry. The dump suite adds several thousand rows to `lines` and `bytes`.
-- It is in words that MySQL 8 and MariaDB share.
CREATE TABLE parents (
  id INT UNSIGNED NOT NULL AUTO_INCREMENT,
  name VARCHAR(60) NOT NULL COMMENT 'it''s a "name"',
  kind ENUM('big','small','it''s') NOT NULL DEFAULT 'small',
  made DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  changed TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  PRIMARY KEY (id),
  UNIQUE KEY by_name (name),
  KEY by_kind (kind, made)
) ENGINE=InnoDB AUTO_INCREMENT=1000 DEFAULT CHARSET=utf8mb4 COMMENT='those who have lines; and a ''quote''';
CREATE TABLE `lines` (
  id BIGINT NOT NULL AUTO_INCREMENT,
  parent INT UNSIGNED,
  amount DECIMAL(12,3) NOT NULL DEFAULT 0.000,
  doubled DECIMAL(14,3) GENERATED ALWAYS AS (amount * 2) STORED,
  label VARCHAR(100) DEFAULT NULL,
  upper_label VARCHAR(100) GENERATED ALWAYS AS (UPPER(label)) VIRTUAL,
  weight DOUBLE,
  PRIMARY KEY (id),
  KEY by_label (label(10)),
  KEY by_parent (parent, amount DESC),
  CONSTRAINT lines_of_parent FOREIGN KEY (parent) REFERENCES parents (id) ON DELETE SET NULL ON UPDATE CASCADE,
  CONSTRAINT amount_is_not_negative CHECK (amount >= 0)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
CREATE TABLE bytes (
  id INT NOT NULL PRIMARY KEY,
  fixed BINARY(16),
  some VARBINARY(300),
  many LONGBLOB,
  flags BIT(10) NOT NULL DEFAULT b'101'
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
CREATE TABLE `odd ``name` (
  `a b` INT NOT NULL,
  `select` VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_bin,
  `größe` TEXT,
  PRIMARY KEY (`a b`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
INSERT INTO `odd ``name` VALUES (1, 'Grün', 'Straße 😀'), (2, NULL, NULL), (3, '', '''"\\ \n\r\t\0\Z');
CREATE TABLE nothing (a INT) ENGINE=InnoDB;
INSERT INTO parents (id, name, kind, made, changed) VALUES (1, 'eins', 'big', '2024-02-29 12:00:00.123', '2024-02-29 12:00:01'),
  (2, 'zwei ü€😀', 'it''s', '1000-01-01 00:00:00', '2038-01-19 03:14:07'), (3, 'NULL', 'small', '9999-12-31 23:59:59.999', '1970-01-01 00:00:01');
CREATE VIEW totals AS SELECT p.id AS id, p.name AS name, SUM(l.amount) AS total, COUNT(l.id) AS n FROM parents p LEFT JOIN `lines` l ON l.parent = p.id
  GROUP BY p.id, p.name;
CREATE VIEW over_totals AS SELECT name, total FROM totals WHERE n > 0;
