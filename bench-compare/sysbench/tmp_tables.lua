-- Article 2's workloads: a temporary table of each client's own, one operation an event.

sysbench.cmdline.options = {
  op = {"create_drop, insert, update_pk, update_key, delete_pk or select_pk", "create_drop"},
  rows = {"rows of the table before", 20000},
  engine = {"its engine", "InnoDB"},
}

local ROWS_OF_AN_INSERT = 500
local KEYS = 1000
local connection
local number = 0

local function run(sql, ...)
  connection:query(string.format(sql, ...))
end

local function create(name)
  run("CREATE TEMPORARY TABLE %s (id INT NOT NULL PRIMARY KEY, a INT NOT NULL, b VARCHAR(64), KEY (a)) ENGINE=%s", name, sysbench.opt.engine)
end

local function fill()
  for first = 0, sysbench.opt.rows - 1, ROWS_OF_AN_INSERT do
    local values = {}
    for id = first, math.min(sysbench.opt.rows, first + ROWS_OF_AN_INSERT) - 1 do
      table.insert(values, string.format("(%d, %d, 'row%d')", id, id * 7919 % KEYS, id))
    end
    run("INSERT INTO rows_of_client VALUES %s", table.concat(values, ", "))
  end
end

function thread_init()
  connection = sysbench.sql.driver():connect()
  if sysbench.opt.op ~= "create_drop" then
    create("rows_of_client")
  end
  if sysbench.opt.op ~= "create_drop" and sysbench.opt.op ~= "insert" then
    fill()
  end
end

function thread_done()
  connection:disconnect()
end

local function some_id()
  return sysbench.rand.uniform(0, sysbench.opt.rows - 1)
end

local function some_value()
  return sysbench.rand.uniform(1, 1000000)
end

local operations = {}

function operations.create_drop()
  create("table" .. number)
  run("DROP TEMPORARY TABLE table%d", number)
end

function operations.insert()
  run("INSERT INTO rows_of_client VALUES (%d, %d, 'row%d')", number * 7919 % 100000007, number % KEYS, number)
end

function operations.update_pk()
  run("UPDATE rows_of_client SET b = 'u%d' WHERE id = %d", some_value(), some_id())
end

function operations.update_key()
  run("UPDATE rows_of_client SET b = 'k%d' WHERE a = %d", some_value(), sysbench.rand.uniform(0, KEYS - 1))
end

function operations.delete_pk()
  local id = number % sysbench.opt.rows
  run("DELETE FROM rows_of_client WHERE id = %d", id)
  run("INSERT INTO rows_of_client VALUES (%d, 1, 'x')", id)
end

function operations.select_pk()
  run("SELECT b FROM rows_of_client WHERE id = %d", some_id())
end

function event()
  number = number + 1
  operations[sysbench.opt.op]()
end
