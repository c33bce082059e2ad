use super::{Blueprint, Context, Cookies, FEW, Line, Refusal, Scratch};
use std::sync::Arc;

use crate::cookies::{Jar, Site};
use crate::definition::{Body, Part};
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
    let scope = Scope { extracted: &["a".into(), "b".into()], ..Scope::default() };
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
    let mut context = Context { feeders: &[], session: &session, random: &mut random, clock: || 0 };
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
fn a_body_of_parts_has_bytes_and_texts_in_their_order() {
    let part = |text: &str| Part::Text(text.into());
    let bytes = || Part::Base64("AH8=".into());
    let parts = vec![part("<${a}>"), bytes(), part("${b}"), part("$${c}")];
    let varied = blueprint("POST", "/${b}", &[("X", "${a}")], Some(Body::Parts(parts))).unwrap();
    let expected = "POST /2 HTTP/1.1\r\nHost: h\r\nX: 1\r\nContent-Length: 10\r\n\r\n<1>\0\x7f2${c}";
    assert_eq!(encoded(&varied, &["1", "2"], None).unwrap(), expected);
    assert_eq!(encoded(&varied, &["1"], None), Err("missing 1".into()));
    assert!(!varied.is_constant());

    let constant = blueprint("POST", "/", &[], Some(Body::Parts(vec![part("a"), bytes()]))).unwrap();
    assert!(constant.is_constant());
    assert!(encoded(&constant, &[], None).unwrap().ends_with("Content-Length: 3\r\n\r\na\0\x7f"));
}

#[test]
fn a_message_may_have_parts() {
    let parts = vec![Part::Text("<${a}>".into()), Part::Base64("AH8=".into())];
    let blueprint = blueprint("GET", "/${b}", &[], Some(Body::Parts(parts))).unwrap();
    let (mut session, mut random, mut scratch) = (Session::new(0), Random::new(0, 0), Scratch::default());
    session.set_value(0, 2, Some("1")).unwrap();
    let mut context = Context { feeders: &[], session: &session, random: &mut random, clock: || 0 };
    assert_eq!(blueprint.message(&mut context, &mut scratch), Ok(&b"<1>\0\x7f"[..]));
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
        (
            blueprint("GET", "/", &[], Some(Body::Parts(vec![Part::Base64("A".into())]))),
            "s.body.parts[0].base64: it is not base64",
        ),
        (
            blueprint("GET", "/", &[], Some(Body::Parts(vec![Part::Text("${x}".into())]))),
            "s.body.parts[0].text: unknown variable ${x}",
        ),
    ] {
        let error = result.map(|_| ()).unwrap_err();
        assert!(error.starts_with(begins), "{error}");
    }
    let asterisk = blueprint("OPTIONS", "*", &[], None).unwrap();
    assert!(asterisk.is_constant() && encoded(&asterisk, &[], None).unwrap().starts_with("OPTIONS * HTTP/1.1\r\n"));
}
