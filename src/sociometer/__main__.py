"""`python -m sociometer`: the command line."""

from sociometer.cli.main import main

if __name__ == "__main__":
    main()
