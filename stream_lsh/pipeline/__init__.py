"""The five steps as pure functions of batches and state, and `local`, which chains them.

Documents ─▶ sign ─▶ Postings ─▶ index ─▶ Candidates ─▶ gather ─▶ Verifications ─▶ verify ─▶ Edges ─▶ settle
"""
