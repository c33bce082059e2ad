use std::net::SocketAddr;

use super::{AllowList, AllowedHosts};
use crate::origin::{Origin, OriginOptions};

fn allowed(patterns: &[&str]) -> AllowedHosts {
    AllowedHosts::new(vec![list(patterns, "the list")])
}

fn list(patterns: &[&str], place: &str) -> AllowList {
    AllowList::new(patterns.iter().copied(), place).unwrap()
}

fn origin(url: &str) -> Origin {
    Origin::new(url, &OriginOptions::default()).unwrap()
}

fn proxied(url: &str, proxy: &str) -> Origin {
    Origin::new(url, &OriginOptions { proxy: Some(proxy.into()), ..OriginOptions::default() }).unwrap()
}

/// The error of a connection that resolves to these addresses, or the addresses that it may use.
fn outcome(hosts: &AllowedHosts, origin: &Origin, addresses: &[&str]) -> Result<Vec<String>, String> {
    if let Some(refusal) = hosts.refuses(origin) {
        return Err(refusal);
    }
    let addresses = addresses.iter().map(|ip| SocketAddr::new(ip.parse().unwrap(), 80)).collect();
    Ok(hosts.admit(origin, addresses)?.iter().map(|address| address.ip().to_string()).collect())
}

#[test]
fn without_a_list_everything_is_allowed_and_an_empty_list_allows_nothing() {
    let target = origin("http://example.com");
    assert_eq!(outcome(&AllowedHosts::default(), &target, &["192.0.2.1"]).unwrap(), ["192.0.2.1"]);
    assert!(outcome(&allowed(&[]), &target, &["192.0.2.1"]).is_err());
}

#[test]
fn a_name_is_allowed_however_it_is_written() {
    for (pattern, url) in [
        ("api.example.com", "http://api.example.com/"),
        ("API.Example.COM", "http://api.example.com/"),
        ("api.example.com", "http://API.EXAMPLE.com/"),
        ("api.example.com", "http://api.example.com./"),
        ("api.example.com.", "http://api.example.com/"),
        ("bücher.example", "http://xn--bcher-kva.example/"),
        ("xn--bcher-kva.example", "http://Bücher.example/"),
        ("api.example.com", "http://%61pi.example.com/"),
        ("*.example.com", "http://api.example.com/"),
        ("*.example.com", "http://a.b.EXAMPLE.com./"),
        ("*.bücher.example", "https://www.bücher.example/"),
    ] {
        assert_eq!(
            outcome(&allowed(&[pattern]), &origin(url), &["192.0.2.1"]).unwrap(),
            ["192.0.2.1"],
            "{pattern} {url}"
        );
    }
}

#[test]
fn other_names_are_not_allowed() {
    for (pattern, url) in [
        ("api.example.com", "http://example.com/"),
        ("api.example.com", "http://x.api.example.com/"),
        ("api.example.com", "http://api.example.com.evil.test/"),
        ("*.example.com", "http://example.com/"),
        ("*.example.com", "http://badexample.com/"),
        ("api.example.com", "http://api.example.com@evil.test/"),
        ("localhost", "http://127.0.0.1/"),
    ] {
        let refusal = outcome(&allowed(&[pattern]), &origin(url), &["192.0.2.1"]).unwrap_err();
        assert!(refusal.starts_with("not allowed: ") && refusal.ends_with(" is not in the list"), "{url}: {refusal}");
    }
}

#[test]
fn a_network_allows_addresses_however_they_are_written() {
    for (pattern, url) in [
        ("127.0.0.0/8", "http://127.0.0.1/"),
        ("127.0.0.1", "http://0x7f.1/"),
        ("127.0.0.1", "http://2130706433/"),
        ("127.0.0.1", "http://0177.0.0.1/"),
        ("0x7f.1", "http://127.0.0.1./"),
        ("10.0.0.0/8", "http://[::ffff:10.0.0.1]/"),
        ("10.0.0.0/8", "http://[::ffff:a00:1]/"),
        ("::ffff:10.0.0.1", "http://10.0.0.1/"),
        ("::ffff:10.0.0.0/104", "http://10.9.8.7/"),
        ("::1", "http://[0:0::1]/"),
        ("[::1]", "http://[::1]/"),
        ("2001:db8::/32", "http://[2001:db8:1::5]/"),
        ("0.0.0.0/0", "http://192.0.2.1/"),
    ] {
        let target = origin(url);
        let ip = target.host().to_owned();
        assert!(outcome(&allowed(&[pattern]), &target, &[&ip]).is_ok(), "{pattern} {url}");
    }
}

#[test]
fn other_addresses_are_not_allowed() {
    for (pattern, url) in [
        ("127.0.0.1", "http://127.0.0.2/"),
        ("10.0.0.0/8", "http://11.0.0.0/"),
        ("10.0.0.0/8", "http://[::ffff:11.0.0.1]/"),
        ("10.0.0.0/8", "http://[::10.0.0.1]/"),
        ("::/0", "http://10.0.0.1/"),
        ("::/0", "http://[::ffff:10.0.0.1]/"),
        ("127.0.0.0/8", "http://0.0.0.0/"),
        ("127.0.0.0/8", "http://[::1]/"),
    ] {
        let target = origin(url);
        let ip = target.host().to_owned();
        assert!(outcome(&allowed(&[pattern]), &target, &[&ip]).is_err(), "{pattern} {url}");
    }
}

#[test]
fn of_the_addresses_of_a_name_those_in_the_networks_are_used() {
    let (hosts, target) = (allowed(&["10.0.0.0/8", "::1"]), origin("http://several.test"));
    let found = outcome(&hosts, &target, &["192.0.2.1", "::1", "10.0.0.1", "::ffff:10.0.0.2"]).unwrap();
    assert_eq!(found, ["::1", "10.0.0.1", "::ffff:10.0.0.2"]);
    let refusal = outcome(&hosts, &target, &["192.0.2.1", "192.0.2.2"]).unwrap_err();
    assert_eq!(refusal, "not allowed: 192.0.2.1 (several.test) is not in the list");
    assert_eq!(outcome(&hosts, &target, &[]).unwrap(), [""; 0], "it has no address: that is another failure");
}

#[test]
fn each_of_several_lists_must_allow_it() {
    let [ours, theirs] = [&["*.example.com", "192.0.2.0/24"][..], &["10.0.0.0/8", "192.0.2.1"][..]];
    let hosts = AllowedHosts::new(vec![list(ours, "ours"), list(theirs, "theirs")]);
    let target = origin("http://a.example.com");
    assert_eq!(outcome(&hosts, &target, &["10.1.2.3", "192.0.2.9"]).unwrap(), ["10.1.2.3"]);
    assert!(
        outcome(&hosts, &target, &["192.0.2.9"]).unwrap_err().ends_with("192.0.2.9 (a.example.com) is not in theirs")
    );
    assert!(outcome(&hosts, &origin("http://10.1.2.3"), &[]).unwrap_err().ends_with("10.1.2.3 is not in ours"));
    assert!(outcome(&hosts, &origin("http://192.0.2.1"), &["192.0.2.1"]).is_ok());
}

#[test]
fn by_way_of_a_proxy_the_target_must_be_allowed_as_it_is_written_and_the_proxy_too() {
    let hosts = allowed(&["api.test", "10.0.0.0/8", "proxy.test"]);
    for (target, proxy, refusal) in [
        ("http://api.test", "http://10.0.0.1:3128", None),
        ("https://10.0.0.5", "http://proxy.test", None),
        ("http://other.test", "http://10.0.0.1", Some("other.test (behind a proxy, so by name only)")),
        ("http://192.0.2.1", "http://10.0.0.1", Some("192.0.2.1 (behind a proxy, so by name only)")),
        ("http://api.test", "http://192.0.2.1", Some("the proxy 192.0.2.1")),
        ("http://api.test", "http://else.test", Some("the proxy 192.0.2.9 (else.test)")),
    ] {
        let found = outcome(&hosts, &proxied(target, proxy), &["192.0.2.9"]);
        match refusal {
            None => assert!(found.is_ok() || proxy.contains("10.0"), "{target} {proxy}: {found:?}"),
            Some(what) => assert_eq!(found.unwrap_err(), format!("not allowed: {what} is not in the list")),
        }
    }
}

#[test]
fn a_proxy_that_gets_whole_urls_is_asked_about_their_host() {
    let hosts = allowed(&["proxy.test", "api.test"]);
    for (url, is_allowed) in [("http://API.test:81", true), ("http://other.test", false)] {
        let options = OriginOptions { forwards: Some(url.into()), ..OriginOptions::default() };
        let proxy = Origin::new("http://proxy.test:3128", &options).unwrap();
        assert_eq!(hosts.refuses(&proxy).is_none(), is_allowed, "{url}");
    }
}

#[test]
fn a_unix_socket_is_allowed_by_its_path() {
    let socket = origin("http+unix://%2Frun%2Fapp.sock");
    assert!(allowed(&["/run/app.sock"]).refuses(&socket).is_none());
    let refusal = allowed(&["app.sock", "/run", "127.0.0.1"]).refuses(&socket).unwrap();
    assert_eq!(refusal, "not allowed: the socket /run/app.sock is not in the list");
}

#[test]
fn the_check_before_a_run_resolves_names() {
    let hosts = allowed(&["127.0.0.0/8", "::1"]);
    assert_eq!(hosts.refusal(&origin("http://localhost:1")), None);
    // A label of 64 characters is invalid, so resolvers refuse it without a query.
    let unknown = format!("http://{}.invalid", "x".repeat(64));
    assert_eq!(hosts.refusal(&origin(&unknown)), None, "that is for the run to find out");
    let refusal = allowed(&["192.0.2.0/24"]).refusal(&origin("http://localhost:1")).unwrap();
    assert!(refusal.contains(" (localhost) is not in the list"), "{refusal}");
}

#[test]
fn invalid_patterns_are_refused_with_the_reason() {
    for (pattern, reason) in [
        ("", "is no host"),
        ("*", "would allow every host"),
        ("*.", "is no host"),
        ("api.*.com", "only at the beginning"),
        (".example.com", "write *.example.com"),
        ("http://example.com", "write the host alone"),
        ("example.com:80", "without its port"),
        ("[::1]:80", "without its port"),
        ("10.0.0.1/8", "write 10.0.0.0/8"),
        ("10.0.0.0/33", "/33 is not 0 to 32"),
        ("::/129", "/129 is not 0 to 128"),
        ("example.com/24", "example.com is no IP address"),
        ("*.10.0.0.1", "is no host"),
        ("a b", "is no host"),
        ("300.0.0.1", "is no host"),
    ] {
        let error = AllowList::new([pattern], "").unwrap_err();
        assert!(error.contains(reason) && error.starts_with(&format!("{pattern:?}: ")), "{pattern}: {error}");
    }
}
