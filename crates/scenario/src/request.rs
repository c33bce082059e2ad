//! A step's request: from the definition to the bytes of each exchange.

use std::sync::Arc;

use plimsoll_grpc::MessageError;
use plimsoll_http as http;

use crate::DefinitionError;
use crate::body::{Body, Part};
use crate::cookies::{Jar, Site};
use crate::definition;
use crate::grpc::Grpc;
use crate::headers::{Line, Varying, compile_headers};
use crate::scope::Scope;
use crate::template::{Context, Missing, Template};

/// Number of headers with variables, or cookies, that need no allocation.
const FEW: usize = 8;

/// The change of a header in one request.
type Change<'a> = (&'a [u8], Option<&'a [u8]>);
const NO_CHANGE: Change<'static> = (b"", None);

/// A compiled request.
#[derive(Debug)]
pub(crate) struct Blueprint {
    method: String,
    /// For a proxy that forwards it: the whole URL.
    path: Template,
    /// The length of what precedes the path in a whole URL.
    root: usize,
    /// Of the path, if variables do not matter.
    directory: Option<Box<str>>,
    /// All lines. Those with variables have an empty value, which keeps their position.
    headers: http::Headers,
    /// The values with variables.
    changes: Box<[Varying]>,
    body: Body,
    /// Of the body, unless a header says it.
    content_type: Option<&'static str>,
    /// Add the user's cookies: the headers have no Cookie.
    gives_cookie: bool,
}

/// Buffers for the parts of one request, reused for the next one.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// The path, the values of headers with variables and the text of the body, concatenated.
    text: String,
    /// The end of each of them.
    ends: Vec<usize>,
    /// The value of the Cookie header.
    cookie: String,
    /// The messages of a call, or a body of parts.
    messages: Vec<u8>,
}

impl Scratch {
    /// The n-th part.
    fn part(&self, n: usize) -> &str {
        let start = if n == 0 { 0 } else { self.ends[n - 1] };
        &self.text[start..self.ends[n]]
    }

    /// Makes messages of the n-th part.
    fn convert(&mut self, n: usize, grpc: &Grpc) -> Result<(), MessageError> {
        let mut messages = std::mem::take(&mut self.messages);
        messages.clear();
        let result = grpc.encode(self.part(n), &mut messages);
        self.messages = messages;
        result
    }

    /// Puts a body together. Its texts are the n-th part here and the following ones.
    fn join(&mut self, mut n: usize, parts: &[Part]) {
        let mut joined = std::mem::take(&mut self.messages);
        joined.clear();
        for part in parts {
            match part {
                Part::Constant(bytes) => joined.extend_from_slice(bytes),
                Part::Text(_) => {
                    joined.extend_from_slice(self.part(n).as_bytes());
                    n += 1;
                }
            }
        }
        self.messages = joined;
    }

    fn render(&mut self, template: &Template, context: &mut Context<'_>) -> Result<(), Missing> {
        template.render(context, &mut self.text)?;
        self.ends.push(self.text.len());
        Ok(())
    }
}

/// A user's cookies, and the target of the request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cookies<'a> {
    pub(crate) jar: &'a Jar,
    pub(crate) site: &'a Site,
}

/// Why a request cannot be built.
#[derive(Debug)]
pub(crate) enum Refusal {
    Missing(Missing),
    Forbidden(http::RequestError),
    /// Values of variables make another message than the method has.
    Message(MessageError),
}

impl Blueprint {
    /// `field`: of the step. `lines`: all that are sent, apart from Host, Content-Length, Content-Type and cookies.
    pub(crate) fn new(
        method: String,
        path: &str,
        lines: &[Line],
        body: Option<definition::Body>,
        scope: Scope<'_>,
        field: &str,
    ) -> Result<Self, DefinitionError> {
        let path = Template::path(path, scope)
            .and_then(|path| check_path(&method, path))
            .map_err(|reason| DefinitionError::new(format!("{field}.path"), reason))?;
        let directory = path.directory().map(Into::into);
        let gives_cookie = lines.iter().any(|line| line.name.eq_ignore_ascii_case("Cookie"));
        let (headers, changes) = compile_headers(lines, scope)?;
        let content_type = match body {
            Some(definition::Body::Json(_)) => Some("application/json"),
            Some(definition::Body::Form(_)) => Some("application/x-www-form-urlencoded"),
            _ => None,
        };
        let body = Body::new(body, &method, scope, &format!("{field}.body"))?;
        let blueprint = Self { method, path, root: 0, directory, headers, changes, body, content_type, gives_cookie };
        blueprint.check(field)?;
        Ok(blueprint)
    }

    /// The body, which is JSON, becomes the messages of a call.
    pub(crate) fn into_call(self, grpc: &Arc<Grpc>) -> Result<Self, MessageError> {
        Ok(Self { content_type: None, body: self.body.into_messages(grpc)?, ..self })
    }

    /// The request for a proxy that forwards it to `root`, which is `http://host[:port]`.
    pub(crate) fn forwarded(mut self, root: &str) -> Self {
        if self.path.constant() == Some("*") {
            // RFC 9112 §3.2.4: a URL without a path.
            self.path = Template::default();
        }
        self.path.prepend(root);
        self.root = root.len();
        self
    }

    /// Encodes an example, to find requests that HTTP does not allow. Paths and headers are checked already.
    fn check(&self, field: &str) -> Result<(), DefinitionError> {
        let path = self.path.example();
        let result = self.head("localhost", &path, &[], None).encode(&mut Vec::new());
        result.map(|_| ()).map_err(|error| match error {
            http::RequestError::Method(_) => DefinitionError::new(format!("{field}.method"), error),
            http::RequestError::Target(_) => DefinitionError::new(format!("{field}.path"), error),
            _ => DefinitionError::new(field, error),
        })
    }

    /// The method.
    pub(crate) fn method(&self) -> &str {
        &self.method
    }

    /// The directory of its path, if it is the same for all values of variables.
    pub(crate) fn directory(&self) -> Option<&str> {
        self.directory.as_deref()
    }

    /// The path and query of the request that was encoded last.
    pub(crate) fn target<'a>(&self, scratch: &'a Scratch) -> &'a str {
        &scratch.part(0)[self.root..]
    }

    /// The request has no variables.
    pub(crate) fn is_constant(&self) -> bool {
        self.path.constant().is_some() && self.changes.is_empty() && self.body.templates().next().is_none()
    }

    /// The feeders whose cells it uses.
    pub(crate) fn feeders(&self) -> impl Iterator<Item = u32> {
        let body = self.body.templates();
        let headers = self.changes.iter().map(|(_, template)| template);
        std::iter::once(&self.path).chain(headers).chain(body).flat_map(Template::feeders)
    }

    /// Appends the request to `into`. After an error `into` is unchanged.
    pub(crate) fn encode(
        &self,
        authority: &str,
        context: &mut Context<'_>,
        cookies: Option<Cookies<'_>>,
        scratch: &mut Scratch,
        into: &mut Vec<u8>,
    ) -> Result<http::Encoded, Refusal> {
        self.render(context, cookies, scratch).map_err(Refusal::Missing)?;
        match &self.body {
            Body::Message(_, grpc) => scratch.convert(self.changes.len() + 1, grpc).map_err(Refusal::Message)?,
            Body::Parts(parts) => scratch.join(self.changes.len() + 1, parts),
            _ => {}
        }
        let body = match &self.body {
            Body::None => None,
            Body::Constant(bytes) => Some(&**bytes),
            Body::Text(_) => Some(scratch.part(self.changes.len() + 1).as_bytes()),
            Body::Message(..) | Body::Parts(_) => Some(&*scratch.messages),
        };
        let cookie = Some(scratch.cookie.as_bytes()).filter(|value| !value.is_empty());
        let count = self.changes.len() + usize::from(cookie.is_some());
        let (mut few, mut many) = ([NO_CHANGE; FEW], Vec::new());
        let extra = if count <= FEW {
            &mut few[..count]
        } else {
            many.resize(count, NO_CHANGE);
            &mut many[..]
        };
        for (n, (name, _)) in self.changes.iter().enumerate() {
            extra[n] = (name.as_bytes(), Some(scratch.part(n + 1).as_bytes()));
        }
        if cookie.is_some() {
            extra[count - 1] = (b"Cookie", cookie);
        }
        let head = self.head(authority, scratch.part(0), extra, body.map(|body| body.len() as u64));
        let encoded = head.encode(into).map_err(Refusal::Forbidden)?;
        into.extend_from_slice(body.unwrap_or_default());
        Ok(encoded)
    }

    /// The body alone: the message of a WebSocket.
    pub(crate) fn message<'a>(
        &'a self,
        context: &mut Context<'_>,
        scratch: &'a mut Scratch,
    ) -> Result<&'a [u8], Missing> {
        match &self.body {
            Body::None => Ok(&[]),
            Body::Constant(bytes) => Ok(bytes),
            Body::Text(template) | Body::Message(template, _) => {
                scratch.text.clear();
                template.render(context, &mut scratch.text)?;
                Ok(scratch.text.as_bytes())
            }
            Body::Parts(parts) => {
                scratch.text.clear();
                scratch.ends.clear();
                self.body.templates().try_for_each(|template| scratch.render(template, context))?;
                scratch.join(0, parts);
                Ok(&scratch.messages)
            }
        }
    }

    /// Fills `scratch`: part 0 is the path, then the values of `changes`, then the texts of the body that have variables.
    fn render(
        &self,
        context: &mut Context<'_>,
        cookies: Option<Cookies<'_>>,
        scratch: &mut Scratch,
    ) -> Result<(), Missing> {
        scratch.text.clear();
        scratch.ends.clear();
        scratch.cookie.clear();
        scratch.render(&self.path, context)?;
        for (_, template) in &self.changes {
            scratch.render(template, context)?;
        }
        for template in self.body.templates() {
            scratch.render(template, context)?;
        }
        if let Some(Cookies { jar, site }) = cookies.filter(|_| !self.gives_cookie) {
            jar.push(site, &scratch.text[self.root..scratch.ends[0]], &mut scratch.cookie);
        }
        Ok(())
    }

    fn head<'a>(
        &'a self,
        authority: &'a str,
        target: &'a str,
        extra: &'a [Change<'a>],
        body_length: Option<u64>,
    ) -> http::Request<'a> {
        http::Request {
            method: &self.method,
            target,
            authority,
            headers: &self.headers,
            extra,
            body_length,
            content_type: self.content_type,
        }
    }
}

fn check_path(method: &str, path: Template) -> Result<Template, String> {
    let is_asterisk = method == "OPTIONS" && path.constant() == Some("*");
    if !path.start().starts_with('/') && !is_asterisk {
        return Err("it must begin with / (and not with a variable, in which every / is encoded)".into());
    }
    if path.example().contains('#') {
        return Err("a fragment is not sent; write %23 for a literal #".into());
    }
    Ok(path)
}

#[cfg(test)]
mod tests;
