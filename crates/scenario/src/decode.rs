//! Undoes the encoding in which a response has a value.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::percent_decode_str;

use crate::definition::Decoding;

const ANY_PADDING: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const BASE64: GeneralPurpose = GeneralPurpose::new(&STANDARD, ANY_PADDING);
const BASE64_URL: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, ANY_PADDING);
/// Longer names of entities are no entities.
const LONGEST_ENTITY: usize = 10;

impl Decoding {
    /// The text without this encoding; an error says what it is not.
    pub(crate) fn undo(self, text: Cow<'_, str>) -> Result<Cow<'_, str>, &'static str> {
        match self {
            Self::Html if !text.contains('&') => Ok(text),
            Self::Html => Ok(unescaped_html(&text).into()),
            Self::Url => {
                let decoded = percent_decode_str(&text).decode_utf8().map_err(|_| "not URL-encoded UTF-8")?;
                Ok(decoded.into_owned().into())
            }
            Self::Json => {
                let decoded = serde_json::from_str::<String>(&format!("\"{text}\""));
                decoded.map(Cow::Owned).map_err(|_| "not the inside of a JSON string")
            }
            Self::Base64 => from_base64(&text).map(Cow::Owned),
            Self::Jwt => {
                let payload = text.split('.').nth(1).ok_or("not a JWT")?;
                from_base64(payload).map(Cow::Owned)
            }
            Self::Lower => Ok(text.to_lowercase().into()),
            Self::Upper => Ok(text.to_uppercase().into()),
        }
    }
}

/// Of the usual alphabet or that of URLs, with or without `=` at its end.
fn from_base64(text: &str) -> Result<String, &'static str> {
    let engine = if text.contains(['-', '_']) { &BASE64_URL } else { &BASE64 };
    let bytes = engine.decode(text.trim()).map_err(|_| "not base64")?;
    String::from_utf8(bytes).map_err(|_| "base64 of what is not UTF-8")
}

/// With its numeric entities and those of the characters that HTML itself uses; others stay.
pub(crate) fn unescaped_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let entity = rest.bytes().take(LONGEST_ENTITY + 2).position(|byte| byte == b';').map(|end| &rest[1..end]);
        if let Some((name, character)) = entity.and_then(|name| Some((name, character_of(name)?))) {
            out.push(character);
            rest = &rest[name.len() + 2..];
        } else {
            out.push('&');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    out
}

fn character_of(entity: &str) -> Option<char> {
    if let Some(number) = entity.strip_prefix('#') {
        let hex = number.strip_prefix(['x', 'X']);
        let code = hex.map_or_else(|| number.parse().ok(), |digits| u32::from_str_radix(digits, 16).ok());
        return char::from_u32(code?).filter(|&character| character != '\0');
    }
    Some(match entity {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => '\u{a0}',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::Decoding;

    #[test]
    fn every_encoding_is_undone() {
        for (decoding, text, expected) in [
            (Decoding::Html, "plain", Ok("plain")),
            (Decoding::Html, "a&amp;b&#x3D;c&#43;&quot;&apos;&lt;&gt;&#X2f;", Ok("a&b=c+\"'<>/")),
            (Decoding::Html, "a&b; &unknown; &#xD800; &#0; &\u{e4};&", Ok("a&b; &unknown; &#xD800; &#0; &\u{e4};&")),
            (Decoding::Url, "a%2Bb%20c+d", Ok("a+b c+d")),
            (Decoding::Url, "%FF", Err("not URL-encoded UTF-8")),
            (Decoding::Json, r"a\u002fb\/c\n", Ok("a/b/c\n")),
            (Decoding::Json, "a\"b", Err("not the inside of a JSON string")),
            (Decoding::Base64, "YT9+Pw==", Ok("a?~?")),
            (Decoding::Base64, "YT9-Pw", Ok("a?~?")),
            (Decoding::Base64, "?", Err("not base64")),
            (Decoding::Base64, "/w==", Err("base64 of what is not UTF-8")),
            (Decoding::Jwt, "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.x", Ok(r#"{"sub":"a"}"#)),
            (Decoding::Jwt, "token", Err("not a JWT")),
            (Decoding::Lower, "A1-b", Ok("a1-b")),
            (Decoding::Upper, "A1-b", Ok("A1-B")),
        ] {
            assert_eq!(decoding.undo(text.into()).as_deref(), expected.as_deref(), "{decoding:?} {text}");
        }
    }
}
