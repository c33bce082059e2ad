//! Rules: `call descriptor effect share`, separated by semicolons.
//!
//! ```text
//! recv tcp 104 0.001; write pipe short 0.2; fsync file 5 0.05
//! ```

use std::ffi::c_int;

use crate::descriptor::Kind;

/// Maximum rules of a plan: the number of counters in the shared file.
pub const MOST: usize = 64;

/// A system call that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The names are those of libc.
pub enum Call {
    Read,
    Write,
    Recv,
    Send,
    RecvMsg,
    SendMsg,
    WriteV,
    Connect,
    Socket,
    EpollWait,
    PWrite,
    FSync,
    FDataSync,
}

const NAMES: [(&str, Call); 13] = [
    ("read", Call::Read),
    ("write", Call::Write),
    ("recv", Call::Recv),
    ("send", Call::Send),
    ("recvmsg", Call::RecvMsg),
    ("sendmsg", Call::SendMsg),
    ("writev", Call::WriteV),
    ("connect", Call::Connect),
    ("socket", Call::Socket),
    ("epoll_wait", Call::EpollWait),
    ("pwrite64", Call::PWrite),
    ("fsync", Call::FSync),
    ("fdatasync", Call::FDataSync),
];

/// The effect on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It fails with this error number.
    Error(c_int),
    /// It handles half of its bytes, rounded up.
    Short,
}

/// One rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// The call that fails.
    pub call: Call,
    /// The kind of descriptor on which it fails; None: any, or none.
    pub kind: Option<Kind>,
    /// Its effect.
    pub effect: Effect,
    /// The share of calls that fail, 0..=1.
    pub share: f64,
}

/// # Errors
///
/// The error names the invalid rule.
pub fn parse(text: &str) -> Result<Vec<Rule>, String> {
    let rules: Result<Vec<Rule>, String> = text
        .split(';')
        .map(str::trim)
        .filter(|rule| !rule.is_empty())
        .map(|rule| one(rule).ok_or_else(|| format!("{rule:?} is no rule: call descriptor effect share")))
        .collect();
    rules.and_then(|rules| match rules.len() {
        0..=MOST => Ok(rules),
        many => Err(format!("{many} rules; at most {MOST}")),
    })
}

fn one(rule: &str) -> Option<Rule> {
    let mut words = rule.split_whitespace();
    let (call, kind, effect, share) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let (_, call) = *NAMES.iter().find(|(name, _)| *name == call)?;
    let share = share.parse().ok().filter(|share| (0.0..=1.0).contains(share))?;
    let effect = if effect == "short" { Effect::Short } else { Effect::Error(effect.parse().ok()?) };
    let kind = if kind == "any" { None } else { Some(Kind::of_name(kind)?) };
    words.next().is_none().then_some(Rule { call, kind, effect, share })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read() {
        let rules = parse("recv tcp 104 0.001; write pipe short 0.2;").unwrap();
        assert_eq!(
            rules,
            [
                Rule { call: Call::Recv, kind: Some(Kind::Tcp), effect: Effect::Error(104), share: 0.001 },
                Rule { call: Call::Write, kind: Some(Kind::Pipe), effect: Effect::Short, share: 0.2 },
            ]
        );
        assert_eq!(parse("").unwrap(), []);
    }

    #[test]
    fn an_invalid_rule_is_named() {
        for bad in ["recv", "open tcp 1 0.5", "recv udp 1 0.5", "recv tcp often 0.5", "recv tcp 1 2", "recv tcp 1 0 0"]
        {
            assert!(parse(bad).unwrap_err().contains(bad));
        }
        assert!(parse(&"recv tcp 1 0.5;".repeat(MOST + 1)).is_err());
    }
}
