"""The compliance suite of PEP 249 that drivers share: the package `dbapi-compliance`."""

import unittest

import dbapi20
import mayfly
import pytest


class TestCompliance(dbapi20.DatabaseAPI20Test):
    driver = mayfly
    connect_kw_args = {"path": ":memory:compliance"}

    def setUp(self):
        self.tearDown()

    def tearDown(self):
        with mayfly.connect(**self.connect_kw_args) as connection:
            connection.execute(f"DROP TABLE IF EXISTS {self.table_prefix}booze, {self.table_prefix}barflys")

    def test_callproc(self):
        """There is no way to call a procedure by its name alone: PEP 249 leaves it to the driver."""
        cursor = self._connect().cursor()
        with pytest.raises(mayfly.NotSupportedError):
            cursor.callproc("lower", ("FOO",))

    def test_nextset(self):
        """No statement gives several sets of rows: procedures, which would, are not there."""
        cursor = self._connect().cursor()
        cursor.execute("SELECT 1")
        assert cursor.nextset() is None

    def test_non_idempotent_close(self):
        """The suite leaves the choice between this test and `test_close`, which a second call of close() passes."""
        connection = self._connect()
        connection.close()
        connection.close()

    def test_setoutputsize(self):
        cursor = self._connect().cursor()
        cursor.setoutputsize(1000)
        cursor.setoutputsize(2000, 0)


if __name__ == "__main__":
    unittest.main()
