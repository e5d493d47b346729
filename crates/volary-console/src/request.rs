//! The head of a request of HTTP/1.x, read from bytes; no I/O.

/// How long the head of a request may be.
pub(crate) const MAX_HEAD: usize = 8 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Head,
    Other,
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: Method,
    /// Without the query.
    pub(crate) path: String,
}

/// Why a request is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Malformed {
    /// Not HTTP, or broken.
    Syntax,
    /// Longer than [`MAX_HEAD`].
    TooLarge,
    /// HTTP, but of a version that is not spoken here.
    Version,
}

/// Reads what has come so far; `None`: there must be more.
pub(crate) fn read(bytes: &[u8]) -> Result<Option<Request>, Malformed> {
    // Whoever does not even begin as a request is not waited for.
    let first = bytes.iter().take(16).take_while(|byte| **byte != b' ');
    if !first.clone().all(u8::is_ascii_uppercase) || first.count() == 16 {
        return Err(Malformed::Syntax);
    }
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
        return match bytes.len() {
            0..MAX_HEAD => Ok(None),
            _ => Err(Malformed::TooLarge),
        };
    };
    if end + 4 > MAX_HEAD {
        return Err(Malformed::TooLarge);
    }
    let head = std::str::from_utf8(&bytes[..end]).map_err(|_| Malformed::Syntax)?;
    let mut lines = head.split("\r\n");
    let request = request_line(lines.next().unwrap_or_default())?;
    for line in lines {
        let (name, _) = line.split_once(':').ok_or(Malformed::Syntax)?;
        let sound = |byte: u8| byte.is_ascii_graphic() && !b"\"(),/:;<=>?@[\\]{}".contains(&byte);
        if name.is_empty() || !name.bytes().all(sound) || line.contains(['\r', '\n', '\0']) {
            return Err(Malformed::Syntax);
        }
    }
    Ok(Some(request))
}

fn request_line(line: &str) -> Result<Request, Malformed> {
    let mut words = line.split(' ');
    let (Some(method), Some(target), Some(version), None) = (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(Malformed::Syntax);
    };
    match version.strip_prefix("HTTP/") {
        Some("1.1" | "1.0") => {}
        Some(_) => return Err(Malformed::Version),
        None => return Err(Malformed::Syntax),
    }
    if method.is_empty() || target.is_empty() || !target.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Malformed::Syntax);
    }
    let path = target.split('?').next().unwrap_or(target).to_owned();
    let method = match method {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        _ => Method::Other,
    };
    Ok(Request { method, path })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str) -> Result<Option<Request>, Malformed> {
        read(text.as_bytes())
    }

    #[test]
    fn o3_a_request_is_read_when_all_of_its_head_is_there() {
        let text = "GET /metrics?x=1 HTTP/1.1\r\nHost: a\r\n\r\n";
        for end in 0..text.len() {
            assert_eq!(asked(&text[..end]), Ok(None), "{end}");
        }
        let request = asked(text).unwrap().unwrap();
        assert_eq!((request.method, request.path.as_str()), (Method::Get, "/metrics"));
        assert_eq!(
            asked("HEAD / HTTP/1.0\r\n\r\nmore").unwrap().unwrap().method,
            Method::Head
        );
        assert_eq!(asked("BREW / HTTP/1.1\r\n\r\n").unwrap().unwrap().method, Method::Other);
    }

    #[test]
    fn o3_what_is_no_request_is_refused_as_soon_as_that_can_be_seen() {
        for text in [
            "\x16\x03\x01\x02",
            "get / HTTP/1.1\r\n\r\n",
            "\r\n\r\n",
            "AAAAAAAAAAAAAAAAAAAAAAAA",
            "GET / HTTP/1.1 x\r\n\r\n",
            "GET /\r\n\r\n",
            "GET  HTTP/1.1\r\n\r\n",
            "GET / FTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nno colon\r\n\r\n",
            "GET / HTTP/1.1\r\na b: c\r\n\r\n",
            "GET / HTTP/1.1\r\na: b\nc: d\r\n\r\n",
            "GET /\u{e9} HTTP/1.1\r\n\r\n",
        ] {
            assert_eq!(asked(text), Err(Malformed::Syntax), "{text:?}");
        }
        assert_eq!(read(b"GET / HTTP/1.1\r\na: \xff\r\n\r\n"), Err(Malformed::Syntax));
        assert_eq!(asked("PRI * HTTP/2.0\r\n\r\n"), Err(Malformed::Version));
    }

    #[test]
    fn o3_a_head_that_is_too_long_is_refused_with_and_without_an_end() {
        let long = format!("GET / HTTP/1.1\r\na: {}", "x".repeat(MAX_HEAD));
        assert_eq!(asked(&long), Err(Malformed::TooLarge));
        assert_eq!(asked(&format!("{long}\r\n\r\n")), Err(Malformed::TooLarge));
        let fits = format!("GET / HTTP/1.1\r\na: {}\r\n\r\n", "x".repeat(MAX_HEAD - 23));
        assert_eq!(fits.len(), MAX_HEAD);
        assert!(asked(&fits).unwrap().is_some());
    }
}
