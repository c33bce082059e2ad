use std::sync::Arc;

use super::{Jar, MOST_PER_DOMAIN, Site, directory_of, is_public_suffix};

/// 2026-03-01 00:00:00 UTC
const NOW: i64 = 1_772_323_200_000;

/// A target; its number is of its name.
fn site(url: &str) -> Arc<Site> {
    let (scheme, name) = url.split_once("://").unwrap_or(("http", url));
    let host = name.bytes().fold(0, |sum: u32, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    let is_address = name.starts_with(|first: char| first.is_ascii_digit() || first == '[');
    Arc::new(Site { host, name: name.into(), is_address, is_secure: scheme == "https" })
}

fn jar(lines: &[&str]) -> Jar {
    let mut jar = Jar::default();
    for line in lines {
        jar.set(&site("h"), "/", line.as_bytes(), || NOW);
    }
    jar
}

fn sent(jar: &Jar, target: &str) -> String {
    sent_to(jar, "h", target)
}

fn sent_to(jar: &Jar, url: &str, target: &str) -> String {
    let mut out = String::from("<");
    jar.push(&site(url), target, &mut out);
    out.split_off(1)
}

#[test]
fn the_latest_value_of_each_name_is_sent_in_the_order_of_the_first() {
    assert_eq!(
        sent(&jar(&["a=1; HttpOnly", "b = 2 ;Path=/", "a=3", "c=x=y", "d=\"q\"", "e="]), "/p?q"),
        "a=3; b=2; c=x=y; d=\"q\"; e="
    );
}

#[test]
fn invalid_cookies_are_ignored() {
    assert!(jar(&["", "a", "=b", ";a=b", "a=b\u{1}c"]).is_empty());
}

#[test]
fn cookies_are_removed_by_their_age_or_a_date_in_the_past() {
    for (line, removes) in [
        ("a=; Max-Age=0", true),
        ("a=; max-age=-1; Expires=Fri, 31 Dec 9999 23:59:59 GMT", true),
        ("a=; Max-Age=-99999999999999999999", true),
        ("a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT", true),
        ("a=deleted; expires=Thu, 01-Jan-1970 00:00:01 GMT; Path=/", true),
        ("a=; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", false),
        ("a=; Max-Age=99999999999999999999; Expires=Thu, 01 Jan 1970 00:00:00 GMT", false),
        ("a=; Max-Age=+60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", true),
        ("a=; Expires=Fri, 31 Dec 9999 23:59:59 GMT", false),
        ("a=; Expires=Sat, 28 Feb 2026 23:59:59 GMT", true),
        ("a=; Expires=Sun, 01 Mar 2026 00:00:00 GMT", true),
        ("a=; Expires=Sun, 01 Mar 2026 00:00:01 GMT", false),
        ("a=; Expires=soon; Max-Age=later", false),
        ("a=; Max-Age=0; Path=/other", false),
        ("a=; Max-Age=0; Domain=elsewhere", false),
    ] {
        assert_eq!(jar(&["a=1", line]).is_empty(), removes, "{line}");
    }
    assert!(jar(&["a=1; Max-Age=0"]).is_empty());
}

#[test]
fn the_clock_is_read_for_cookies_with_a_date_only() {
    let mut jar = Jar::default();
    for line in ["a=1", "b=2; Max-Age=5; Expires=Thu, 01 Jan 1970 00:00:00 GMT"] {
        jar.set(&site("h"), "/", line.as_bytes(), || unreachable!("it has no date that counts"));
    }
    assert_eq!(sent(&jar, "/"), "a=1; b=2");
}

#[test]
fn a_cookie_goes_to_paths_below_its_own_longest_first() {
    let jar = jar(&["all=1", "top=2; Path=/a", "deep=3; path=/a/b/", "odd=4; Path=a"]);
    for (target, expected) in [
        ("/", "all=1; odd=4"),
        ("/a", "top=2; all=1; odd=4"),
        ("/a?x=/a/b/", "top=2; all=1; odd=4"),
        ("/ab", "all=1; odd=4"),
        ("/a/b", "top=2; all=1; odd=4"),
        ("/a/b/c", "deep=3; top=2; all=1; odd=4"),
    ] {
        assert_eq!(sent(&jar, target), expected, "{target}");
    }
}

#[test]
fn without_a_path_a_cookie_belongs_to_the_directory_of_its_request() {
    for (target, directory) in [
        ("/", "/"),
        ("/login", "/"),
        ("/a/login", "/a"),
        ("/a/b/", "/a/b"),
        ("/a/b?next=/c/d", "/a"),
        ("/?/x/y", "/"),
        ("*", "/"),
    ] {
        assert_eq!(directory_of(target), directory, "{target}");
    }
    for line in ["c=1", "c=1; Path", "c=1; Path=", "c=1; Path=x", "c=1; Path=/x; Path="] {
        let mut jar = Jar::default();
        jar.set(&site("h"), "/a/b", line.as_bytes(), || NOW);
        assert_eq!(
            ["/a/b", "/a/b/c", "/a/bc", "/a", "/x"].map(|path| !sent(&jar, path).is_empty()),
            [true, true, false, false, false]
        );
    }
}

/// What `sender` sets by a line, and which of these hosts get it back.
#[test]
fn a_domain_decides_which_hosts_get_a_cookie_and_who_may_set_it() {
    const HOSTS: [&str; 6] = ["a.x.test", "b.x.test", "x.test", "c.a.x.test", "ax.test", "y.test"];
    let mut failures = Vec::new();
    for (sender, line, expected) in [
        ("a.x.test", "c=1", &["a.x.test"][..]),
        ("a.x.test", "c=1; Domain=", &["a.x.test"]),
        ("a.x.test", "c=1; Domain=.", &["a.x.test"]),
        ("a.x.test", "c=1; Domain=x.test", &["a.x.test", "b.x.test", "x.test", "c.a.x.test"]),
        ("a.x.test", "c=1; domain = .X.Test ", &["a.x.test", "b.x.test", "x.test", "c.a.x.test"]),
        ("a.x.test", "c=1; Domain=y.test; Domain=x.test", &["a.x.test", "b.x.test", "x.test", "c.a.x.test"]),
        ("x.test", "c=1; Domain=x.test", &["a.x.test", "b.x.test", "x.test", "c.a.x.test"]),
        ("a.x.test", "c=1; Domain=a.x.test", &["a.x.test", "c.a.x.test"]),
        ("x.test", "c=1", &["x.test"]),
        ("x.test", "c=1; Domain=a.x.test", &[]),
        ("a.x.test", "c=1; Domain=b.x.test", &[]),
        ("a.x.test", "c=1; Domain=y.test", &[]),
        ("ax.test", "c=1; Domain=x.test", &[]),
        ("a.x.test", "c=1; Domain=..x.test", &[]),
        ("a.x.test", "c=1; Domain=x.test.", &[]),
        ("a.x.test", "c=1; Domain=test", &[]),
        ("a.x.test", "c=1; Domain=\u{fc}.test", &[]),
    ] {
        let mut jar = Jar::default();
        jar.set(&site(sender), "/", line.as_bytes(), || NOW);
        let found: Vec<_> = HOSTS.into_iter().filter(|host| !sent_to(&jar, host, "/").is_empty()).collect();
        if found != expected {
            failures.push(format!("{sender} {line}: {found:?}"));
        }
    }
    assert_eq!(failures, [""; 0]);
}

#[test]
fn nobody_sets_cookies_for_a_public_suffix_but_that_host_for_itself() {
    for (sender, line, keeps) in [
        ("shop.com", "c=1; Domain=com", false),
        ("shop.co.uk", "c=1; Domain=co.uk", false),
        ("shop.co.uk", "c=1; Domain=shop.co.uk", true),
        ("me.github.io", "c=1; Domain=github.io", false),
        ("w.x.kawasaki.jp", "c=1; Domain=x.kawasaki.jp", false),
        ("www.city.kawasaki.jp", "c=1; Domain=city.kawasaki.jp", true),
        ("github.io", "c=1; Domain=github.io", true),
        ("localhost", "c=1; Domain=localhost", true),
        ("api", "c=1; Domain=api", true),
        ("web.api", "c=1; Domain=api", false),
    ] {
        let mut jar = Jar::default();
        jar.set(&site(sender), "/", line.as_bytes(), || NOW);
        assert_eq!(!sent_to(&jar, sender, "/").is_empty(), keeps, "{sender} {line}");
    }
    // The host's own cookie does not go to those below it.
    let mut jar = Jar::default();
    jar.set(&site("github.io"), "/", b"c=1; Domain=github.io", || NOW);
    assert_eq!(sent_to(&jar, "me.github.io", "/"), "");
    assert!(is_public_suffix("xn--55qx5d.cn") && !is_public_suffix("x.test"));
}

#[test]
fn an_address_has_no_domains() {
    for (sender, line, other) in [
        ("127.0.0.1", "c=1; Domain=127.0.0.1", "1.127.0.0.1"),
        ("10.0.0.1", "c=1; Domain=0.0.1", "9.0.0.1"),
        ("[::1]", "c=1; Domain=[::1]", "a.[::1]"),
    ] {
        let mut jar = Jar::default();
        jar.set(&site(sender), "/", line.as_bytes(), || NOW);
        assert_eq!(!sent_to(&jar, sender, "/").is_empty(), line.ends_with(sender), "{line}");
        assert_eq!(sent_to(&jar, other, "/"), "", "{line}");
    }
}

#[test]
fn secure_cookies_come_from_secure_targets_and_go_to_them() {
    let mut jar = Jar::default();
    let (plain, secure) = (site("http://h"), site("https://h"));
    jar.set(&plain, "/", b"p=1; Secure", || NOW);
    jar.set(&secure, "/", b"s=2; Secure", || NOW);
    jar.set(&secure, "/", b"t=3", || NOW);
    assert_eq!((sent_to(&jar, "http://h", "/"), sent_to(&jar, "https://h", "/")), ("t=3".into(), "s=2; t=3".into()));
    // RFC 6265bis: an insecure target does not hide a secure cookie.
    jar.set(&plain, "/", b"s=9", || NOW);
    jar.set(&plain, "/", b"s=9; Path=/below", || NOW);
    jar.set(&plain, "/", b"t=4", || NOW);
    assert_eq!(sent_to(&jar, "https://h", "/below"), "s=2; t=4");
    assert_eq!(sent_to(&jar, "http://h", "/below"), "t=4");
}

#[test]
fn the_prefixes_of_names_ask_for_what_they_say() {
    for (url, line, keeps) in [
        ("https://a.x.test", "__Secure-c=1; Secure", true),
        ("https://a.x.test", "__Secure-c=1; Secure; Domain=x.test", true),
        ("https://a.x.test", "__Secure-c=1", false),
        ("https://a.x.test", "__secure-c=1", false),
        ("http://a.x.test", "__Secure-c=1; Secure", false),
        ("https://a.x.test", "__Host-c=1; Secure; Path=/", true),
        ("https://a.x.test", "__host-c=1; Secure", false),
        ("https://a.x.test", "__Host-c=1; Secure; Path=/a", false),
        ("https://a.x.test", "__Host-c=1; Path=/", false),
        ("https://a.x.test", "__Host-c=1; Secure; Path=/; Domain=a.x.test", false),
        ("http://a.x.test", "__Host=1", true),
    ] {
        let mut jar = Jar::default();
        jar.set(&site(url), "/", line.as_bytes(), || NOW);
        assert_eq!(!jar.is_empty(), keeps, "{url} {line}");
    }
}

#[test]
fn cookies_of_a_host_and_of_a_domain_are_different_ones() {
    let mut jar = Jar::default();
    for line in ["c=host", "c=domain; Domain=x.test", "c=own; Domain=a.x.test", "c=again; Domain=.X.test"] {
        jar.set(&site("a.x.test"), "/", line.as_bytes(), || NOW);
    }
    assert_eq!(sent_to(&jar, "a.x.test", "/"), "c=host; c=again; c=own");
    jar.set(&site("b.x.test"), "/", b"c=; Domain=x.test; Max-Age=0", || NOW);
    assert_eq!(sent_to(&jar, "a.x.test", "/"), "c=host; c=own");
}

#[test]
fn a_jar_does_not_grow_without_end_and_forgets_the_oldest() {
    let mut jar = Jar::default();
    jar.set(&site("other.test"), "/", b"other=1", || NOW);
    for domain in ["", "; Domain=x.test"] {
        for n in 0..MOST_PER_DOMAIN + 2 {
            jar.set(&site("a.x.test"), "/", format!("n{n}=v{domain}").as_bytes(), || NOW);
        }
    }
    let all = sent_to(&jar, "b.x.test", "/");
    assert_eq!(all.split("; ").count(), MOST_PER_DOMAIN);
    assert!(all.starts_with("n2=v; ") && all.ends_with("; n51=v"), "{all}");
    assert_eq!(jar.cookies.len(), 2 * MOST_PER_DOMAIN + 1);
}
