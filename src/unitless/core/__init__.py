"""The compiled foundation: arrays, rows, losses, arithmetic, and the contract of all learners.

`learner` has the contract that every learner fulfils and `coordinatewise` the base of those that
keep a few numbers per feature. May import `unitless.rows`, `unitless.losses` and `unitless.state`.
"""
