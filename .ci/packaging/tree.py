"""A tree of files in memory: written as a tar file, or into a folder, with fixed times, modes and owners."""

import gzip
import io
import os
import tarfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath


@dataclass(frozen=True)
class Item:
    """A file, or a folder without content."""

    content: bytes | None
    mode: int
    owner: int = 0


class Tree:
    def __init__(self, time):
        self.time = time
        self.items = {}

    def file(self, path, content, mode=0o644):
        self._add(path, Item(content.encode() if isinstance(content, str) else content, mode))

    def folder(self, path, mode=0o755, owner=0):
        self._add(path, Item(None, mode, owner))

    def _add(self, path, item):
        path = PurePosixPath(path.lstrip("/"))
        for parent in list(path.parents)[:-1]:
            self.items.setdefault(str(parent), Item(None, 0o755))
        self.items[str(path)] = item

    def tar(self):
        """Returns the tree as a tar file, sorted by path."""
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for path, item in sorted(self.items.items()):
                entry = tarfile.TarInfo(path)
                entry.mtime, entry.mode, entry.uid, entry.gid = self.time, item.mode, item.owner, item.owner
                if item.content is None:
                    entry.type = tarfile.DIRTYPE
                    archive.addfile(entry)
                else:
                    entry.size = len(item.content)
                    archive.addfile(entry, io.BytesIO(item.content))
        return out.getvalue()

    def write(self, folder):
        """Writes the tree into a folder; owners are left to the reader of the folder."""
        for path, item in sorted(self.items.items()):
            target = Path(folder) / path
            if item.content is None:
                target.mkdir(parents=True, exist_ok=True)
            else:
                target.write_bytes(item.content)
            target.chmod(item.mode)
        for path in sorted(self.items, reverse=True):
            os.utime(Path(folder) / path, (self.time, self.time))


def compressed(content, level):
    """Returns the content in gzip's format, without a name and a time."""
    return gzip.compress(content, compresslevel=level, mtime=0)
