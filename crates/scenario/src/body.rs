//! The body of a step's request.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use plimsoll_grpc::MessageError;

use crate::DefinitionError;
use crate::definition;
use crate::grpc::Grpc;
use crate::scope::Scope;
use crate::template::Template;

/// Methods that need a Content-Length for an empty body (RFC 9110 §8.6).
const BODY_EXPECTED: [&str; 3] = ["POST", "PUT", "PATCH"];

/// A compiled body.
#[derive(Debug)]
pub(crate) enum Body {
    None,
    Constant(Box<[u8]>),
    Text(Template),
    /// The JSON of a message.
    Message(Template, Arc<Grpc>),
}

impl Body {
    /// The text with variables.
    pub(crate) fn template(&self) -> Option<&Template> {
        if let Body::Text(template) | Body::Message(template, _) = self { Some(template) } else { None }
    }

    pub(crate) fn new(
        body: Option<definition::Body>,
        method: &str,
        scope: Scope<'_>,
        field: &str,
    ) -> Result<Self, DefinitionError> {
        let (template, kind) = match body {
            None if BODY_EXPECTED.contains(&method) => return Ok(Body::Constant(Box::default())),
            None => return Ok(Body::None),
            Some(definition::Body::Base64(text)) => {
                let decoded = BASE64_STANDARD.decode(text);
                let wrong =
                    |error| DefinitionError::new(format!("{field}.base64"), format!("it is not base64: {error}"));
                return Ok(Body::Constant(decoded.map_err(wrong)?.into()));
            }
            Some(definition::Body::Text(text)) => (Template::raw(&text, scope), "text"),
            Some(definition::Body::Json(text)) => (Template::json(&text, scope), "json"),
            Some(definition::Body::Form(text)) => (Template::form(&text, scope), "form"),
        };
        let template = template.map_err(|reason| DefinitionError::new(format!("{field}.{kind}"), reason))?;
        Ok(match template.constant() {
            Some(text) => Body::Constant(text.as_bytes().into()),
            None => Body::Text(template),
        })
    }

    /// The body, which is JSON, as the messages of a call.
    pub(crate) fn into_messages(self, grpc: &Arc<Grpc>) -> Result<Self, MessageError> {
        Ok(match self {
            Body::Constant(json) => {
                let mut messages = Vec::new();
                grpc.encode(&String::from_utf8_lossy(&json), &mut messages)?;
                Body::Constant(messages.into())
            }
            Body::Text(template) => {
                grpc.check(&template.example())?;
                Body::Message(template, Arc::clone(grpc))
            }
            other => other,
        })
    }
}
