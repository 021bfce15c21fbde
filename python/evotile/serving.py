"""One server for all processes of a search.

Evaluators run in several processes: OpenEvolve has worker processes, ShinkaEvolve starts one for each evaluation. They must share a
server, because two servers on one GPU disturb each other's times, and because a server keeps its answers. They find it by
their environment, which a process inherits from the one that starts it: EVOTILE_SERVER holds the server's address.

    python3 -m evotile.serving configs/demo.json -- shinka_run --task-dir task ...

starts a server on a free port of this host, sets EVOTILE_SERVER, runs the command and ends the server after it. `server_of` does the
same from Python: the first process that calls it for a config starts the server, which ends with that process.
"""
import argparse
import atexit
import hashlib
import json
import os
import shutil
import subprocess
import sys

from .client import PROTOCOL, ConnectionLost, EvotileError

# Ends the server when its input ends: with the process that started it, however that ends.
KEEPER = """
import os, subprocess, sys
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
os.close(1)
sys.stdin.readline()
server.terminate()
sys.exit(server.wait())
"""


def serve_command(config, device=None, templates=None, program=None):
    """The command of a server on a free port. The program is $EVOTILE, or else `evotile` on PATH."""
    command = [program or os.environ.get("EVOTILE") or "evotile", "serve", os.path.abspath(config), "--listen", "127.0.0.1:0"]
    if device is not None:
        command += ["--device", device]
    if templates is not None:
        command += ["--templates", os.path.abspath(templates)]
    return command


class Server:
    """A server that was started; `url` is its address."""

    def __init__(self, command):
        if shutil.which(command[0]) is None:
            raise EvotileError(f"there is no program {command[0]}: put evotile on PATH, or set EVOTILE to it")
        # In a session of its own: an interrupt from the keyboard lets a search finish what it has, with the server.
        self.keeper = subprocess.Popen([sys.executable, "-c", KEEPER, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       text=True, encoding="utf-8", start_new_session=True)
        self.owner = os.getpid()
        line = self.keeper.stdout.readline()
        hello = json.loads(line) if line.startswith("{") else {}
        self.url = hello.get("listen")
        if self.url is None or hello.get("protocol") != PROTOCOL:
            self.stop()
            raise ConnectionLost(f"`{' '.join(command)}` did not start as a server of protocol {PROTOCOL}: see what it printed on stderr")

    def stop(self):
        """Ends the server and waits for it; in a process that inherited this object, does nothing."""
        if self.owner != os.getpid() or self.keeper.stdin.closed:
            return
        try:
            self.keeper.stdin.write("\n")
            self.keeper.stdin.close()
        except OSError:
            pass  # the server has ended already
        self.keeper.wait()
        self.keeper.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def variable_of(command):
    """The environment's variable that holds the address of this command's server: a process may use two servers."""
    return "EVOTILE_SERVER_" + hashlib.sha256("\0".join(command).encode()).hexdigest()[:12].upper()


def server_of(config, device=None, templates=None, program=None):
    """The address of the server of a config. This process starts it, unless it or the one that started this process has."""
    command = serve_command(config, device, templates, program)
    variable = variable_of(command)
    if variable not in os.environ:
        server = Server(command)
        os.environ[variable] = server.url
        atexit.register(server.stop)
    return os.environ[variable]


def main(arguments=None):
    arguments = sys.argv[1:] if arguments is None else arguments
    at = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(prog="python3 -m evotile.serving", usage="%(prog)s CONFIG [options] -- COMMAND...",
                                     description="Runs a command with EVOTILE_SERVER, the address of a server that lives as long as it.")
    parser.add_argument("config")
    parser.add_argument("--device", help="as of evotile serve")
    parser.add_argument("--templates", help="as of evotile serve")
    options, command = parser.parse_args(arguments[:at]), arguments[at + 1:]
    if not command:
        parser.error("give the command after --")
    try:
        with Server(serve_command(options.config, options.device, options.templates)) as server:
            return subprocess.run(command, env={**os.environ, "EVOTILE_SERVER": server.url}, check=False).returncode
    except (EvotileError, OSError) as error:
        print(f"evotile.serving: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
