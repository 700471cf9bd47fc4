"""`python -m glge` is the command `glge`."""

from glge.cli import main

if __name__ == "__main__":
    main()
