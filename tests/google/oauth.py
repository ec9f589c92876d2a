"""Google's OAuth 2.0 endpoints: authorise, token (RFC 6749, 7636, 7523, with Google's sentences)."""

import hashlib
import secrets
import time
from base64 import b64decode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from html import escape
from typing import Any
from urllib.parse import parse_qsl, unquote_plus, urlencode, urlsplit

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256

from tests.google.accounts import Accounts, Client, Code
from tests.google.answers import Answer, Call, json_answer

_JWT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_MINUTES_10 = 600
_NOT_KEPT = {"cache-control": "no-store"}


class _Denied(Exception):
    def __init__(self, error: str, description: str, status: int = 400) -> None:
        super().__init__(error)
        self.error, self.description, self.status = error, description, status


class OAuth:
    """The three pages; `audiences` are the addresses that a service account's assertion may name."""

    def __init__(self, accounts: Accounts) -> None:
        self.accounts = accounts
        self.audiences = {"https://oauth2.googleapis.com/token"}
        self.refreshes = 0

    def authorise(self, call: Call) -> Answer:
        """Sends the browser back at once, with a code for the user of `login_hint` or the one configured."""
        ask = call.parameters.text
        client = self.accounts.clients.get(ask("client_id") or "")
        if client is None:
            return _page(401, "invalid_client", "The OAuth client was not found.")
        redirect = ask("redirect_uri") or ""
        if not _may_return(client, redirect):
            return _page(400, "redirect_uri_mismatch", "You can't sign in because this app sent an invalid request.")
        scopes = frozenset((ask("scope") or "").split())
        method = ask("code_challenge_method") or "plain"
        if ask("response_type") != "code" or not scopes or method not in {"plain", "S256"}:
            return _page(400, "invalid_request", "Required parameter is missing or invalid.")
        back = {"state": state} if (state := ask("state")) is not None else {}
        email = ask("login_hint") or self.accounts.chosen or next(iter(self.accounts.world.users), "")
        if self.accounts.consent == "deny" or email not in self.accounts.world.users:
            return _redirect(redirect, {"error": "access_denied", **back})
        code = "4/0A" + secrets.token_urlsafe(48)
        known = (client.id, email) in self.accounts.consented
        # A refresh token comes with the first consent only, unless the app asks for consent again.
        offline = ask("access_type") == "offline" and (not known or "consent" in (ask("prompt") or ""))
        self.accounts.consented.add((client.id, email))
        self.accounts.codes[code] = Code(
            email, scopes, client.id, redirect, ask("code_challenge"), method, offline, time.time() + _MINUTES_10
        )
        return _redirect(redirect, {**back, "code": code, "scope": " ".join(sorted(scopes))})

    def token(self, call: Call) -> Answer:
        """A token for a code, a refresh token or a service account's assertion."""
        try:
            return json_answer(self._grant(_form(call)), headers=_NOT_KEPT)
        except _Denied as denied:
            body = {"error": denied.error, "error_description": denied.description}
            return json_answer(body, denied.status, _NOT_KEPT)

    def _grant(self, form: Mapping[str, str]) -> dict[str, Any]:
        match form.get("grant_type"):
            case "authorization_code":
                return self._from_code(form)
            case "refresh_token":
                return self._from_refresh(form)
            case grant if grant == _JWT:
                return self._from_assertion(form.get("assertion", ""))
            case grant:
                raise _Denied("unsupported_grant_type", f"Invalid grant_type: {grant or ''}")

    def _from_code(self, form: Mapping[str, str]) -> dict[str, Any]:
        client = self._client(form)
        code = self.accounts.codes.pop(form.get("code", ""), None)
        if code is None or code.client != client.id or code.until < time.time():
            raise _Denied("invalid_grant", "Malformed auth code.")
        if form.get("redirect_uri") != code.redirect:
            raise _Denied("redirect_uri_mismatch", "Bad Request")
        if code.challenge is not None:
            verifier = form.get("code_verifier")
            if not verifier:
                raise _Denied("invalid_grant", "Missing code verifier.")
            hashed = urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
            if code.challenge != (hashed if code.method == "S256" else verifier):
                raise _Denied("invalid_grant", "Invalid code verifier.")
        if not code.offline:
            return self._granted(code.email, code.scopes, None)
        refresh = self.accounts.refresh_token(code.email, code.scopes, client=client.id)
        return self._granted(code.email, code.scopes, refresh) | {"refresh_token": refresh}

    def _from_refresh(self, form: Mapping[str, str]) -> dict[str, Any]:
        client = self._client(form)
        token = form.get("refresh_token", "")
        found = self.accounts.refresh.get(token)
        late = found is not None and found.until is not None and found.until < time.time()
        if found is None or found.revoked or late or found.client != client.id:
            raise _Denied("invalid_grant", "Token has been expired or revoked." if found else "Bad Request")
        scopes = frozenset(form.get("scope", "").split()) or found.scopes
        if not scopes <= found.scopes:
            raise _Denied("invalid_scope", "Bad Request")
        return self._granted(found.email, scopes, token)

    def _from_assertion(self, assertion: str) -> dict[str, Any]:
        try:
            head, body, signature = assertion.split(".")
            header, claims = (msgspec.json.decode(_unpadded(part)) for part in (head, body))
            service = self.accounts.services.get(claims["iss"])
            issued, expires = float(claims["iat"]), float(claims["exp"])
            audience, scopes = claims["aud"], frozenset(claims.get("scope", "").split())
        except (ValueError, KeyError, TypeError, msgspec.DecodeError) as error:
            raise _Denied("invalid_grant", "Invalid JWT: Failed to parse.") from error
        if service is None:
            raise _Denied("invalid_grant", "Invalid grant: account not found")
        if header.get("alg") != "RS256" or header.get("kid", service.key_id) != service.key_id:
            raise _Denied("invalid_grant", "Invalid JWT Signature.")
        try:
            service.key.public_key().verify(_unpadded(signature), f"{head}.{body}".encode(), PKCS1v15(), SHA256())
        except InvalidSignature as error:
            raise _Denied("invalid_grant", "Invalid JWT Signature.") from error
        if audience not in self.audiences:
            raise _Denied("invalid_grant", "Invalid JWT: Failed audience check.")
        now = time.time()
        if not now - 3700 < issued < now + 300 or not now - 300 < expires <= issued + 3600:
            sentence = (
                "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
                "Check your iat and exp values in the JWT claim."
            )
            raise _Denied("invalid_grant", sentence)
        if not scopes:
            raise _Denied("invalid_scope", "Empty or missing scope not allowed.")
        subject = claims.get("sub", service.email)
        if subject != service.email:
            if not {"*", subject} & service.delegates or not scopes <= service.scopes:
                sentence = (
                    "Client is unauthorized to retrieve access tokens using this method, "
                    "or client not authorized for any of the scopes requested."
                )
                raise _Denied("unauthorized_client", sentence, 401)
            if subject not in self.accounts.world.users:
                raise _Denied("invalid_grant", "Invalid email or User ID")
        return self._granted(subject, scopes, None)

    def _client(self, form: Mapping[str, str]) -> Client:
        client = self.accounts.clients.get(form.get("client_id", ""))
        if client is None:
            raise _Denied("invalid_client", "The OAuth client was not found.", 401)
        if not secrets.compare_digest(form.get("client_secret", "").encode(), client.secret.encode()):
            raise _Denied("invalid_client", "Unauthorized", 401)
        return client

    def _granted(self, email: str, scopes: frozenset[str], refresh: str | None) -> dict[str, Any]:
        self.refreshes += 1
        token = self.accounts.token(email, scopes, refresh=refresh)
        seconds = int(self.accounts.lifetime) - 1
        return {
            "access_token": token,
            "expires_in": seconds,
            "scope": " ".join(sorted(scopes)),
            "token_type": "Bearer",
        }


def _form(call: Call) -> dict[str, str]:
    """The fields of a token request; a client may name itself in the Authorization header (RFC 6749, 2.3.1)."""
    form = dict(parse_qsl(call.body.decode("latin-1")))
    scheme, _, packed = call.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "basic":
        try:
            name, _, secret = b64decode(packed, validate=True).decode().partition(":")
        except ValueError as error:
            raise _Denied("invalid_client", "Unauthorized", 401) from error
        form |= {"client_id": unquote_plus(name), "client_secret": unquote_plus(secret)}
    return form


def _may_return(client: Client, redirect: str) -> bool:
    place = urlsplit(redirect)
    loopback = place.scheme == "http" and place.hostname in {"127.0.0.1", "localhost", "::1"}
    return redirect in client.redirects or (loopback and not place.fragment)


def _redirect(address: str, extra: Mapping[str, str]) -> Answer:
    joint = "&" if urlsplit(address).query else "?"
    return Answer(302, b"", {"location": address + joint + urlencode(extra)}, 0)


def _page(status: int, error: str, sentence: str) -> Answer:
    text = f"<!doctype html><title>Sign in</title><h1>Error {status}: {escape(error)}</h1><p>{escape(sentence)}"
    body = text.encode()
    return Answer(status, body, {"content-type": "text/html; charset=utf-8"}, len(body))


def _unpadded(part: str) -> bytes:
    return urlsafe_b64decode(part + "=" * (-len(part) % 4))
