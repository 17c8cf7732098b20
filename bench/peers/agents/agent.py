"""The side of an agent (lab.py: Agent) that is written in Python: reads commands, answers, tells what went wrong."""
import json
import sys
import time
import traceback


def serve(commands):
    """`commands`: name -> function of the settings that gives an answer."""
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        settings = json.loads(line)
        try:
            answer = commands[settings.pop("op")](**settings) or {}
        except Exception as error:  # pylint: disable=broad-except
            traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


def timed(function):
    began = time.perf_counter()
    function()
    return {"seconds": time.perf_counter() - began}
