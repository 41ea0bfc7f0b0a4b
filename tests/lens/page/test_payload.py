"""Tables that are too long lose their last columns."""

import numpy as np

from glassformer.lens.page.payload import fit_table


def test_a_table_that_is_too_long_loses_its_last_columns():
    table = {
        "layer_idx": np.zeros(100),
        "eff_rank": np.ones(100),
        "sigma_p5": np.ones(100),
        "dtype": ["F32"] * 100,
    }
    fitting, dropped = fit_table(table, 3300)
    assert [*fitting] == ["layer_idx", "eff_rank", "sigma_p5"] and dropped == ["dtype"]
