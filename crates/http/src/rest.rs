//! Bytes that are left over from one feed to the next.

/// Bytes that were not taken: the start of something whose end has not arrived, or all that was left when there was no
/// more work.
#[derive(Debug, Default)]
pub struct Rest(Vec<u8>);

impl Rest {
    /// Passes what is left, followed by these bytes, to `take`, which returns how many of them it took. The others are
    /// left for the next time. Bytes that are all taken at once are not copied. After an error the rest is of no use.
    pub fn feed<E>(&mut self, bytes: &[u8], take: impl FnOnce(&[u8]) -> Result<usize, E>) -> Result<(), E> {
        if self.0.is_empty() {
            let taken = take(bytes)?;
            self.0.extend_from_slice(&bytes[taken..]);
        } else {
            self.0.extend_from_slice(bytes);
            let taken = take(&self.0)?;
            self.0.drain(..taken);
        }
        Ok(())
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether all bytes were taken.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::Rest;

    #[test]
    fn what_is_not_taken_comes_again_before_the_next_bytes() {
        let (mut rest, mut seen) = (Rest::default(), Vec::new());
        for (bytes, takes) in [("abc", 1), ("de", 0), ("", 4), ("f", 1), ("gh", 2)] {
            let fed: Result<(), ()> = rest.feed(bytes.as_bytes(), |all| {
                seen.push(String::from_utf8_lossy(all).into_owned());
                Ok(takes)
            });
            assert_eq!(fed, Ok(()));
        }
        assert_eq!(seen, ["abc", "bcde", "bcde", "f", "gh"]);
        assert_eq!((rest.len(), rest.is_empty()), (0, true));
        assert_eq!(rest.feed(b"x", |_| Err("wrong")), Err("wrong"));
    }
}
