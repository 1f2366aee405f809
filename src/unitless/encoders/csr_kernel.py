"""The kernel that writes a CSR matrix of full columns and other entries."""

from unitless.kernels.decorators import kernel


@kernel
def merge(full, other, stored, made):
    """Write the CSR matrix of a table with columns at ascending places, and of other entries."""
    table, places = full
    entries, columns, starts = other
    values, indices, ends = made
    k = 0
    for row in range(len(stored)):
        i = 0
        e = starts[row]
        column = 0
        while True:
            # The next column of the row: every one below stored[row], then those with an entry.
            if column >= stored[row]:
                column = 2**31 - 1
                if i < len(places):
                    column = places[i]
                if e < starts[row + 1]:
                    column = min(column, columns[e])
                if column == 2**31 - 1:
                    break
            value = 0.0
            if i < len(places) and places[i] == column:
                value = table[row, i]
                i += 1
            if e < starts[row + 1] and columns[e] == column:
                value = entries[e]
                e += 1
            if value != 0 or column < stored[row]:
                values[k] = value
                indices[k] = column
                k += 1
            column += 1
        ends[row + 1] = k
