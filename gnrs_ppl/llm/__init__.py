"""Language models: requests and answers, the client with cache and cost limit, models by role. Importing it
does not import openai.
"""

from gnrs_ppl.llm.adapter import OpenAIModel, model_from_environment
from gnrs_ppl.llm.cache import Cache, default_path
from gnrs_ppl.llm.client import Answer, CallError, Message, Model, Request, ask, ask_all, refuse_scripted
from gnrs_ppl.llm.costs import PRICES, Costs, Price, Usage, parse_price
from gnrs_ppl.llm.roles import ROLES, Role, Settings, settings_from_environment

__all__ = [
    "PRICES",
    "ROLES",
    "Answer",
    "Cache",
    "CallError",
    "Costs",
    "Message",
    "Model",
    "OpenAIModel",
    "Price",
    "Request",
    "Role",
    "Settings",
    "Usage",
    "ask",
    "ask_all",
    "default_path",
    "model_from_environment",
    "parse_price",
    "refuse_scripted",
    "settings_from_environment",
]
