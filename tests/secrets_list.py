"""Secrets as they occur in what a load test meets, each with a marker that no output may hold."""

from __future__ import annotations

MARK = "Zq7"
"""All markers begin so, and nothing else does."""


def _numbered(texts: tuple[str, ...]) -> dict[str, str]:
    """The texts by their markers, which stand where they have a @."""
    marked = {}
    for number, text in enumerate(texts):
        marker = f"{MARK}{number:02}kF4mWx9Lp2Rt8Nv5Bc3Hd"
        marked[marker] = text.replace("@@", marker)
    return marked


JWT = "eyJhbGciOiJIUzI1NiJ9.@@.c2lnbmF0dXJl"

SECRETS = _numbered(
    (
        # URLs
        "http://ann:@@@example.org/",
        "https://@@@example.org/repo",
        "postgresql+psycopg://ann:@@@db:5432/runs",
        "redis://:@@@cache/0",
        "amqp://guest:@@@queue",
        "GET 'http://ann:@@@127.0.0.1/d' failed",
        # queries and forms
        "/items?token=@@",
        "/a?s=${hmac_sha256_base64:@@:${now}}",
        "/items?a=1&access_token=@@&b=2",
        "/items?api_key=@@#x",
        "/items?apikey=@@",
        "/cb?code=@@&state=1",
        "/maps?key=@@",
        "/files?sig=@@&se=2026",
        "/s3?X-Amz-Signature=@@",
        "/s3?X-Amz-Security-Token=@@",
        "/login?user=ann&password=@@",
        "username=ann&password=@@",
        "grant_type=password&client_secret=@@&scope=x",
        "user%3Dann%26password%3D@@",
        "/items;jsessionid=@@?x=1",
        "refresh_token=@@",
        # headers
        "Authorization: Bearer @@",
        "authorization: Basic @@==",
        "Proxy-Authorization: Basic @@",
        "Cookie: a=@@; b=2",
        "Set-Cookie: session=@@; Path=/",
        "X-Api-Key: @@",
        "X-Session: @@",
        "X-JWT: @@",
        "X-Signature: @@",
        "X-Auth-Token: @@",
        "X-CSRF-Token: @@",
        "Ocp-Apim-Subscription-Key: @@",
        "sent 'X-Access-Token: @@' and more",
        "{'Authorization': 'Bearer @@'}",
        "[('Cookie', 'sid=@@')]",
        "[(b'x-api-key', b'@@')]",
        "--header 'X-Secret: @@'",
        # bodies
        '{"user": "ann", "password": "@@"}',
        '{"password":"a\\"b@@"}',
        "{'passwd': '@@'}",
        '{"accessToken": "@@"}',
        '"{\\\\"client_secret\\\\": \\\\"@@\\\\"}"',
        '{"db": {"private_key": "@@"}}',
        '{"sessionId": "@@"}',
        "<password>@@</password>",
        "<wsse:Password>@@</wsse:Password>",
        "password: @@",
        "  api_key: @@",
        "DB_PASSWORD=@@",
        "secret = @@",
        "pwd='@@'",
        "user[password]=@@",
        'Content-Disposition: form-data; name="password"\r\n\r\n@@\r\n--b',
        "<wsse:Password Type='text'>@@</wsse:Password>",
        '{"dbPassword1": "@@',
        # sentences and command lines
        "password '@@' was refused",
        'invalid token "@@"',
        "login failed (password: @@)",
        "auth=('ann', '@@')",
        "server --password @@ --port 80",
        "curl --user ann:@@ http://h/",
        # by themselves
        JWT,
        "the token is " + JWT,
        "AccountName=a;AccountKey=@@;",
        "AWS_SECRET_ACCESS_KEY=@@",
        "ghp_@@00",
        "sk-proj-@@",
        "xoxb-@@",
        "key AIza@@0000000000000",
        "glpat-@@",
        "-----BEGIN RSA PRIVATE KEY-----\n@@\n@@\n-----END RSA PRIVATE KEY-----",
        # subprotocols of WebSockets
        "access_token.@@",
        "['base64url.bearer.authorization.k8s.io.@@']",
        # options
        "--password=@@",
        "AssertionError: expected 200 of /x?token=@@, got 500",
    )
)

HARMLESS = (
    "plimsoll run plan.toml --out prometheus=https://h/api/v1/remote_write,auth=sigv4,region=eu-central-1",
    "csrf=${csrf}&password=${account.password}",
    "plimsoll run http://h/chat --stream llm --slo first_token=500ms --slo time_per_token=1m30s -u 2",
    "POST /reset-password: timeout",
    "no password, 'ann' is unknown",
    "Unexpected token '<' in JSON at position 0",
    "/tokens",
    "/password-reset",
    "/api/session/5",
    "GET /items?page=2&sort=name",
    "token_count=5",
    "max_tokens=100",
    "HTTP 404: code=404",
    "session expired",
    "Basic authentication failed",
    "digest mismatch",
    "signature mismatch: expected 5",
    "cookie jar has 3",
    "author=bob",
    "secretary=5",
    "design=flat",
    "authority=x",
    "token=None",
    "def read(db: Session = Depends(get_db)):",
    "session = client.session()",
    "assert token == 5",
    "invalid token",
    "KeyError: 'token'",
    "the password is wrong",
    "10 passwords: 3 wrong",
    "keyboard=qwerty",
    "monkey=5",
    "500 Server Error: Internal Server Error for url: /todos/",
    "a: b",
    "12:30:45 ok",
    "[2026-11-23 15:00:00,123] vm/INFO: x",
    "Connection refused (127.0.0.1:53412)",
    "sk-",
    "Bearer",
    "task-force",
    "/code?key=1",
    "/oauth/authorize?code=short",
    "ssl.SSLError: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate (_ssl.c:1006)",
)
"""What looks a little like a secret and must stay as it is."""
