"""The words of commands as bash, cmd and PowerShell split them, with the line of each command.

Nothing is run: a command in a command is a mistake with its line. Variables of bash come from the environment, unless
the text is from somebody else.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plimsoll.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ANSI_C = {
    "n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b", "E": "\x1b",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
_CODED = re.compile(r"x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})")
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_POWERSHELL = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


@dataclass(slots=True)
class ShellCommand:
    """One command: its words without quotes."""

    line: int
    """Where it begins, counted from 1."""
    words: list[str] = field(default_factory=list)


def shell_commands(text: str, name: str, environment: Mapping[str, str] | None = os.environ) -> list[ShellCommand]:
    """The commands of a text in the shell that it is written for. name: of the text, for messages. environment: values
    of the shell's variables; None: the text may use none. Raises UsageError for a quote without its end, and for what
    only a shell could know."""
    text = text.replace("\r\n", "\n")
    if re.search(r"\^\n|\^\"", text):
        return _Reader(_without_carets(text), name, _windows_quoted, environment).commands()
    if re.search(r"`\n|\binvoke-webrequest\b|\bcurl\.exe\b", text, re.IGNORECASE):
        return _Reader(text, name, _powershell_quoted, environment).commands()
    return _Reader(text, name, _bash_quoted, environment).commands()


class _Reader:
    """Reads one text. quoted: reads what is quoted at the position, or returns None for a plain character."""

    def __init__(
        self,
        text: str,
        name: str,
        quoted: Callable[[_Reader], str | None],
        environment: Mapping[str, str] | None,
    ) -> None:
        self.text, self.name, self.position = text, name, 0
        self.environment = environment
        self._quoted = quoted

    def commands(self) -> list[ShellCommand]:
        commands: list[ShellCommand] = []
        command: ShellCommand | None = None
        word: str | None = None
        skips = False
        """The command is followed by a pipe, so the next words are for another program."""
        while self.position < len(self.text):
            start = self.position
            character = self.text[start]
            if self.text.startswith(("\\\n", "`\n"), start):
                # The command goes on in the next line.
                self.position += 2
                continue
            piece = self._quoted(self)
            if piece is not None:
                word = (word or "") + piece
                command = command or self._begun(start)
                continue
            self.position += 1
            if character == "#" and word is None:
                end = self.text.find("\n", start)
                self.position = len(self.text) if end < 0 else end
            elif character in "\n;&|":
                if command is not None:
                    command.words += [] if word is None or skips else [word]
                    word = None
                    if character == "|" and not self.text.startswith("|", self.position):
                        skips = True
                        continue
                    commands.append(command)
                command, skips = None, False
            elif character.isspace():
                if command is not None and word is not None and not skips:
                    command.words.append(word)
                word = None
            else:
                word = (word or "") + character
                command = command or self._begun(start)
        if command is not None:
            command.words += [] if word is None or skips else [word]
            commands.append(command)
        return commands

    def _begun(self, offset: int) -> ShellCommand:
        return ShellCommand(self.text.count("\n", 0, offset) + 1)

    def error(self, offset: int, why: str) -> UsageError:
        return UsageError(f"{self.name}:{self.text.count(chr(10), 0, offset) + 1}: {why}")

    def end_of(self, mark: str, start: int) -> int:
        """Where a quote that began at `start` ends."""
        end = self.text.find(mark, start + 1)
        if end < 0:
            raise self.error(start, f"a quote {mark} has no end")
        return end


def _bash_quoted(reader: _Reader) -> str | None:
    text, start = reader.text, reader.position
    character = text[start]
    if character == "\\":
        reader.position += 2
        return text[start + 1 : start + 2]
    if character == "'":
        end = reader.end_of("'", start)
        reader.position = end + 1
        return text[start + 1 : end]
    if text.startswith("$'", start):
        return _ansi_c(reader, start)
    if character == '"':
        return _double_quoted(reader, start)
    if character == "`" or text.startswith("$(", start):
        raise reader.error(start, "a command within the command is not run; write its output instead")
    if variable := _VARIABLE.match(text, start):
        reader.position = variable.end()
        return _environment(reader, variable)
    return None


def _double_quoted(reader: _Reader, start: int) -> str:
    text, position, said = reader.text, start + 1, ""
    while position < len(text) and text[position] != '"':
        following = text[position + 1 : position + 2]
        if text[position] == "\\" and following and following in '"\\$`!\n':
            said += "" if following == "\n" else following
            position += 2
        elif text[position] == "`" or text.startswith("$(", position):
            raise reader.error(position, "a command within the command is not run; write its output instead")
        elif variable := _VARIABLE.match(text, position):
            said += _environment(reader, variable)
            position = variable.end()
        else:
            said += text[position]
            position += 1
    if position >= len(text):
        raise reader.error(start, 'a quote " has no end')
    reader.position = position + 1
    return said


def _environment(reader: _Reader, variable: re.Match[str]) -> str:
    name = variable[1] or variable[2]
    if reader.environment is None:
        raise reader.error(variable.start(), f"${name} is a variable of a shell; write its value")
    if (value := reader.environment.get(name)) is None:
        raise reader.error(variable.start(), f"${name} is not set; export it, or write its value")
    return value


def _ansi_c(reader: _Reader, start: int) -> str:
    """$'…'"""
    text, position = reader.text, start + 2
    said = bytearray()
    while position < len(text) and text[position] != "'":
        if text[position] != "\\":
            said += text[position].encode("utf-8", "surrogatepass")
            position += 1
        elif (code := _CODED.match(text, position + 1)) is not None:
            digits = code[1] or code[4]
            number = int(digits, 8 if code[4] else 16) if digits else int(code[2] or code[3], 16)
            said += (
                bytes([number & 0xFF])
                if digits
                else chr(number).encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
            )
            position = code.end()
        else:
            following = text[position + 1 : position + 2]
            said += _ANSI_C.get(following, "\\" + following).encode()
            position += 2
    if position >= len(text):
        raise reader.error(start, "a quote $' has no end")
    reader.position = position + 1
    return said.decode("utf-8", "replace")


def _without_carets(text: str) -> str:
    """What cmd hands to a program: a caret takes the next character as it is, and joins lines."""
    return re.sub(r"\^(\n\n?|.)", lambda match: "\n" if match[1] == "\n\n" else match[1].strip("\n"), text)


def _windows_quoted(reader: _Reader) -> str | None:
    """Words as programs of Windows split them: \\" and "" within quotes are a quote."""
    text, start = reader.text, reader.position
    if text.startswith('\\"', start):
        reader.position += 2
        return '"'
    if text[start] != '"':
        return None
    position, said = start + 1, ""
    while position < len(text):
        if slashes := re.compile(r'(\\+)"').match(text, position):
            said += "\\" * (len(slashes[1]) // 2)
            position += len(slashes[1])
            if len(slashes[1]) % 2:
                said += '"'
                position += 1
        elif text.startswith('""', position):
            said += '"'
            position += 2
        elif text[position] == '"':
            reader.position = position + 1
            return said
        else:
            said += text[position]
            position += 1
    raise reader.error(start, 'a quote " has no end')


def _powershell_quoted(reader: _Reader) -> str | None:
    text, start = reader.text, reader.position
    character = text[start]
    if character == "`":
        reader.position += 2
        following = text[start + 1 : start + 2]
        return _POWERSHELL.get(following, following)
    if character == "'":
        return _doubled(reader, start, "'", "")
    if character == '"':
        return _doubled(reader, start, '"', "`")
    return None


def _doubled(reader: _Reader, start: int, mark: str, escape: str) -> str:
    """A text in quotes, in which the mark is written twice. escape: the character that takes the next one as it is."""
    text, position, said = reader.text, start + 1, ""
    while position < len(text):
        if text.startswith(mark * 2, position):
            said += mark
            position += 2
        elif text[position] == mark:
            reader.position = position + 1
            return said
        elif escape and text[position] == escape:
            following = text[position + 1 : position + 2]
            said += _POWERSHELL.get(following, following)
            position += 2
        else:
            said += text[position]
            position += 1
    raise reader.error(start, f"a quote {mark} has no end")
