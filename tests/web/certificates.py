"""Certificates of an authority of our own, for servers that are asked over TLS."""

import ssl
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def certified(host: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A server's side for that host, and a client's that trusts its authority and no other."""
    as_text, secret = _self_signed(host)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "both.pem")
        file.write_bytes(as_text + secret)
        server.load_cert_chain(file)
    return server, ssl.create_default_context(cadata=as_text.decode())


def authority(name: str) -> bytes:
    """The certificate of an authority of that name, as PEM."""
    return _self_signed(name)[0]


def _self_signed(host: str) -> tuple[bytes, bytes]:
    """A certificate for that host, signed by itself, and its key; both as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    as_text = certificate.public_bytes(serialization.Encoding.PEM)
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return as_text, secret
