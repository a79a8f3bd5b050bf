"""A record, by name, of what terms claim about ages while they are built, so that it can be evaluated."""

from __future__ import annotations

from collections.abc import Callable

from fdverify.logic import Number, Truth
from fdverify.symbolic.age_claims import AgeClaim, AgeClaimRegistry, AgeRead, Mention


class RecordingBook(AgeClaimRegistry):
    """An age book that keeps every read and every claim, also those made inside another claim."""

    def __init__(self) -> None:
        super().__init__()
        self.claims: dict[str, tuple[AgeClaim, int]] = {}
        """By the name of the truth value: the claim, and the depth of the age that its body ranges over."""
        self.exceptions: dict[str, str] = {}
        """By the name of the age at which a claim fails: the name of its truth value."""
        self.reads: dict[str, AgeRead] = {}

    def make_claim(self, delta: Number, low: Number, high: Number, body: Callable[[Number], Truth]) -> AgeClaim:
        claim = super().make_claim(delta, low, high, body)
        name = claim.holds.term.decl().name()
        self.claims.setdefault(name, (claim, self.depth + 1))
        self.exceptions[claim.exception.term.decl().name()] = name
        return claim

    def record_mention(self, mention: Mention) -> None:
        if isinstance(mention, AgeRead):
            self.reads[mention.constant.term.decl().name()] = mention
        super().record_mention(mention)
