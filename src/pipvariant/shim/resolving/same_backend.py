"""Which folder's file goes with all others of torch's family."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pipvariant.printable import some
from pipvariant.selection.same_variant import arrange_folders

if TYPE_CHECKING:
    from pipvariant.selection.model import File
    from pipvariant.shim.finding.torch_folders import TorchFolders


def arrange_by_folder(
    files: Sequence[File],
    others: Iterable[str],
    folders: TorchFolders,
    finder: Any,
    named: Collection[str],
) -> tuple[list[File], str]:
    """Put the file first with whose backend all others can go.

    :param files: of one version, compatible, best first.
    :param others: the canonical names of the packages that take part.
    :param named: those that the user asked for, which can be replaced.
    :returns: the files in the new order, and why there are none.
    """
    installed = {name: each for name, each in folders.installed.items() if name not in named}

    def newest(other: str, folder: str) -> Any:
        if other in installed:
            # What does not say its backend goes with any.
            return True if installed[other] in (None, folder) else None
        return folders.newest_in(finder, other, folder)

    arranged, apart = arrange_folders(files, others, newest)
    # What is in no folder is not their fault, and pip says so.
    apart = [other for other in apart if other in installed or folders.exists(finder, other)]
    if not apart:
        return arranged, ""
    labels = some(dict.fromkeys(file.label for file in files))
    reasons = [
        f"{other} is installed for {installed[other]}, and would have to be named to be replaced"
        if other in installed
        else f"{other} has no build for {labels}"
        for other in apart
    ]
    return [], some(reasons, joint="; ")
