"""The command line: one file per command; `main` selects the command and handles errors.

    main        which command; errors to exit codes
    dedup       near-duplicates in files        inputs, inflate, blocks, reading    what is read
    demo, show  a first look                    elsewhere, parts, signers           what other processes do
                                                answers, outputs                    what is written
                                                screen                              what a terminal shows

Nothing heavy is imported before it is needed: `dedup` starts its processes first.
"""
