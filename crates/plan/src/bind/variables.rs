//! System variables are constants whose collation gives way to that of a column or a literal.
//!
//! User variables: a DECIMAL in one has no fixed scale. Operators and temporary tables take it as
//! `DECIMAL(65,30)`; a result and a string show it as it was assigned, and values that are assigned
//! or stored have no more digits than those that they are made of.

use std::sync::Arc;

use mayfly_functions::{Coercibility, Signature, scalar};
use mayfly_types::sql_type::{DECIMAL_PRECISION_MAX, DECIMAL_SCALE_MAX};
use mayfly_types::{Result, SqlType, TypeKind, Value};

use super::expression::word;
use super::{Binder, Block, not_supported};
use crate::expression::{Expression, ExpressionKind};
use crate::logical::Relation;
use crate::physical::ClientType;

/// The function that reads a variable.
const READER: &str = "get_user_variable";

/// The function that gives a constant another claim on its collation.
const NAMED: &str = "name_const";

/// The length of text in a variable.
const VARIABLE_CHARACTERS: u32 = 16_777_215;

impl Binder<'_> {
    /// `@name`: a call whose type is that of the variable's value when the statement began.
    pub(super) fn user_variable(&mut self, name: &str) -> Result<Expression> {
        let Some(function) = scalar::by_name(READER) else {
            return Err(not_supported("user variables"));
        };
        let ty = match self.catalog.user_variable_type(name) {
            ty if ty.kind == TypeKind::Decimal && !self.keeps_value => {
                SqlType::decimal(DECIMAL_PRECISION_MAX, DECIMAL_SCALE_MAX)
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
        Ok(Expression {
            ty: signature.result.clone(),
            nullable: true,
            kind: ExpressionKind::Call {
                function,
                arguments: vec![name],
                signature: Arc::new(signature),
            },
        })
    }

    /// Gives an expression that is a variable the type of the variable's value.
    fn read_exactly(&self, expression: &mut Expression) {
        if let Some(name) = decimal_variable(expression) {
            read_as(expression, &self.catalog.user_variable_type(&name));
        }
    }

    /// Gives the variables that a statement's result shows the types of their values.
    pub(super) fn show_variables(&self, block: &mut Block) {
        let mut relation = &mut block.relation;
        loop {
            relation = match relation {
                Relation::Limit { input, .. } => input,
                Relation::Extend { input, columns } => {
                    for computed in columns {
                        let mut shown = block.columns.iter_mut();
                        if let Some(column) = shown.find(|column| column.id == computed.id) {
                            let is_decimal = decimal_variable(&computed.expression).is_some();
                            self.read_exactly(&mut computed.expression);
                            if is_decimal {
                                column.client_type = ClientType::Variable;
                            }
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

/// `@@name`: its value. Text is a system constant, as what USER() gives is.
pub(super) fn system_variable(name: &str, value: Expression) -> Result<Expression> {
    if !value.ty.is_string() {
        return Ok(Expression {
            nullable: true,
            ..value
        });
    }
    let Some(function) = scalar::by_name(NAMED) else {
        return Err(not_supported("system variables"));
    };
    let name = word(name);
    let ty = value.ty.clone();
    let signature = Signature::new(vec![name.ty.clone(), ty.clone()], ty.clone(), true)
        .with_coercibility(Coercibility::SystemConstant);
    Ok(Expression {
        ty,
        nullable: true,
        kind: ExpressionKind::Call {
            function,
            arguments: vec![name, value],
            signature: Arc::new(signature),
        },
    })
}

/// The name of the variable that an expression reads, if it holds a DECIMAL.
pub(super) fn decimal_variable(expression: &Expression) -> Option<String> {
    match &expression.kind {
        ExpressionKind::Call {
            function,
            arguments,
            ..
        } if function.names()[0] == READER && expression.ty.kind == TypeKind::Decimal => {
            match arguments.first()?.as_literal()? {
                Value::Bytes(name) => String::from_utf8(name.clone()).ok(),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Lets a variable be read as another type, to which its value is converted directly.
pub(super) fn read_as(expression: &mut Expression, ty: &SqlType) {
    if let ExpressionKind::Call { signature, .. } = &mut expression.kind {
        let signature = Arc::make_mut(signature);
        signature.result = ty.clone();
        expression.ty = ty.clone();
    }
}
