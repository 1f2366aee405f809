"""The Blend, an ensemble of learners: its experts, and one mixture per kind of loss.

`experts` lists its members; `features`, `views` and `pairs_of_bins` make what they see; `hedge`,
`mixture` and the files named after losses combine their scores. It may import learners and core.
"""
