"""The build step that pyproject.toml cannot say: a wheel has the shipped proofs inside the package."""

from pathlib import Path
from shutil import copy2

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithProofs(build_py):
    """Copies ``invariants/`` into the package that is built; an editable install finds it beside the package."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        for proof in sorted(Path("invariants").rglob("*.py")):
            target = Path(self.build_lib) / "fdverify" / proof
            target.parent.mkdir(parents=True, exist_ok=True)
            copy2(proof, target)


setup(cmdclass={"build_py": BuildWithProofs})
