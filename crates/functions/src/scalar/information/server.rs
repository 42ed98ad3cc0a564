//! PS_THREAD_ID(connection) and ROLES_GRAPHML(): facts about the server.

use std::fmt::Write;

use arrow_array::ArrayRef;
use mayfly_types::{CollationId, Result, SqlType, TypeKind, Value};

use crate::scalar::Row;
use crate::{Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["roles_graphml"], 0..=0, roles_signature, roles).stable(),
    Row::new(&["ps_thread_id"], 1..=1, thread_signature, thread).stable(),
];

fn thread_signature(binding: &Binding<'_>) -> Result<Signature> {
    let types = binding.each(derive::integer_of);
    Ok(Signature::new(types, derive::unsigned_bigint(), true))
}

/// The thread in performance_schema has the connection's number.
fn thread(call: &Call<'_>) -> Result<ArrayRef> {
    let connections = call.any_ints(0)?;
    output::uints(call.rows, |row| {
        let connection = connections.get(row);
        let connection = connection.and_then(|number| u64::try_from(number).ok());
        let is_connected = |number: &u64| call.context.server.is_connected(*number);
        Ok(connection.filter(is_connected))
    })
}

fn roles_signature(_binding: &Binding<'_>) -> Result<Signature> {
    let result = SqlType {
        length: derive::LENGTH_LIMIT as u32 * 3,
        ..SqlType::text(TypeKind::LongText, CollationId::UTF8MB3_GENERAL_CI)
    };
    Ok(Signature::new(Vec::new(), result, false))
}

/// The role grants as a GraphML document; an empty one without the privilege to see them.
fn roles(call: &Call<'_>) -> Result<ArrayRef> {
    let text = if call.context.facts.sees_roles {
        let (names, roles) = call.context.server.role_graph();
        graph(&names, &roles)
    } else {
        format!("{DECLARATION}<graphml />\n")
    };
    Ok(call.constant(&Value::from(text.as_str())))
}

const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

const HEAD: &str = "\
<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" \
xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns \
http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\">
  <key id=\"key0\" for=\"edge\" attr.name=\"color\" attr.type=\"int\" />
  <key id=\"key1\" for=\"node\" attr.name=\"name\" attr.type=\"string\" />
  <graph id=\"G\" edgedefault=\"directed\" parse.nodeids=\"canonical\" parse.edgeids=\"canonical\" \
parse.order=\"nodesfirst\">
";

fn graph(names: &[String], roles: &[(usize, usize, bool)]) -> String {
    let mut text = format!("{DECLARATION}{HEAD}");
    // Writing to a string cannot fail.
    for (number, name) in names.iter().enumerate() {
        let name = escaped(name);
        let _ = write!(
            text,
            "    <node id=\"n{number}\">\n      <data key=\"key1\">{name}</data>\n    </node>\n"
        );
    }
    for (number, (owner, role, with_admin)) in roles.iter().enumerate() {
        let color = u8::from(*with_admin);
        let _ = write!(
            text,
            "    <edge id=\"e{number}\" source=\"n{owner}\" target=\"n{role}\">\n      \
             <data key=\"key0\">{color}</data>\n    </edge>\n"
        );
    }
    text.push_str("  </graph>\n</graphml>\n");
    text
}

fn escaped(name: &str) -> String {
    let name = name.replace('&', "&amp;").replace('<', "&lt;");
    name.replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::graph;

    #[test]
    fn graphs() {
        let names = ["`r`@`%`".to_owned(), "`<\"&>`@`%`".to_owned()];
        let text = graph(&names, &[(1, 0, true)]);
        let parts = [
            "<data key=\"key1\">`r`@`%`</data>\n    </node>\n    <node id=\"n1\">",
            "<data key=\"key1\">`&lt;&quot;&amp;&gt;`@`%`</data>",
            "    <edge id=\"e0\" source=\"n1\" target=\"n0\">\n      <data key=\"key0\">1</data>\n    </edge>\n  </graph>",
        ];
        for part in parts {
            assert!(text.contains(part), "{text}");
        }
    }
}
