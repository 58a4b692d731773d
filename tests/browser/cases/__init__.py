"""The pages that are looked at: each state of each page, with its answers."""

from tests.browser.cases import dead_letters, documents, entities, mirrors, reviews, search
from tests.browser.cases.case import Case

__all__ = ["CASES", "Case"]

CASES = [*documents.CASES, *entities.CASES, *mirrors.CASES, *reviews.CASES, *search.CASES, *dead_letters.CASES]
