"""The size of a deployment: from the numbers of a stream to messages, bytes, processor time, memory and disk.

    load        the numbers of the stream
    sample      a few generated documents, processed by the real steps: the sizes of their messages
    traffic     messages and bytes of each topic, by formulas
    costs       measured constants: processor time, memory, disk
    plan        workers, partitions, memory, disks, the ceiling of settle

Nothing here reads a clock or a file.  `stream_lsh.cli.commands.plan` is the command, docs/scale.md explains the model.
"""
