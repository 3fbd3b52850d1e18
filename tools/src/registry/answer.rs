//! Requests to a registry, with limits for the size and the duration of their responses. The crate `oci-client` is not used for requests.
//! This crate collects manifests, tokens and the bodies of errors without a limit, so a registry could exhaust the memory. It also sends
//! passwords to addresses without TLS.

use std::error::Error as StdError;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use http_auth::parser::ChallengeParser;
use oci_client::Reference;
use reqwest::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, LOCATION, WWW_AUTHENTICATE};
use reqwest::redirect::{Action, Attempt, Policy};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use serde::Deserialize;

use super::foreign;
use crate::error::Error;

/// Time limit for connecting, and for each part of a response. A whole response has this limit plus the time that its bytes take at the
/// rate [`SLOWEST`].
const PATIENCE: Duration = Duration::from_secs(20);

/// Minimum rate of a request or response in bytes per millisecond: 100 kB/s.
const SLOWEST: u64 = 100;

/// Returns the time limit of an upload. An upload consists of several requests.
fn upload_limit(bytes: usize) -> Duration {
    PATIENCE * 3 + Duration::from_millis(bytes as u64 / SLOWEST)
}

/// Maximum size of a manifest in bytes, as in common registries.
pub(super) const LARGEST_MANIFEST: u64 = 4 << 20;

/// Maximum size of a token in bytes.
const LARGEST_TOKEN: u64 = 1 << 20;

/// Maximum number of bytes that are read from an error response.
const LARGEST_REFUSAL: u64 = 1 << 12;

/// Maximum number of redirects of a request.
const MOST_REDIRECTS: usize = 10;

/// Operations that a token permits.
const PULL: &str = "pull";
const PUSH: &str = "pull,push";

/// Response of a registry.
pub(super) enum Answer {
    Content(Vec<u8>),
    /// HTTP status, and the first bytes of the body.
    Refused {
        status: u16,
        body: Vec<u8>,
    },
}

/// Response that contains an access token. A registry uses one of the two field names, or both.
#[derive(Deserialize)]
struct Token {
    token: Option<String>,
    access_token: Option<String>,
}

/// Name and password of a user, and the registries that receive them. Does not implement `Debug`, because its output would contain the
/// password.
#[derive(Clone)]
pub(super) struct Login {
    pub(super) user: Option<(String, String)>,
    pub(super) registries: Vec<String>,
}

impl Login {
    /// Returns the name and the password for a registry. Returns `None` if the user has not allowed this registry to receive them.
    pub(super) fn of(&self, registry: &str) -> Option<(&str, &str)> {
        let (user, password) = self.user.as_ref().filter(|_| self.registries.iter().any(|known| known == registry))?;
        Some((user.as_str(), password.as_str()))
    }
}

/// HTTP client whose requests have limits for size and duration.
pub(super) struct Http {
    client: Client,
    /// Client for uploads. The response follows only after the whole upload, so this client has no time limit for parts of a response.
    uploads: Client,
    /// Registries that are accessed by plain HTTP.
    plain: Vec<String>,
    login: Login,
}

impl Http {
    /// Creates a client for registries on this machine if `is_local` is `true`, otherwise for other registries. A request to this machine
    /// must not pass through a proxy of the environment, because the request has no TLS.
    ///
    /// # Errors
    /// Fails if the system has no certificates.
    pub(super) fn new(is_local: bool, plain: Vec<String>, login: Login) -> Result<Self, reqwest::Error> {
        let client = |policy: fn(Attempt<'_>) -> Action| {
            let client = Client::builder().user_agent("alcedo").connect_timeout(PATIENCE);
            let client = if is_local { client.no_proxy() } else { client };
            client.redirect(Policy::custom(policy))
        };
        let (client, uploads) = (client(redirect).read_timeout(PATIENCE).build()?, client(redirect_upload).build()?);
        Ok(Self { client, uploads, plain, login })
    }

    /// Requests `path` of the repository: `manifests/…` or `blobs/…`. The returned content has at most `most` bytes.
    ///
    /// # Errors
    /// Fails if the registry cannot be reached, is too slow, or sends more than `most` bytes.
    pub(super) async fn get(
        &self,
        reference: &Reference,
        path: &str,
        accept: &str,
        most: u64,
    ) -> Result<Answer, Error> {
        let mut exchange = Exchange::new(self, reference, PULL, PATIENCE);
        let url = exchange.url(path);
        let mut response = exchange.send(|| self.client.get(&url).header(ACCEPT, accept)).await?;
        if response.status() != StatusCode::OK {
            return Ok(exchange.refused(response).await);
        }
        let (content, is_whole) = collect(&mut exchange.clock, most, async || response.chunk().await).await?;
        if !is_whole {
            bail!(
                "the answer is longer than {most} bytes; nothing of it is used: push the module again, or use another registry"
            );
        }
        Ok(Answer::Content(content))
    }

    /// Uploads `bytes` to `manifests/…` of the repository. The response has no content.
    ///
    /// # Errors
    /// Fails if the registry cannot be reached, or is too slow.
    pub(super) async fn put_manifest(
        &self,
        reference: &Reference,
        path: &str,
        media_type: &str,
        bytes: &[u8],
    ) -> Result<Answer, Error> {
        let mut exchange = Exchange::new(self, reference, PUSH, upload_limit(bytes.len()));
        let address = Url::parse(&exchange.url(path))?;
        exchange.put(&address, media_type, bytes).await
    }

    /// Uploads a blob with this digest. Does nothing if the registry already has this blob. The response has no content.
    ///
    /// # Errors
    /// Fails if the registry cannot be reached, is too slow, or returns no valid address for the upload.
    pub(super) async fn put_blob(&self, reference: &Reference, digest: &str, bytes: &[u8]) -> Result<Answer, Error> {
        let mut exchange = Exchange::new(self, reference, PUSH, upload_limit(bytes.len()));
        let (blob, uploads) = (exchange.url(&format!("blobs/{digest}")), exchange.url("blobs/uploads/"));
        // Ignores errors. The registry may redirect this request to a storage that only hosts can reach, and the upload does not need this
        // storage.
        let existing = exchange.send(|| self.client.head(&blob)).await;
        if existing.is_ok_and(|existing| existing.status() == StatusCode::OK) {
            return Ok(Answer::Content(Vec::new()));
        }
        let begun = exchange.send(|| self.client.post(&uploads).header(CONTENT_LENGTH, "0")).await?;
        if begun.status() != StatusCode::ACCEPTED {
            return Ok(exchange.refused(begun).await);
        }
        let location = begun.headers().get(LOCATION).and_then(|location| location.to_str().ok());
        let address = upload_address(begun.url(), location.unwrap_or_default(), digest)?;
        exchange.put(&address, "application/octet-stream", bytes).await
    }
}

/// Credentials that a registry has requested.
enum Credentials {
    None,
    /// Name and password of the user.
    User,
    Token(String),
}

/// Requests to one repository that share credentials and a time limit.
struct Exchange<'a> {
    http: &'a Http,
    reference: &'a Reference,
    /// Address of the repository.
    base: String,
    /// Operations for which the registry must grant access.
    actions: &'static str,
    clock: Clock,
    credentials: Credentials,
}

impl<'a> Exchange<'a> {
    fn new(http: &'a Http, reference: &'a Reference, actions: &'static str, patience: Duration) -> Self {
        let registry = reference.resolve_registry();
        let scheme = if http.plain.iter().any(|plain| plain == registry) { "http" } else { "https" };
        let base = format!("{scheme}://{registry}/v2/{}", reference.repository());
        Self { http, reference, base, actions, clock: Clock::new(patience), credentials: Credentials::None }
    }

    fn url(&self, path: &str) -> String {
        format!("{}/{path}", self.base)
    }

    /// Returns the user's name and password, if the registry may receive them.
    fn user(&self) -> Option<(&'a str, &'a str)> {
        self.http.login.of(self.reference.resolve_registry())
    }

    /// Checks if an address belongs to the registry. Only these addresses receive credentials.
    fn is_own(&self, address: &Url) -> bool {
        Url::parse(&self.base).is_ok_and(|own| own.origin() == address.origin())
    }

    /// Sends a request to the registry. If the registry requests credentials, sends the request again with these credentials.
    ///
    /// # Errors
    /// Fails if the registry cannot be reached, is too slow, or requests a token without TLS.
    async fn send(&mut self, request: impl Fn() -> RequestBuilder) -> Result<Response, Error> {
        let response = self.clock.within(self.authorized(request()).send()).await?;
        // Ignores a request for credentials from an address behind a redirect, because this address must not receive the password of the
        // registry.
        if response.status() != StatusCode::UNAUTHORIZED || !self.is_own(response.url()) {
            return Ok(response);
        }
        self.credentials = self.requested(&response).await?;
        match self.credentials {
            Credentials::None => Ok(response),
            _ => self.clock.within(self.authorized(request()).send()).await,
        }
    }

    /// Uploads bytes to `address`. Sends no credentials if the address does not belong to the registry.
    ///
    /// # Errors
    /// Fails if the address cannot be reached, or is too slow.
    async fn put(&mut self, address: &Url, media_type: &str, bytes: &[u8]) -> Result<Answer, Error> {
        let http = self.http;
        let put = || http.uploads.put(address.clone()).header(CONTENT_TYPE, media_type).body(bytes.to_vec());
        let response =
            if self.is_own(address) { self.send(put).await? } else { self.clock.within(put().send()).await? };
        if response.status().is_success() { Ok(Answer::Content(Vec::new())) } else { Ok(self.refused(response).await) }
    }

    fn authorized(&self, request: RequestBuilder) -> RequestBuilder {
        match (&self.credentials, self.user()) {
            (Credentials::Token(token), _) => request.bearer_auth(token),
            (Credentials::User, Some((user, password))) => request.basic_auth(user, Some(password)),
            _ => request,
        }
    }

    /// Returns the credentials that the registry requests in the response `refused`. Returns [`Credentials::None`] if the registry requests
    /// no token, and the user has no password for the registry.
    ///
    /// # Errors
    /// Fails if the address that issues tokens cannot be reached. Also fails if this address has no TLS, although the registry is accessed
    /// through TLS.
    async fn requested(&mut self, refused: &Response) -> Result<Credentials, Error> {
        let user = self.user();
        let mut headers = refused.headers().get_all(WWW_AUTHENTICATE).iter();
        let Some((realm, service)) = headers.find_map(|header| bearer(header.to_str().ok()?)) else {
            return Ok(if user.is_some() { Credentials::User } else { Credentials::None });
        };
        if self.base.starts_with("https:") && !realm.starts_with("https://") {
            bail!("it requests tokens of {} without TLS: use a registry whose tokens are protected", foreign(&realm));
        }
        let mut query = vec![("scope", format!("repository:{}:{}", self.reference.repository(), self.actions))];
        query.extend(service.map(|service| ("service", service)));
        let mut token = self.http.client.get(&realm).query(&query);
        if let Some((user, password)) = user {
            token = token.basic_auth(user, Some(password));
        }
        let mut response = self.clock.within(token.send()).await?;
        if !response.status().is_success() {
            return Ok(Credentials::None);
        }
        let (token, _) = collect(&mut self.clock, LARGEST_TOKEN, async || response.chunk().await).await?;
        let token = serde_json::from_slice::<Token>(&token).ok().and_then(|found| found.token.or(found.access_token));
        let token = token.ok_or_else(|| anyhow!("{} has returned no token: check the registry", foreign(&realm)))?;
        Ok(Credentials::Token(token))
    }

    /// Returns the status and the first bytes of an error response. Returns the status even if the body cannot be read.
    async fn refused(&mut self, mut response: Response) -> Answer {
        let status = response.status().as_u16();
        let body = collect(&mut self.clock, LARGEST_REFUSAL, async || response.chunk().await).await;
        Answer::Refused { status, body: body.map(|(body, _)| body).unwrap_or_default() }
    }
}

/// Returns the address for the content of an upload. `begun` is the address that has returned `location`.
///
/// # Errors
/// Fails if `location` is not an address, or if it has no TLS although `begun` has TLS.
fn upload_address(begun: &Url, location: &str, digest: &str) -> Result<Url, Error> {
    let address = begun.join(location).ok().filter(|_| !location.is_empty());
    let Some(mut address) = address else { bail!("it returns no address for the upload: check the registry") };
    if leaves_tls([begun.scheme()].into_iter(), address.scheme()) {
        bail!("it requests the upload to {} without TLS: use a registry that keeps TLS", foreign(address.as_str()));
    }
    address.query_pairs_mut().append_pair("digest", digest);
    Ok(address)
}

/// Follows a redirect unless it changes from TLS to plain HTTP. Without TLS, an attacker on the network could replace the content of a tag,
/// which no digest protects.
fn redirect(attempt: Attempt<'_>) -> Action {
    let leaves = leaves_tls(attempt.previous().iter().map(|url| url.scheme()), attempt.url().scheme());
    if leaves {
        attempt.error("it redirects to an address without TLS")
    } else if attempt.previous().len() > MOST_REDIRECTS {
        attempt.error("it redirects too often")
    } else {
        attempt.follow()
    }
}

/// Follows a redirect of an upload if the redirect keeps the method. The page behind another redirect, for example to a login, answers with
/// success, but stores no content.
fn redirect_upload(attempt: Attempt<'_>) -> Action {
    match attempt.status() {
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => redirect(attempt),
        _ => attempt.stop(),
    }
}

/// Checks if a redirect to `next` leaves TLS. `previous` contains the schemes of the earlier addresses.
fn leaves_tls<'a>(mut previous: impl Iterator<Item = &'a str>, next: &str) -> bool {
    next != "https" && previous.any(|scheme| scheme == "https")
}

/// Parses a header `WWW-Authenticate`. Returns the address that issues tokens, and the service for which the tokens are valid.
fn bearer(header: &str) -> Option<(String, Option<String>)> {
    let mut challenges = ChallengeParser::new(header).filter_map(Result::ok);
    let challenge = challenges.find(|challenge| challenge.scheme.eq_ignore_ascii_case("Bearer"))?;
    let value = |name: &str| {
        let found = challenge.params.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.to_unescaped())
    };
    Some((value("realm")?, value("service")))
}

/// Elapsed time and received bytes of a request, with its time limit.
struct Clock {
    begun: Instant,
    patience: Duration,
    received: u64,
}

impl Clock {
    fn new(patience: Duration) -> Self {
        Self { begun: Instant::now(), patience, received: 0 }
    }

    /// Returns the time limit for the whole request. The limit grows with the number of received bytes, because the size of the response is
    /// not known in advance.
    fn limit(&self) -> Duration {
        self.patience + Duration::from_millis(self.received / SLOWEST)
    }

    /// Waits until the next part of the request or response is complete, within the time limit.
    ///
    /// # Errors
    /// Fails if the part fails, or if it is not complete within the limit.
    async fn within<T, E: StdError + Send + Sync + 'static>(
        &self,
        part: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Error> {
        match tokio::time::timeout(self.limit().saturating_sub(self.begun.elapsed()), part).await {
            Ok(Ok(part)) => Ok(part),
            Ok(Err(error)) => bail!(
                "{}; is the registry running, and is it accessed by TLS or by `--plain-http`?",
                foreign(&format!("{:#}", Error::from(error)))
            ),
            Err(_) => bail!(
                "the registry is too slow: {} bytes in {:.1} s; check the network, or try later",
                self.received,
                self.begun.elapsed().as_secs_f64()
            ),
        }
    }
}

/// Collects at most `most` bytes from the parts of a response. Also returns `true` if the response has no further bytes.
///
/// # Errors
/// Fails if a part fails, or if the response is too slow.
async fn collect<B: AsRef<[u8]>, E: StdError + Send + Sync + 'static>(
    clock: &mut Clock,
    most: u64,
    mut next: impl AsyncFnMut() -> Result<Option<B>, E>,
) -> Result<(Vec<u8>, bool), Error> {
    let mut bytes = Vec::new();
    while let Some(part) = clock.within(next()).await? {
        let part = part.as_ref();
        clock.received += part.len() as u64;
        let room = usize::try_from(most).unwrap_or(usize::MAX).saturating_sub(bytes.len());
        bytes.extend_from_slice(&part[..part.len().min(room)]);
        if part.len() > room {
            return Ok((bytes, false));
        }
    }
    Ok((bytes, true))
}

/// Returns the hint for an HTTP status.
pub(super) fn advice(status: u16) -> &'static str {
    match status {
        401 | 403 => {
            "set ALCEDO_REGISTRY_USER and ALCEDO_REGISTRY_PASSWORD to a user with access; list the registry in ALCEDO_REGISTRY_HOSTS, if \
             this variable is set"
        }
        408 | 429 => "the registry limits the requests: try later",
        500.. => "the registry has failed: check its state, or try later",
        _ => "check the name and the digest with `alcedo push`, which prints both",
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::time::Duration;

    use reqwest::Url;

    use super::{Clock, PATIENCE, advice, bearer, collect, leaves_tls, upload_address, upload_limit};

    fn run<T>(part: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(part)
    }

    #[test]
    fn an_endless_answer_is_cut() {
        let endless = async || Ok::<_, Infallible>(Some([b'x'; 1000]));
        let (bytes, is_whole) = run(collect(&mut Clock::new(PATIENCE), 4096, endless)).expect("a part");
        assert_eq!((bytes.len(), is_whole), (4096, false));
        let mut parts = vec!["b", "a"];
        let short = async || Ok::<_, Infallible>(parts.pop());
        let whole = run(collect(&mut Clock::new(PATIENCE), 2, short)).expect("an answer");
        assert_eq!(whole, (b"ab".to_vec(), true));
    }

    #[test]
    fn a_slow_answer_ends_although_each_part_is_in_time() {
        let slow = async || {
            tokio::time::sleep(Duration::from_millis(5)).await;
            Ok::<_, Infallible>(Some(b"x"))
        };
        let error = run(collect(&mut Clock::new(Duration::from_millis(50)), 1 << 20, slow)).expect_err("too slow");
        assert!(error.to_string().starts_with("the registry is too slow: "), "{error}");
        let mut clock = Clock::new(PATIENCE);
        assert_eq!(clock.limit(), Duration::from_secs(20));
        clock.received = 1_000_000;
        assert_eq!(clock.limit(), Duration::from_secs(30));
    }

    #[test]
    fn the_address_of_tokens_is_read_from_the_header() {
        let header = "Basic realm=\"a\", Bearer realm=\"https://auth.example/token\",service=\"r\",scope=\"s\"";
        assert_eq!(bearer(header), Some(("https://auth.example/token".to_owned(), Some("r".to_owned()))));
        assert_eq!(bearer("Bearer realm=\"https://auth.example\""), Some(("https://auth.example".to_owned(), None)));
        assert_eq!(bearer("Basic realm=\"a\""), None);
    }

    #[test]
    fn no_redirect_leaves_tls() {
        for (previous, next, expected) in [
            (&["https"][..], "http", true),
            (&["http", "https"][..], "http", true),
            (&["https"][..], "https", false),
            (&["http"][..], "http", false),
            (&["http"][..], "https", false),
        ] {
            assert_eq!(leaves_tls(previous.iter().copied(), next), expected, "{previous:?} {next}");
        }
    }

    #[test]
    fn an_upload_without_end_is_ended() {
        let endless = std::future::pending::<Result<(), Infallible>>();
        let error = run(Clock::new(Duration::from_millis(5)).within(endless)).expect_err("too slow");
        assert!(error.to_string().starts_with("the registry is too slow: "), "{error}");
        assert_eq!(upload_limit(10_000_000), Duration::from_secs(160));
    }

    #[test]
    fn the_address_of_an_upload_stays_within_tls() {
        let begun = Url::parse("https://a.example/v2/lamp/blobs/uploads/").expect("an address");
        let address = |location: &str| upload_address(&begun, location, "sha256:1").map(|found| found.to_string());
        assert_eq!(address("/up?state=a%3D").expect("an address"), "https://a.example/up?state=a%3D&digest=sha256%3A1");
        assert_eq!(address("https://b.example/").expect("an address"), "https://b.example/?digest=sha256%3A1");
        assert!(address("http://a.example/up").expect_err("no TLS").to_string().contains("without TLS"));
        assert!(address("").expect_err("no address").to_string().contains("no address"));
    }

    #[test]
    fn a_busy_registry_is_not_a_wrong_name() {
        assert!(advice(429).contains("try later") && advice(503).contains("try later"));
        assert!(advice(404).contains("check the name"));
    }

    #[test]
    fn a_refused_user_may_lack_an_entry_in_the_hosts_of_the_password() {
        assert!(["ALCEDO_REGISTRY_USER", "ALCEDO_REGISTRY_HOSTS"].iter().all(|name| advice(401).contains(name)));
    }
}
