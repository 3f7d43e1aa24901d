"""Findings about channels: G401 to G405."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo

from gnrs_ppl.context.zone import span
from gnrs_ppl.records.lint.findings import Found, Material, counted, some_of


def silent_channels(m: Material) -> Iterator[Found]:
    """Durable channels without a row."""
    silent = [c.name for c in m.records.channels if c.durable and not m.recorded["channel"].get(c.name)]
    if silent and m.log is not None:
        yield Found(
            "records.channels",
            f"{counted(len(silent), 'channel')} without a row: {some_of(silent)}",
            len(silent),
            silent[0],
            "correct the name, take the channel out, or say durable: false where nothing keeps it",
            frozenset(("channel", name) for name in silent),
        )


def no_coverage(m: Material) -> Iterator[Found]:
    """Channels that do not say from when to when they are complete."""
    reach = m.rows(
        'SELECT channel, min("timestamp" + to_minutes(coalesce("offset", 0))), max("timestamp" + '
        'to_minutes(coalesce("offset", 0))) '
        'FROM events WHERE channel IS NOT NULL AND "timestamp" IS NOT NULL '
        f"AND {m.log.reach.holds() if m.log else True} GROUP BY ALL ORDER BY ALL"
    )
    for channel, first, last in reach:
        declared = m.records.channel(channel)
        if declared is not None and declared.coverage is None:
            closed = (
                "its silence counts as absence" if declared.closed_world else "it is taken to be incomplete"
            )
            yield Found(
                f"records.channels.{channel}",
                f"no coverage stated; {closed} from its first to its last row",
                1,
                channel,
                f"state when it is complete, such as coverage: [{{start: {first.date()}, end: "
                f"{last.date()}}}]",
                frozenset({("channel", channel)}),
            )


def outside_coverage(m: Material) -> Iterator[Found]:
    """Rows at a time that the channel's coverage leaves out."""
    for channel in m.records.channels:
        if channel.coverage is None:
            continue
        starts = [span(interval.start, m.records.clock)[0] for interval in channel.coverage]
        ends = [span(interval.end, m.records.clock)[1] for interval in channel.coverage]
        found = m.rows(
            """SELECT count(*), min("timestamp"), arg_min(event_id, "timestamp") FROM events
               WHERE channel = $channel AND "timestamp" IS NOT NULL AND NOT EXISTS (
                   SELECT 1 FROM (SELECT unnest($starts::TIMESTAMP[]) AS opens, unnest($ends::TIMESTAMP[]) AS closes)
                   WHERE "timestamp" BETWEEN opens AND closes)""",
            {"channel": channel.name, "starts": starts, "ends": ends},
        )
        if found and found[0][0]:
            yield Found(
                f"records.channels.{channel.name}.coverage",
                f"{found[0][0]:,} rows stand outside it",
                found[0][0],
                f"event {found[0][2]} at {_local(found[0][1], m.records.clock)}",
                "correct the coverage: in the time it leaves out, silence proves nothing",
                frozenset({("channel", channel.name)}),
            )


def beyond_capability(m: Material) -> Iterator[Found]:
    """Acts that a channel's list leaves out and its rows show."""
    seen = m.log.seen if m.log is not None else {}
    for channel in m.records.channels:
        if channel.activities is None:
            continue
        stray = {
            act: n
            for (name, act), n in seen.items()
            if name == channel.name and act not in channel.activities
        }
        if stray:
            names = sorted(stray, key=lambda act: (-stray[act], act))
            yield Found(
                f"records.channels.{channel.name}.activities",
                f"{counted(len(names), 'act')} on its rows but not in its list: {some_of(names)}",
                sum(stray.values()),
                f"{names[0]} on {stray[names[0]]:,} rows",
                "add them where the channel records them in every case; rules do not look for them there "
                "otherwise",
                frozenset(("action", name) for name in names),
            )


def unused_capability(m: Material) -> Iterator[Found]:
    """Acts that a channel is said to record, on none of its rows though elsewhere."""
    seen = m.log.seen if m.log is not None else {}
    for channel in m.records.channels:
        if not channel.durable or channel.activities is None or not m.recorded["channel"].get(channel.name):
            continue
        names = [
            act
            for act in channel.activities
            if (channel.name, act) not in seen and act in m.recorded["action"]
        ]
        if names:
            yield Found(
                f"records.channels.{channel.name}.activities",
                f"{counted(len(names), 'act')} in its list but on none of its rows: {some_of(names)}",
                len(names),
                names[0],
                "take them out unless the channel would record them",
                frozenset(("action", name) for name in names),
            )


def _local(instant: datetime, clock: tzinfo) -> str:
    return instant.replace(tzinfo=UTC).astimezone(clock).replace(tzinfo=None).isoformat(" ", "seconds")
