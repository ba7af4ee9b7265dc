"""Check that the wheel and the source archive in a folder hold the whole package.

Usage: ``python .ci/check_build.py dist``, from the root of the tree.
"""

import sys
import tarfile
import zipfile
from pathlib import Path


def package_files():
    """Return the package's files in the tree, as paths from the root."""
    return {
        path.as_posix()
        for path in Path("sklearn_interpret").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def archive_files(folder):
    """Return what the one wheel and the one source archive hold, by archive name."""
    (wheel,) = folder.glob("*.whl")
    (sdist,) = folder.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = set(archive.namelist())
    with tarfile.open(sdist) as archive:
        in_sdist = {name.partition("/")[2] for name in archive.getnames()}
    return {wheel.name: in_wheel, sdist.name: in_sdist}


def main(folder):
    """Compare, and return a message for each archive that lacks files."""
    expected = package_files()
    complaints = []
    for name, files in archive_files(Path(folder)).items():
        packed = {file for file in files if file.startswith("sklearn_interpret/")}
        missing = sorted(expected - files)
        foreign = sorted(file for file in packed - expected if Path(file).suffix)
        if missing or foreign:
            complaints.append(f"{name}: lacks {missing}, should not hold {foreign}")
        sys.stdout.write(f"{name}: {len(files)} entries\n")
    return complaints


if __name__ == "__main__":
    # None, and not an empty text, stands for success.
    sys.exit("\n".join(main(sys.argv[1])) or None)
