"""evotile: a client of `evotile serve`, and evaluators for programs that search. See evotile.client, evotile.evaluator and docs/serve.md."""
from .client import (AccessError, Answer, AnswerTimeout, BusyError, Client, ConnectionLost, EvotileError, RefusedError,
                     TaskGone)

__all__ = ["AccessError", "Answer", "AnswerTimeout", "BusyError", "Client", "ConnectionLost", "EvotileError", "RefusedError",
           "TaskGone"]
