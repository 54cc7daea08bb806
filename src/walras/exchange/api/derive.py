"""New secrets from a caller's own: what is kept of an answer tells nothing."""

from __future__ import annotations

import hashlib
import hmac
from base64 import urlsafe_b64encode

from walras.exchange.errors import FieldError


def derived(secret: str, salt: str, kind: str = "wlr") -> str:
    """A new secret from the caller's own and a random salt.

    The answer to a request with an Idempotency-Key is kept, and a secret must not be: only the salt
    is, and the same caller gets the same secret from it. Source: HMAC-SHA256 as a key derivation,
    NIST SP 800-108.

    Args:
        secret: The caller's token.
        salt: Random text, new for each secret.
        kind: Its first characters: ``wlr`` of a token, ``wll`` of a link.

    Example:
        >>> derived("wlr_mine", "salt")[:8], derived("wlr_mine", "salt", "wll")[:8]
        ('wlr_iVCF', 'wll_iVCF')
    """
    made = hmac.new(secret.encode(), f"walras-token:{salt}".encode(), hashlib.sha256).digest()
    return f"{kind}_" + urlsafe_b64encode(made).decode().rstrip("=")


def check_same(by: str, token: str) -> None:
    """Check that the caller whose answer is sent again is the one who got it first.

    Args:
        by: The uid of the token for which the salt was kept.
        token: The uid of the caller's.

    Raises:
        FieldError: They differ: another secret would follow from the salt.
    """
    if by != token:
        raise FieldError(
            "was used with another token",
            where="Idempotency-Key",
            allowed="the token that sent it first",
            remedy="send a new key",
        )
