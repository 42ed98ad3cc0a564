//! User variables in expressions, and in results.

use mayfly_functions::{Coercibility, Signature, scalar};
use mayfly_types::sql_type::{DECIMAL_PRECISION_MAX, DECIMAL_SCALE_MAX};
use mayfly_types::{Result, SqlType, TypeKind};

use crate::bind::binder::Binder;
use crate::bind::block::Block;
use crate::bind::literal::word;
use crate::bind::variables::{READER, decimal_variable, read_as};
use crate::not_supported::not_supported;
use crate::tree::expression::Expression;
use crate::tree::logical::Relation;
use crate::tree::physical::ClientType;

/// Maximum length of text in a variable.
const VARIABLE_CHARACTERS: u32 = 16_777_215;

impl Binder<'_> {
    /// Binds `@name`: a call whose type is that of the variable's value when the statement began.
    pub(in crate::bind) fn user_variable(&mut self, name: &str) -> Result<Expression> {
        let Some(function) = scalar::by_name(READER) else {
            return Err(not_supported("user variables"));
        };
        let ty = match self.catalog.user_variable_type(name) {
            ty if ty.kind == TypeKind::Decimal && !self.keeps_value => {
                // As many decimals as the integer digits leave room for.
                let whole = ty.length.saturating_sub(ty.decimals.into());
                let whole = u8::try_from(whole).unwrap_or(DECIMAL_PRECISION_MAX);
                let room = DECIMAL_PRECISION_MAX.saturating_sub(whole);
                SqlType::decimal(DECIMAL_PRECISION_MAX, DECIMAL_SCALE_MAX.min(room))
            }
            ty if ty.is_string() => SqlType {
                length: VARIABLE_CHARACTERS,
                ..SqlType::text(TypeKind::LongText, ty.collation)
            },
            ty if ty.kind == TypeKind::Double => SqlType::double(),
            ty => ty,
        };
        let name = word(name);
        let signature = Signature::new(vec![name.ty.clone()], ty, true)
            .with_coercibility(Coercibility::Implicit);
        Ok(Expression::call(function, vec![name], signature))
    }

    /// Gives an expression that is a variable the type of the variable's value.
    fn read_exactly(&self, expression: &mut Expression) {
        if let Some(name) = decimal_variable(expression) {
            read_as(expression, &self.catalog.user_variable_type(&name));
        }
    }

    /// Gives the variables that a statement's result shows the types of their values.
    pub(in crate::bind) fn show_variables(&self, block: &mut Block) {
        let mut relation = &mut block.relation;
        loop {
            relation = match relation {
                Relation::Limit { input, .. } => input,
                Relation::Extend { input, columns } => {
                    // Few columns are variables: only those are looked up among the result columns.
                    let is_decimal = |one: &Expression| decimal_variable(one).is_some();
                    for computed in columns {
                        if !is_decimal(&computed.expression) {
                            continue;
                        }
                        let mut shown = block.columns.iter_mut();
                        if let Some(column) = shown.find(|column| column.id == computed.id) {
                            self.read_exactly(&mut computed.expression);
                            column.client_type = ClientType::Variable;
                            column.ty = computed.expression.ty.clone();
                        }
                    }
                    input
                }
                _ => return,
            };
        }
    }
}
