WORD = "imported"  # what the modules that come with the program are for a test
