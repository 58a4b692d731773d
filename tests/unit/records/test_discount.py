"""The discount of texts that occur together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.records.train.discount import discounted, shares_of

SHARES = st.lists(st.floats(0.001, 1), min_size=3, max_size=3).map(lambda one: np.array(one) / sum(one))


@given(m=SHARES, u=SHARES, share=st.floats(0.1, 1))
def test_discounted_weights_are_probabilities_of_lower_weights(m: np.ndarray, u: np.ndarray, share: float) -> None:
    left, right = discounted(m, u, share)
    assert left.sum() == pytest.approx(1)
    assert right.sum() == pytest.approx(1)
    assert np.log2(left / right) == pytest.approx(share * np.log2(m / u), abs=1e-6)


def test_a_text_alone_and_other_fields_keep_their_weights() -> None:
    assert shares_of([True, False, False], [1.0, 1.0, 1.0]) == [1.0, 1.0, 1.0]
    assert shares_of([True, True, False], [1.0, 0.0, 1.0]) == [1.0, 0.8, 1.0]


def test_more_texts_lower_the_weights_further() -> None:
    two, three = shares_of([True] * 2, [1.0] * 2), shares_of([True] * 3, [1.0] * 3)
    assert max(three) < min(two) < 1
