"""Provide `%%trace`: trace a cell, and show the explorer of its recording under it."""

# IPython's own decorators and helpers carry no types.
# mypy: disable-error-code="no-untyped-call, untyped-decorator"

from __future__ import annotations

import contextlib
import difflib
import inspect
import linecache
import re
import sys
import traceback
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import partial
from types import FrameType, TracebackType
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

import tracer_core
from tracer_core.errors import Unsupported
from tracewalk import api
from tracewalk.cell import FUNCTION, Cell, CellError, compile_cell
from tracewalk.recent import Recent
from tracewalk.shown import Trace
from tracewalk.size import HEIGHT, LEAST_HEIGHT

_CELLS_KEPT = 64
_REUSED = (
    "This run traced nothing: each call reused a version that was compiled before. Shown is the recording of the run "
    "that compiled it; `%%trace --fresh` traces anew."
)


@dataclass(frozen=True)
class _Compiled:
    """A cell and its compiled function; run again, it is reused while its guards hold."""

    text: str
    cell: Cell
    filename: str
    run: Callable[[], Any]


@magics_class
class TraceMagics(Magics):
    """The magics of this extension."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._shell = shell
        self._cells: OrderedDict[Hashable, _Compiled] = OrderedDict()
        self._recent = Recent()

    @magic_arguments()
    @argument("--backend", default="eager", help="what runs the graphs: eager (default), inductor, ...")
    @argument("--dynamic", action="store_true", help="make every size a symbol from the start")
    @argument("--fullgraph", action="store_true", help="raise an error where the graph would break")
    @argument("--level", choices=api.LEVELS, default="bytecode", help="dispatch: also record the dispatcher's steps")
    @argument("--fresh", action="store_true", help="trace anew also what was compiled before")
    @argument("--attempts", action="store_true", help="show attempts that were abandoned and restarted")
    @argument("--height", metavar="PIXELS", type=int, default=HEIGHT, help="how high the explorer is")
    @argument("--my-code", metavar="NAME", action="append", default=[], help="a package or folder that is yours, too")
    @argument("--name", default="_trace", help="the variable that the trace is bound to (default: _trace)")
    @argument("--embed", action="store_true", help="keep the recording in the notebook, whatever its size")
    @argument("--save", metavar="FILE", help="also save the recording to this file")
    @argument("--html", metavar="FILE", help="also write a stand-alone page to this file")
    @cell_magic
    def trace(self, line: str, cell: str) -> Any:
        """Trace this cell and show its steps in the explorer.

        The cell behaves as without the magic: it assigns the notebook's variables, its output is printed, and its
        last expression is its value.
        """
        __tracebackhide__ = True
        options = _options(self.trace, line)
        if not options.name.isidentifier():
            raise UsageError(f"--name {options.name}: that is not a valid variable name.")
        if options.height < LEAST_HEIGHT:
            raise UsageError(f"--height {options.height}: the explorer needs at least {LEAST_HEIGHT} pixels.")
        compiled = self._compiled(cell, options)
        with tracer_core.afresh() if options.fresh else contextlib.nullcontext():
            trace, value, error = _record(compiled.run, _label(cell), options.level)
        self._present(trace, options, self._cell_id() or compiled.text)
        if error is not None:
            _show_from(error, compiled.filename)
            raise error
        quiet = not compiled.cell.shows or DisplayHook.semicolon_at_end_of_expression(cell)
        return None if quiet else value

    def _compiled(self, cell: str, options: Any) -> _Compiled:
        """Return the cell's function; the same one if the same text runs again with the same options."""
        # The shell drops empty lines at the top; the lines must be numbered as in the notebook.
        empty = len(re.match(r"(?:[ \t]*\n)*", cell)[0].splitlines())  # type: ignore[index]
        text = "# %%trace\n" + "\n" * empty + self._shell.transform_cell(cell)
        key = (text, options.backend, options.dynamic, options.fullgraph)
        filename = self._shell.compile.cache(text, self._number(), raw_code=text)
        known = self._cells.get(key)
        if known is None:
            known = self._cells[key] = self._compile(text, filename, options)
        self._cells.move_to_end(key)
        while len(self._cells) > _CELLS_KEPT:
            self._cells.popitem(last=False)
        return known

    def _number(self) -> int:
        """Return the number of the running cell. The shell increments it when a cell of its history starts."""
        return int(self._shell.displayhook.prompt_count)

    def _cell_id(self) -> str | None:
        """Return the id of the running cell, which stays the same when its text is edited; None where the front end
        sends none."""
        header = getattr(self._shell, "parent_header", None) or {}
        found = header.get("metadata", {}).get("cellId")
        return found if isinstance(found, str) else None

    def _compile(self, text: str, filename: str, options: Any) -> _Compiled:
        try:
            made = compile_cell(text, filename, self._shell.user_ns)
            # Without `--dynamic`, sizes become symbols once they vary, as in torch.compile.
            run = api.compile(
                made.function,
                backend=options.backend,
                dynamic=True if options.dynamic else None,
                fullgraph=options.fullgraph,
            )
        except SyntaxError as error:
            _show_plainly(self._shell, error)
            raise
        except (CellError, TypeError, ValueError) as error:
            raise UsageError(str(error)) from None
        return _Compiled(text, made, filename, run)

    def _present(self, trace: Trace, options: Any, cell: Hashable) -> None:
        """Bind, save and show the recording, also when the cell ended by an exception. Where nothing was traced,
        since all was compiled before, show the recording of that; else compare with the cell's last one."""
        self._shell.user_ns[options.name] = trace
        shown = partial(
            Trace.show,
            height=options.height,
            failed_attempts=options.attempts,
            my_code=options.my_code,
            embed=options.embed or None,
        )
        reused = self._recent.of_reused(trace)
        if reused is not None:
            display(shown(reused, note=_REUSED))
        else:
            display(shown(trace, before=self._recent.before(cell)))
        self._recent.add(cell, trace)
        to_html = partial(trace.to_html, my_code=options.my_code)
        for path, write in ((options.save, trace.save), (options.html, to_html)):
            if path:
                try:
                    write(path)
                except Exception as error:  # noqa: BLE001 - the cell itself has run, and its value is not lost
                    print(f"{path} was not written: {error}", file=sys.stderr)  # noqa: T201


def _record(run: Callable[[], Any], label: str, level: str) -> tuple[Trace, Any, BaseException | None]:
    """Return the recording of a run, with its value or the exception that ended it."""
    with api.record(label, level=level) as trace:
        try:
            return trace, run(), None
        except BaseException as error:  # noqa: BLE001 - raised again when the recording has been shown
            return trace, None, error


def _options(magic: Any, line: str) -> Any:
    """Return the magic's options as given in `line`. Of an unknown one, say which could be meant."""
    try:
        return parse_argstring(magic, line)
    except UsageError as error:
        found = re.search(r"unrecognized arguments: ([^\s=]+)", str(error))
        if found is None:
            raise
        known = sorted(set(re.findall(r"--[\w-]+", magic.parser.format_usage())))
        close = difflib.get_close_matches(f"--{found[1].lstrip('-')}", known, 1, cutoff=0.75)
        meant = f" Did you mean {close[0]}?" if close else ""
        what = f"has no option {found[1]}" if found[1].startswith("-") else f"takes options alone, not {found[1]!r}"
        raise UsageError(f"%%trace {what}.{meant} Its options: {', '.join(known)}.") from None


def _label(cell: str) -> str:
    lines = [line.strip() for line in cell.splitlines() if line.strip()]
    return lines[0] + (" …" if len(lines) > 1 else "") if lines else ""


def _show_plainly(shell: InteractiveShell, error: SyntaxError) -> None:
    """Let the shell show this error, which is about to leave a magic, as it does for cells without one: the error
    and its place, without the frames of the magic."""
    kinds, handler = shell.custom_exceptions, shell.CustomTB

    def show(
        shell: InteractiveShell, kind: type, raised: Exception, trace: Any, tb_offset: int | None = None
    ) -> None:
        shell.custom_exceptions, shell.CustomTB = kinds, handler
        if raised is error:
            shell.showsyntaxerror()
        else:
            shell.showtraceback((kind, raised, trace), tb_offset=tb_offset)

    shell.set_custom_exc((type(error),), show)


def _show_from(error: BaseException, filename: str) -> None:
    """Let the notebook show `error` from the cell's own frame on, as without the magic; show an error that the cell
    did not cause by its message alone."""
    shown: TracebackType | None = error.__traceback__
    while shown is not None and shown.tb_frame.f_code.co_filename != filename:
        shown = shown.tb_next
    if shown is None and not isinstance(error, Unsupported):
        return

    def render() -> list[str]:
        from IPython.core.getipython import get_ipython

        shell = get_ipython()
        if shell is None:
            return traceback.format_exception(type(error), error, shown)
        with _lines_of_cells_found(filename):
            lines: list[str] = shell.InteractiveTB.structured_traceback(type(error), error, shown)
        return lines

    try:
        error._render_traceback_ = render  # type: ignore[attr-defined]
    except AttributeError:  # an exception class without a __dict__
        return


@contextlib.contextmanager
def _lines_of_cells_found(filename: str) -> Iterator[None]:
    """Let `inspect` find the lines of the cell's function. In a kernel, IPython asks it for them, and it looks for
    the `def` of a function, which a cell does not have."""
    found = inspect.getsourcelines

    def getsourcelines(of: Any) -> tuple[list[str], int]:
        code = of.f_code if isinstance(of, FrameType) else None
        if code is None or code.co_filename != filename or code.co_name != FUNCTION:
            return found(of)
        return linecache.getlines(filename)[code.co_firstlineno - 1 :], code.co_firstlineno

    inspect.getsourcelines = getsourcelines  # type: ignore[assignment]
    try:
        yield
    finally:
        inspect.getsourcelines = found


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Register the magics. `%load_ext tracewalk` calls this."""
    shell.register_magics(TraceMagics)
