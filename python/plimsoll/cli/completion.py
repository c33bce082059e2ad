"""`plimsoll completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command(
    epilog="""\b
Examples:
  eval "$(plimsoll completion bash)"
  plimsoll completion zsh > ~/.zfunc/_plimsoll
  plimsoll completion fish > ~/.config/fish/completions/plimsoll.fish"""
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a shell's completion script."""
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(ctx.find_root().command, {}, "plimsoll", "_PLIMSOLL_COMPLETE").source())
