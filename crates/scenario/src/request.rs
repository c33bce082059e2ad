//! A step's request: from the definition to the bytes of each exchange.

use std::sync::Arc;

use plimsoll_grpc::MessageError;
use plimsoll_http as http;

use crate::DefinitionError;
use crate::body::Body;
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
    /// The messages of a call.
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
        self.path.constant().is_some() && self.changes.is_empty() && self.body.template().is_none()
    }

    /// The feeders whose cells it uses.
    pub(crate) fn feeders(&self) -> impl Iterator<Item = u32> {
        let body = self.body.template();
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
        if let Body::Message(_, grpc) = &self.body {
            scratch.convert(self.changes.len() + 1, grpc).map_err(Refusal::Message)?;
        }
        let body = match &self.body {
            Body::None => None,
            Body::Constant(bytes) => Some(&**bytes),
            Body::Text(_) => Some(scratch.part(self.changes.len() + 1).as_bytes()),
            Body::Message(..) => Some(&*scratch.messages),
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
        }
    }

    /// Fills `scratch`: part 0 is the path, then the values of `changes`, then the body if it has variables.
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
        if let Some(template) = self.body.template() {
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
mod tests {
    use super::{Blueprint, Context, Cookies, FEW, Line, Refusal, Scratch};
    use std::sync::Arc;

    use crate::cookies::{Jar, Site};
    use crate::definition::Body;
    use crate::random::Random;
    use crate::scope::Scope;
    use crate::session::Session;

    fn lines(lines: &[(&str, &str)]) -> Vec<Line> {
        let line = |(n, &(name, value)): (usize, &(&str, &str))| Line {
            field: format!("s.headers[{n}]"),
            name: name.into(),
            value: value.into(),
        };
        lines.iter().enumerate().map(line).collect()
    }

    fn site(host: u32, is_secure: bool) -> Arc<Site> {
        Arc::new(Site { host, name: format!("h{host}"), is_address: false, is_secure })
    }

    fn blueprint(method: &str, path: &str, headers: &[(&str, &str)], body: Option<Body>) -> Result<Blueprint, String> {
        let scope = Scope { feeders: &[], extracted: &["a".into(), "b".into()], later: &[] };
        Blueprint::new(method.into(), path, &lines(headers), body, scope, "s").map_err(|error| error.to_string())
    }

    /// The request with these values of `${a}` and `${b}`, sent to h.
    fn encoded(blueprint: &Blueprint, values: &[&str], cookies: Option<Cookies<'_>>) -> Result<String, String> {
        let mut session = Session::new(0);
        for (number, value) in values.iter().enumerate() {
            session.set_value(number as u32, values.len(), Some(value)).unwrap();
        }
        let (mut random, mut scratch, mut out) = (Random::new(0, 0), Scratch::default(), b"before".to_vec());
        // Data of an earlier request must not matter.
        (scratch.text, scratch.cookie) = ("left".into(), "over".into());
        scratch.ends.push(2);
        let mut context = Context { feeders: &[], session: &session, random: &mut random };
        let result = blueprint.encode("h", &mut context, cookies, &mut scratch, &mut out);
        let text = String::from_utf8(out).unwrap();
        match result {
            Ok(encoded) => {
                let request = text.strip_prefix("before").unwrap();
                assert!(request[..encoded.head].ends_with("\r\n\r\n"));
                assert_eq!(request.find("\r\n\r\n").unwrap() + 4, encoded.head);
                Ok(request.into())
            }
            Err(refusal) => {
                assert_eq!(text, "before");
                Err(match refusal {
                    Refusal::Missing(missing) => format!("missing {}", missing.0),
                    Refusal::Forbidden(error) => error.to_string(),
                    Refusal::Message(error) => error.to_string(),
                })
            }
        }
    }

    #[test]
    fn a_request_is_made_of_its_parts_and_its_values() {
        let headers = [("A", "${a}"), ("B", "b"), ("C", "<${b}>")];
        let body = Some(Body::Text("${b}\u{e4}${a}".into()));
        let blueprint = blueprint("POST", "/${a}?${b}", &headers, body).unwrap();
        assert!(!blueprint.is_constant());
        assert_eq!(
            encoded(&blueprint, &["x y", "z"], None).unwrap(),
            "POST /x%20y?z HTTP/1.1\r\nHost: h\r\nA: x y\r\nB: b\r\nC: <z>\r\nContent-Length: 6\r\n\r\nz\u{e4}x y"
        );
    }

    #[test]
    fn bodies_bring_their_length_and_json_its_type() {
        for (method, body, headers, expected) in [
            ("GET", None, &[][..], "\r\n\r\n"),
            ("DELETE", None, &[], "\r\n\r\n"),
            ("PUT", None, &[], "\r\nContent-Length: 0\r\n\r\n"),
            ("GET", Some(Body::Text(String::new())), &[], "\r\nContent-Length: 0\r\n\r\n"),
            ("POST", Some(Body::Text("$${x}".into())), &[], "\r\nContent-Length: 4\r\n\r\n${x}"),
            ("POST", Some(Body::Base64("AH8=".into())), &[], "\r\nContent-Length: 2\r\n\r\n\0\x7f"),
            (
                "POST",
                Some(Body::Json("[1]".into())),
                &[],
                "\r\nContent-Length: 3\r\nContent-Type: application/json\r\n\r\n[1]",
            ),
            (
                "POST",
                Some(Body::Form("a=%26&b=${a}".into())),
                &[],
                "\r\nContent-Length: 11\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\na=%26&b=%22",
            ),
            (
                "POST",
                Some(Body::Json("[1]".into())),
                &[("content-type", "x/y")],
                "\r\ncontent-type: x/y\r\nContent-Length: 3\r\n\r\n[1]",
            ),
            (
                "POST",
                Some(Body::Json("[\"${a}\"]".into())),
                &[],
                "\r\nContent-Length: 6\r\nContent-Type: application/json\r\n\r\n[\"\\\"\"]",
            ),
        ] {
            let blueprint = blueprint(method, "/", headers, body).unwrap();
            let expected = format!("{method} / HTTP/1.1\r\nHost: h{expected}");
            assert_eq!(encoded(&blueprint, &["\""], None).unwrap(), expected);
        }
    }

    #[test]
    fn many_headers_with_variables_are_as_good_as_few() {
        let names: Vec<String> = (0..FEW + 2).map(|n| format!("H{n}")).collect();
        for count in [FEW - 1, FEW, FEW + 2] {
            let headers: Vec<_> = names[..count].iter().map(|name| (name.as_str(), "${a}")).collect();
            let (mut jar, site) = (Jar::default(), site(0, false));
            jar.set(&site, "/", b"c=1", || 0);
            let cookies = Cookies { jar: &jar, site: &site };
            let text = encoded(&blueprint("GET", "/", &headers, None).unwrap(), &["v"], Some(cookies)).unwrap();
            let lines = names[..count].join(": v\r\n");
            assert_eq!(text, format!("GET / HTTP/1.1\r\nHost: h\r\n{lines}: v\r\nCookie: c=1\r\n\r\n"));
        }
    }

    #[test]
    fn a_proxy_gets_the_whole_url_and_cookies_belong_to_the_path() {
        let (mut jar, site) = (Jar::default(), site(0, false));
        jar.set(&site, "/", b"c=1; Path=/x", || 0);
        for (method, path, line) in [
            ("GET", "/x/${a}?b", "GET http://h:1/x/v?b HTTP/1.1\r\nHost: h\r\nCookie: c=1"),
            ("GET", "/y", "GET http://h:1/y HTTP/1.1\r\nHost: h"),
            ("OPTIONS", "*", "OPTIONS http://h:1 HTTP/1.1\r\nHost: h"),
        ] {
            let blueprint = blueprint(method, path, &[], None).unwrap().forwarded("http://h:1");
            assert_eq!(blueprint.is_constant(), !path.contains('$'));
            let cookies = Cookies { jar: &jar, site: &site };
            assert_eq!(encoded(&blueprint, &["v"], Some(cookies)).unwrap().trim_end(), line);
        }
    }

    #[test]
    fn cookies_come_last_if_there_are_any_for_the_path_and_none_are_given() {
        let mut jar = Jar::default();
        jar.set(&site(3, true), "/", b"c=1; Path=/x; Secure", || 0);
        let sent = |path, headers: &[(&str, &str)], host, over_tls| {
            let site = site(host, over_tls);
            let cookies = Cookies { jar: &jar, site: &site };
            let text = encoded(&blueprint("GET", path, headers, None).unwrap(), &["x"], Some(cookies)).unwrap();
            text.split_once("Host: h\r\n").unwrap().1.trim_end().to_owned()
        };
        assert_eq!(sent("/${a}/y", &[("Z", "z")], 3, true), "Z: z\r\nCookie: c=1");
        assert_eq!(sent("/${a}/y", &[("cookie", "own=2")], 3, true), "cookie: own=2");
        assert_eq!([sent("/y", &[], 3, true), sent("/x", &[], 2, true), sent("/x", &[], 3, false)], ["", "", ""]);
    }

    #[test]
    fn an_invalid_request_is_refused_and_nothing_is_appended() {
        let header = blueprint("GET", "/", &[("X-A", "${a}")], None).unwrap();
        for bad in ["a\r\nb", "\0"] {
            let error = encoded(&header, &[bad], None).unwrap_err();
            assert!(error.contains("\"X-A\" has a control character"), "{error}");
        }
        let body = blueprint("GET", "/${a}", &[], Some(Body::Text("${b}".into()))).unwrap();
        assert_eq!(encoded(&body, &["a"], None), Err("missing 1".into()));
    }

    #[test]
    fn mistakes_are_found_before_anything_is_sent() {
        let text = |text: &str| Some(Body::Text(text.into()));
        for (result, begins) in [
            (blueprint("GE T", "/", &[], None), "s.method: the method must be one word"),
            (blueprint("", "/", &[], None), "s.method: the method must be one word"),
            (blueprint("GET", "", &[], None), "s.path: it must begin with /"),
            (blueprint("GET", "a", &[], None), "s.path: it must begin with /"),
            (blueprint("GET", "${a}", &[], None), "s.path: it must begin with /"),
            (blueprint("GET", "*", &[], None), "s.path: it must begin with /"),
            (blueprint("GET", "/a#b", &[], None), "s.path: a fragment is not sent"),
            (blueprint("GET", "/${c}", &[], None), "s.path: unknown variable ${c}"),
            (blueprint("GET", "/", &[("A b", "")], None), "s.headers[0]: a header name must be"),
            (blueprint("GET", "/", &[("A", ""), ("B", "x\ny")], None), "s.headers[1]: the value of the header"),
            (blueprint("GET", "/", &[("A", "${a}\n")], None), "s.headers[0]: the value of the header"),
            (blueprint("GET", "/", &[("A", "${c}")], None), "s.headers[0]: unknown variable ${c}"),
            (blueprint("GET", "/", &[("A", "1"), ("a", "${a}")], None), "s.headers[1]: a is there more than once"),
            (blueprint("GET", "/", &[("content-length", "0")], None), "s.headers[0]: content-length follows"),
            (blueprint("GET", "/", &[("Transfer-Encoding", "chunked")], None), "s.headers[0]: Transfer-Encoding"),
            (blueprint("GET", "/", &[], text("${")), "s.body.text: ${ without }"),
            (blueprint("GET", "/", &[], Some(Body::Json("{".into()))), "s.body.json: it is not JSON"),
            (blueprint("GET", "/", &[], Some(Body::Base64("A".into()))), "s.body.base64: it is not base64"),
        ] {
            let error = result.map(|_| ()).unwrap_err();
            assert!(error.starts_with(begins), "{error}");
        }
        let asterisk = blueprint("OPTIONS", "*", &[], None).unwrap();
        assert!(asterisk.is_constant() && encoded(&asterisk, &[], None).unwrap().starts_with("OPTIONS * HTTP/1.1\r\n"));
    }
}
