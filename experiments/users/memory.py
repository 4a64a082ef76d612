"""The memory of this process alone. `ru_maxrss` would count that of the process which started it, too."""


def _status(field):
    with open("/proc/self/status") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith(field))


def present():
    """Bytes that the process holds now."""
    return _status("VmRSS:")


def peak():
    """Bytes that the process has held at most since it began, or since the peak was forgotten."""
    return _status("VmHWM:")


def forget_peak():
    """From now on the peak is that of what follows; where the kernel refuses, it stays that of the whole process."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass
