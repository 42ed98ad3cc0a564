/*M!999999\- enable the sandbox mode */ 
-- MariaDB dump 10.19  Distrib 10.11.19-MariaDB, for debian-linux-gnu (x86_64)
--
-- Host: localhost    Database: dump_world
-- ------------------------------------------------------
-- Server version	10.11.19-MariaDB-0+deb12u1
/*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */;
/*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */;
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;
/*!40111 SET @OLD_SQL_NOTES=@@SQL_NOTES, SQL_NOTES=0 */;

--
-- Current Database: `dump_world`
--

CREATE DATABASE /*!32312 IF NOT EXISTS*/ `dump_world` /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci */;

USE `dump_world`;

--
-- Table structure for table `a_child`
--

/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `a_child` (
  `id` int(11) NOT NULL,
  `parent_id` int(11) DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `a_child_fk` (`parent_id`),
  CONSTRAINT `a_child_fk` FOREIGN KEY (`parent_id`) REFERENCES `parent` (`id`)
);
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `a_child`
--

INSERT INTO `a_child` VALUES (2,NULL);
INSERT INTO `a_child` VALUES (1,2);

--
-- Temporary table structure for view `a_view`
--

SET @saved_cs_client     = @@character_set_client;
SET character_set_client = utf8mb4;
/*!50001 CREATE VIEW `a_view` AS SELECT
 NULL AS `id`,
 NULL AS `c`,
 NULL AS `v` */;
SET character_set_client = @saved_cs_client;

--
-- Table structure for table `bytes_`
--

/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `bytes_` (
  `id` int(11) NOT NULL,
  `b` binary(4) DEFAULT NULL,
  `vb` varbinary(300) DEFAULT NULL,
  `tb` tinyblob DEFAULT NULL,
  `bl` blob DEFAULT NULL,
  `mb` mediumblob DEFAULT NULL,
  `lb` longblob DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `vb` (`vb`(10),`bl`(5))
);
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `bytes_`
--

INSERT INTO `bytes_` VALUES (1,'\0ˇ\0\0','\0','','ﬁ≠æÔ\0\'\\\"\n\r\Z','√©','ˇ');
INSERT INTO `bytes_` VALUES (2,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO `bytes_` VALUES (3,'abcd','it\'s','\\','\"','`','NULL');
INSERT INTO `bytes_` VALUES (4,'zz\0\0','\0	\n\r\Z !\"#$%&\'()*+,-./0123456789:;<=>?@','ÄÅÇÉÑÖÜáàâ','¿¡¬√‚Ç(ü','˛ˇ˛ˇ','ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0ü\0');

--
-- Table structure for table `child`
--

/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `child` (
  `id` int(11) NOT NULL,
  `parent_id` int(11) DEFAULT NULL,
  `pcode` varchar(10) DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `p` (`parent_id`),
  KEY `child_code` (`pcode`),
  CONSTRAINT `child_code` FOREIGN KEY (`pcode`) REFERENCES `parent` (`code`),
  CONSTRAINT `child_parent` FOREIGN KEY (`parent_id`) REFERENCES `parent` (`id`) ON DELETE CASCADE ON UPDATE SET NULL
);
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `child`
--

INSERT INTO `child` VALUES (1,1,'two');
INSERT INTO `child` VALUES (2,NULL,NULL);
INSERT INTO `child` VALUES (3,2,'one');

--
-- Table structure for table `computed`
--

/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `computed` (
  `a` int(11) NOT NULL,
  `b` int(11) DEFAULT NULL,
  `c` int(11) GENERATED ALWAYS AS (`a` + ifnull(`b`,0)) VIRTUAL,
  `d` varchar(20) GENERATED ALWAYS AS (concat('<',`a`,'>')) STORED,
  `e` int(11) DEFAULT (`a` * 2),
  `u` varchar(36) DEFAULT uuid(),
  `h` int(11) INVISIBLE DEFAULT 5,
  PRIMARY KEY (`a`),
  KEY `cc` (`c`),
  KEY `inv` (`b`),
  CONSTRAINT `positive` CHECK (`a` > 0),
  CONSTRAINT `loose` CHECK (`b` < 1000)
);
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `computed`
--

INSERT INTO `computed` (`a`, `b`, `c`, `d`, `e`, `u`, `h`) VALUES (1,2,3,'<1>',2,'u1',5);
INSERT INTO `computed` (`a`, `b`, `c`, `d`, `e`, `u`, `h`) VALUES (2,NULL,2,'<2>',4,'u2',5);
INSERT INTO `computed` (`a`, `b`, `c`, `d`, `e`, `u`, `h`) VALUES (3,4,7,'<3>',6,'u3',5);
INSERT INTO `computed` (`a`, `b`, `c`, `d`, `e`, `u`, `h`) VALUES (4,2,6,'<4>',8,'u4',NULL);

--
-- Table structure for table `documents`
--

/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `documents` (
  `id` int(11) NOT NULL,
  `j` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`j`)),
  `jn` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT json_array() CHECK (json_valid(`jn`)),
  PRIMARY KEY (`id`)
);
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `documents`
--

INSERT INTO `documents` VALUES (1,'{\"b\": 1, \"a\": [1, 2.5, null, true, \"x\\\"y\\\\z\\u00e9\"]}','[]');
INSERT INTO `documents` VALUES (2,'\"text\"','[]');
INSERT INTO `documents` VALUES (3,'null','[]');
INSERT INTO `documents` VALUES (4,NULL,'[]');
INSERT INTO `documents` VALUES (5,'[]','[]');
INSERT INTO `documents` VALUES (6,'1.0','[]');
INSERT INTO `documents` VALUES (7,'{\"k\": \"line\\nbreak\"}','[]');

--
-- Table structure for table `empty_one`
--

/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `empty_one` (
  `x` int(11) NOT NULL,
  PRIMARY KEY (`x`)
);
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `empty_one`
--


--
-- Table structure for table `in_memory`
--

/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `in_memory` (
  `x` int(11) NOT NULL,
  `y` varchar(5) DEFAULT NULL,
  PRIMARY KEY (`x`),
  KEY `h` (`y`)
);
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `in_memory`
--

INSERT INTO `in_memory` VALUES (1,'m');

--
-- Table structure for table `moments`
--

/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `moments` (
  `k` char(3) NOT NULL,
  `d` date DEFAULT '1999-12-31',
  `t` time DEFAULT NULL,
  `t6` time(6) DEFAULT NULL,
  `dt` datetime DEFAULT current_timestamp(),
  `dt6` datetime(6) DEFAULT NULL,
  `ts` timestamp NULL DEFAULT NULL,
  `ts3` timestamp(3) NOT NULL DEFAULT current_timestamp(3),
  `y` year(4) DEFAULT NULL,
  PRIMARY KEY (`k`),
  KEY `dt6` (`dt6`,`t`)
);
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `moments`
--

INSERT INTO `moments` VALUES ('a','2024-02-29','-838:59:59','12:34:56.789012','2024-02-29 12:00:00','9999-12-31 23:59:59.999999','2024-02-29 09:00:00','1970-01-01 21:00:00.123',1999);
INSERT INTO `moments` VALUES ('b','0000-00-00','00:00:00','-00:00:00.000001','0000-00-00 00:00:00','1000-01-01 00:00:00.000000','0000-00-00 00:00:00','2038-01-19 03:14:07.999',0000);
INSERT INTO `moments` VALUES ('c','2024-00-00','838:59:59','838:59:59.000000','2024-01-00 01:02:03',NULL,NULL,'2000-06-15 09:13:14.500',2155);
INSERT INTO `moments` VALUES ('d',NULL,NULL,NULL,NULL,NULL,NULL,'2000-06-15 09:13:14.500',NULL);

--
-- Table structure for table `no_key`
--

/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `no_key` (
  `x` int(11) DEFAULT NULL,
  `y` varchar(5) DEFAULT NULL
);
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `no_key`
--

INSERT INTO `no_key` VALUES (1,'a');
INSERT INTO `no_key` VALUES (1,'a');
INSERT INTO `no_key` VALUES (NULL,NULL);

--
-- Table structure for table `numbers`
--

/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `numbers` (
  `id` bigint(20) unsigned NOT NULL,
  `tiny` tinyint(4) DEFAULT -5,
  `tiny_u` tinyint(3) unsigned DEFAULT NULL,
  `small` smallint(6) DEFAULT NULL,
  `small_u` smallint(5) unsigned DEFAULT NULL,
  `medium` mediumint(9) DEFAULT NULL,
  `medium_u` mediumint(8) unsigned DEFAULT NULL,
  `i` int(11) NOT NULL DEFAULT 7,
  `i_u` int(10) unsigned DEFAULT NULL,
  `big` bigint(20) DEFAULT NULL,
  `big_u` bigint(20) unsigned DEFAULT NULL,
  `yes` tinyint(1) DEFAULT 1,
  `d` decimal(12,3) DEFAULT 1.500,
  `d_u` decimal(65,30) unsigned DEFAULT NULL,
  `f` float DEFAULT NULL,
  `g` double DEFAULT NULL,
  `g_u` double unsigned DEFAULT NULL,
  `b1` bit(1) DEFAULT b'1',
  `b20` bit(20) DEFAULT NULL,
  `b64` bit(64) DEFAULT NULL,
  `y` year(4) DEFAULT 2001,
  `zf` int(8) unsigned zerofill DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `u` (`i_u`),
  KEY `small_big` (`small`,`big` DESC)
);
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `numbers`
--

INSERT INTO `numbers` VALUES (1,-128,0,-32768,0,-8388608,0,-2147483648,0,-9223372036854775808,0,0,-999999999.999,0.000000000000000000000000000000,-15000000000,-1.7976931348623157e308,0,'\0','\0\0\0','\0\0\0\0\0\0\0\0',1901,00000001);
INSERT INTO `numbers` VALUES (2,127,255,32767,65535,8388607,16777215,2147483647,4294967295,9223372036854775807,18446744073709551615,1,999999999.999,99999999999999999999999999999999999.999999999999999999999999999999,3.14159,2.2250738585072014e-308,0.00001,'','ˇˇ','ˇˇˇˇˇˇˇˇ',2155,99999999);
INSERT INTO `numbers` VALUES (10,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO `numbers` VALUES (11,-5,NULL,NULL,NULL,NULL,NULL,42,NULL,NULL,NULL,1,1.500,NULL,NULL,NULL,NULL,'',NULL,NULL,2001,NULL);

--
-- Table structure for table `parent`
--

/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `parent` (
  `id` int(11) NOT NULL,
  `code` varchar(10) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `code` (`code`)
);
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `parent`
--

INSERT INTO `parent` VALUES (1,'one');
INSERT INTO `parent` VALUES (2,'two');

--
-- Table structure for table `parted`
--

/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `parted` (
  `id` int(11) NOT NULL,
  `v` varchar(10) DEFAULT NULL,
  PRIMARY KEY (`id`)
)
 PARTITION BY RANGE (`id`)
(PARTITION `p0` VALUES LESS THAN (10),
 PARTITION `p1` VALUES LESS THAN MAXVALUE);
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `parted`
--

INSERT INTO `parted` VALUES (1,'a');
INSERT INTO `parted` VALUES (20,'b');

--
-- Table structure for table `texts`
--

/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `texts` (
  `id` int(11) NOT NULL,
  `c` char(10) DEFAULT NULL,
  `v` varchar(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  `tt` tinytext DEFAULT NULL,
  `t` text DEFAULT NULL,
  `mt` mediumtext DEFAULT NULL,
  `lt` longtext DEFAULT NULL,
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
);
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `texts`
--

INSERT INTO `texts` VALUES (1,'a','A','','line\nbreak	tab\0nul\\back\'quote\"dq%_\Z\r','mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm','√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©√©','√§√∂√º √ø‚Ç¨','√§‚Ç¨','ascii','one','x','n1','odd');
INSERT INTO `texts` VALUES (2,'','','üëçüèΩ','Êó•Êú¨Ë™û —Ç–µ–∫—Å—Ç','',NULL,'','','','it\'s','','','-- no');
INSERT INTO `texts` VALUES (3,NULL,NULL,NULL,'; DELIMITER // /* no */ # -- ',NULL,NULL,NULL,NULL,NULL,'a,b','x,y,z z','/*!',';');
INSERT INTO `texts` VALUES (4,'trail','trail  ','NULL','NULL','`','\'',' ','\\N','\\','',NULL,'x','\r\n');

--
-- Temporary table structure for view `v_bin`
--

SET @saved_cs_client     = @@character_set_client;
SET character_set_client = utf8mb4;
/*!50001 CREATE VIEW `v_bin` AS SELECT
 NULL AS `id`,
 NULL AS `h`,
 NULL AS `con cat` */;
SET character_set_client = @saved_cs_client;

--
-- Temporary table structure for view `v_numbers`
--

SET @saved_cs_client     = @@character_set_client;
SET character_set_client = utf8mb4;
/*!50001 CREATE VIEW `v_numbers` AS SELECT
 NULL AS `id`,
 NULL AS `i`,
 NULL AS `d` */;
SET character_set_client = @saved_cs_client;

--
-- Temporary table structure for view `v_sum`
--

SET @saved_cs_client     = @@character_set_client;
SET character_set_client = utf8mb4;
/*!50001 CREATE VIEW `v_sum` AS SELECT
 NULL AS `total`,
 NULL AS `cnt` */;
SET character_set_client = @saved_cs_client;

--
-- Table structure for table `weird table`
--

/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `weird table` (
  `select` int(11) DEFAULT NULL,
  `from` int(11) DEFAULT NULL,
  `a.b` int(11) DEFAULT NULL,
  `√º` int(11) DEFAULT NULL,
  KEY `group` (`select`),
  KEY `k``q` (`a.b`)
);
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `weird table`
--

INSERT INTO `weird table` VALUES (1,2,3,4);

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
/*!50001 VIEW `a_view` AS select `n`.`id` AS `id`,`t`.`c` AS `c`,`t`.`v` AS `v` from (`v_numbers` `n` join `texts` `t` on(`t`.`id` = `n`.`id`)) where `t`.`t` <> 'x;y' */
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
/*!50001 VIEW `v_numbers` AS select `numbers`.`id` AS `id`,`numbers`.`i` AS `i`,`numbers`.`d` AS `d` from `numbers` where `numbers`.`i` is not null */;
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
/*!50001 VIEW `v_sum` AS select sum(`numbers`.`d`) AS `total`,count(0) AS `cnt` from `numbers` group by `numbers`.`yes` order by 1 */;
/*!50001 SET character_set_client      = @saved_cs_client */;
/*!50001 SET character_set_results     = @saved_cs_results */;
/*!50001 SET collation_connection      = @saved_col_connection */;

/*!40101 SET SQL_MODE=@OLD_SQL_MODE */;
/*!40014 SET FOREIGN_KEY_CHECKS=@OLD_FOREIGN_KEY_CHECKS */;
/*!40014 SET UNIQUE_CHECKS=@OLD_UNIQUE_CHECKS */;
/*!40111 SET SQL_NOTES=@OLD_SQL_NOTES */;

-- Dump completed
