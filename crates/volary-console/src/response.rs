//! An answer, and how it is written.

use crate::request::Method;

const PLAIN: &str = "text/plain; charset=utf-8";
/// What Prometheus knows its text format by.
const EXPOSITION: &str = "text/plain; version=0.0.4; charset=utf-8";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Ok,
    BadRequest,
    NotFound,
    MethodNotAllowed,
    RequestTimeout,
    HeadTooLarge,
    Internal,
    Unavailable,
    Version,
}

impl Status {
    fn line(self) -> &'static str {
        match self {
            Status::Ok => "200 OK",
            Status::BadRequest => "400 Bad Request",
            Status::NotFound => "404 Not Found",
            Status::MethodNotAllowed => "405 Method Not Allowed",
            Status::RequestTimeout => "408 Request Timeout",
            Status::HeadTooLarge => "431 Request Header Fields Too Large",
            Status::Internal => "500 Internal Server Error",
            Status::Unavailable => "503 Service Unavailable",
            Status::Version => "505 HTTP Version Not Supported",
        }
    }
}

#[derive(Debug)]
pub(crate) struct Response {
    status: Status,
    content_type: &'static str,
    body: String,
}

impl Response {
    pub(crate) fn text(status: Status, body: &str) -> Self {
        Response {
            status,
            content_type: PLAIN,
            body: format!("{body}\n"),
        }
    }

    pub(crate) fn exposition(body: String) -> Self {
        Response {
            status: Status::Ok,
            content_type: EXPOSITION,
            body,
        }
    }

    /// All of it; without the body for a request that wants the head alone.
    pub(crate) fn into_bytes(self, method: Method) -> Vec<u8> {
        let allow = match self.status {
            Status::MethodNotAllowed => "Allow: GET, HEAD\r\n",
            _ => "",
        };
        let mut text = format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{allow}Cache-Control: no-store\r\n\
             X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
            self.status.line(),
            self.content_type,
            self.body.len(),
        );
        if method != Method::Head {
            text.push_str(&self.body);
        }
        text.into_bytes()
    }
}
