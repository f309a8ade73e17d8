"""What can go wrong with a run of a suite, apart from its questions.

```
ConfigurationError (agent.errors)
└── RunsUnusable     the folder of results cannot be read, written or gone on with
```
"""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Self

from agent.errors import ConfigurationError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class RunsUnusable(ConfigurationError):
    """The folder of results cannot be read, written or gone on with."""

    @classmethod
    def unwritable(cls, folder: Path, error: OSError) -> Self:
        """Return the error of a folder that cannot be written."""
        if error.errno in _FULL:
            hint = "Make room there and run the same again: what was found before is kept."
        else:
            hint = "Name a folder of yours with --out."
        return cls(f"{folder} cannot be written: {error.strerror or error}", hint=hint)
