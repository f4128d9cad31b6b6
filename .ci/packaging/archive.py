"""The archive: program, licence, README, manual page, completions and the units of systemd."""

from .program import NAME, ROOT
from .tree import Tree, compressed


def documents(program):
    """Returns the manual page and the completions of the program, by their kind."""
    return {form: program.document(form) for form in ("man", "bash", "zsh", "fish")}


def archive(program, pages, level):
    """Returns the content of the archive, a tar file in gzip's format."""
    base = program.file_name("")
    tree = Tree(program.time)
    tree.file(f"{base}/{NAME}", program.content, 0o755)
    for name in ("LICENSE", "README.md", "CHANGELOG.md"):
        tree.file(f"{base}/{name}", (ROOT / name).read_bytes())
    tree.file(f"{base}/man/{NAME}.1", pages["man"])
    tree.file(f"{base}/completions/{NAME}.bash", pages["bash"])
    tree.file(f"{base}/completions/_{NAME}", pages["zsh"])
    tree.file(f"{base}/completions/{NAME}.fish", pages["fish"])
    for name in (f"systemd/{NAME}.service", "debian/default"):
        tree.file(f"{base}/systemd/{name.split('/')[1]}", (ROOT / "deploy" / name).read_bytes())
    return compressed(tree.tar(), level)
