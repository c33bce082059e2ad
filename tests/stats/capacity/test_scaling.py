import pytest

from plimsoll.say.findings.ladders import law_doubt
from plimsoll.stats.capacity.scaling import too_short, usl

SPECSDM91 = ((1, 18, 36, 72, 108, 144, 216), (64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2))


def test_the_law_of_a_known_ladder() -> None:
    fit = usl(*SPECSDM91)

    assert fit.slope == pytest.approx(89.9953, abs=1e-4)
    assert fit.contention == pytest.approx(0.0277285, abs=5e-8)
    assert fit.coherence == pytest.approx(1.0437e-4, abs=5e-9)
    assert fit.peak == pytest.approx(96.519, abs=1e-3)
    assert fit.capacity == pytest.approx(1883.9, abs=0.05)
    assert fit.published
    assert fit.reasons == ()


def test_exact_rates_give_their_parameters_back() -> None:
    loads = (1, 4, 16, 40, 60, 100, 160)
    fit = usl(loads, [50 * n / (1 + 0.05 * (n - 1) + 0.0004 * n * (n - 1)) for n in loads])

    assert (fit.slope, fit.contention, fit.coherence) == (
        pytest.approx(50, rel=1e-4),
        pytest.approx(0.05, rel=1e-3),
        pytest.approx(0.0004, rel=1e-3),
    )


def test_a_ladder_that_cannot_tell_the_parameters_says_why() -> None:
    fit = usl((10, 30, 50), (1.583, 1.5, 1.328))

    assert not fit.published
    assert tuple(map(law_doubt, fit.reasons[:2])) == (
        "3 levels, at least 6 are needed for three parameters",
        "0 levels below the peak and 2 above, at least 2 on each side are needed",
    )


def test_a_collapse_that_is_no_such_law_is_refused() -> None:
    fit = usl((48, 96, 162, 240, 336, 460, 510, 578), (9.4, 18.5, 31, 44.6, 53, 44.5, 32.4, 26.7))

    assert [law_doubt(reason).split()[0] for reason in fit.reasons] == ["R²", "a", "σ"]


def test_a_peak_beyond_the_ladder_is_no_peak() -> None:
    loads = (1, 2, 4, 8, 16, 24)
    fit = usl(loads, [50 * n / (1 + 0.02 * (n - 1) + 0.0001 * n * (n - 1)) for n in loads])

    assert "the peak of the curve, at 98.99, is outside the ladder of 1 to 24" in map(law_doubt, fit.reasons)


def test_what_a_ladder_lacks_does_not_depend_on_a_fit() -> None:
    assert too_short(*SPECSDM91) == ()
    assert len(too_short((1, 2), (1, 2))) == 2


def test_fewer_rungs_than_parameters_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 3"):
        usl((1, 2), (1, 2))
    with pytest.raises(ValueError, match="positive"):
        usl((1, 2, 3), (1, 0, 2))
