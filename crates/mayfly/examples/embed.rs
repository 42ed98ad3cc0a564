//! A program with a database of its own: a directory, a transaction, a prepared statement, rows.
//!
//! `cargo run --example embed [DIRECTORY]`

use mayfly::{Database, params};

fn main() -> mayfly::Result<()> {
    let database = match std::env::args().nth(1) {
        Some(directory) => Database::open(directory)?,
        None => Database::in_memory()?,
    };
    let mut connection = database.connect();
    connection.execute_script(
        "CREATE TABLE IF NOT EXISTS accounts (
             owner VARCHAR(40) PRIMARY KEY,
             balance DECIMAL(12, 2) NOT NULL,
             CHECK (balance >= 0)
         );
         REPLACE INTO accounts VALUES ('Ann', 100), ('Bob', 20.50)",
    )?;

    for amount in ["70.25", "70.25"] {
        match transfer(&mut connection, "Ann", "Bob", amount) {
            Ok(()) => println!("moved {amount}"),
            // MySQL's number says what happened: 3819, a CHECK does not hold.
            Err(error) if error.errno() == 3819 => println!("not moved: {}", error.message()),
            Err(error) => return Err(error),
        }
    }

    let mut rows = connection.query("SELECT owner, balance FROM accounts ORDER BY owner", ())?;
    while let Some(row) = rows.next()? {
        let (owner, balance): (String, mayfly::Decimal) = (row.get("owner")?, row.get("balance")?);
        println!("{owner}: {balance}");
    }
    Ok(())
}

fn transfer(
    connection: &mut mayfly::Connection,
    from: &str,
    to: &str,
    amount: &str,
) -> mayfly::Result<()> {
    let add = connection.prepare("UPDATE accounts SET balance = balance + ? WHERE owner = ?")?;
    connection.execute("START TRANSACTION", ())?;
    let moved = connection
        .execute(&add, params![format!("-{amount}"), from])
        .and_then(|_| connection.execute(&add, params![amount, to]));
    let end = if moved.is_ok() { "COMMIT" } else { "ROLLBACK" };
    connection.execute(end, ())?;
    moved.map(drop)
}

#[test]
fn runs() {
    main().expect("the example runs");
}
