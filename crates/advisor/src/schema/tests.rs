//! Definitions in the dumps of both servers.

use mayfly_types::TypeKind;

use super::Schema;

const DUMP: &str = "
/*!40101 SET NAMES utf8mb4 */;
DROP TABLE IF EXISTS `login2`;
CREATE TABLE `login2` (
  `user_id` int(10) unsigned NOT NULL AUTO_INCREMENT,
  `user_email` varchar(2000) CHARACTER SET utf8mb3 COLLATE utf8mb3_uca1400_ai_ci DEFAULT NULL COMMENT 'a, (b)',
  `settings` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`settings`)),
  `kind` enum('a','b') NOT NULL DEFAULT 'a',
  `odd` uuid DEFAULT uuid(),
  `far` nosuchtype DEFAULT nosuchfunction(),
  PRIMARY KEY (`user_id`),
  KEY `mail` (`user_email`(20)),
  KEY `kind` (`kind`) USING HASH,
  CONSTRAINT `c` FOREIGN KEY (`user_id`) REFERENCES `other` (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=102048 DEFAULT CHARSET=latin1 PAGE_CHECKSUM=1;
DELIMITER ;;
CREATE TRIGGER t BEFORE INSERT ON login2 FOR EACH ROW BEGIN SET NEW.kind = 'a'; END ;;
DELIMITER ;
USE `other`;
CREATE TABLE small (id int PRIMARY KEY, name varchar(10) UNIQUE);
/*!50001 CREATE ALGORITHM=TEMPTABLE */
/*!50013 DEFINER=`root`@`localhost` SQL SECURITY DEFINER */
/*!50001 VIEW `seen` AS select `small`.`id` AS `id`,count(0) AS `n` from `small` group by `small`.`id` */;
CREATE INDEX by_both ON small (name, id);
CREATE TABLE copy LIKE small;
";

#[test]
fn a_dump_of_two_databases() {
    let mut schema = Schema::new();
    assert_eq!(schema.read_dump(DUMP, "shop"), Vec::<String>::new());
    assert_eq!(schema.counts(), (3, 1));
    let copy = schema.table("other", "copy").expect("it is there");
    assert_eq!(copy.columns.len(), 2);
    let login = schema.table("SHOP", "login2").expect("it is there");
    let names: Vec<&str> = login
        .columns
        .iter()
        .map(|column| column.name.as_str())
        .collect();
    assert_eq!(names, ["user_id", "user_email", "settings", "kind", "odd"]);
    let email = &login.columns[1];
    assert_eq!((email.ty.kind, email.ty.length), (TypeKind::VarChar, 2000));
    assert_eq!(email.ty.collation.charset().name(), "utf8mb3");
    assert_eq!(
        email.attributes,
        "CHARACTER SET utf8mb3 COLLATE utf8mb3_uca1400_ai_ci DEFAULT NULL COMMENT 'a, (b)'"
    );
    assert!(email.nullable && !login.columns[0].nullable);
    assert_eq!(login.columns[2].ty.kind, TypeKind::LongText);
    assert_eq!(
        (login.columns[4].ty.kind, login.columns[4].ty.length),
        (TypeKind::Char, 36)
    );
    let indexes: Vec<(&str, bool, bool)> = login
        .indexes
        .iter()
        .map(|index| (index.name.as_str(), index.unique, index.ordered))
        .collect();
    assert_eq!(
        indexes,
        [
            ("PRIMARY", true, true),
            ("mail", false, true),
            ("kind", false, false)
        ]
    );
    assert_eq!(login.indexes[1].parts, [(Some(1), Some(20))]);

    let small = schema.table("other", "small").expect("it is there");
    let names: Vec<&str> = small
        .indexes
        .iter()
        .map(|index| index.name.as_str())
        .collect();
    assert_eq!(names, ["PRIMARY", "name", "by_both"]);
    let view = schema.view("other", "seen").expect("it is there");
    assert!(view.source.materialized);
    assert_eq!(view.source.columns, ["id", "n"]);
    assert!(view.source.query.to_string().contains("`other`.`small`"));
}

#[test]
fn a_dump_without_databases_is_that_of_every_database() {
    let mut schema = Schema::new();
    schema.read_dump("CREATE TABLE t (a int)", "");
    assert!(schema.table("anything", "t").is_some());
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(300))]

    #[test]
    fn damaged_dumps_are_no_panic(
        changes in proptest::collection::vec((proptest::prelude::any::<proptest::sample::Index>(), 32_u8..127), 0..30),
        cut in proptest::prelude::any::<proptest::sample::Index>(),
    ) {
        let mut bytes = DUMP.as_bytes().to_vec();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        bytes.truncate(cut.index(bytes.len()));
        Schema::new().read_dump(&String::from_utf8_lossy(&bytes), "shop");
    }
}

#[test]
fn bodies_of_programs_define_nothing() {
    let mut schema = Schema::new();
    let text =
        "CREATE PROCEDURE p() BEGIN CREATE TABLE inner_t (a INT); CREATE INDEX i ON t (a); END;
        CREATE TABLE t (a INT);";
    assert_eq!(schema.read_dump(text, "shop"), Vec::<String>::new());
    assert!(schema.table("shop", "inner_t").is_none());
    let table = schema.table("shop", "t").expect("it is there");
    assert!(table.indexes.is_empty());
}
