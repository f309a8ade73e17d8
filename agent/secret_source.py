"""Where the secrets come from that a model may have typed: `NAME[@HOST][=VALUE]`.

Without a value it is read from the environment variable `SPECCACHE_SECRET_<NAME>`, or from the file that
`SPECCACHE_SECRET_<NAME>_FILE` names: a command line can be read by every user of a machine. Without a host it is for
the start page's.

Invariant: no message holds what may be a value.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from yarl import URL

from agent.errors import ConfigurationError
from browser.acting.allowance import Secret

_FORM = re.compile(r"(\w+)(?:@([^=\s]+))?(?:=(.*))?", re.DOTALL)
_VARIABLE = "SPECCACHE_SECRET_"


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretSource:
    """A secret as it was asked for.

    Attributes:
        name: Its name.
        host: Where it may be typed; empty: the start page's host.
        value: Its value; None: elsewhere.
    """

    name: str
    host: str = ""
    value: str | None = field(default=None, repr=False)

    def secret(self, url: str) -> Secret:
        """Get the value, for a run that starts at this URL.

        Raises:
            ConfigurationError: It is not there, or too short, or there is no host that it is for.
        """
        start = URL(url)
        if not self.host and not start.host:
            raise ConfigurationError(
                f"the secret {self.name} is for no host, since the run starts at no page",
                hint=f"Name the host: --secret {self.name}@HOST.",
            )
        value = self._found() if self.value is None else self.value
        try:
            # What begins over TLS must not be led to a page without: anybody on the way could read it.
            return Secret(
                name=self.name, value=value, host=self.host or start.host or "", secure=start.scheme == "https"
            )
        except ValueError as error:
            raise ConfigurationError(str(error), hint=f"Correct the secret {self.name}.") from None

    def _found(self) -> str:
        variable = _VARIABLE + self.name.upper()
        value, file = os.environ.get(variable), os.environ.get(f"{variable}_FILE")
        if value is None and file:
            try:
                value = Path(file).expanduser().read_text(encoding="utf-8").rstrip("\r\n")
            except (OSError, UnicodeDecodeError) as error:
                raise ConfigurationError(
                    f"the secret {self.name} cannot be read from {file}: {error}", hint="Correct the file's name."
                ) from None
        if not value:
            raise ConfigurationError(
                f"the secret {self.name} has no value",
                hint=f"Set {variable}, or {variable}_FILE to the name of a file that holds it.",
            )
        return value


def parse_secret(text: str) -> SecretSource:
    """Read `NAME[@HOST][=VALUE]`.

    Raises:
        ValueError: It is written otherwise.
    """
    found = _FORM.fullmatch(text)
    host = found[2] or "" if found else ""
    try:
        plain = (URL.build(scheme="https", host=host).raw_host or "") if host else ""
    except ValueError:
        plain = ""
    if found is None or bool(host) != bool(plain):
        raise ValueError("a secret is written NAME, NAME@HOST or NAME@HOST=VALUE; a host has no scheme, port or path")
    return SecretSource(name=found[1], host=plain, value=found[3])
