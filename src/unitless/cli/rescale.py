"""`unitless rescale`: change the units of a saved model."""

from unitless.cli.options import CommandOptions, takes


@takes("model", "factors", "save", "quiet")
def rescale(options: CommandOptions) -> None:
    """Change the units of columns; the model continues as if they had always been the new ones.

    If metres become millimetres, the factor is 1000. Without --save the model file itself is
    replaced.

    Example:

        unitless rescale people.unitless height=1000 --save in-mm.unitless
    """
    from unitless import persistence
    from unitless.cli.outputs import check_writable
    from unitless.escaping import escaped
    from unitless.persistence.saving import extra

    by_name = {}
    for word in options.factors:
        name, _, factor = word.rpartition("=")
        try:
            by_name[name] = float(factor)
        except ValueError:
            raise ValueError(f"{word!r}: write NAME=FACTOR, for example height=1000") from None
    output = options.save or options.model
    check_writable(output)
    found = persistence.load(options.model)
    if persistence.is_bandit(found):
        raise ValueError(f"{options.model} is a bandit, whose units cannot be changed")
    header = persistence.header(options.model)
    found.rescale(by_name)
    # Sizes of values in the old units would raise false alarms.
    arrays = extra(options.model)
    kept = {name: arrays[name] for name in arrays if not name.startswith("watch.")}
    notes = header["notes"]
    persistence.save(found, output, notes=notes, extra=kept)
    if not options.quiet:
        changes = ", ".join(f"{name} times {factor:g}" for name, factor in by_name.items())
        print(escaped(f"{output}: {changes}"))
