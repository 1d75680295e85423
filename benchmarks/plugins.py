"""What the answer of a trusted plugin costs when its packages are installed already.

Run from the root of the project: ``python -m benchmarks.plugins``. A fresh process that has
imported what ``pip install`` imports asks a plugin that has nothing to do itself.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.contest import arguments, clean_environment, environment
from integration.wheels import Wheel

__all__ = ["main"]

#: Milliseconds that a plugin's answer may take.
GOAL = 150.0

PLUGIN = """
class Config:
    name, values, multi_value = "speed", ["high", "low"], False

class Plugin:
    namespace = "acme"

    @staticmethod
    def get_supported_configs():
        return [Config()]
"""

ASK = """
import time
from pip._internal.commands import create_command
import pip._internal.commands.install
from pipvariant.shim.core.state import CommandOptions, TargetOptions, UserConstraints
from pipvariant.shim.parts import Parts
from pipvariant.standard.metadata import Provider
values = create_command("install").parser.get_default_values()
trusting = TargetOptions(trusted=("acme-provider",), pip_options=values)
target = Parts(CommandOptions(), trusting, UserConstraints()).target
provider = Provider(requires=("acme-provider",), plugin_api="acme_plugin:Plugin")
start = time.perf_counter()
answer = target.answer("acme", provider)
print(time.perf_counter() - start, answer.origin, *answer.problems)
"""


def main() -> int:
    """Ask often, print what it took and return the exit code."""
    options = arguments("The answer of a plugin from a warm environment.", runs=15).parse_args()
    with (
        environment(options.python, options.pip) as env,
        tempfile.TemporaryDirectory(prefix="pip-variant-benchmark-") as temporary,
    ):
        folder = Path(temporary)
        wheel = Wheel("acme-provider", modules={"acme_plugin": PLUGIN})
        (folder / wheel.filename).write_bytes(wheel.content)
        more = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": folder.as_uri()}
        variables = clean_environment(folder, **more)
        times = []
        # The first run is not counted: it installs the plugin.
        for _ in range(options.runs + 1):
            command = [env.script("python"), "-c", ASK]
            done = subprocess.run(
                command, env=variables, capture_output=True, text=True, check=False
            )
            seconds, _, answered = done.stdout.partition(" ")
            if answered != "plugin\n":
                sys.exit(f"the plugin could not be asked:\n{done.stdout}{done.stderr}")
            times.append(float(seconds) * 1000)
        median = statistics.median(times[1:])
        late = median > GOAL
        print(f"{env.words}; median of {options.runs} runs")
        print(f"warm environment  {median:6.1f} ms  goal {GOAL:.0f} ms{'  MISSED' if late else ''}")
        print(f"installed before  {times[0]:6.1f} ms")
    return int(late and not options.no_goal)


if __name__ == "__main__":
    sys.exit(main())
