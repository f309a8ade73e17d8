"""Between the commands and the terminal: exit codes, errors for people or in the log, interruption.

Invariant: data goes to standard output, everything else to standard error; no traceback unless asked for; whatever ends
a command, its browsers are closed before it returns.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
import traceback
from collections.abc import Coroutine
from enum import IntEnum
from typing import Any, NoReturn, TypeVar

import typer
from rich.console import Console
from rich.markup import escape

from agent.errors import AgentError, ConfigurationError, ModelError, ModelRefused, TraceUnwritable
from agent.logs import is_structured
from browser.errors import AddressRefused, BrowserError, SessionUnusable

logger = logging.getLogger(__name__)

ResultT = TypeVar("ResultT")

err = Console(stderr=True)


class ExitCode(IntEnum):
    """What a command's exit code means."""

    ANSWERED = 0
    NOT_ANSWERED = 1
    USAGE = 2
    ENVIRONMENT = 3
    INTERRUPTED = 130
    TERMINATED = 143


def exit_code(error: BaseException) -> ExitCode:
    """Return the exit code an error ends a command with."""
    match error:
        case ConfigurationError() | ModelRefused() | TraceUnwritable() | AddressRefused() | SessionUnusable():
            return ExitCode.USAGE
        case ModelError() | BrowserError():
            return ExitCode.ENVIRONMENT
        case _:
            return ExitCode.NOT_ANSWERED


def tell(line: str) -> None:
    """Print a line on standard error as it is; into the log, where that is for programs."""
    if is_structured():
        logger.info("%s", line)
        return
    err.print(escape(line), highlight=False, soft_wrap=True)


def show_error(message: str, *, hint: str = "") -> None:
    """Tell a person what happened and what to do next."""
    if is_structured():
        logger.error("%s", message, extra={"facts": {"hint": hint} if hint else {}})
        return
    err.print(f"[bold red]error:[/bold red] {escape(message)}", highlight=False, soft_wrap=True)
    if hint:
        err.print(f"[bold]hint:[/bold] {escape(hint)}", highlight=False, soft_wrap=True)


def fail(error: BaseException) -> NoReturn:
    """Show an error and end the command."""
    hint = error.hint if isinstance(error, AgentError | BrowserError) else ""
    show_error(str(error) or type(error).__name__, hint=hint)
    raise typer.Exit(exit_code(error))


def _show_traceback(error: Exception) -> None:
    """Show where an error comes from; here, where secrets are taken out of it."""
    if is_structured():
        logger.error("unexpected %s", type(error).__name__, exc_info=error)
    else:
        traceback.print_exception(error)


def run(work: Coroutine[Any, Any, ResultT], *, verbose: bool = False) -> ResultT:
    """Run a command's coroutine to its end; Ctrl-C and SIGTERM cancel it and wait until it has tidied up.

    Raises:
        typer.Exit: It failed or was interrupted; the person has been told.
    """
    terminated = False

    async def main() -> ResultT:
        task = asyncio.current_task()
        loop = asyncio.get_running_loop()

        def terminate() -> None:
            nonlocal terminated
            terminated = True
            if task is not None:
                task.cancel()

        if sys.platform != "win32":
            loop.add_signal_handler(signal.SIGTERM, terminate)
        return await work

    try:
        return asyncio.run(main())
    except KeyboardInterrupt:
        show_error("interrupted")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    except asyncio.CancelledError:
        show_error("terminated" if terminated else "interrupted")
        raise typer.Exit(ExitCode.TERMINATED if terminated else ExitCode.INTERRUPTED) from None
    except (AgentError, BrowserError) as error:
        fail(error)
    except Exception as error:
        if verbose:
            _show_traceback(error)
            raise typer.Exit(ExitCode.NOT_ANSWERED) from None
        show_error(f"unexpected {type(error).__name__}: {error}", hint="Run again with --verbose to see where.")
        raise typer.Exit(ExitCode.NOT_ANSWERED) from error
