"""What programs launched while they ran: the layer that writes it down, and the reader of what it wrote.

`layer.c` is put under any host program by the OpenCL loader. A recording is lines of JSON, one an event, so
that a program that is killed loses nothing.
"""

from clmap_lsp.recording.read import (
    RecordedArgument,
    RecordedLaunch,
    Recording,
    RecordingError,
    read_recording,
)

__all__ = ["RecordedArgument", "RecordedLaunch", "Recording", "RecordingError", "read_recording"]
