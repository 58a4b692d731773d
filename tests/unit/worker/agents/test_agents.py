"""The agents of the worker, with their state of this moment."""

from types import SimpleNamespace
from typing import Any

from stream_lsh.config import parse
from stream_lsh.worker.agents.pipeline_agents import PipelineAgents
from stream_lsh.worker.state.pipeline_state import PipelineState


def test_gather_compares_with_documents_of_this_worker_only_and_with_none_in_a_rebalance() -> None:
    state = PipelineState(parse('[pipeline]\nname = "p"\nsource = "s"\n', "test.toml", {}).pipelines[0], 3)
    app: Any = SimpleNamespace(rebalancing=False)
    agents = PipelineAgents(app, state, {})
    state.documents.own(0)
    state.documents.follow(1)
    assert agents._owned() == {0: state.documents[0]}
    app.rebalancing = True
    assert agents._owned() == {}
