"""The real client against the scripted server, with everything the server received kept."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from scripted import SCRIPTS, Schema, Script, ScriptedServer

from gnrs_ppl.llm import Cache, OpenAIModel, Role, Settings
from gnrs_ppl.llm.roles import ROLES

FENCE = re.compile(r"^<data-([0-9a-f]{16})>\n(.*?)\n</data-\1>$", re.DOTALL | re.MULTILINE)


class Received(list[tuple[Role, str]]):
    """(role, its one message) of every request, in the order of arrival."""

    def of(self, role: Role) -> list[str]:
        return [text for asked, text in self if asked == role]

    def server(self, scripts: Mapping[Role, Script] | None = None, **given: Any) -> ScriptedServer:
        """A server whose scripts write down what they are asked."""
        return ScriptedServer(
            scripts={role: self._noted(role, {**SCRIPTS, **(scripts or {})}[role]) for role in ROLES}, **given
        )

    def _noted(self, role: Role, script: Script) -> Script:
        def say(messages: Sequence[Mapping[str, str]], schema: Schema | None, rng: random.Random) -> str:
            assert len(messages) == 1
            self.append((role, messages[-1]["content"]))
            return script(messages, schema, rng)

        return say


def model(server: ScriptedServer, cache: Cache | None = None, **changes: Any) -> OpenAIModel:
    models = dict.fromkeys(ROLES, "a-model") | {"second_judge": "another-model"}
    return OpenAIModel(
        replace(Settings(base_url=server.base_url, models=models, timeout=20.0, retries=1), **changes), cache
    )


def values(message: str) -> list[str]:
    """The values of a prompt's placeholders, in its order."""
    return [value for _, value in FENCE.findall(message)]


def says(text: str) -> Script:
    """A script that always says the same."""
    return lambda *_: text
