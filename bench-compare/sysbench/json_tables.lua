-- Article 3's workloads: point reads, ranges and DISTINCT over JSON documents of about 200 bytes.

sysbench.cmdline.options = {
  op = {"ro, rw or distinct_range", "distinct_range"},
  rows = {"rows of the table", 20000},
  range_size = {"rows of a range", 500},
}

local ROWS_OF_AN_INSERT = 200
local connection

local function document(n)
  local pad = string.rep(string.char(string.byte("a") + n % 26), 120)
  return string.format('{"id": %d, "name": "user%d", "tags": ["a%d", "b%d", "c"], "pad": "%s"}', n, n % 5000, n % 10, n % 7, pad)
end

local function connect()
  return sysbench.sql.driver():connect()
end

local function run(sql, ...)
  connection:query(string.format(sql, ...))
end

function prepare()
  connection = connect()
  run("DROP TABLE IF EXISTS json_documents")
  run("CREATE TABLE json_documents (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, k INT NOT NULL, c JSON, pad JSON, KEY (k))")
  local rows = sysbench.opt.rows
  for first = 1, rows, ROWS_OF_AN_INSERT do
    local values = {}
    for id = first, math.min(rows, first + ROWS_OF_AN_INSERT - 1) do
      table.insert(values, string.format("(%d, %d, '%s', '%s')", id, id * 7919 % rows, document(id), document(id * 3)))
    end
    run("INSERT INTO json_documents VALUES %s", table.concat(values, ", "))
  end
end

function cleanup()
  connection = connect()
  run("DROP TABLE IF EXISTS json_documents")
end

function thread_init()
  connection = connect()
end

function thread_done()
  connection:disconnect()
end

local function some_id()
  return sysbench.rand.uniform(1, sysbench.opt.rows)
end

local function run_over_range(sql)
  local first = sysbench.rand.uniform(1, sysbench.opt.rows - sysbench.opt.range_size)
  run(sql, first, first + sysbench.opt.range_size - 1)
end

local operations = {}

function operations.distinct_range()
  run_over_range("SELECT DISTINCT c FROM json_documents WHERE id BETWEEN %d AND %d ORDER BY c")
end

function operations.ro()
  for _ = 1, 10 do
    run("SELECT c FROM json_documents WHERE id = %d", some_id())
  end
  run_over_range("SELECT c FROM json_documents WHERE id BETWEEN %d AND %d")
  run_over_range("SELECT SUM(k) FROM json_documents WHERE id BETWEEN %d AND %d")
  run_over_range("SELECT c FROM json_documents WHERE id BETWEEN %d AND %d ORDER BY c")
  operations.distinct_range()
end

function operations.rw()
  run("BEGIN")
  operations.ro()
  local id = some_id()
  run("UPDATE json_documents SET k = k + 1 WHERE id = %d", id)
  run("UPDATE json_documents SET c = '%s' WHERE id = %d", document(sysbench.rand.uniform(1, 1000000)), id)
  run("COMMIT")
end

function event()
  operations[sysbench.opt.op]()
end
