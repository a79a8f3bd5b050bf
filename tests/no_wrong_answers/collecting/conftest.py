"""A folder with proofs, as the tests of the plugin have it."""

from tests.testing.conftest import project as project
