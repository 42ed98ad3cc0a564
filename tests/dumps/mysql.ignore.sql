-- MySQL dump 10.13  Distrib 9.7.4, for Linux (x86_64)
--
-- Host: localhost    Database: dump_world
-- ------------------------------------------------------
-- Server version	9.7.4-2
/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */;
/*!40103 SET TIME_ZONE='+00:00' */;
/*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */;
/*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */;
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;
/*!40111 SET @OLD_SQL_NOTES=@@SQL_NOTES, SQL_NOTES=0 */;

--
-- Current Database: `dump_world`
--

CREATE DATABASE /*!32312 IF NOT EXISTS*/ `dump_world` /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci */ /*!80016 DEFAULT ENCRYPTION='N' */;

USE `dump_world`;

--
-- Table structure for table `a_child`
--

DROP TABLE IF EXISTS `a_child`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `a_child` (
  `id` int NOT NULL,
  `parent_id` int DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `a_child_fk` (`parent_id`),
  CONSTRAINT `a_child_fk` FOREIGN KEY (`parent_id`) REFERENCES `parent` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `a_child`
--

LOCK TABLES `a_child` WRITE;
/*!40000 ALTER TABLE `a_child` DISABLE KEYS */;
set autocommit=0;
INSERT IGNORE INTO `a_child` VALUES (2,NULL),(1,2);
/*!40000 ALTER TABLE `a_child` ENABLE KEYS */;
UNLOCK TABLES;
commit;

--
-- Temporary view structure for view `a_view`
--

DROP TABLE IF EXISTS `a_view`;
/*!50001 DROP VIEW IF EXISTS `a_view`*/;
SET @saved_cs_client     = @@character_set_client;
/*!50503 SET character_set_client = utf8mb4 */;
/*!50001 CREATE VIEW `a_view` AS SELECT 
 1 AS `id`,
 1 AS `c`,
 1 AS `v`*/;
SET character_set_client = @saved_cs_client;

--
-- Table structure for table `bytes_`
--

DROP TABLE IF EXISTS `bytes_`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `bytes_` (
  `id` int NOT NULL,
  `b` binary(4) DEFAULT NULL,
  `vb` varbinary(300) DEFAULT NULL,
  `tb` tinyblob,
  `bl` blob,
  `mb` mediumblob,
  `lb` longblob,
  PRIMARY KEY (`id`),
  KEY `vb` (`vb`(10),`bl`(5))
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `bytes_`
--

LOCK TABLES `bytes_` WRITE;
/*!40000 ALTER TABLE `bytes_` DISABLE KEYS */;
set autocommit=0;
INSERT IGNORE INTO `bytes_` VALUES (1,_binary '\0ˇ\0\0',_binary '\0','',_binary 'ﬁ≠æ\Ô\0\'\\\"\n\r\Z',_binary '√©',_binary 'ˇ'),(2,NULL,NULL,NULL,NULL,NULL,NULL),(3,_binary 'abcd',_binary 'it\'s',_binary '\\',_binary '\"',_binary '`',_binary 'NULL'),(4,_binary 'zz\0\0',_binary '\0	\n\r\Z !\"#$%&\'()*+,-./0123456789:;<=>?@',_binary 'ÄÅÇÉÑÖÜáàâ',_binary '¿¡\¬\√\‚Ç(\ü',_binary '˛ˇ˛ˇ',_binary 'ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0');
/*!40000 ALTER TABLE `bytes_` ENABLE KEYS */;
UNLOCK TABLES;
commit;

--
-- Table structure for table `child`
--

DROP TABLE IF EXISTS `child`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `child` (
  `id` int NOT NULL AUTO_INCREMENT,
  `parent_id` int DEFAULT NULL,
  `pcode` varchar(10) DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `p` (`parent_id`),
  KEY `child_code` (`pcode`),
  CONSTRAINT `child_code` FOREIGN KEY (`pcode`) REFERENCES `parent` (`code`),
  CONSTRAINT `child_parent` FOREIGN KEY (`parent_id`) REFERENCES `parent` (`id`) ON DELETE CASCADE ON UPDATE SET NULL
) ENGINE=InnoDB AUTO_INCREMENT=4 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `child`
--

LOCK TABLES `child` WRITE;
/*!40000 ALTER TABLE `child` DISABLE KEYS */;
set autocommit=0;
INSERT IGNORE INTO `child` VALUES (1,1,'two'),(2,NULL,NULL),(3,2,'one');
/*!40000 ALTER TABLE `child` ENABLE KEYS */;
UNLOCK TABLES;
commit;

--
-- Table structure for table `computed`
--

DROP TABLE IF EXISTS `computed`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `computed` (
  `a` int NOT NULL,
  `b` int DEFAULT NULL,
  `c` int GENERATED ALWAYS AS ((`a` + ifnull(`b`,0))) VIRTUAL,
  `d` varchar(20) GENERATED ALWAYS AS (concat(_utf8mb4'<',`a`,_utf8mb4'>')) STORED NOT NULL,
  `e` int DEFAULT ((`a` * 2)),
  `u` varchar(36) DEFAULT (uuid()),
  `h` int DEFAULT '5' /*!80023 INVISIBLE */,
  PRIMARY KEY (`a`),
  KEY `inv` (`b`) /*!80000 INVISIBLE */,
  KEY `cc` (`c`),
  KEY `ex` (((`a` * `b`))),
  KEY `lo` ((lower(`d`))),
  CONSTRAINT `loose` CHECK ((`b` < 1000)) /*!80016 NOT ENFORCED */,
  CONSTRAINT `positive` CHECK ((`a` > 0))
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `computed`
--

LOCK TABLES `computed` WRITE;
/*!40000 ALTER TABLE `computed` DISABLE KEYS */;
set autocommit=0;
INSERT IGNORE INTO `computed` (`a`, `b`, `e`, `u`, `h`) VALUES (1,2,2,'u1',5),(2,NULL,4,'u2',5),(3,4,6,'u3',5),(4,2,8,'u4',NULL);
/*!40000 ALTER TABLE `computed` ENABLE KEYS */;
UNLOCK TABLES;
commit;

--
-- Table structure for table `documents`
--

DROP TABLE IF EXISTS `documents`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `documents` (
  `id` int NOT NULL AUTO_INCREMENT,
  `j` json DEFAULT NULL,
  `jn` json NOT NULL DEFAULT (json_array()),
  PRIMARY KEY (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=10 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `documents`
--

LOCK TABLES `documents` WRITE;
/*!40000 ALTER TABLE `documents` DISABLE KEYS */;
set autocommit=0;
INSERT IGNORE INTO `documents` VALUES (1,'{\"a\": [1, 2.5, null, true, \"x\\\"y\\\\z√©\"], \"b\": 1}','[]'),(2,'\"text\"','[]'),(3,'null','[]'),(4,NULL,'[]'),(5,'[]','[]'),(6,'1.0','[]'),(7,'{\"k\": \"line\\nbreak\"}','[]'),(8,'123456789012345678','[]'),(9,'{\"d\": \"2020-01-01\"}','[]');
/*!40000 ALTER TABLE `documents` ENABLE KEYS */;
UNLOCK TABLES;
commit;

--
-- Table structure for table `empty_one`
--

DROP TABLE IF EXISTS `empty_one`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `empty_one` (
  `x` int NOT NULL,
  PRIMARY KEY (`x`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `empty_one`
--

LOCK TABLES `empty_one` WRITE;
/*!40000 ALTER TABLE `empty_one` DISABLE KEYS */;
set autocommit=0;
/*!40000 ALTER TABLE `empty_one` ENABLE KEYS */;
UNLOCK TABLES;
commit;

--
-- Table structure for table `in_memory`
--

DROP TABLE IF EXISTS `in_memory`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `in_memory` (
  `x` int NOT NULL,
  `y` varchar(5) DEFAULT NULL,
  PRIMARY KEY (`x`) USING BTREE,
  KEY `h` (`y`) USING HASH
) ENGINE=MEMORY DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci MAX_ROWS=1000;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `in_memory`
--

LOCK TABLES `in_memory` WRITE;
/*!40000 ALTER TABLE `in_memory` DISABLE KEYS */;
set autocommit=0;
INSERT IGNORE INTO `in_memory` VALUES (1,'m');
/*!40000 ALTER TABLE `in_memory` ENABLE KEYS */;
UNLOCK TABLES;
commit;

--
-- Table structure for table `moments`
--

DROP TABLE IF EXISTS `moments`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `moments` (
  `k` char(3) NOT NULL,
  `d` date DEFAULT '1999-12-31',
  `t` time DEFAULT NULL,
  `t6` time(6) DEFAULT NULL,
  `dt` datetime DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  `dt6` datetime(6) DEFAULT NULL,
  `ts` timestamp NULL DEFAULT NULL,
  `ts3` timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  `y` year DEFAULT NULL,
  PRIMARY KEY (`k`),
  KEY `dt6` (`dt6`,`t`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `moments`
--

LOCK TABLES `moments` WRITE;
/*!40000 ALTER TABLE `moments` DISABLE KEYS */;
set autocommit=0;
INSERT IGNORE INTO `moments` VALUES ('a','2024-02-29','-838:59:59','12:34:56.789012','2024-02-29 12:00:00','9999-12-31 23:59:59.999999','2024-02-29 09:00:00','1970-01-01 21:00:00.123',1999),('b','0000-00-00','00:00:00','-00:00:00.000001','0000-00-00 00:00:00','1000-01-01 00:00:00.000000','0000-00-00 00:00:00','2038-01-19 03:14:07.999',0000),('c','2024-00-00','838:59:59','838:59:59.000000','2024-01-00 01:02:03',NULL,NULL,'2000-06-15 09:13:14.500',2155),('d',NULL,NULL,NULL,NULL,NULL,NULL,'2000-06-15 09:13:14.500',NULL);
/*!40000 ALTER TABLE `moments` ENABLE KEYS */;
UNLOCK TABLES;
commit;

--
-- Table structure for table `no_key`
--

DROP TABLE IF EXISTS `no_key`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `no_key` (
  `x` int DEFAULT NULL,
  `y` varchar(5) DEFAULT NULL
) ENGINE=MyISAM DEFAULT CHARSET=latin1 ROW_FORMAT=DYNAMIC;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `no_key`
--

LOCK TABLES `no_key` WRITE;
/*!40000 ALTER TABLE `no_key` DISABLE KEYS */;
set autocommit=0;
INSERT IGNORE INTO `no_key` VALUES (1,'a'),(1,'a'),(NULL,NULL);
/*!40000 ALTER TABLE `no_key` ENABLE KEYS */;
UNLOCK TABLES;
commit;

--
-- Table structure for table `numbers`
--

DROP TABLE IF EXISTS `numbers`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `numbers` (
  `id` bigint unsigned NOT NULL AUTO_INCREMENT,
  `tiny` tinyint DEFAULT '-5',
  `tiny_u` tinyint unsigned DEFAULT NULL,
  `small` smallint DEFAULT NULL,
  `small_u` smallint unsigned DEFAULT NULL,
  `medium` mediumint DEFAULT NULL,
  `medium_u` mediumint unsigned DEFAULT NULL,
  `i` int NOT NULL DEFAULT '7',
  `i_u` int unsigned DEFAULT NULL,
  `big` bigint DEFAULT NULL,
  `big_u` bigint unsigned DEFAULT NULL,
  `yes` tinyint(1) DEFAULT '1',
  `d` decimal(12,3) DEFAULT '1.500',
  `d_u` decimal(65,30) unsigned DEFAULT NULL,
  `f` float DEFAULT NULL,
  `g` double DEFAULT NULL,
  `g_u` double unsigned DEFAULT NULL,
  `b1` bit(1) DEFAULT b'1',
  `b20` bit(20) DEFAULT NULL,
  `b64` bit(64) DEFAULT NULL,
  `y` year DEFAULT '2001',
  `zf` int(8) unsigned zerofill DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `u` (`i_u`),
  KEY `small_big` (`small`,`big` DESC)
) ENGINE=InnoDB AUTO_INCREMENT=12 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci COMMENT='every number; it''s all';
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `numbers`
--

LOCK TABLES `numbers` WRITE;
/*!40000 ALTER TABLE `numbers` DISABLE KEYS */;
set autocommit=0;
INSERT IGNORE INTO `numbers` VALUES (1,-128,0,-32768,0,-8388608,0,-2147483648,0,-9223372036854775808,0,0,-999999999.999,0.000000000000000000000000000000,-15000000000,-1.7976931348623157e308,0,_binary '\0',_binary '\0\0\0',_binary '\0\0\0\0\0\0\0\0',1901,00000001),(2,127,255,32767,65535,8388607,16777215,2147483647,4294967295,9223372036854775807,18446744073709551615,1,999999999.999,99999999999999999999999999999999999.999999999999999999999999999999,3.14159,2.2250738585072014e-308,0.00001,_binary '',_binary 'ˇˇ',_binary 'ˇˇˇˇˇˇˇˇ',2155,99999999),(10,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL),(11,-5,NULL,NULL,NULL,NULL,NULL,42,NULL,NULL,NULL,1,1.500,NULL,NULL,NULL,NULL,_binary '',NULL,NULL,2001,NULL);
/*!40000 ALTER TABLE `numbers` ENABLE KEYS */;
UNLOCK TABLES;
commit;

--
-- Table structure for table `parent`
--

DROP TABLE IF EXISTS `parent`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `parent` (
  `id` int NOT NULL,
  `code` varchar(10) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `code` (`code`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `parent`
--

LOCK TABLES `parent` WRITE;
/*!40000 ALTER TABLE `parent` DISABLE KEYS */;
set autocommit=0;
INSERT IGNORE INTO `parent` VALUES (1,'one'),(2,'two');
/*!40000 ALTER TABLE `parent` ENABLE KEYS */;
UNLOCK TABLES;
commit;

--
-- Table structure for table `parted`
--

DROP TABLE IF EXISTS `parted`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `parted` (
  `id` int NOT NULL,
  `v` varchar(10) DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci
/*!50100 PARTITION BY RANGE (`id`)
(PARTITION p0 VALUES LESS THAN (10) ENGINE = InnoDB,
 PARTITION p1 VALUES LESS THAN MAXVALUE ENGINE = InnoDB) */;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `parted`
--

LOCK TABLES `parted` WRITE;
/*!40000 ALTER TABLE `parted` DISABLE KEYS */;
set autocommit=0;
INSERT IGNORE INTO `parted` VALUES (1,'a'),(20,'b');
/*!40000 ALTER TABLE `parted` ENABLE KEYS */;
UNLOCK TABLES;
commit;

--
-- Table structure for table `texts`
--

DROP TABLE IF EXISTS `texts`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `texts` (
  `id` int NOT NULL,
  `c` char(10) DEFAULT NULL,
  `v` varchar(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  `tt` tinytext,
  `t` text,
  `mt` mediumtext,
  `lt` longtext,
  `l1` varchar(50) CHARACTER SET latin1 COLLATE latin1_swedish_ci DEFAULT NULL,
  `u3` varchar(50) CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci DEFAULT NULL,
  `a` varchar(20) CHARACTER SET ascii COLLATE ascii_bin DEFAULT NULL,
  `e` enum('one','two','it''s','a,b','') DEFAULT 'two',
  `s` set('x','y','z z') DEFAULT 'x,z z',
  `n` varchar(5) NOT NULL DEFAULT '',
  `odd name``s` varchar(10) DEFAULT NULL COMMENT 'a comment with ''quotes'' and \\ back',
  PRIMARY KEY (`id`),
  KEY `pre` (`t`(7),`v`(3)),
  FULLTEXT KEY `ft` (`mt`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `texts`
--

LOCK TABLES `texts` WRITE;
/*!40000 ALTER TABLE `texts` DISABLE KEYS */;
set autocommit=0;
INSERT IGNORE INTO `texts` VALUES (1,'a','A','','line\nbreak	tab\0nul\\back\'quote\"dq%_\Z\r','mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm','√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©','√§√∂√º √ø‚Ç¨','√§‚Ç¨','ascii','one','x','n1','odd'),(2,'','','üëçüèΩ','Êó•Êú¨Ë™û —Ç–µ–∫—Å—Ç','',NULL,'','','','it\'s','','','-- no'),(3,NULL,NULL,NULL,'; DELIMITER // /* no */ # -- ',NULL,NULL,NULL,NULL,NULL,'a,b','x,y,z z','/*!',';'),(4,'trail','trail  ','NULL','NULL','`','\'',' ','\\N','\\','',NULL,'x','\r\n');
/*!40000 ALTER TABLE `texts` ENABLE KEYS */;
UNLOCK TABLES;
commit;

--
-- Temporary view structure for view `v_bin`
--

DROP TABLE IF EXISTS `v_bin`;
/*!50001 DROP VIEW IF EXISTS `v_bin`*/;
SET @saved_cs_client     = @@character_set_client;
/*!50503 SET character_set_client = utf8mb4 */;
/*!50001 CREATE VIEW `v_bin` AS SELECT 
 1 AS `id`,
 1 AS `h`,
 1 AS `con cat`*/;
SET character_set_client = @saved_cs_client;

--
-- Temporary view structure for view `v_numbers`
--

DROP TABLE IF EXISTS `v_numbers`;
/*!50001 DROP VIEW IF EXISTS `v_numbers`*/;
SET @saved_cs_client     = @@character_set_client;
/*!50503 SET character_set_client = utf8mb4 */;
/*!50001 CREATE VIEW `v_numbers` AS SELECT 
 1 AS `id`,
 1 AS `i`,
 1 AS `d`*/;
SET character_set_client = @saved_cs_client;

--
-- Temporary view structure for view `v_sum`
--

DROP TABLE IF EXISTS `v_sum`;
/*!50001 DROP VIEW IF EXISTS `v_sum`*/;
SET @saved_cs_client     = @@character_set_client;
/*!50503 SET character_set_client = utf8mb4 */;
/*!50001 CREATE VIEW `v_sum` AS SELECT 
 1 AS `total`,
 1 AS `cnt`*/;
SET character_set_client = @saved_cs_client;

--
-- Table structure for table `weird table`
--

DROP TABLE IF EXISTS `weird table`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `weird table` (
  `select` int DEFAULT NULL,
  `from` int DEFAULT NULL,
  `a.b` int DEFAULT NULL,
  `√º` int DEFAULT NULL,
  KEY `group` (`select`),
  KEY `k``q` (`a.b`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `weird table`
--

LOCK TABLES `weird table` WRITE;
/*!40000 ALTER TABLE `weird table` DISABLE KEYS */;
set autocommit=0;
INSERT IGNORE INTO `weird table` VALUES (1,2,3,4);
/*!40000 ALTER TABLE `weird table` ENABLE KEYS */;
UNLOCK TABLES;
commit;

--
-- Current Database: `dump_world`
--

USE `dump_world`;

--
-- Final view structure for view `a_view`
--

/*!50001 DROP VIEW IF EXISTS `a_view`*/;
/*!50001 SET @saved_cs_client          = @@character_set_client */;
/*!50001 SET @saved_cs_results         = @@character_set_results */;
/*!50001 SET @saved_col_connection     = @@collation_connection */;
/*!50001 SET character_set_client      = utf8mb4 */;
/*!50001 SET character_set_results     = utf8mb4 */;
/*!50001 SET collation_connection      = utf8mb4_general_ci */;
/*!50001 CREATE ALGORITHM=UNDEFINED */
/*!50013 DEFINER=`root`@`localhost` SQL SECURITY DEFINER */
/*!50001 VIEW `a_view` AS select `n`.`id` AS `id`,`t`.`c` AS `c`,`t`.`v` AS `v` from (`v_numbers` `n` join `texts` `t` on((`t`.`id` = `n`.`id`))) where (`t`.`t` <> 'x;y') */
/*!50002 WITH CASCADED CHECK OPTION */;
/*!50001 SET character_set_client      = @saved_cs_client */;
/*!50001 SET character_set_results     = @saved_cs_results */;
/*!50001 SET collation_connection      = @saved_col_connection */;

--
-- Final view structure for view `v_bin`
--

/*!50001 DROP VIEW IF EXISTS `v_bin`*/;
/*!50001 SET @saved_cs_client          = @@character_set_client */;
/*!50001 SET @saved_cs_results         = @@character_set_results */;
/*!50001 SET @saved_col_connection     = @@collation_connection */;
/*!50001 SET character_set_client      = utf8mb4 */;
/*!50001 SET character_set_results     = utf8mb4 */;
/*!50001 SET collation_connection      = utf8mb4_general_ci */;
/*!50001 CREATE ALGORITHM=UNDEFINED */
/*!50013 DEFINER=`root`@`localhost` SQL SECURITY DEFINER */
/*!50001 VIEW `v_bin` AS select `bytes_`.`id` AS `id`,hex(`bytes_`.`vb`) AS `h`,concat('a','b') AS `con cat` from `bytes_` */;
/*!50001 SET character_set_client      = @saved_cs_client */;
/*!50001 SET character_set_results     = @saved_cs_results */;
/*!50001 SET collation_connection      = @saved_col_connection */;

--
-- Final view structure for view `v_numbers`
--

/*!50001 DROP VIEW IF EXISTS `v_numbers`*/;
/*!50001 SET @saved_cs_client          = @@character_set_client */;
/*!50001 SET @saved_cs_results         = @@character_set_results */;
/*!50001 SET @saved_col_connection     = @@collation_connection */;
/*!50001 SET character_set_client      = utf8mb4 */;
/*!50001 SET character_set_results     = utf8mb4 */;
/*!50001 SET collation_connection      = utf8mb4_general_ci */;
/*!50001 CREATE ALGORITHM=UNDEFINED */
/*!50013 DEFINER=`root`@`localhost` SQL SECURITY DEFINER */
/*!50001 VIEW `v_numbers` AS select `numbers`.`id` AS `id`,`numbers`.`i` AS `i`,`numbers`.`d` AS `d` from `numbers` where (`numbers`.`i` is not null) */;
/*!50001 SET character_set_client      = @saved_cs_client */;
/*!50001 SET character_set_results     = @saved_cs_results */;
/*!50001 SET collation_connection      = @saved_col_connection */;

--
-- Final view structure for view `v_sum`
--

/*!50001 DROP VIEW IF EXISTS `v_sum`*/;
/*!50001 SET @saved_cs_client          = @@character_set_client */;
/*!50001 SET @saved_cs_results         = @@character_set_results */;
/*!50001 SET @saved_col_connection     = @@collation_connection */;
/*!50001 SET character_set_client      = utf8mb4 */;
/*!50001 SET character_set_results     = utf8mb4 */;
/*!50001 SET collation_connection      = utf8mb4_general_ci */;
/*!50001 CREATE ALGORITHM=TEMPTABLE */
/*!50013 DEFINER=`root`@`localhost` SQL SECURITY INVOKER */
/*!50001 VIEW `v_sum` (`total`,`cnt`) AS select sum(`numbers`.`d`) AS `sum(d)`,count(0) AS `count(*)` from `numbers` group by `numbers`.`yes` order by sum(`numbers`.`d`) */;
/*!50001 SET character_set_client      = @saved_cs_client */;
/*!50001 SET character_set_results     = @saved_cs_results */;
/*!50001 SET collation_connection      = @saved_col_connection */;
/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;

/*!40101 SET SQL_MODE=@OLD_SQL_MODE */;
/*!40014 SET FOREIGN_KEY_CHECKS=@OLD_FOREIGN_KEY_CHECKS */;
/*!40014 SET UNIQUE_CHECKS=@OLD_UNIQUE_CHECKS */;
/*!40111 SET SQL_NOTES=@OLD_SQL_NOTES */;

-- Dump completed
