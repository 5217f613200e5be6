# mistake.py: the list of mistakes. Each is a function from the right run to (variant, wrong run) pairs.
#
# A function yields nothing where the mistake cannot be made. Where making it changes nothing, the caller drops it.

MISTAKES = {}


def mistake(fault):
    """Registers a function under the id of the fault that it makes."""
    def add(function):
        assert fault not in MISTAKES, fault
        MISTAKES[fault] = function
        return function
    return add
