//! 184 files of 20 kB on average, in memory. They are always the same.

use std::rc::Rc;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

const COUNT: usize = 184;
const MEAN_BYTES: f64 = 20_000.0;

/// Whole HTTP responses by number: `/7.bin` is number 7.
pub(crate) struct Files {
    replies: Vec<Rc<[u8]>>,
    missing: Rc<[u8]>,
}

impl Files {
    /// Sizes are lognormal, like those of the parts of a web page.
    pub(crate) fn new() -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(184);
        let sizes: Vec<f64> = (0..COUNT).map(|_| normal(&mut random).exp()).collect();
        let scale = MEAN_BYTES * COUNT as f64 / sizes.iter().sum::<f64>();
        let mut file = |size: f64| {
            let mut body = vec![0; (size * scale).round() as usize];
            random.fill_bytes(&mut body);
            reply("200 OK", &body)
        };
        Self { replies: sizes.into_iter().map(&mut file).collect(), missing: reply("404 Not Found", b"") }
    }

    /// The response to a request, from its head.
    pub(crate) fn reply(&self, request: &[u8]) -> Rc<[u8]> {
        let number = std::str::from_utf8(request)
            .ok()
            .and_then(|head| head.strip_prefix("GET /")?.split_once(".bin ")?.0.parse::<usize>().ok());
        Rc::clone(number.and_then(|number| self.replies.get(number)).unwrap_or(&self.missing))
    }
}

/// Standard normal: the sum of twelve uniform numbers has variance 1.
fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    (0..12).map(|_| f64::from(random.next_u32()) / f64::from(u32::MAX)).sum::<f64>() - 6.0
}

fn reply(status: &str, body: &[u8]) -> Rc<[u8]> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/octet-stream\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat().into()
}

#[cfg(test)]
mod tests {
    use super::Files;

    #[test]
    fn there_are_184_files_of_the_size_that_is_said() {
        let files = Files::new();
        assert_eq!(files.replies.len(), 184);
        let bytes: usize = files.replies.iter().map(|each| each.len()).sum();
        assert!((19_900..20_300).contains(&(bytes / 184)), "{}", bytes / 184);
    }

    #[test]
    fn a_request_has_the_file_that_it_names() {
        let files = Files::new();
        assert_eq!(files.reply(b"GET /7.bin HTTP/1.1\r\n\r\n"), files.replies[7]);
        for request in ["GET /184.bin HTTP/1.1", "GET / HTTP/1.1", "POST /7.bin HTTP/1.1", "\u{e9}"] {
            assert_eq!(files.reply(request.as_bytes()), files.missing, "{request}");
        }
    }
}
