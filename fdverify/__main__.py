"""``python -m fdverify``: the same as the console script."""

from fdverify.cli import main

if __name__ == "__main__":
    main()
