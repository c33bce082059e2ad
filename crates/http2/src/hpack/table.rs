//! The static table (RFC 7541, appendix A).

/// Names and values; an index of the standard is one more than the position here.
#[rustfmt::skip]
pub(crate) const STATIC: [(&str, &str); 61] = [
    (":authority", ""),
    (":method", "GET"),
    (":method", "POST"),
    (":path", "/"),
    (":path", "/index.html"),
    (":scheme", "http"),
    (":scheme", "https"),
    (":status", "200"),
    (":status", "204"),
    (":status", "206"),
    (":status", "304"),
    (":status", "400"),
    (":status", "404"),
    (":status", "500"),
    ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"),
    ("accept-language", ""),
    ("accept-ranges", ""),
    ("accept", ""),
    ("access-control-allow-origin", ""),
    ("age", ""),
    ("allow", ""),
    ("authorization", ""),
    ("cache-control", ""),
    ("content-disposition", ""),
    ("content-encoding", ""),
    ("content-language", ""),
    ("content-length", ""),
    ("content-location", ""),
    ("content-range", ""),
    ("content-type", ""),
    ("cookie", ""),
    ("date", ""),
    ("etag", ""),
    ("expect", ""),
    ("expires", ""),
    ("from", ""),
    ("host", ""),
    ("if-match", ""),
    ("if-modified-since", ""),
    ("if-none-match", ""),
    ("if-range", ""),
    ("if-unmodified-since", ""),
    ("last-modified", ""),
    ("link", ""),
    ("location", ""),
    ("max-forwards", ""),
    ("proxy-authenticate", ""),
    ("proxy-authorization", ""),
    ("range", ""),
    ("referer", ""),
    ("refresh", ""),
    ("retry-after", ""),
    ("server", ""),
    ("set-cookie", ""),
    ("strict-transport-security", ""),
    ("transfer-encoding", ""),
    ("user-agent", ""),
    ("vary", ""),
    ("via", ""),
    ("www-authenticate", ""),
];

/// The positions of the headers' names by their length, 0 = none. A name with several values has its first position.
const BY_LENGTH: [[u8; 8]; 28] = by_length();

/// The position of a header's name, in lower case.
#[inline]
pub(crate) fn find(name: &[u8]) -> Option<usize> {
    let candidates = BY_LENGTH.get(name.len())?;
    let known = candidates.iter().map(|&position| usize::from(position)).take_while(|&position| position != 0);
    known.into_iter().find(|&position| STATIC[position].0.as_bytes() == name)
}

const fn by_length() -> [[u8; 8]; 28] {
    let mut table = [[0; 8]; 28];
    let mut position = 0;
    while position < STATIC.len() {
        let name = STATIC[position].0.as_bytes();
        if name[0] != b':' {
            let slots = &mut table[name.len()];
            let mut free = 0;
            while slots[free] != 0 {
                free += 1;
            }
            slots[free] = position as u8;
        }
        position += 1;
    }
    table
}
