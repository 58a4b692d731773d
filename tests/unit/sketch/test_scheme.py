import pytest

from stream_lsh.errors import ConfigError
from stream_lsh.sketch.catalog import SCHEMES, scheme
from stream_lsh.sketch.scheme import check_settings, require_numpy


def test_an_old_numpy_is_refused_with_the_command_that_helps() -> None:
    with pytest.raises(ConfigError, match=r"1\.24\.4.*1\.25.*pip install"):
        require_numpy("1.24.4")
    require_numpy("1.25.0")
    require_numpy("2.0.0rc1")


def test_all_settings_out_of_range_are_listed() -> None:
    with pytest.raises(ConfigError) as caught:
        check_settings("fast", 0, rounds=(255, 1, 254))
    assert caught.value.problems == (
        "fast: got slots = 0, expected 1 to 65536",
        "fast: got rounds = 255, expected 1 to 254",
    )


@pytest.mark.parametrize("name", sorted(SCHEMES))
def test_a_scheme_has_the_settings_that_it_was_made_with(name: str) -> None:
    made = scheme(name, slots=64, seed=9)
    assert (made.name, made.slots, made.seed, made.version) == (name, 64, 9, 1)


@pytest.mark.parametrize("name", sorted(SCHEMES))
def test_no_slots_are_refused(name: str) -> None:
    with pytest.raises(ConfigError):
        scheme(name, slots=0)


def test_the_default_is_fast_similarity_with_128_slots() -> None:
    assert (scheme().name, scheme().slots, scheme().seed) == ("fast", 128, 1)


def test_an_unknown_name_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(ConfigError, match=r"got 'clasic'.*'classic'\?"):
        scheme("clasic")
