"""Claims about probabilities, with fixed seeds and bounds of five standard errors."""

import math


def variance_bound(probability: float, slots: int, trials: int) -> float:
    """Five standard errors of a sample variance of shares of agreeing slots, as a share of that variance.

    The excess kurtosis of the binomial distribution counts where agreement is rare.
    """
    odds = probability * (1 - probability)
    return 5 * math.sqrt((2 + max(0.0, (1 - 6 * odds) / (slots * odds))) / trials)
