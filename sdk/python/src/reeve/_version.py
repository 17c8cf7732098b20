__version__ = "0.1.0"
BUILD = "python-" + __version__
