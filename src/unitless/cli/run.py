"""The run of `evaluate` and `fit`: read, predict, learn, show, save."""

import os
import shlex
import sys
import time
from collections.abc import Iterator
from copy import copy
from typing import Any

from unitless.cli import screen
from unitless.cli.learners import check_learner
from unitless.cli.options import CommandOptions
from unitless.cli.outputs import check_outputs, results_path
from unitless.cli.predictions import Predictions
from unitless.cli.reading import (
    labelled_rows,
    no_labels,
    noting_columns,
    odd_cell_notes,
    open_known,
    open_new,
)
from unitless.cli.stopping import Stopped, Stopper
from unitless.cli.summary import show, summary
from unitless.escaping import json_line
from unitless.evaluation import Evaluation, read_results, results_of, resumed, write_results
from unitless.evaluation.noticed import information, notes
from unitless.model.effects import effects
from unitless.readers import FileBlock, Position, ReadError
from unitless.readers.files import is_continued
from unitless.report import unit_slider, units_and_comparison, write_page
from unitless.rows import Rows

CHECK_ROWS = 2000
"""Number of first rows that a report learns again, in other units."""


class EvaluationRun:
    """One run of `evaluate` or, without the table of losses, of `fit`."""

    def __init__(self, options: CommandOptions, table: bool) -> None:
        self.options = options
        self.silent = options.quiet or options.json
        self.console = screen.console_of(
            options.no_color, self.silent, error=options.predictions == "-"
        )
        self.table = self.console if table else screen.console_of(quiet=True)
        self.stopper = Stopper()
        self.evaluation: Evaluation
        self.first_rows: list[Rows] = []
        """The first rows of a pipe, which cannot be read again for the report."""

    def run(self) -> None:
        """Run, and end cleanly in any case."""
        options = self.options
        options.results = results_path(options.report, options.results)
        names = ("save", "predictions", "report", "results")
        check_outputs(
            {f"--{name}": getattr(options, name) for name in names},
            [*options.data, *options.test_files, options.resume],
            may_be=options.resume if options.save else None,
        )
        start = time.perf_counter()
        with screen.warnings_as_notes(self.silent), self.stopper:
            if options.resume:
                blocks = self._resumed(options.resume)
            else:
                check_learner(options.learner)
                model, blocks = open_new(options, self.stopper.waiting_for)
                self.evaluation = Evaluation(model, delay=options.delay)
            if all(map(os.path.isfile, options.test_files)):  # not a pipe, which is read once
                next(self._test_blocks(), None)  # without the target, it is of no use
            self._all_passes(blocks)
            try:
                test = self._tested()
            except ReadError:
                self._finish(time.perf_counter() - start, None)  # the passes are not lost
                raise
        self._finish(time.perf_counter() - start, test)

    def _resumed(self, path: str) -> Iterator[FileBlock]:
        """Load the model and open the files where it stopped, or other files."""
        options = self.options
        self.evaluation = resumed(path)
        model = self.evaluation.model
        if options.target not in (None, model.file.target):
            known = f"the target of the model is {model.file.target!r}"
            raise ValueError(f"{known}: leave out --target {options.target}")
        declared = () if model.intervals is None else model.intervals.coverages
        if options.interval and set(options.interval) != set(declared):
            own = " ".join(map(str, declared)) or "none"
            raise ValueError(f"the coverages of the model are {own}: leave out --interval")
        goes_on = is_continued(model.file.position, model.file.source, options.data)
        if not goes_on:
            watch = self.evaluation.watch  # the new file may have other units
            watch.begin_file()
            self.evaluation = Evaluation(model, delay=options.delay)
            self.evaluation.watch = watch
            model.file.reading.pop("format", None)
        model.file.source = options.source
        model.file.reading = model.file.reading | options.reading()
        blocks = self._blocks(resume=goes_on)
        if goes_on:
            return blocks
        model.file.position = Position()
        return noting_columns(model, blocks, learned=True)

    def _blocks(self, resume: bool = False) -> Iterator[FileBlock]:
        blocks = open_known(self.options, self.evaluation.model, resume=resume)
        return self.stopper.waiting_for(blocks)

    def _all_passes(self, blocks: Iterator[FileBlock]) -> None:
        options = self.options
        evaluation = self.evaluation
        finished_passes = evaluation.passes
        if finished_passes >= options.passes:  # learn the rows that were added to the file
            evaluation.passes = 0
        # Only the first pass is predicted: a resumed run may have all predictions already.
        path = options.predictions if evaluation.passes == 0 else None
        is_kept = True
        writer = Predictions(path, done=evaluation.rows, safe_csv=options.safe_csv)
        with writer as predictions:
            try:
                screen.show_start(self.console, evaluation.model)
                with screen.Screen(self.table, evaluation.model) as display:
                    self._one_pass(blocks, display, predictions)
                    is_kept = not self._lacks_labels()
                    if not is_kept:
                        raise ValueError(no_labels(evaluation.model, evaluation.rows))
                    predictions.finish()
                    evaluation.passes = max(evaluation.passes, finished_passes)
                    while evaluation.passes < options.passes:
                        evaluation.model.file.position = Position()
                        self._one_pass(self._blocks(), display, predictions)
            except Stopped as stopped:
                stopped.add(self._what_is_left())
                raise
            finally:  # in any case, save the model of the last finished piece
                if options.save and is_kept:
                    evaluation.save(options.save)

    def _what_is_left(self) -> str:
        """Say what an interrupted run leaves behind, and how to continue it."""
        options = self.options
        learned = f"{screen.counted(self.evaluation.model.rows, 'row')} learned"
        if not options.save:
            return f"{learned}, nothing saved (--save MODEL keeps the model)"
        saved = f"{learned} and saved in {options.save}"
        if options.shuffle:
            return f"{saved} (a run with --shuffle begins anew)"
        if options.source == "-":
            return f"{saved}; more rows continue it with --resume {shlex.quote(options.save)}"
        words = sys.argv[1:]
        if options.resume is None:
            words = [*words, "--resume", options.save]
        elif options.resume != options.save:
            place = words.index(options.resume) if options.resume in words else None
            words = words if place is None else [*words[:place], options.save, *words[place + 1 :]]
        return f"{saved}; continue with: {shlex.join(['unitless', *words])}"

    def _lacks_labels(self) -> bool:
        """Whether the target's column has no label in any row."""
        evaluation = self.evaluation
        is_table = evaluation.model.file.target is not None
        return is_table and 0 < evaluation.rows == evaluation.unlabelled

    def _one_pass(
        self, blocks: Iterator[FileBlock], display: screen.Screen, predictions: Predictions
    ) -> None:
        options = self.options
        evaluation = self.evaluation
        is_scored = evaluation.passes == 0
        evaluation.certify = options.results is not None
        steps = evaluation.over(
            blocks,
            holdout=options.holdout or options.test_share,
            delay=options.delay or 0,
            every=options.checkpoint,
            audit=options.audit if is_scored else 0,
        )
        try:
            for step in steps:
                display.show(step)
                if is_scored:
                    two = evaluation.model.learner.has_two_answers
                    other = step.not_fresh if two else None
                    predictions.write(evaluation.model, step.scores, other, step.intervals)
                if options.report and options.source == "-" and evaluation.rows < 2 * CHECK_ROWS:
                    self.first_rows.append(step.rows)
                row = evaluation.model.file.position.row
                if options.save and options.checkpoint and row % options.checkpoint == 0:
                    predictions.flush()
                    evaluation.save(options.save)
                self.stopper.check()
        except ReadError as error:
            is_target = options.target is not None and error.column == options.target
            if error.text is not None and is_target and options.task == "auto":
                advice = "if it is a class, use --task binary or --task multiclass"
                error.args = (f"{error}; {advice}",)
            raise

    def _tested(self) -> dict[str, object] | None:
        """Score the rows of --test, or those of --test-share."""
        options = self.options
        if options.test_share:
            return self.evaluation.test(self._blocks(), options.test_share)
        if not options.test:
            return None
        blocks = noting_columns(self.evaluation.model, self._test_blocks(), learned=False)
        found = self.evaluation.test(self.stopper.waiting_for(blocks))
        return found | {"source": options.test}

    def _test_blocks(self) -> Iterator[FileBlock]:
        options = copy(self.options)
        options.data = options.test_files
        options.shuffle = False
        return iter(open_known(options, self.evaluation.model) if options.test else ())

    def _finish(self, seconds: float, test: dict[str, object] | None) -> None:
        """Write the results and the report, and show the summary."""
        options = self.options
        if options.quiet and not (options.results or options.json):
            return  # certificates and effects take time, and would not be shown
        evaluation = self.evaluation
        more = self._checks() if options.report else {}
        position = evaluation.model.file.position
        more["file_rows"] = position.rows
        more["command"] = shlex.join(["unitless", *sys.argv[1:]])
        more["date"] = time.strftime("%Y-%m-%d %H:%M")
        more["test"] = test
        more["notes"] = odd_cell_notes(position, evaluation.model.file.target)
        more["notes"] += notes(evaluation, options.task)
        found = results_of(evaluation, seconds=round(seconds, 3), **more)
        if options.results:
            write_results(options.results, found)
        if options.report and options.results:
            write_page(options.report, [read_results(options.results)])
        if options.json:
            print(json_line(found))
        if evaluation.audited is not None:
            screen.show_audit(self.console, evaluation.audited, options.audit)
        elif options.audit:
            text = f"There is no row {options.audit}: {evaluation.rows:,} rows were read"
            self.console.print(f"\n{text}")
        written = (options.save, options.predictions, options.report, options.results)
        files = [file for file in written if file not in (None, "-")]
        lines = summary(
            found, information(evaluation), top=options.top, files=files, verbose=options.verbose
        )
        show(self.console, lines)

    def _checks(self) -> dict[str, Any]:
        """Learn some of the first rows again, in other units and with other learners."""
        model = self.evaluation.model
        if self.options.source != "-":  # a resumed run did not see the first rows
            block = next(open_known(self.options, model))
            self.first_rows = [model.prepared_block(block).rows]
        rows = labelled_rows(self.first_rows)[:CHECK_ROWS]
        if not len(rows) or not rows.columns:  # nothing has a unit
            return {}
        found = units_and_comparison(model.learner, rows)
        names = model.feature_names(rows.columns)
        kinds = {} if model.encoder is None else model.encoder.kinds
        for effect in effects(model, top=50):
            name = effect["column"]
            if kinds.get(name, "number" if not kinds else None) == "number" and name in names:
                found["slider"] = unit_slider(model.learner, rows, names.index(name), name)
                break
        return found
