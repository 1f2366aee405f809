"""The run of `evaluate` and `fit`: read, predict, learn, show, save."""

import errno
import json
import os
import time
from collections.abc import Iterator
from itertools import chain
from typing import Any

from unitless.cli.labelled import labelled_rows
from unitless.cli.learners import check_learner
from unitless.cli.options import EvaluateOptions, LearningOptions
from unitless.cli.outputs import check_outputs, results_path
from unitless.cli.predictions import Predictions
from unitless.cli.reading import is_csv, is_source, model_blocks, new_blocks
from unitless.cli.screen import Screen, console_of, warnings_as_notes
from unitless.cli.stopping import Stopper
from unitless.cli.summary import show_audit, show_start, show_summary
from unitless.evaluation import Evaluation, Step, read_results, results_of, resumed, write_results
from unitless.model import Model
from unitless.readers import Block, ReadError
from unitless.rows import Rows

CHECK_ROWS = 1000
"""Number of first rows that a report learns again, in other units."""


class EvaluationRun:
    """One run of `evaluate` or `fit`.

    Parameters
    ----------
    table
        Whether the table of losses is shown during the run.
    """

    def __init__(self, options: LearningOptions, table: bool) -> None:
        self.options = options
        self.table = table
        self.silent = options.quiet or options.json
        self.console = console_of(options.no_color, self.silent, error=options.predictions == "-")
        self.reading = options.reading()
        self.evaluation: Evaluation
        self.first_rows: list[Rows] = []
        self.first_frame: Any = None
        self.is_resumed = False
        self.only_new_rows = False
        """Whether a finished run is resumed, to learn rows that were added to its file."""

    def run(self) -> None:
        """Run, and end cleanly in any case."""
        options = self.options
        self.results = results_path(options.report, options.results)
        check_outputs(
            {
                "--save": options.save,
                "--predictions": options.predictions,
                "--report": options.report,
                "--results": self.results,
            },
            [options.data, options.resume],
            may_be=options.resume if options.save else None,
        )
        start = time.perf_counter()
        with warnings_as_notes(self.silent), Stopper() as self.stopper:
            blocks = self._resumed_blocks() if options.resume else self._first_blocks()
            self._all_passes(blocks)
        self._finish(time.perf_counter() - start)

    # Opening

    def _first_blocks(self) -> Iterator[Block]:
        """Open the file and make a new model from its first block."""
        options = self.options
        check_learner(options.learner)
        if is_csv(options.data, self.reading):
            # Read classes and ignored columns as text, so that any cell is valid.
            is_class = options.target and options.task in ("binary", "multiclass")
            names = [options.target] if options.target and is_class else []
            self.reading["types"] = dict.fromkeys([*names, *(options.ignore or ())], "string")
        blocks = self.stopper.waiting_for(
            new_blocks(options.data, self.reading, options, options, options.task)
        )
        first = next(blocks)
        model = Model.from_first_block(
            first,
            target=options.target,
            learner=options.learner,
            loss=options.loss,
            task=options.task,
            weight=options.weight,
            ignore=options.ignore or (),
            keep=options.keep or (),
            columns=options.columns(),
            source=options.data,
        )
        model.reading = self.reading
        self.evaluation = Evaluation(model)
        self.first_frame = first.frame
        return chain([first], blocks)

    def _resumed_blocks(self) -> Iterator[Block]:
        """Load the model and open the file where it stopped, or another file."""
        options = self.options
        assert options.resume is not None
        self.evaluation = resumed(options.resume)
        model = self.evaluation.model
        if options.target not in (None, model.target):
            raise ValueError(
                f"the target of the model is {model.target!r}: leave out --target {options.target}"
            )
        self.is_resumed = is_source(options.data, model.source)
        if self.is_resumed:
            model.reading |= self.reading
            self.only_new_rows = self.evaluation.passes >= options.passes
        else:
            watch = self.evaluation.watch  # the new file may have other units
            self.evaluation = Evaluation(model)
            self.evaluation.watch = watch
            model.source = options.data
            model.reading = {**model.reading, **self.reading}
            if "format" not in self.reading:
                model.reading.pop("format", None)
        blocks = model_blocks(options.data, model.reading, options, model, resume=self.is_resumed)
        if not self.is_resumed:
            model.position = {}
        return self.stopper.waiting_for(blocks)

    def _next_pass(self) -> Iterator[Block]:
        model = self.evaluation.model
        model.position = {}
        return self.stopper.waiting_for(
            model_blocks(self.options.data, model.reading, self.options, model)
        )

    # Learning

    def _all_passes(self, blocks: Iterator[Block]) -> None:
        options = self.options
        evaluation = self.evaluation
        finished_passes = evaluation.passes
        if self.only_new_rows:
            evaluation.passes = 0
        is_first_pass = evaluation.passes == 0
        with Predictions(
            options.predictions,
            done=evaluation.rows if is_first_pass else 0,
            complete=not is_first_pass,
        ) as predictions:
            try:
                if self.table:
                    show_start(self.console, evaluation.model, self.first_frame)
                console = self.console if self.table else console_of(quiet=True)
                with Screen(console, evaluation.model) as screen:
                    self._one_pass(blocks, screen, predictions)
                    predictions.finish()
                    if self.only_new_rows:
                        evaluation.passes = finished_passes
                    while evaluation.passes < options.passes:
                        self._one_pass(self._next_pass(), screen, predictions)
            finally:  # in any case, save the model of the last finished piece
                if options.save:
                    _save(options.save, evaluation, predictions)

    def _one_pass(self, blocks: Iterator[Block], screen: Screen, predictions: Predictions) -> None:
        options = self.options
        is_first = self.evaluation.passes == 0
        audit, delay = 0, 0
        if isinstance(options, EvaluateOptions):
            audit = options.audit if is_first else 0
            delay = options.delay
        self.evaluation.certify = self.results is not None
        steps = self.evaluation.over(
            blocks, holdout=options.holdout, delay=delay, every=options.checkpoint, audit=audit
        )
        try:
            for step in steps:
                screen.show(step)
                if is_first:
                    predictions.write(self.evaluation.model, step.scores)
                self._after_step(step, predictions)
                self.stopper.check()
        except ReadError as error:
            raise self._with_advice(error) from None

    def _after_step(self, step: Step, predictions: Predictions) -> None:
        """Keep the first rows of a pipe for the report, and save a checkpoint where one is due."""
        options = self.options
        needs_rows = options.report and options.data == "-"
        if needs_rows and sum(map(len, self.first_rows)) < CHECK_ROWS:
            self.first_rows.append(step.rows)
        position = self.evaluation.model.position
        row = position.get("rows", 0) + position.get("skip", 0)
        if options.checkpoint and row % options.checkpoint == 0:
            assert options.save is not None
            predictions.flush()
            self.evaluation.save(options.save)

    def _with_advice(self, error: ReadError) -> ReadError:
        """Suggest another task if a label that is not a number follows numbers."""
        options = self.options
        is_target = options.target is not None and error.column == options.target
        if error.text is not None and is_target and options.task == "auto":
            advice = "if it is a class, use --task binary or --task multiclass"
            error.args = (f"{error}; {advice}",)
        return error

    # Results

    def _finish(self, seconds: float) -> None:
        """Write the results and the report, and show the summary."""
        options = self.options
        evaluation = self.evaluation
        more: dict[str, Any] = {"seconds": round(seconds, 3)}
        if options.report:
            more |= self._checks()
        file_rows = evaluation.model.position.get("rows")
        found = results_of(evaluation, file_rows=file_rows, **more)
        if self.results:
            write_results(self.results, found)
        if options.report:
            from unitless.report import write_page

            assert self.results is not None
            write_page(options.report, read_results(self.results))
        if options.json:
            print(json.dumps(found, ensure_ascii=False))
        audit = getattr(options, "audit", 0)
        if evaluation.audited is not None:
            show_audit(self.console, evaluation.audited, audit)
        elif audit:
            self.console.print(f"\nThere is no row {audit}: {evaluation.rows:,} rows were read")
        show_summary(self.console, found, options.top)

    def _checks(self) -> dict[str, Any]:
        """Learn some of the first rows again, in other units and with other learners."""
        from unitless.evaluation.other_units import compared, other_units

        if self.options.data != "-":  # a resumed run did not see the first rows
            self.first_rows = self._rows_from_start()
        if not self.first_rows:
            return {}
        rows = labelled_rows(self.first_rows)[:CHECK_ROWS]
        if not len(rows):
            return {}
        learner = self.evaluation.model.learner
        units = {"rows": len(rows), "trials": other_units(learner, rows)}
        return {"units": units, "comparison": compared(learner, rows)}

    def _rows_from_start(self) -> list[Rows]:
        """Read the first rows of the file again."""
        model = self.evaluation.model
        block = next(model_blocks(self.options.data, model.reading, self.options, model))
        return [model.prepared(block, grow=False).rows]


def _save(path: str, evaluation: Evaluation, predictions: Predictions) -> None:
    """Save the model; if the disk is full, remove predictions, which can be made again."""
    size = 1 << 16
    rows_left = None
    while True:
        try:
            evaluation.save(path)
            break
        except OSError as error:
            fewer = predictions.give_back(size) if error.errno == errno.ENOSPC else None
            if fewer is None:
                raise
            size *= 2
            rows_left = fewer
    if rows_left is not None:
        reason = (
            f"{os.strerror(errno.ENOSPC)}; cut after row {rows_left:,} to make room for the model"
        )
        raise OSError(errno.ENOSPC, reason, predictions.path)
