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
    /// One after the other; some have variables.
    Parts(Box<[Part]>),
}

/// A part of a body.
#[derive(Debug)]
pub(crate) enum Part {
    Constant(Box<[u8]>),
    Text(Template),
}

impl Body {
    /// The texts with variables.
    pub(crate) fn templates(&self) -> impl Iterator<Item = &Template> {
        let (text, parts) = match self {
            Body::Text(template) | Body::Message(template, _) => (Some(template), &[][..]),
            Body::Parts(parts) => (None, &**parts),
            Body::None | Body::Constant(_) => (None, &[][..]),
        };
        text.into_iter().chain(parts.iter().filter_map(Part::template))
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
            Some(definition::Body::Base64(text)) => return Ok(Body::Constant(decoded(&text, field)?)),
            Some(definition::Body::Parts(parts)) => return Self::of_parts(parts, scope, field),
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

    fn of_parts(given: Vec<definition::Part>, scope: Scope<'_>, field: &str) -> Result<Self, DefinitionError> {
        let parts: Result<Box<[Part]>, _> = (given.into_iter().enumerate())
            .map(|(index, part)| Part::new(part, scope, &format!("{field}.parts[{index}]")))
            .collect();
        let parts = parts?;
        let constants: Option<Vec<&[u8]>> = parts.iter().map(Part::constant).collect();
        Ok(match constants {
            Some(bytes) => Body::Constant(bytes.concat().into()),
            None => Body::Parts(parts),
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

impl Part {
    fn new(part: definition::Part, scope: Scope<'_>, field: &str) -> Result<Self, DefinitionError> {
        match part {
            definition::Part::Base64(text) => decoded(&text, field).map(Part::Constant),
            definition::Part::Text(text) => {
                let wrong = |reason| DefinitionError::new(format!("{field}.text"), reason);
                let template = Template::raw(&text, scope).map_err(wrong)?;
                Ok(match template.constant() {
                    Some(text) => Part::Constant(text.as_bytes().into()),
                    None => Part::Text(template),
                })
            }
        }
    }

    fn template(&self) -> Option<&Template> {
        if let Part::Text(template) = self { Some(template) } else { None }
    }

    fn constant(&self) -> Option<&[u8]> {
        if let Part::Constant(bytes) = self { Some(bytes) } else { None }
    }
}

fn decoded(base64: &str, field: &str) -> Result<Box<[u8]>, DefinitionError> {
    let wrong = |error| DefinitionError::new(format!("{field}.base64"), format!("it is not base64: {error}"));
    BASE64_STANDARD.decode(base64).map(Into::into).map_err(wrong)
}
