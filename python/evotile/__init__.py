"""evotile: a client of `evotile serve`. See evotile.client and docs/serve.md."""
from .client import (AccessError, Answer, AnswerTimeout, BusyError, Client, ConnectionLost, EvotileError, RefusedError,
                     TaskGone)

__all__ = ["AccessError", "Answer", "AnswerTimeout", "BusyError", "Client", "ConnectionLost", "EvotileError", "RefusedError",
           "TaskGone"]
