//! Facts about the server for functions.

use std::collections::BTreeMap;

use mayfly_functions::context::ServerFacts;

use crate::accounts::account::AccountName;
use crate::database::Database;

impl ServerFacts for Database {
    fn is_connected(&self, connection: u64) -> bool {
        let living = self.connections.living();
        living.iter().any(|session| session.id == connection)
    }

    fn role_graph(&self) -> (Vec<String>, Vec<(usize, usize, bool)>) {
        let table = self.accounts.table();
        let numbers: BTreeMap<&AccountName, usize> = table.keys().zip(0..).collect();
        let names = table.keys().map(AccountName::quoted).collect();
        let mut roles = Vec::new();
        for (owner, account) in table.values().enumerate() {
            for (role, with_admin) in &account.grants.roles {
                if let Some(number) = numbers.get(role) {
                    roles.push((owner, *number, *with_admin));
                }
            }
        }
        (names, roles)
    }
}
