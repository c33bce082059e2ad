//! Heads of requests that differ in their target, the values of some headers, and the length of their body.

use crate::request::{Request, are_valid, is_visible};

/// A head without these parts. To fill it in gives the same bytes as [`Request::encode`], without a look at names.
#[derive(Debug)]
pub struct Form {
    method: Box<str>,
    text: Box<[u8]>,
    /// Offsets in the text, ascending, and what goes there.
    gaps: Box<[(usize, Gap)]>,
}

#[derive(Debug, Clone, Copy)]
enum Gap {
    Target,
    /// Of the line with this index.
    Value(usize),
    Length,
}

impl Form {
    /// The form of requests like this one, in which the first `count` lines of `extra` have other values. None: a name
    /// is there twice, a line is removed, or a value decides about waiting for 100.
    pub fn new(request: &Request<'_>, count: usize) -> Option<Form> {
        let place = |name: &[u8]| request.extra.iter().position(|(known, _)| known.eq_ignore_ascii_case(name));
        let is_plain = |(index, (name, value)): (usize, &(&[u8], Option<&[u8]>))| {
            value.is_some() && place(name) == Some(index) && !name.eq_ignore_ascii_case(b"Expect")
        };
        let given = request.given();
        if given.expect || !request.extra.iter().enumerate().all(is_plain) {
            return None;
        }
        let mut extra = request.extra.to_vec();
        extra.iter_mut().take(count).for_each(|(_, value)| *value = Some(b""));
        let mut head = Vec::new();
        let body_length = request.body_length.map(|_| 0);
        Request { target: "/", extra: &extra, body_length, ..*request }.encode(&mut head).ok()?;

        let (mut text, mut gaps) = (format!("{} ", request.method).into_bytes(), Vec::new());
        gaps.push((text.len(), Gap::Target));
        text.extend_from_slice(b" HTTP/1.1\r\n");
        for line in head.split_inclusive(|&byte| byte == b'\n').skip(1) {
            let name = line.split(|&byte| byte == b':').next().unwrap_or_default();
            let is_length = request.body_length.is_some() && !given.length && name == b"Content-Length";
            let gap = match place(name).filter(|&index| index < count) {
                Some(index) => Gap::Value(index),
                None if is_length => Gap::Length,
                None => {
                    text.extend_from_slice(line);
                    continue;
                }
            };
            text.extend_from_slice(name);
            text.extend_from_slice(b": ");
            gaps.push((text.len(), gap));
            text.extend_from_slice(b"\r\n");
        }
        Some(Form { method: request.method.into(), text: text.into(), gaps: gaps.into() })
    }

    /// The method of all its requests.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// A new message: the head with these parts, and the body. Returns it and the length of its head; None: a part is
    /// not valid. `values`: one for each of the `count` lines of `new`.
    pub fn fill(&self, target: &str, values: &[&[u8]], body: &[u8]) -> Option<(Vec<u8>, usize)> {
        if !is_visible(target) || !values.iter().all(|value| are_valid(value)) {
            return None;
        }
        let mut number = itoa::Buffer::new();
        let length = number.format(body.len()).as_bytes();
        let space = target.len() + length.len() + values.iter().map(|value| value.len()).sum::<usize>();
        let mut out = Vec::with_capacity(self.text.len() + space + body.len());
        let mut from = 0;
        for &(offset, gap) in &self.gaps {
            out.extend_from_slice(&self.text[from..offset]);
            out.extend_from_slice(match gap {
                Gap::Target => target.as_bytes(),
                Gap::Value(index) => values[index],
                Gap::Length => length,
            });
            from = offset;
        }
        out.extend_from_slice(&self.text[from..]);
        let head = out.len();
        out.extend_from_slice(body);
        Some((out, head))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Headers;

    type Line<'a> = (&'a [u8], Option<&'a [u8]>);

    const NAMES: [&str; 9] = [
        "Host",
        "accept",
        "Accept",
        "X-Id",
        "content-type",
        "Content-Length",
        "Transfer-Encoding",
        "Authorization",
        "a",
    ];

    fn request<'a>(headers: &'a Headers, extra: &'a [Line<'a>], body_length: Option<u64>) -> Request<'a> {
        let content_type = body_length.map(|_| "application/json");
        Request { method: "POST", target: "/orders/1?a", authority: "h:80", headers, extra, body_length, content_type }
    }

    /// Each session has some of the names, each call others, and all values differ.
    #[test]
    fn a_form_that_is_filled_in_is_the_request_encoded() {
        let mut forms = 0;
        let texts: Vec<String> = (0..NAMES.len()).map(|index| format!("value {index}")).collect();
        for session in 0_usize..1 << NAMES.len() {
            let chosen = |set: usize| NAMES.iter().enumerate().filter(move |(index, _)| set >> index & 1 == 1);
            let own = chosen(session).map(|(_, name)| (name.as_bytes(), &b"0"[..]));
            let headers = Headers::new(own).expect("valid headers");
            let call = session.wrapping_mul(0x9e37_79b1) >> 3;
            let lines: Vec<Line<'_>> = chosen(call).map(|(_, name)| (name.as_bytes(), Some(&b"one"[..]))).collect();
            for (body, count) in
                [(None, lines.len()), (Some(&b"[1, 2]"[..]), lines.len()), (Some(b""), lines.len() / 2)]
            {
                let sample = request(&headers, &lines, body.map(|_| 77));
                let Some(form) = Form::new(&sample, count) else { continue };
                forms += 1;
                let mut other = lines.clone();
                other.iter_mut().take(count).zip(&texts).for_each(|((_, value), text)| *value = Some(text.as_bytes()));
                let wanted = Request {
                    target: "/orders/22",
                    extra: &other,
                    body_length: body.map(|body| body.len() as u64),
                    ..sample
                };
                let mut expected = Vec::new();
                let encoded = wanted.encode(&mut expected).expect("a valid request");
                expected.extend_from_slice(body.unwrap_or_default());
                let values: Vec<_> = texts[..count].iter().map(String::as_bytes).collect();
                let filled = form.fill("/orders/22", &values, body.unwrap_or_default()).expect("valid parts");
                assert_eq!(filled, (expected, encoded.head), "{headers:?} {lines:?}");
                assert_eq!(form.method(), "POST");
            }
        }
        assert!(forms > 500, "{forms}");
    }

    #[test]
    fn there_is_no_form_where_more_than_values_would_change() {
        let none = Headers::default();
        let expects = Headers::new([(&b"Expect"[..], &b"100-continue"[..])]).expect("valid headers");
        assert!(Form::new(&request(&expects, &[], Some(1)), 0).is_none());
        let lines: [&[Line<'_>]; 3] =
            [&[(b"a", Some(b"1")), (b"A", Some(b"2"))], &[(b"a", None)], &[(b"expect", Some(b"x"))]];
        for extra in lines {
            assert!(Form::new(&request(&none, extra, Some(1)), extra.len()).is_none(), "{extra:?}");
        }
    }

    #[test]
    fn parts_that_are_not_valid_are_refused() {
        let (none, extra): (_, [Line<'_>; 1]) = (Headers::default(), [(b"a", Some(b"1"))]);
        let form = Form::new(&request(&none, &extra, None), 1).expect("a form");
        for (target, value) in [("", "x"), ("/a b", "x"), ("/\u{e4}", "x"), ("/", "x\r\ny"), ("/", "\0")] {
            assert!(form.fill(target, &[value.as_bytes()], b"").is_none(), "{target:?} {value:?}");
        }
        assert!(form.fill("/", &[b"\xe4\tb"], b"").is_some());
    }
}
