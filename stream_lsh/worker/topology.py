"""From a configuration to an app: topics, tables, agents and the timer of their reports."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from stream_lsh.config.model import Config, PipelineConfig
from stream_lsh.config.topics import TABLES
from stream_lsh.errors import ConfigError, DoubtError, StreamLSHError
from stream_lsh.wire.public import PUBLIC_BYTES
from stream_lsh.worker.agents.pipeline_agents import PipelineAgents
from stream_lsh.worker.agents.reports import TICK_SECONDS, ticking
from stream_lsh.worker.brokers.embedded import FETCH_WAIT_MS
from stream_lsh.worker.checks import startup
from stream_lsh.worker.clients.topic_reader import admin_of
from stream_lsh.worker.engine import DEFAULTS, EngineApp, TopicSpec, own_topic, public_topic
from stream_lsh.worker.engine.membership.predecessor import MemberFile
from stream_lsh.worker.engine.reading.read_committed import WorkerTransport
from stream_lsh.worker.maintenance import Maintenance
from stream_lsh.worker.monitoring.web import WorkerPages, WorkerWeb
from stream_lsh.worker.query.api import QueryApi
from stream_lsh.worker.query.distributed.owners import new_instance, worker_url
from stream_lsh.worker.query.distributed.standing import WorkerStanding
from stream_lsh.worker.security import engine_credentials
from stream_lsh.worker.state.copy_generations import restore_generations
from stream_lsh.worker.state.engine_tables import StateTable, state_table
from stream_lsh.worker.state.pipeline_state import PipelineState
from stream_lsh.worker.storage.folder import DataFolder, Storage

_log = logging.getLogger(__name__)

_REQUEST_ROOM = 4_096
_LETTER_ROOM = 1_024
_SOURCE_CHUNK, _INTAKE_CHUNK = 700, 200
_CHUNKS = {"source": _SOURCE_CHUNK, "bands": 16, "candidates": 16, "verifications": 16, "edges": 64}


async def source_partitions(config: Config) -> dict[str, int]:
    """The number of partitions of each pipeline, by name: those of its source, which may not exist yet.

    A rekeyed source has the configured number, and an existing source has its own number, whatever the configuration
    is.  `checks.startup` checks that the state was built from the same number.

    Raises:
        DoubtError: no broker answers.
    """
    async with admin_of(config.kafka) as admin:
        partitions = {topic["topic"]: len(topic["partitions"]) for topic in await admin.describe_topics()}
    own = {pipeline.name: pipeline.partitions for pipeline in config.pipelines}
    return own | {
        pipeline.name: partitions.get(pipeline.source) or pipeline.partitions
        for pipeline in config.pipelines
        if not pipeline.rekey
    }


def topics(config: Config, pipeline: PipelineConfig, partitions: int) -> list[TopicSpec]:
    """All topics that a pipeline needs."""
    copies, largest = config.kafka.replication, pipeline.max_message_bytes
    internal = {step: partitions for step in ("bands", "candidates", "verifications")} | {"edges": 1, "manifest": 1}
    internal |= {"intake": partitions} if pipeline.rekey else {}
    # Sources that are rekeyed belong to users: a missing one is a mistake in the name.
    sources = None if pipeline.rekey else partitions
    changelogs = {"documents": partitions, "buckets": partitions, "ledger": 1}
    names = {pipeline.internal_topic(step): count for step, count in internal.items()}
    names |= {pipeline.changelog_topic(table): count for table, count in changelogs.items()}
    named = pipeline.public_topics
    public = [topic for key, topic in named.items() if key not in ("mirror_sites", "dead_letters")]
    lasting = {named["mirror_sites"]: partitions} if "mirror_sites" in named else {}
    # The last message about a pair counts: in one partition that is the last one, whatever partitioner a writer has.
    lasting |= dict.fromkeys(pipeline.decision_topics, 1)
    keep_ms = pipeline.public_retention_ms
    least_ms = None if keep_ms == -1 else pipeline.live_ms
    letters = {"max.message.bytes": str(largest + _LETTER_ROOM)}
    specs = [
        TopicSpec(pipeline.dead_letters_topic, partitions, letters, copies, largest),
        *(own_topic(name, count, message_bytes=largest, replication=copies) for name, count in names.items()),
        *(
            public_topic(
                name,
                partitions,
                retention_ms=keep_ms,
                least_retention_ms=least_ms,
                message_bytes=PUBLIC_BYTES,
                replication=copies,
            )
            for name in public
        ),
        # Mirrored pairs of sites can stay unchanged for longer than the life of any page; decisions hold for ever.
        *(
            public_topic(name, count, retention_ms=-1, message_bytes=PUBLIC_BYTES, replication=copies)
            for name, count in lasting.items()
        ),
    ]
    in_sync = {"min.insync.replicas": str(config.kafka.in_sync_replicas)}
    written = [replace(spec, config={**spec.config, **in_sync}) for spec in specs]
    return [*(TopicSpec(source, sources, replication=copies) for source in pipeline.sources), *written]


class WorkerApp(EngineApp):
    """The engine with the pipelines of a configuration, by name.

    Attributes:
        embedded: whether it runs on the broker in this process, whose topics exist already, and which neither
            reports their settings nor deletes records.
        ticks: report the event time of each pipeline, once a second and at the start of a generation.
        instance: the name of this process among the workers.
    """

    def __init__(self, app_id: str, config: Config, *, embedded: bool = False, **settings: Any) -> None:
        self.config = config
        self.embedded = embedded
        self.instance = new_instance()
        self.pipelines: dict[str, PipelineState] = {}
        self.folder: DataFolder | None = None
        self.ticks: list[Callable[[], Awaitable[None]]] = []
        self.maintenance = Maintenance(self, self.pipelines)
        self.query_api = QueryApi(config, self.pipelines, WorkerStanding(self))
        self.pages = WorkerPages(config.worker)
        super().__init__(app_id, **{"canonical_url": worker_url(config.worker, self.instance), **settings})

    def _new_transport(self) -> Any:
        return WorkerTransport(self.conf.broker_consumer, self)

    async def on_first_start(self) -> None:
        """Before anything else: the listeners of the query API and its pages, which answer once there is state."""
        await self.query_api.start()
        await self.pages.start()
        await super().on_first_start()

    async def on_start(self) -> None:
        """Start the maintenance tasks beside the agents."""
        await super().on_start()
        maintenance = self.maintenance
        for duty in (
            maintenance.watch,
            maintenance.report_lag,
            maintenance.report_counts,
            maintenance.report_progress,
            maintenance.follow,
        ):
            self.add_future(duty())
        if not self.embedded:
            self.add_future(self.maintenance.trim())
        self.add_future(self.maintenance.check_topics())
        self.add_future(self.query_api.check_address())
        for tick in self.ticks:
            self.add_future(self._each_second(tick))
        if self.in_worker and (address := self.config.worker.web_address) is not None:
            self.add_future(WorkerWeb(self, self.pipelines, self.maintenance).serve(*address))

    async def _each_second(self, tick: Callable[[], Awaitable[None]]) -> None:
        async for _ in self.itertimer(TICK_SECONDS, name="event time"):
            await tick()

    async def before_topics(self, admin: Any) -> Sequence[StreamLSHError]:
        """Check for incompatible state and for results of other applications, and take the folder on disk."""
        errors = await startup.before_topics(admin, self.config, self._partitions())
        if self.config.worker.data_dir is not None:
            try:
                self.folder = DataFolder(self.config.worker.data_dir)
            except ConfigError as error:
                errors.append(error)
        return errors

    async def after_topics(self, admin: Any) -> None:
        """Write the manifest at the first start; then open the copies on disk."""
        self.maintenance.topic_ids = await startup.after_topics(admin, self.config, self._partitions())
        if self.folder is None:
            return
        self.group.file = MemberFile(self.folder.path / f"member-{self.config.worker.app_id}")
        changelogs = [pipeline.changelog_topic(table) for pipeline in self.config.pipelines for table in TABLES]
        ids = {topic: self.maintenance.topic_ids[topic] for topic in changelogs if topic in self.maintenance.topic_ids}
        for state in self.pipelines.values():
            state.storage = Storage(self.folder, self.config.worker.app_id, ids)

    async def before_sources(self) -> None:
        """Check that no topic has lost its end; then report the event time of all partitions."""
        await self.maintenance.expect_ends()
        for state in self.pipelines.values():
            if state.config.rekey:
                await restore_generations(self.config.kafka, state, self.committed_offset)
        for tick in self.ticks:
            await tick()

    async def stop(self) -> None:
        """Stop in order, and release the copies on disk for the next process."""
        await self.pages.stop()
        await self.query_api.stop()
        await super().stop()
        for state in self.pipelines.values():
            for step in (state.save_all, state.close) if self.ended_by is None else (state.close,):
                try:
                    step()
                except DoubtError as error:  # the next start reads more of the changelogs
                    _log.warning("%s", error)
        if self.folder is not None:
            self.folder.close()

    def _partitions(self) -> dict[str, int]:
        return {name: state.partitions for name, state in self.pipelines.items()}


def build_app(config: Config, partitions: Mapping[str, int], *, embedded: bool = False, **settings: Any) -> WorkerApp:
    """The app of a configuration, ready to be started.

    Args:
        config: validated.
        partitions: of each pipeline's source, by the pipeline's name.
        embedded: on the embedded broker: topics exist, and are not checked.
        settings: of the engine; they override the configuration.
    """
    if embedded:
        settings = {"fetch_max_wait_ms": FETCH_WAIT_MS, **settings}
    largest = max(pipeline.max_message_bytes for pipeline in config.pipelines)
    chosen: dict[str, Any] = {
        "broker": [f"kafka://{address}" for address in config.kafka.brokers],
        "broker_commit_interval": config.worker.commit_interval_ms / 1000,
        "broker_credentials": engine_credentials(config.kafka),
        "broker_heartbeat_interval": min(1.0, config.worker.session_timeout_ms / 4000),
        "broker_request_timeout": max(DEFAULTS["broker_request_timeout"], config.worker.session_timeout_ms / 1000),
        "broker_session_timeout": config.worker.session_timeout_ms / 1000,
        "producer_max_request_size": largest + _REQUEST_ROOM,
        "table_standby_replicas": config.worker.standbys,
        "topic_partitions": max(partitions.values()),
        "topic_replication_factor": config.kafka.replication,
    }
    app = WorkerApp(config.worker.app_id, config, embedded=embedded, **{**chosen, **settings})
    for pipeline in config.pipelines:
        count = partitions[pipeline.name]
        needed = topics(config, pipeline, count)
        app.required_topics += [] if embedded else needed
        app.limits.set({spec.name: spec.least_limit for spec in needed if spec.least_limit})
        state = app.pipelines[pipeline.name] = PipelineState(pipeline, count)
        _add_pipeline(app, state)
    return app


def _add_pipeline(app: WorkerApp, state: PipelineState) -> None:
    config, count = state.config, state.partitions
    tables: dict[str, StateTable] = {
        "documents": state_table(app, f"{config.name}-documents", count, state.documents),
        "ledger": state_table(app, f"{config.name}-ledger", 1, state.ledger),
        "buckets": state_table(app, f"{config.name}-buckets", count, state.buckets),
    }
    agents = PipelineAgents(app, state, tables)
    steps: dict[str, tuple[str, Callable[[Any], Awaitable[None]]]] = {
        "source": (config.documents_topic, agents.sign),
        "bands": (config.internal_topic("bands"), agents.index),
        "candidates": (config.internal_topic("candidates"), agents.gather),
        "verifications": (config.internal_topic("verifications"), agents.verify),
        "edges": (config.internal_topic("edges"), agents.settle),
    }
    for topic in config.decision_topics:
        steps["decisions"] = (topic, agents.decide)
    for number, source in enumerate(config.sources if config.rekey else ()):
        steps[f"intake-{number}"] = (source, agents.copy)
    for step, (topic, run) in steps.items():
        app.chunks[topic] = _CHUNKS.get(step, _INTAKE_CHUNK)
        app.add_agent(f"{config.name}-{step}", topic, run)
    app.ticks.append(ticking(app, state))
