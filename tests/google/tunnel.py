"""A way to the emulator for programs that will speak to `https://www.googleapis.com` only.

An HTTP proxy whose CONNECT leads nowhere but here: the connection becomes TLS with a certificate for
Google's names, signed by an authority made for the purpose, and uvicorn's own protocol goes on from there.
No bytes are relayed, so nothing is slower for it. The certificate is the program's to trust
(`rclone --ca-cert`); no machine's store is touched.
"""

import asyncio
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import uvicorn
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from uvicorn.protocols.http.h11_impl import H11Protocol

_NAMES = ("www.googleapis.com", "oauth2.googleapis.com", "accounts.google.com")


class Tunnel(asyncio.Protocol):
    """One connection to the proxy, until it is handed over."""

    def __init__(self, server: uvicorn.Server, context: ssl.SSLContext) -> None:
        self._server, self._context = server, context
        self._asked = b""
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._asked += data
        if b"\r\n\r\n" not in self._asked or self._task:
            return
        if not self._asked.startswith(b"CONNECT "):
            self._transport.write(b"HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n")
            self._transport.close()
            return
        self._transport.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        self._task = asyncio.get_running_loop().create_task(self._hand_over())

    async def _hand_over(self) -> None:
        protocol = _Late(self._server.config, self._server.server_state, {})
        loop = asyncio.get_running_loop()
        try:
            transport = await loop.start_tls(self._transport, protocol, self._context, server_side=True)
        except OSError:  # the program does not trust the certificate, or has gone
            return
        if transport is not None:
            protocol.begin(transport)


class _Late(H11Protocol):
    """`start_tls` can deliver data before it says that the connection stands: it waits here."""

    _early = b""
    _begun = False

    def begin(self, transport: asyncio.Transport) -> None:
        self.connection_made(transport)
        self._begun = True
        if self._early:
            super().data_received(self._early)

    def data_received(self, data: bytes) -> None:
        if self._begun:
            super().data_received(data)
        else:
            self._early += data

    def connection_lost(self, exc: Exception | None) -> None:
        if self._begun:
            super().connection_lost(exc)


def certificates(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """A server's context for Google's names, and the file of the authority that signed for it."""
    authority_key, key = generate_private_key(SECP256R1()), generate_private_key(SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Drive emulator")])
    authority = _certificate(name, authority_key, name, authority_key, x509.BasicConstraints(ca=True, path_length=0))
    names = x509.SubjectAlternativeName([x509.DNSName(one) for one in _NAMES])
    leaf_name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, _NAMES[0])])
    leaf = _certificate(leaf_name, key, name, authority_key, names)
    trusted, chain = folder / "authority.pem", folder / "server.pem"
    trusted.write_bytes(authority.public_bytes(Encoding.PEM))
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    chain.write_bytes(private + leaf.public_bytes(Encoding.PEM))
    chain.chmod(0o600)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    context.set_alpn_protocols(["http/1.1"])
    return context, trusted


def _certificate(
    subject: x509.Name, key: EllipticCurvePrivateKey, issuer: x509.Name, signer: EllipticCurvePrivateKey,
    extension: x509.ExtensionType,
) -> x509.Certificate:  # fmt: skip
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=2))
        .add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
    )
    return builder.sign(signer, SHA256())
