"""The command line: one file per command, `main` for what they share.

    main        which command; errors to exit codes
    dedup       near-duplicates in files        inputs, inflate     what is read
    demo        a first look                    signers             what other processes do
                                                answers, outputs    what is written

Nothing heavy is imported before it is needed: `dedup` starts its processes first.
"""
