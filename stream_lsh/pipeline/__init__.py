"""The five steps as pure functions over batches and the state they are handed, and `local`, which chains them.

Documents ─▶ sign ─▶ Postings ─▶ index ─▶ Candidates ─▶ gather ─▶ Verifications ─▶ verify ─▶ Edges ─▶ settle
"""
