//! Windows: orders that are kept, and rows that conditions exclude.

use super::check;

#[test]
fn a_condition_on_numbers_and_ranks_goes_into_the_sort() {
    check(
        "
        SELECT * FROM (SELECT a, row_number() OVER (PARTITION BY b ORDER BY a) n FROM t) d WHERE n <= 3
          derived d (select #2)
            filter: (#4 <= 3)
              window: #4=row_number() OVER (PARTITION BY t.b ORDER BY t.a )\x20
                sort: t.b, t.a first 3 row(s) of each partition
                  scan t
        SELECT * FROM (SELECT a, rank() OVER (PARTITION BY b ORDER BY a) n FROM t) d WHERE 4 > n
          derived d (select #2)
            filter: (4 > #4)
              window: #4=rank() OVER (PARTITION BY t.b ORDER BY t.a )\x20
                sort: t.b, t.a first 3 row(s) of each partition
                  scan t
        SELECT * FROM (SELECT a, dense_rank() OVER (PARTITION BY b ORDER BY a) n FROM t) d WHERE n IN (1, 2)
          derived d (select #2)
            filter: (#4 in (1,2))
              window: #4=dense_rank() OVER (PARTITION BY t.b ORDER BY t.a )\x20
                sort: t.b, t.a first 2 value(s) of each partition
                  scan t
        SELECT * FROM (SELECT a, row_number() OVER (PARTITION BY b ORDER BY a) n, lead(a) OVER (PARTITION BY b ORDER BY a) m FROM t) d WHERE n = 1
          derived d (select #2)
            filter: (#4 = 1)
              window: #4=row_number() OVER (PARTITION BY t.b ORDER BY t.a )  #5=lead(t.a,1) OVER (PARTITION BY t.b ORDER BY t.a )\x20
                sort: t.b, t.a
                  scan t
        SELECT * FROM (SELECT a, row_number() OVER (PARTITION BY b ORDER BY a) n FROM t) d WHERE n > 3
          derived d (select #2)
            filter: (#4 > 3)
              window: #4=row_number() OVER (PARTITION BY t.b ORDER BY t.a )\x20
                sort: t.b, t.a
                  scan t
        ",
    );
}

#[test]
fn an_order_by_of_the_order_of_the_windows_goes_away() {
    check(
        "
        SELECT a, row_number() OVER (PARTITION BY b ORDER BY a) n FROM t ORDER BY b, a
          window: #4=row_number() OVER (PARTITION BY t.b ORDER BY t.a )\x20
            sort: t.b, t.a
              scan t
        SELECT a, row_number() OVER (PARTITION BY b ORDER BY a) n FROM t ORDER BY b DESC, a
          sort: t.b DESC, t.a
            window: #4=row_number() OVER (PARTITION BY t.b ORDER BY t.a )\x20
              sort: t.b, t.a
                scan t
        ",
    );
}
